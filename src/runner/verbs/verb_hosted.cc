// SPDX-License-Identifier: Apache-2.0
#include "runner/verbs/verb_hosted.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <set>
#include <span>
#include <unordered_set>
#include <utility>

#include "base/clock.h"
#include "base/disk_usage.h"
#include "base/file.h"
#include "run/script_folders.h"
#include "runner/agent/serve_objects.h"
#include "runner/verbs/hosted_runs.h"
#include "runner/verbs/machine_use.h"
#include "runner/verbs/verb_sweep.h"
#include "snapshot/freeze/unpack.h"
#include "snapshot/store/object_store.h"
#include "snapshot/transfer/transfer.h"

namespace tenon::runner {
namespace {

constexpr int64_t kHourUs = int64_t{3600} * 1'000'000;
constexpr int64_t kQuietUs = 30'000'000;
constexpr int64_t kDayUs = 24 * kHourUs;
constexpr int64_t kKeepWorkUs = 7 * kDayUs;
constexpr int64_t kUsualKeepUs = 30 * kDayUs;
constexpr std::string_view kRunnerName = "tenon-runner-";
// How the names of files begin that an upload of a runner leaves when it is cut off.
constexpr std::string_view kHalfRunners[] = {".new.", ".try."};

constexpr size_t kMaxCommand = 4u << 20;

int64_t NowUs() { return SystemClock().NowUs(); }

bool StartsWithAny(std::string_view text, std::span<const std::string_view> beginnings) {
  return std::any_of(beginnings.begin(), beginnings.end(),
                     [&](std::string_view one) { return text.starts_with(one); });
}

// The programs that the processes of this machine run, as far as we may see them.
std::set<std::string> RunningPrograms() {
  std::set<std::string> programs;
  for (const std::string& pid : ListDir("/proc").value_or({})) {
    if (pid.empty() || pid[0] < '0' || pid[0] > '9') continue;
    if (auto path = ReadLink("/proc/" + pid + "/exe"); path.ok()) {
      programs.insert(*path);
    } else if (auto words = ReadFile("/proc/" + pid + "/cmdline", kMaxCommand); words.ok()) {
      // A supervisor does not let us look at its program (prctl PR_SET_DUMPABLE).
      programs.insert(words->substr(0, words->find('\0')));
    }
  }
  return programs;
}

class Cleaner {
 public:
  Cleaner(const std::string& home, const run::HostedRequest& request)
      : request_(request), home_(home) {}

  void Run() {
    runs_ = ListHostedRuns(home_);
    for (const std::string& id : request_.remove) RemoveAsked(id);
    if (!request_.clean) return;
    for (const HostedRun& run : std::vector<HostedRun>(runs_)) ApplyPolicy(run);
    answer_.bytes_freed += run::RemoveLostScriptFolders(home_, NowUs(), request_.dry_run);
    RemovePartialUploads();
    RemoveRunners(home_.bin());
    if (const std::string pushed = PushedRunners(); !pushed.empty()) RemoveRunners(pushed);
    if (auto collected = CollectObjects(); !collected.ok()) {
      Keep("objects", collected.error().message);
    }
  }

  run::HostedAnswer Tell() {
    int64_t last_use = ModifiedUs(home_.used());
    bool alive = false;
    for (const HostedRun& run : runs_) {
      answer_.runs.push_back(run.Told());
      answer_.last_run_us = std::max(answer_.last_run_us, run.created_us);
      last_use = std::max(last_use, run.over ? run.ended_us : run.last_us);
      alive = alive || run.alive;
    }
    TellSizes();
    if (request_.look) answer_.busy = LookForUse(home_.root(), /*all=*/true);
    answer_.idle_since_us = alive || !answer_.busy.empty() ? 0 : last_use;
    return std::move(answer_);
  }

 private:
  // The folder where clients put their runners, beside a home of their runs. "" for other homes.
  std::string PushedRunners() const {
    return home_.root().ends_with("/host") ? JoinPath(DirName(home_.root()), "bin") : "";
  }

