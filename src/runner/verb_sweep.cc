// SPDX-License-Identifier: Apache-2.0
#include "runner/verb_sweep.h"

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
#include "runner/environment_image.h"
#include "runner/environments.h"
#include "runner/facts.h"

namespace tenon::runner {
namespace {

class Sweeper {
 public:
  explicit Sweeper(const SweepRequest& request)
      : request_(request), home_(request.home), environments_(request.home) {}

  Result<json::Object> Run() {
    TENON_TRY_VOID(FindEngines());
    for (const std::string& socket : sockets_) {
      if (auto swept = SweepEngine(socket); !swept.ok()) {
        Keep("the containers of the engine at " + socket, swept.error().message);
      }
    }
    if (!request_.dry_run) executor::RemoveDeadCgroups(/*everywhere=*/true);
    return json::Object{{"removed", std::move(removed_)}, {"kept", std::move(kept_)}};
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
      // A run in a container has two segments, and its first one is short.
      if (!IsMeant(run) || !Exists(folder.script_segment())) continue;
      auto facts = ReadFacts(folder.host_segment());
      if (facts.ok() && facts->container) sockets_.insert(facts->container->socket);
    }
    // No engine to be found is no reason to complain: there is nothing to sweep then.
    auto address = docker::FindEngine(CurrentEnvironment());
    if (address.ok() && Exists(address->socket)) sockets_.insert(address->socket);
    return {};
  }

  Status SweepEngine(const std::string& socket) {
    TENON_TRY(docker::Engine engine, docker::Engine::Connect(socket));
    TENON_TRY(const auto containers, engine.List(std::string(kLabelHome) + "=" + request_.home));
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
    if (known && !IsOver(run)) return Keep(container.name, "its run goes on");
    Remove(engine, container);
  }

  // Whoever makes an environment holds its lock.
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

  bool IsOver(const std::string& run) const {
    const std::string segment = run::RunFolder(home_, run).host_segment();
    auto facts = ReadFacts(segment);
    if (!facts.ok()) return facts.error().kind == ErrorKind::kNotFound;
    return facts->end.has_value();
  }

  void Remove(docker::Engine& engine, const docker::Container& container) {
    if (!request_.dry_run) {
      if (auto gone = engine.Remove(container.id); !gone.ok()) {
        return Keep(container.name, gone.error().message);
      }
    }
    removed_.push_back(json::Value(json::EncodeBytes(container.name)));
  }

  void Keep(const std::string& name, const std::string& why) {
    kept_.push_back(
        json::Object{{"name", json::EncodeBytes(name)}, {"why", json::EncodeBytes(why)}});
  }

  const SweepRequest& request_;
  const run::Home home_;
  const Environments environments_;
  std::set<std::string> sockets_;
  json::Array removed_, kept_;
};

}  // namespace

Result<json::Object> Sweep(const SweepRequest& request) { return Sweeper(request).Run(); }

}  // namespace tenon::runner
