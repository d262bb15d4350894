// SPDX-License-Identifier: Apache-2.0
// Keeps the index complete: finds out whether it has every run folder, and adds what is missing.
#include <sys/stat.h>

#include <algorithm>
#include <ctime>
#include <iterator>
#include <utility>

#include "base/file.h"
#include "base/hash.h"
#include "base/process.h"
#include "history/codec.h"
#include "history/store.h"
#include "journal/fold.h"
#include "run/layout.h"

namespace tenon::history {
namespace {

using Progress = std::function<void(uint64_t done, uint64_t total)>;

constexpr int64_t kSecondNs = 1'000'000'000;
// The kernel writes everything to disk within a minute; a disk under load may take longer.
constexpr int64_t kDirtyNs = 600 * kSecondNs;
// A submit makes its folder and begins its segment without a pause.
constexpr int64_t kBeginningNs = 60 * kSecondNs;

int64_t Nanoseconds(const timespec& time) {
  return int64_t{time.tv_sec} * kSecondNs + time.tv_nsec;
}

int64_t ShortStamp(std::string_view text) {
  const Hash hash = Sha256Of(text);
  uint64_t stamp = 0;
  for (size_t i = 0; i < 8; ++i) stamp = stamp << 8 | hash.bytes[i];
  return static_cast<int64_t>(stamp >> 1 | 1);  // never 0, which is "not known"
}

Result<std::vector<std::string>> RunNames(const std::string& runs_folder) {
  auto listed = ListDir(runs_folder);
  if (!listed.ok()) {
    if (listed.error().kind == ErrorKind::kNotFound) return std::vector<std::string>();
    return std::move(listed).error();
  }
  std::erase_if(*listed, [](const std::string& name) { return !run::IsValidRunId(name); });
  // Sorted by id, which is roughly by time, so that neighbours are stored together in the index.
  std::ranges::sort(*listed);
  return listed;
}

// A folder, or anything else whose name ends like a run id.
bool IsRunEntry(const std::string& name, const std::string& path) {
  return IsDirectory(path) || run::TimeInRunId(name) != 0;
}

Result<std::vector<std::string>> IndexedIds(HistoryStore& store) {
  TENON_TRY(auto ids, store.IdsWithPrefix("", "", SIZE_MAX));
  std::ranges::sort(ids);
  return ids;
}

std::vector<std::string> SegmentsIn(const std::string& folder) {
  std::vector<std::string> paths;
  for (const std::string& name : ListDir(folder).value_or({})) {
    if (name.ends_with(run::kSegmentSuffix)) paths.push_back(JoinPath(folder, name));
  }
  return paths;
}

// Whether a submit may still write its first record into this folder, which has none. If not, the
// submit died at the very beginning, and the folder is no run.
bool MayYetBegin(const std::string& folder) {
  const auto segments = SegmentsIn(folder);
  for (const std::string& path : segments) {
    if (IsLockedByOther(path).value_or(false)) return true;
  }
  struct stat info;
  if (!segments.empty() || ::stat(folder.c_str(), &info) != 0) return false;
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return Nanoseconds(now) - Nanoseconds(info.st_mtim) < kBeginningNs;
}

int64_t NewestSegmentNs(const std::string& folder) {
  int64_t newest = 0;
  for (const std::string& path : SegmentsIn(folder)) {
    struct stat info;
    if (::stat(path.c_str(), &info) == 0) newest = std::max(newest, Nanoseconds(info.st_mtim));
  }
  return newest;
}

// Whether the index itself can't be written. A kDenied may also be about a file of one run, which
// concerns that run only.
bool CannotWrite(HistoryStore& store, const Status& status) {
  if (status.ok() || status.error().kind != ErrorKind::kDenied) return false;
  const auto seen = store.LastSeen();
  if (!seen.ok()) return true;
  const Status same = store.MarkSeen(*seen, *seen);
  return !same.ok() && same.error().kind == ErrorKind::kDenied;
}

// Ingests one run. False: the folder may yet become a run, or could not be read now. kDenied when
// the index can't be written. Other errors concern this run only and are not returned.
Result<bool> TakeIn(HistoryStore& store, const std::string& name, const std::string& folder) {
  const Status status = IngestRunFolder(store, name, folder);
  if (CannotWrite(store, status)) return status.error();
  const auto run = store.Get(name);
  if (run.ok() || run.error().kind != ErrorKind::kNotFound) return true;
  if (!status.ok()) return status.error().kind != ErrorKind::kUnavailable;
  return !MayYetBegin(folder);
}

// Whether the index has the same run as its segments, read from their first record.
bool IsAsOnDisk(HistoryStore& store, const std::string& name, const std::string& folder) {
  const auto known = store.Get(name);
  if (!known.ok()) return false;
  const auto there = journal::FoldRunFolder(folder);
  return there.ok() && EncodeRow(*there) == EncodeRow(*known) &&
         EncodeDetail(*there) == EncodeDetail(*known);
}

Status ForgetGone(HistoryStore& store, const std::vector<std::string>& names,
                  const std::vector<std::string>& indexed) {
  std::vector<std::string> gone;
  std::ranges::set_difference(indexed, names, std::back_inserter(gone));
  for (const std::string& id : gone) {
    if (!GoesOnWithoutFolder(store, id)) TENON_TRY_VOID(store.Delete(id));
  }
  return {};
}

// Returns whether the index now has every folder, with none that may yet become a run.
Result<bool> CompareNames(HistoryStore& store, const std::string& runs_folder,
                          const Progress& progress) {
  TENON_TRY(const auto names, RunNames(runs_folder));
  TENON_TRY(const auto indexed, IndexedIds(store));
  TENON_TRY_VOID(ForgetGone(store, names, indexed));
  std::vector<std::string> missing;
  std::ranges::set_difference(names, indexed, std::back_inserter(missing));
  bool settled = true;
  uint64_t done = 0;
  for (const std::string& name : missing) {
    const std::string folder = JoinPath(runs_folder, name);
    if (IsRunEntry(name, folder)) {
      TENON_TRY(const bool taken, TakeIn(store, name, folder));
      settled = settled && taken;
    }
    if (progress) progress(++done, missing.size());
  }
  return settled;
}

// The same, but compares the segments of every run too.
Result<bool> CompareAll(HistoryStore& store, const std::string& runs_folder,
                        const Progress& progress) {
  TENON_TRY(const auto names, RunNames(runs_folder));
  TENON_TRY(const auto indexed, IndexedIds(store));
  TENON_TRY_VOID(ForgetGone(store, names, indexed));
  std::vector<int64_t> written(names.size());
  int64_t newest = 0;
  for (size_t i = 0; i < names.size(); ++i) {
    written[i] = NewestSegmentNs(JoinPath(runs_folder, names[i]));
    newest = std::max(newest, written[i]);
  }
  bool settled = true;
  for (size_t i = 0; i < names.size(); ++i) {
    const std::string folder = JoinPath(runs_folder, names[i]);
    if (IsRunEntry(names[i], folder)) {
      // A power cut may leave zeros in place of records that were not synced.
      if (written[i] >= newest - kDirtyNs && !IsAsOnDisk(store, names[i], folder)) {
        TENON_TRY_VOID(store.Delete(names[i]));
      }
      TENON_TRY(const bool taken, TakeIn(store, names[i], folder));
      settled = settled && taken;
    }
    if (progress) progress(i + 1, names.size());
  }
  return settled;
}

Result<std::unique_ptr<HistoryStore>> OpenOrMemory(const std::string& home) {
  TENON_TRY(const std::string path, IndexPath(home));
  auto opened = OpenSqliteStore(path);
  if (!opened.ok() && opened.error().kind == ErrorKind::kDenied) return MakeMemoryStore();
  return opened;
}

}  // namespace

int64_t StampOf(const std::string& runs_folder) {
  struct stat info;
  if (::stat(runs_folder.c_str(), &info) != 0) return 0;
  return ShortStamp(std::to_string(info.st_ino) + " " + std::to_string(Nanoseconds(info.st_mtim)));
}

int64_t BootStamp() { return ShortStamp("boot " + BootId()); }

bool GoesOnWithoutFolder(HistoryStore& store, const std::string& id) {
  const auto run = store.Get(id);
  if (!run.ok() || run::IsFinal(run->state) || run->spec.IsElsewhere()) return false;
  const auto alive = [](const ProcessId& process) {
    return process.start_ticks != 0 && CheckProcess(process) == Liveness::kAlive;
  };
  // A container outlives its runner. Only the container engine knows whether it still runs; whoever
  // cancels the run asks it.
  if (run->container && run->runner && run->runner->process.boot_id == BootId()) return true;
  return (run->runner && alive(run->runner->process)) ||
         (run->script && alive(run->script->process));
}

Status CatchUp(HistoryStore& store, const std::string& runs_folder, const Progress& progress) {
  // Take the stamp first, so that the next call sees folders made after it.
  const Seen now{StampOf(runs_folder), BootStamp()};
  TENON_TRY(const Seen last, store.LastSeen());
  if (last == now) return {};
  TENON_TRY(const bool settled, last.boot == now.boot ? CompareNames(store, runs_folder, progress)
                                                      : CompareAll(store, runs_folder, progress));
  Status marked = store.MarkSeen({settled ? now.runs : 0, now.boot});
  // An index that is up to date but can't be written is good enough.
  if (!marked.ok() && marked.error().kind != ErrorKind::kDenied) return marked;
  return {};
}

Result<RebuildResult> RebuildHistory(
    HistoryStore& store, const std::string& runs_folder,
    const std::function<void(uint64_t done, uint64_t total)>& progress) {
  const Seen now{StampOf(runs_folder), BootStamp()};
  RebuildResult result;
  TENON_TRY(const auto names, RunNames(runs_folder));
  bool settled = true;
  uint64_t done = 0;
  for (const std::string& name : names) {
    const std::string folder = JoinPath(runs_folder, name);
    if (IsRunEntry(name, folder)) {
      Status status = IngestRunFolder(store, name, folder);
      // A store that can't be written fails for every run in the same way.
      if (CannotWrite(store, status)) return std::move(status).error();
      if (status.ok()) {
        ++result.runs;
        settled = settled && (store.Get(name).ok() || !MayYetBegin(folder));
      } else {
        result.problems.push_back(std::move(status).error().Wrap("run " + name));
      }
    }
    if (progress) progress(++done, names.size());
  }
  TENON_TRY_VOID(store.MarkRebuilt());
  TENON_TRY_VOID(store.MarkSeen({settled ? now.runs : 0, now.boot}));
  return result;
}

Result<std::unique_ptr<HistoryStore>> OpenHistoryAsItIs(const std::string& home) {
  return OpenOrMemory(home);
}

Result<std::unique_ptr<HistoryStore>> OpenHistory(
    const std::string& home, const std::function<void(uint64_t done, uint64_t total)>& progress) {
  TENON_TRY(std::unique_ptr<HistoryStore> store, OpenOrMemory(home));
  const std::string runs = run::Home(home).runs();
  const auto bring_up = [&](HistoryStore& index) -> Status {
    TENON_TRY(const bool rebuild, index.NeedsRebuild());
    if (!rebuild) return CatchUp(index, runs, progress);
    TENON_TRY_VOID(RebuildHistory(index, runs, progress));
    return {};
  };
  Status status = bring_up(*store);
  const bool unwritable = !status.ok() && (status.error().kind == ErrorKind::kDenied ||
                                           status.error().kind == ErrorKind::kUnavailable);
  if (unwritable) {
    // The index is behind and can't be written, for want of rights or of space. So build one in
    // memory from the run folders.
    store = MakeMemoryStore();
    status = bring_up(*store);
  }
  if (!status.ok()) return std::move(status).error();
  return store;
}

}  // namespace tenon::history