  void TellSizes() {
    const std::string data = JoinPath(home_.root(), "data");
    answer_.environments_bytes = DiskBytes(home_.environments());
    answer_.objects_bytes = DiskBytes(home_.objects()) + DiskBytes(home_.incoming());
    answer_.cache_bytes = DiskBytes(home_.cache()) + DiskBytes(home_.tools());
    answer_.data_bytes = DiskBytes(data);
    const std::string pushed = PushedRunners();
    uint64_t other = pushed.empty() ? 0 : DiskBytes(pushed);
    const std::set<std::string> counted = {"environments", "objects", "incoming", "cache",
                                           "tools",        "data",    "runs"};
    for (const std::string& name : ListDir(home_.root()).value_or({})) {
      if (!counted.contains(name)) other += DiskBytes(JoinPath(home_.root(), name));
    }
    answer_.other_bytes = other;
    answer_.disk_free_bytes = FreeBytes(home_.root()).value_or(0);
  }

  void Keep(const std::string& name, const std::string& why) {
    answer_.kept.push_back({name, why});
  }

  void RemoveAsked(const std::string& id) {
    const auto found = std::find_if(runs_.begin(), runs_.end(),
                                    [&](const HostedRun& run) { return run.id == id; });
    if (found == runs_.end()) {
      answer_.removed.push_back(id);
      return;
    }
    RemoveRun(HostedRun(*found));
  }

  void RemoveRun(const HostedRun& run) {
    if (run.alive) return Keep(run.id, "it goes on");
    if (run.outputs_left && !request_.force) {
      return Keep(run.id,
                  "its outputs are not collected; `tenon runs collect " + run.id + "` does that");
    }
    const run::RunFolder folder(home_, run.id);
    if (!request_.dry_run) {
      if (auto gone = RemoveRunFolder(folder, run.id); !gone.ok()) {
        return Keep(run.id, gone.error().message);
      }
      std::erase_if(runs_, [&](const HostedRun& one) { return one.id == run.id; });
    }
    answer_.bytes_freed += run.bytes;
    answer_.removed.push_back(run.id);
  }

  Status RemoveRunFolder(const run::RunFolder& folder, const std::string& id) {
    // While we hold the lock, nobody starts or recovers the run.
    std::optional<FileLock> lock;
    if (Exists(folder.host_segment())) {
      TENON_TRY(lock, FileLock::Take(folder.host_segment(), /*wait=*/false));
    }
    if (Exists(folder.script_segment())) {
      // A later sweep removes what an engine does not give up now, and finds it by its label.
      (void)Sweep(home_.root(), {{id}}).ok();
    }
    return run::RemoveRun(folder);
  }

  void ApplyPolicy(const HostedRun& run) {
    if (run.alive) return;
    const int64_t age = NowUs() - (run.over ? run.ended_us : run.last_us);
    const bool meant = !request_.only || std::find(request_.only->begin(), request_.only->end(),
                                                   run.id) != request_.only->end();
    const int64_t keep_us = meant ? request_.keep_us : std::max(request_.keep_us, kUsualKeepUs);
    if (age >= keep_us) return RemoveRun(run);
    const bool work = run.work_bytes > 0 && !run.spec.keep;
    if (!work || age < std::min(keep_us, kKeepWorkUs)) return;
    if (run.outputs_left && !request_.force) return;
    if (!request_.dry_run && !run::RemoveWork(run::RunFolder(home_, run.id)).ok()) return;
    answer_.bytes_freed += run.work_bytes;
    for (HostedRun& one : runs_) {
      if (one.id != run.id || request_.dry_run) continue;
      one.bytes -= std::min(one.bytes, one.work_bytes);
      one.work_bytes = 0;
    }
  }

  void RemoveOldFile(const std::string& path) {
    const uint64_t bytes = DiskBytes(path);
    if (!request_.dry_run && !RemoveFile(path).ok()) return;
    answer_.bytes_freed += bytes;
  }

  // What is younger than this may belong to a submit that is under way. 0: everything is old
  // enough, because the request keeps nothing and nothing has been sent for kQuietUs.
  int64_t YoungUs() const {
    const bool quiet = NowUs() - ModifiedUs(home_.used()) >= kQuietUs;
    if (request_.keep_us == 0 && quiet) return 0;
    return std::clamp(request_.keep_us, kHourUs, kDayUs);
  }

  void RemovePartialUploads() {
    for (const std::string& name : ListDir(home_.incoming()).value_or({})) {
      const std::string path = JoinPath(home_.incoming(), name);
      if (NowUs() - ModifiedUs(path) < YoungUs()) continue;
      if (!IsLockedByOther(path).value_or(true)) RemoveOldFile(path);
    }
  }

