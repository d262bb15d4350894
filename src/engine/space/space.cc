// SPDX-License-Identifier: Apache-2.0
#include "engine/space/space.h"

#include <sys/stat.h>

#include <algorithm>
#include <optional>
#include <unordered_set>

#include "base/disk_usage.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/text.h"
#include "engine/host/machine.h"
#include "engine/outputs/assets.h"
#include "engine/run/freeze_now.h"
#include "engine/run/run_folders.h"
#include "engine/run/runs.h"
#include "journal/fold.h"
#include "journal/kept_outputs.h"
#include "run/layout.h"
#include "run/script_folders.h"
#include "snapshot/freeze/unpack.h"

namespace tenon::engine {
namespace {

constexpr int64_t kDayUs = int64_t{24} * 3600 * 1'000'000;

int64_t AgeUs(const Clock& clock, const std::string& path) {
  struct stat st;
  if (::lstat(path.c_str(), &st) != 0) return 0;
  return clock.NowUs() - (int64_t{st.st_mtim.tv_sec} * 1'000'000 + st.st_mtim.tv_nsec / 1000);
}

// Whether the folder has no submit record and no runner has written to it. It is then left over
// from a submit that was killed at its beginning.
bool IsRemainsOfSubmit(const run::RunFolder& folder, const Error& error) {
  return error.kind == ErrorKind::kNotFound && IsDirectory(folder.path()) &&
         !Exists(folder.host_segment());
}

Status AddTree(const snapshot::ObjectStore& objects, const std::string& hex,
               std::unordered_set<Hash>* trees, std::unordered_set<Hash>* live) {
  const auto root = Hash::FromHex(hex);
  if (!root || !trees->insert(*root).second) return {};
  return snapshot::Reachable(objects, *root, live);
}

// Collects every object that a recorded run, a kept snapshot or an asset names. A tree that can't
// be read stops the collection: it is better to keep too much than to lose a run's files because of
// one damaged node.
class LiveObjects {
 public:
  explicit LiveObjects(const snapshot::ObjectStore& objects) : objects_(objects) {}

  Status AddAssets(const std::vector<Asset>& assets) {
    for (const Asset& asset : assets) {
      if (!asset.folder) {
        if (auto hash = Hash::FromHex(asset.hash)) live_.insert(*hash);
      } else if (auto status = AddTree(objects_, asset.hash, &trees_, &live_); !status.ok()) {
        return std::move(status).error().Wrap("finding the objects of the asset " + asset.name);
      }
    }
    return {};
  }
  Status AddTrees(const std::vector<std::string>& kept_trees) {
    for (const std::string& tree : kept_trees) {
      if (auto status = AddTree(objects_, tree, &trees_, &live_); !status.ok()) {
        return std::move(status).error().Wrap("finding the objects of snapshot " + tree);
      }
    }
    return {};
  }
  Status AddRun(const journal::RunView& run) {
    for (const std::string& tree : {run.spec.tree, run.spec.kept_tree, run.outputs_tree}) {
      auto status = AddTree(objects_, tree, &trees_, &live_);
      // What was never fetched from another machine can't be lost here.
      const bool elsewhere = run.spec.IsElsewhere();
      if (status.ok() || (elsewhere && status.error().kind == ErrorKind::kNotFound)) continue;
      return std::move(status)
          .error()
          .Wrap("finding the objects of run " + run.spec.id)
          .WithHint("its snapshot or its outputs are damaged; `tenon runs delete " +
                    ShellQuote(run.spec.id) + "` gives the run up, and `tenon gc` works again");
    }
    if (auto diff = Hash::FromHex(run.spec.git_diff_object)) live_.insert(*diff);
    for (const run::Artifact& artifact : run.artifacts) {
      if (auto hash = Hash::FromHex(artifact.hash)) live_.insert(*hash);
    }
    return {};
  }
  const std::unordered_set<Hash>& all() const { return live_; }

 private:
  const snapshot::ObjectStore& objects_;
  std::unordered_set<Hash> live_, trees_;
};

// Removes parts of large objects that nobody is fetching. Parts of recorded outputs stay for a day,
// because the next fetch goes on with them. Returns how many bytes that frees.
uint64_t RemovePartialObjects(const Context& context, const std::unordered_set<Hash>& named,
                              bool dry_run) {
  uint64_t freed = 0;
  for (const std::string& name : ListDir(context.home.incoming()).value_or({})) {
    const std::string path = JoinPath(context.home.incoming(), name);
    const auto hash = Hash::FromHex(name);
    if (hash && named.contains(*hash) && AgeUs(*context.clock, path) < kDayUs) continue;
    if (IsLockedByOther(path).value_or(false)) continue;
    const uint64_t bytes = DiskBytes(path);
    if (dry_run || RemoveTree(path).ok()) freed += bytes;
  }
  return freed;
}

// One call of CleanTarget().
class Cleaner {
 public:
  Cleaner(Context& context, const CleanOptions& options, Reporter& reporter)
      : context_(context), options_(options), reporter_(reporter) {}

