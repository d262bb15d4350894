// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_HISTORY_STORE_H_
#define TENON_HISTORY_STORE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "journal/fold.h"
#include "journal/reader.h"
#include "run/metric.h"

namespace tenon::history {

// Selects runs. An empty member does not restrict.
struct RunQuery {
  std::string project_id;
  std::vector<run::State> states;
  std::string script;
  std::string target;
  std::vector<std::pair<std::string, std::string>> tags;  // value "" = any value
  bool include_hidden = false;
  bool include_untracked = false;
  bool unfinished_only = false;
  // Also list runs that are known only from their folder (SetUnreadable()). They have no end, so
  // `unfinished_only` includes them. If the project of a run is not known, a query for any project
  // includes it.
  bool include_unreadable = false;
  size_t limit = 0;  // 0: all
  size_t offset = 0;
};

// One row of a listing: a RunView without the members that only the page of one run needs
// (RunView::DetailFields). Artifacts and series are present, because listings in JSON show them.
using RunRow = journal::RunView;

// The state of the run folders when the index last had all of them: a stamp of runs/, and the boot
// in which the index was last compared with the segments. A power cut may take back the latest
// writes, to the index and to segments; within one boot nothing is taken back.
struct Seen {
  int64_t runs = 0;  // StampOf(runs/); 0: not known
  int64_t boot = 0;  // BootStamp(); 0: not known
  bool operator==(const Seen&) const = default;
};

// The index over journals. All of it can be dropped and made again from the run folders, so no
// write waits for the disk. Many processes may use one index at the same time; a HistoryStore
// object is for one thread.
class HistoryStore {
 public:
  virtual ~HistoryStore() = default;

  // The last record ingested from each segment of a run; empty for an unknown run.
  virtual Result<journal::Place> PlaceOf(const std::string& run_id) = 0;

  // Takes in records of one segment. The store calls `read` until it returns nullopt; `read`
  // returns the records in order, beginning after the place that PlaceOf() returned or before it.
  // `cursor` returns the place after the record that `read` returned last. Records are keyed by
  // (run, segment, record): the store skips those at or before its own place, so repeats and
  // several clients at once change nothing. Completely or not at all. `hole_bytes` is the number of
  // bytes after the last record that are no record, in a segment without a writer
  // (journal::Reader::Close()), else 0; it replaces the number stored before. Holes between records
  // follow from the cursors. Returns the new place. `read` and `cursor` must not call this store.
  virtual Result<journal::Cursor> Ingest(
      const std::string& run_id, const std::string& segment,
      const std::function<Result<std::optional<journal::Record>>()>& read,
      const std::function<journal::Cursor()>& cursor, uint64_t hole_bytes) = 0;

  virtual Result<journal::RunView> Get(const std::string& run_id) = 0;  // kNotFound
  // Calls `visit` for each run, newest first. The row is valid during that call only. Stops at the
  // first Error of `visit` and returns it. `visit` must not call this store.
  virtual Status Visit(const RunQuery& query,
                       const std::function<Status(const RunRow& row)>& visit) = 0;
  Result<std::vector<RunRow>> List(const RunQuery& query);  // the rows of Visit()
  // Ignores `limit` and `offset`.
  virtual Result<uint64_t> CountRuns(const RunQuery& query) = 0;
  // Run ids that begin with `prefix`, newest first, at most `limit`. An empty `project_id` means
  // all projects, here and in the next two.
  virtual Result<std::vector<std::string>> IdsWithPrefix(const std::string& project_id,
                                                         std::string_view prefix, size_t limit) = 0;
  // nullopt when no run has this number. If several have it, the newest.
  virtual Result<std::optional<std::string>> IdOfNumber(const std::string& project_id,
                                                        int64_t number) = 0;
  // The largest run number; 0: none.
  virtual Result<int64_t> LastNumber(const std::string& project_id) = 0;

  // Calls `visit` with every point of a series, in the order they were logged. With an empty
  // `name`, all series, one after the other by name. An unknown run or series has no points. Stops
  // at the first Error of `visit` and returns it. `visit` must not call this store.
  virtual Status ReadMetrics(const std::string& run_id, const std::string& name,
                             const std::function<Status(const std::string& series,
                                                        const run::MetricPoint& point)>& visit) = 0;

  // Notes why a run's folder can't be read (RunView::unreadable); `why` "": it can. If no segment
  // has said what was submitted, the run gets a row made of `known` (its spec and created_us);
  // `why` "" removes that row. May be repeated; costs little when nothing changes.
  virtual Status SetUnreadable(const std::string& run_id, const std::string& why,
                               const journal::RunView& known) = 0;

  virtual Status Delete(const std::string& run_id) = 0;  // an unknown run is no error
  virtual Status Clear() = 0;                            // removes everything; for rebuild

