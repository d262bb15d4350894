// SPDX-License-Identifier: Apache-2.0
#include "runner/verbs/verb_sweep.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>

#include "base/file.h"
#include "base/process.h"
#include "docker/engine.h"
#include "docker/engine_address.h"
#include "executor/cgroup.h"
#include "run/layout.h"
#include "runner/environment/environment_image.h"
#include "runner/environment/environments.h"
#include "runner/supervise/facts.h"

namespace tenon::runner {
namespace {

constexpr size_t kMaxMark = 4096;

class Sweeper {
 public:
  Sweeper(const std::string& home, const run::SweepRequest& request)
      : request_(request), home_(home), environments_(home) {}

  Result<run::SweepAnswer> Run() {
    TENON_TRY_VOID(FindEngines());
    for (const std::string& socket : sockets_) {
      if (auto swept = SweepEngine(socket); !swept.ok()) {
        Keep("the containers of the engine at " + socket, swept.error().message);
        failed_.insert(socket);
      }
    }
    if (!request_.dry_run) executor::RemoveDeadCgroups(/*everywhere=*/true);
    if (!request_.dry_run) ForgetMarks();
    return std::move(answer_);
  }

 private:
  bool IsMeant(const std::string& run) const {
    return request_.all ||
           std::find(request_.runs.begin(), request_.runs.end(), run) != request_.runs.end();
  }

  Status FindEngines() {
    TENON_TRY(const auto listed, environments_.List());
    for (const ListedEnvironment& one : listed) {
      if (!one.record.socket.empty()) sockets_.insert(one.record.socket);
    }
    for (const std::string& run : ListDir(home_.runs()).value_or({})) {
      const run::RunFolder folder(home_, run);
      if (!IsMeant(run)) continue;
      if (auto mark = ReadFile(folder.engine_mark(), kMaxMark); mark.ok() && !mark->empty()) {
        sockets_.insert(*mark);
        marked_.emplace_back(run, *mark);
      }
      // Only a run in a container has a script segment; its host segment is short.
      if (!Exists(folder.script_segment())) continue;
      auto facts = ReadFacts(folder.host_segment());
      if (facts.ok() && facts->container) sockets_.insert(facts->container->socket);
    }
    // Finding no engine is not an error: then there is nothing to sweep.
    auto address = docker::FindEngine(CurrentEnvironment());
    if (address.ok() && Exists(address->socket)) sockets_.insert(address->socket);
    return {};
  }

  Status SweepEngine(const std::string& socket) {
    TENON_TRY(docker::Engine engine, docker::Engine::Connect(socket));
    TENON_TRY(const auto containers, engine.List(std::string(kLabelHome) + "=" + home_.root()));
    for (const docker::Container& container : containers) SweepContainer(engine, container);
    return {};
  }

  void SweepContainer(docker::Engine& engine, const docker::Container& container) {
    const std::string run = docker::LabelOf(container.labels, kLabelRun);
    const bool known = run::IsValidRunId(run) && Exists(run::RunFolder(home_, run).path());
    if (known && !IsMeant(run)) return;
    const std::string kind = docker::LabelOf(container.labels, kLabelKind);
    if (kind == "build") return SweepBuild(engine, container);
    if (kind != "run") return;
    const HowItIs how = known ? LookAt(run) : HowItIs{true, false};
    if (!how.over) return Keep(run, container.name, "its run goes on");
    if (how.outputs_left) {
      return Keep(run, container.name,
                  "outputs of its run were not collected; `tenon runs collect " + run + "`");
    }
    if (request_.spare_kept && known && container.status != "created" && IsKeptOnPurpose(run)) {
      kept_runs_.insert(run);
      return;
    }
    Remove(engine, container);
  }

  // The process that makes an environment holds its lock.
  void SweepBuild(docker::Engine& engine, const docker::Container& container) {
    const std::string key = docker::LabelOf(container.labels, kLabelKey);
    std::optional<FileLock> held;
    if (run::IsEnvironmentKey(key) && IsDirectory(home_.environments())) {
      auto lock = FileLock::Take(environments_.folder(key) + ".lock", /*wait=*/false);
      if (!lock.ok()) return Keep(container.name, "an environment is being made in it");
      held = std::move(*lock);
    }
    Remove(engine, container);
  }

  struct HowItIs {
    bool over = false;
    bool outputs_left = false;  // inside the container
  };
  HowItIs LookAt(const std::string& run) const {
    const run::RunFolder folder(home_, run);
    auto facts = ReadFacts(folder.host_segment());
    if (!facts.ok()) return {facts.error().kind == ErrorKind::kNotFound, false};
    const auto spec = ReadSpec(folder.spec());
    const bool inside = !spec.ok() || !spec->container.shared_volumes;
    return {facts->end.has_value(), facts->outputs_left && inside};
  }
  bool IsKeptOnPurpose(const std::string& run) const {
    const auto spec = ReadSpec(run::RunFolder(home_, run).spec());
    return spec.ok() && spec->keep_on_fail;
  }

  // An engine that was asked and has nothing left of a run that is over need not be asked again.
  void ForgetMarks() {
    for (const auto& [run, socket] : marked_) {
      if (failed_.contains(socket) || kept_runs_.contains(run) || !LookAt(run).over) continue;
      (void)RemoveFile(run::RunFolder(home_, run).engine_mark()).ok();
    }
  }

  void Remove(docker::Engine& engine, const docker::Container& container) {
    if (!request_.dry_run) {
      if (auto gone = engine.Remove(container.id); !gone.ok()) {
        const std::string run = docker::LabelOf(container.labels, kLabelRun);
        return Keep(run, container.name, gone.error().message);
      }
    }
    answer_.removed.push_back(container.name);
  }

  void Keep(const std::string& run, const std::string& name, const std::string& why) {
    kept_runs_.insert(run);
    Keep(name, why);
  }
  void Keep(const std::string& name, const std::string& why) {
    answer_.kept.push_back({name, why});
  }

  const run::SweepRequest& request_;
  const run::Home home_;
  const Environments environments_;
  std::set<std::string> sockets_, failed_;
  std::vector<std::pair<std::string, std::string>> marked_;  // run, socket
  std::set<std::string> kept_runs_;                          // runs with a container that stays
  run::SweepAnswer answer_;
};

}  // namespace

Result<run::SweepAnswer> Sweep(const std::string& home, const run::SweepRequest& request) {
  return Sweeper(home, request).Run();
}

}  // namespace tenon::runner