  Result<CleanResult> Run() {
    TENON_TRY(machine_, context_.At(options_.host));
    TENON_TRY_VOID(CleanRuns());
    if (options_.containers) TENON_TRY_VOID(SweepContainers());
    // After this no container of a finished run keeps an image from being removed.
    TENON_TRY_VOID(RemoveEnvironments());
    if (!options_.project_root.empty()) {
      const std::string cache =
          FreezeOptionsFor(context_, {options_.project_root, nullptr}).stat_cache;
      if (Exists(cache)) TENON_TRY_VOID(Remove(cache));
    }
    return std::move(result_);
  }

 private:
  Status Remove(const std::string& path) {
    result_.bytes_freed += DiskBytes(path);
    return options_.dry_run ? Status() : RemoveTree(path);
  }
  bool IsOfProject(const run::RunSpec& spec) const {
    return options_.project_id.empty() || spec.project_id == options_.project_id;
  }

  Status CleanRuns() {
    TENON_TRY(CleanedRuns cleaned,
              machine_->runs().Clean({options_.project_id, options_.target, options_.dry_run},
                                     reporter_));
    runs_ = std::move(cleaned.runs);
    result_.work_folders = cleaned.folders;
    result_.going = cleaned.going;
    result_.bytes_freed += cleaned.bytes_freed;
    result_.kept = std::move(cleaned.kept);
    return {};
  }

  Status SweepContainers() {
    if (!machine_->MayHave(machine_->home().root())) return {};
    TENON_TRY(auto swept, machine_->services().Sweep({runs_, /*all=*/false, options_.dry_run}));
    result_.containers = std::move(swept.removed);
    for (run::Kept& kept : swept.kept) result_.kept.push_back(std::move(kept));
    return {};
  }

  // Whether a run on this target has used it, and no run of another project.
  bool IsOurs(const run::ListedEnvironment& one) const {
    bool here = false;
    for (const std::string& id : one.runs) {
      const auto spec = SpecOf(context_, id);
      if (!spec) continue;
      if (!IsOfProject(*spec)) return false;
      here = here || spec->target == options_.target;
    }
    return here;
  }

  Status RemoveEnvironments() {
    if (!machine_->MayHave(machine_->home().environments())) return {};
    TENON_TRY(const auto listed, machine_->services().Environments({}));
    run::EnvironmentsRequest request{{}, options_.dry_run};
    for (const run::ListedEnvironment& one : listed.environments) {
      if (IsOurs(one)) request.remove.push_back(one.record.ready.key);
    }
    if (request.remove.empty()) return {};
    TENON_TRY(auto answer, machine_->services().Environments(request));
    result_.environments = std::move(answer.removed);
    result_.bytes_freed += answer.bytes_freed;
    for (run::Kept& kept : answer.kept) result_.kept.push_back(std::move(kept));
    return {};
  }