  // Removes old runners that no process runs. A client that still has such a version sends it
  // again.
  void RemoveRunners(const std::string& folder) {
    const std::set<std::string> running = RunningPrograms();
    for (const std::string& name : ListDir(folder).value_or({})) {
      const bool half = StartsWithAny(name, kHalfRunners);
      if (!half && !name.starts_with(kRunnerName)) continue;
      const std::string path = JoinPath(folder, name);
      const int64_t least = half ? kDayUs : std::max(request_.keep_us, kHourUs);
      if (NowUs() - ModifiedUs(path) < least) continue;
      char real[PATH_MAX];
      const bool known = ::realpath(path.c_str(), real) != nullptr;
      if (known && !running.contains(real)) RemoveOldFile(path);
    }
  }

  // Removes the objects that no remaining run, kept tree or data set names.
  Status CollectObjects() {
    if (!IsDirectory(home_.objects())) return {};
    std::unordered_set<Hash> live, named;
    for (const HostedRun& run : runs_) {
      named.insert(run.trees.begin(), run.trees.end());
      live.insert(run.objects.begin(), run.objects.end());
    }
    AddKeptTrees(&named);
    if (request_.dry_run) return {};
    TENON_TRY(auto store, snapshot::ObjectStore::Open(home_.objects()));
    const int64_t age = YoungUs();
    if (request_.keep_us == 0 && age > 0) {
      Keep("files of snapshots", "some were sent a moment ago, and a submit may need them");
    }
    TENON_TRY(const auto marked, snapshot::ForgetOldTrees(home_.complete_trees(), age, named));
    named.insert(marked.begin(), marked.end());
    for (const Hash& tree : named) {
      auto reached = snapshot::Reachable(store, tree, &live);
      // A run whose files never arrived has no objects to keep.
      if (reached.ok() || !store.Has(tree)) continue;
      return std::move(reached).error().Wrap("finding the objects of tree " + tree.Hex());
    }
    TENON_TRY(const auto removed, store.Collect(live, age));
    answer_.bytes_freed += removed.bytes_on_disk;
    return {};
  }

  void AddKeptTrees(std::unordered_set<Hash>* named) {
    for (const std::string& name : ListDir(JoinPath(home_.root(), "kept-trees")).value_or({})) {
      if (auto hash = Hash::FromHex(name)) named->insert(*hash);
    }
    const std::string data = JoinPath(home_.root(), "data");
    for (const std::string& name : ListDir(data).value_or({})) {
      if (!name.ends_with(".json")) continue;
      auto text = ReadFile(JoinPath(data, name));
      auto value = text.ok() ? json::Parse(*text) : Result<json::Value>(text.error());
      if (!value.ok() || !value->is_object()) continue;
      if (auto hash = Hash::FromHex(json::GetString(value->get_object(), "tree"))) {
        named->insert(*hash);
      }
    }
  }

  const run::HostedRequest& request_;
  const run::Home home_;
  std::vector<HostedRun> runs_;
  run::HostedAnswer answer_;
};

}  // namespace

Result<run::HostedAnswer> AnswerHosted(const std::string& home, const run::HostedRequest& request) {
  Cleaner cleaner(home, request);
  cleaner.Run();
  return cleaner.Tell();
}

void CleanHostedHome(const std::string& home) {
  if (!home.ends_with("/host") || !Exists(JoinPath(home, kHostedMark))) return;
  const std::string mark = JoinPath(home, "cleaned");
  if (Exists(mark) && NowUs() - ModifiedUs(mark) < kDayUs) return;
  auto only_one = FileLock::Take(mark, /*wait=*/false);
  if (!only_one.ok() || ::utimensat(AT_FDCWD, mark.c_str(), nullptr, 0) != 0) return;
  (void)::setpriority(PRIO_PROCESS, 0, 10);
  run::HostedRequest request;
  request.clean = true;
  request.keep_us = kUsualKeepUs;
  Cleaner(home, request).Run();
  (void)Sweep(home, {{}, /*all=*/true, /*dry_run=*/false, /*spare_kept=*/true}).ok();
}

}  // namespace tenon::runner