  // True from the time the index was made or emptied until MarkRebuilt(): run folders that existed
  // before may be missing in it. RebuildHistory() fills the index and calls MarkRebuilt().
  virtual Result<bool> NeedsRebuild() = 0;
  virtual Status MarkRebuilt() = 0;

  virtual Result<Seen> LastSeen() = 0;
  // With `before`, changes nothing unless LastSeen() equals `before`.
  virtual Status MarkSeen(const Seen& now, const std::optional<Seen>& before = std::nullopt) = 0;
};

// SQLite in a file on a local disk (IndexPath()). A missing file is made; one of an older release
// is migrated. kInvalid when a newer release wrote it. kCorrupt, with the hint `tenon history
// rebuild`, when it is damaged. A file that can't be written is opened for reading; writes then
// fail with kDenied.
Result<std::unique_ptr<HistoryStore>> OpenSqliteStore(const std::string& path);

// In memory, for tests and for a home that cannot be written.
std::unique_ptr<HistoryStore> MakeMemoryStore();

// The path of the index of a home: in the home. If the home is on a network file system (where
// SQLite's log can't work), on local disk: below $XDG_CACHE_HOME or ~/.cache, else below /var/tmp.
// Makes that folder, but not the home. kDenied when the folder in /var/tmp is not this user's
// alone.
Result<std::string> IndexPath(const std::string& home);

// Deletes the file at `path`, whatever it is, and opens an empty index there: the way out of
// kCorrupt. Programs that have the old file open keep using it; only what they add to it is missing
// from the new index.
Result<std::unique_ptr<HistoryStore>> RecreateSqliteStore(const std::string& path);

// Brings the index up to date with one run folder: ingests what its segments have after PlaceOf().
// If a segment can't be read, the others are ingested all the same; the first such Error is
// returned, and the run is noted as unreadable with the reason (not for kUnavailable, kInternal, or
// when the index itself is at fault). A folder that looks like a run's and has no journal is noted
// too, once it is a minute old. Whatever is in the folder, this does not wait, does not follow a
// symlink in place of a segment, and takes no more memory than journal::kMaxHeld allows. May be
// repeated; costs little when there is nothing new.
Status IngestRunFolder(HistoryStore& store, const std::string& run_id,
                       const std::string& run_folder);

struct RebuildResult {
  uint64_t runs = 0;            // run folders ingested
  std::vector<Error> problems;  // each names its run; the other runs are in the index
};
// Brings the index up to date with every folder below `runs_folder` (a missing folder has none) and
// marks it rebuilt. To make the index from nothing, call Clear() first. `progress`, if given, is
// called after each run. kDenied when the index can't be written.
Result<RebuildResult> RebuildHistory(
    HistoryStore& store, const std::string& runs_folder,
    const std::function<void(uint64_t done, uint64_t total)>& progress);

// A stamp of runs/ that changes whenever a folder is made or removed there. Code that makes a run
// folder makes sure of that (engine/run/claim.h). 0: runs/ does not exist.
int64_t StampOf(const std::string& runs_folder);
// The current boot, for Seen::boot.
int64_t BootStamp();

// Brings the index up to date if run folders were added or removed, or the machine was restarted,
// since LastSeen(). One stat tells whether anything changed.
//
// In the same boot only the names are compared: new folders are ingested, and runs without a folder
// are deleted unless GoesOnWithoutFolder(). A run that is in the index and goes on is updated by
// whoever lists it. After a restart all segments are ingested, and runs written in the ten minutes
// before the newest write are compared from their first record. A folder that can't be ingested
// does not stop the others. A folder that may yet become a run is looked at again next time.
Status CatchUp(HistoryStore& store, const std::string& runs_folder,
               const std::function<void(uint64_t done, uint64_t total)>& progress = {});

// Whether a run on this machine whose folder was deleted by hand still runs, or may still run in
// its container. It stays listed, so that it can be canceled.
bool GoesOnWithoutFolder(HistoryStore& store, const std::string& run_id);

// Opens the index of a home (~/.tenon), wherever it is stored, and brings it up to date:
// RebuildHistory() if the index is new, else CatchUp(). Returns an index in memory, filled from the
// run folders, when no index can be opened for want of rights, or when the index is behind and
// can't be written (a read-only home, a full disk).
Result<std::unique_ptr<HistoryStore>> OpenHistory(
    const std::string& home,
    const std::function<void(uint64_t done, uint64_t total)>& progress = {});
// The same without reading the run folders; the index may be behind. For callers that only ingest a
// run of their own.
Result<std::unique_ptr<HistoryStore>> OpenHistoryAsItIs(const std::string& home);

}  // namespace tenon::history

#endif  // TENON_HISTORY_STORE_H_