  Context& context_;
  const CleanOptions& options_;
  Reporter& reporter_;
  Machine* machine_ = nullptr;
  std::vector<std::string> runs_;  // of this project on this target
  CleanResult result_;
};

}  // namespace

Result<SpaceUse> MeasureSpace(Context& context, Reporter& reporter) {
  SpaceUse use;
  TENON_TRY(snapshot::ObjectStore * objects, context.Objects());
  TENON_TRY(const auto stored, objects->Measure());
  use.objects_bytes = stored.bytes_on_disk;
  use.object_count = stored.objects;
  TENON_TRY(const auto ids, RunIds(context));
  uint64_t done = 0;
  for (const std::string& id : ids) {
    reporter.OnProgress("measuring", ++done, ids.size());
    const run::RunFolder folder(context.home, id);
    SpaceUse::Run run{id, 0, DiskBytes(folder.work())};
    run.journal_bytes = run::RunBytes(folder) - run.work_bytes;
    use.journals_bytes += run.journal_bytes;
    use.work_bytes += run.work_bytes;
    use.runs.push_back(std::move(run));
  }
  std::sort(use.runs.begin(), use.runs.end(), [](const auto& a, const auto& b) {
    return a.journal_bytes + a.work_bytes > b.journal_bytes + b.work_bytes;
  });
  for (const char* suffix : {"", "-wal", "-shm"})
    use.index_bytes += DiskBytes(context.home.history_db() + suffix);
  std::vector<Error> unreadable;  // ignored; `asset list` reports them
  TENON_TRY(const auto assets, ListAssets(context, "", &unreadable));
  use.asset_count = assets.size();
  for (const Asset& asset : assets) use.asset_bytes += asset.size;
  for (const std::string& path :
       {context.home.environments(), context.home.cache(), context.home.tools()}) {
    use.environment_bytes += DiskBytes(path);
  }
  for (const char* part : {"bin", "shim", "stat-cache", "numbers", "assets", "incoming"}) {
    use.other_bytes += DiskBytes(JoinPath(context.home.root(), part));
  }
  return use;
}

Result<GcResult> CollectGarbage(Context& context, const GcOptions& options, Reporter& reporter) {
  GcResult result;
  TENON_TRY(snapshot::ObjectStore * objects, context.Objects());
  TENON_TRY(const auto ids, RunIds(context));
  LiveObjects live(*objects);
  std::optional<Error> unreadable;
  uint64_t done = 0;
  bool with_containers = false;
  for (const std::string& id : ids) {
    reporter.OnProgress("reading journals", ++done, ids.size());
    const run::RunFolder folder(context.home, id);
    with_containers =
        with_containers || Exists(folder.engine_mark()) || Exists(folder.script_segment());
    auto view = journal::FoldRunFolder(folder.path());
    if (!view.ok() && IsRemainsOfSubmit(folder, view.error())) {
      if (AgeUs(*context.clock, folder.path()) < kDayUs || HasWriter(folder)) continue;
      const uint64_t bytes = run::RunBytes(folder);
      auto gone = options.dry_run ? Status() : run::RemoveRun(folder);
      if (!gone.ok()) {
        result.kept.push_back({id, gone.error().message});
        continue;
      }
      result.bytes_freed += bytes;
      ++result.leftovers;
      continue;
    }
    if (!view.ok()) {
      if (IsDirectory(folder.path())) unreadable = std::move(view).error().Wrap("run " + id);
      continue;
    }
    const bool old = context.clock->NowUs() - view->last_heard_us >= options.keep_work_us;
    const bool work = run::IsFinal(view->state) && old && !view->spec.keep &&
                      IsDirectory(folder.work()) && !WriterStays(folder);
    if (work && journal::OutputsAreLeft(folder, *view)) {
      result.kept.push_back({id, WhyOutputsStay(id)});
    } else if (work) {
      // A folder that can't be removed does not keep the others from being removed.
      const auto freed = RemoveWorkOf(folder, options.dry_run);
      if (freed.ok()) {
        ++result.work_folders;
        result.bytes_freed += *freed;
      } else {
        result.kept.push_back({id, freed.error().message});
      }
    }
    TENON_TRY_VOID(live.AddRun(*view));
  }
  result.bytes_freed +=
      run::RemoveLostScriptFolders(context.home, context.clock->NowUs(), options.dry_run);
  result.bytes_freed += RemovePartialObjects(context, live.all(), options.dry_run);
  if (with_containers) {
    // A container engine that can't be reached does not stop the rest.
    auto swept = context.services->Sweep({{}, /*all=*/true, options.dry_run, /*spare_kept=*/true});
    if (swept.ok()) {
      result.containers = std::move(swept->removed);
      for (run::Kept& kept : swept->kept) result.kept.push_back(std::move(kept));
    } else {
      result.kept.push_back({"containers", swept.error().message});
    }
  }
  TENON_TRY(const auto kept_trees, KeptTrees(context, options.dry_run));
  TENON_TRY_VOID(live.AddTrees(kept_trees));
  TENON_TRY(const auto assets, ListAssets(context, ""));
  TENON_TRY_VOID(live.AddAssets(assets));
  if (unreadable) {
    // The objects of an unreadable run are not known.
    reporter.OnNotice(
        {run::Level::kWarning,
         "no object is removed as long as a run can't be read: " + unreadable->message,
         "`tenon history rebuild` names them all; `tenon runs delete ID` removes "
         "one"});
    return result;
  }
  if (options.dry_run) return result;
  reporter.OnProgress("collecting objects", 0, 0);
  TENON_TRY(const auto freed, objects->Collect(live.all(), options.min_object_age_us));
  result.bytes_freed += freed.bytes_on_disk;
  return result;
}

Result<CleanResult> CleanTarget(Context& context, const CleanOptions& options, Reporter& reporter) {
  return Cleaner(context, options, reporter).Run();
}

}  // namespace tenon::engine
