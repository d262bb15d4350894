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

// Which runs. Empty members do not restrict.
struct RunQuery {
  std::string project_id;
  std::vector<run::State> states;
  std::string script;
  std::string target;
  std::vector<std::pair<std::string, std::string>> tags;  // value "" = any value
  bool include_hidden = false;
  bool include_untracked = false;
  bool unfinished_only = false;
  // Those of which nothing but their folder is known as well (SetUnreadable()). The project of one
  // may be unknown: it is then among those of every project. They have no end.
  bool include_unreadable = false;
  size_t limit = 0;  // 0: all
  size_t offset = 0;
};

// A row of a listing: the view without what only one run's page needs (steps, notices; artifacts
// and series are there, because listings in JSON show them).
using RunRow = journal::RunView;

// What the run folders looked like when the index was last known to have all of them: one stat of
// runs/, and the boot in which their segments were last compared with it. A power cut may take back
// what was written last, of the index and of segments alike; it never does so within one boot.
struct Seen {
  int64_t runs = 0;  // StampOf() the folder; 0: not known
  int64_t boot = 0;  // of the boot id; 0: not known
  bool operator==(const Seen&) const = default;
};

// The index over journals. Everything in it can be dropped and made again from the run folders, so
// no write here waits for the disk. Safe for many processes at once. Methods are called from one
// thread.
class HistoryStore {
 public:
  virtual ~HistoryStore() = default;

  // Where ingest has got to in each segment of a run; empty for an unknown run.
  virtual Result<journal::Place> PlaceOf(const std::string& run_id) = 0;

  // Takes records of one segment that follow `after` (as PlaceOf said). `read` is called until it
  // returns nullopt and yields them in order; `cursor` says where it is. Keyed by (run, segment,
  // record): records at or before the stored place are skipped, so a repeat or two clients at once
  // change nothing. All or nothing. `hole_bytes` are those after the last record that are no
  // record, of a segment without a writer (journal::Reader::Close()), 0 otherwise; they replace
  // what was said before. Holes between records follow from the cursors. Returns the new place.
  // Other calls on this store are not allowed in `read` and `cursor`.
  virtual Result<journal::Cursor> Ingest(
      const std::string& run_id, const std::string& segment,
      const std::function<Result<std::optional<journal::Record>>()>& read,
      const std::function<journal::Cursor()>& cursor, uint64_t hole_bytes) = 0;

  virtual Result<journal::RunView> Get(const std::string& run_id) = 0;  // kNotFound
  // Newest first. A row is there for the length of the call; `visit` makes no other call on this
  // store.
  virtual Status Visit(const RunQuery& query,
                       const std::function<Status(const RunRow& row)>& visit) = 0;
  Result<std::vector<RunRow>> List(const RunQuery& query);  // what Visit() shows
  virtual Result<uint64_t> CountRuns(const RunQuery& query) = 0;
  // Ids that begin with `prefix` (at most `limit`), newest first.
  virtual Result<std::vector<std::string>> IdsWithPrefix(const std::string& project_id,
                                                         std::string_view prefix, size_t limit) = 0;
  virtual Result<std::optional<std::string>> IdOfNumber(const std::string& project_id,
                                                        int64_t number) = 0;
  virtual Result<int64_t> LastNumber(const std::string& project_id) = 0;  // 0: none

  // Every point of a series, in the order they were logged; with an empty `name` all series, one
  // after the other by name. An unknown run or series has no points. `visit` makes no other call on
  // this store.
  virtual Status ReadMetrics(const std::string& run_id, const std::string& name,
                             const std::function<Status(const std::string& series,
                                                        const run::MetricPoint& point)>& visit) = 0;

  // Notes why a run's folder can't be read as it should (RunView::unreadable), "" when it can. A
  // run of which no segment has told anything gets a row made of `known`, as far as that goes: its
  // spec and created_us. It goes again when there is no more reason for it. Costs little when
  // nothing changes.
  virtual Status SetUnreadable(const std::string& run_id, const std::string& why,
                               const journal::RunView& known) = 0;

  virtual Status Delete(const std::string& run_id) = 0;  // not there = success
  virtual Status Clear() = 0;                            // everything; for rebuild

  // True from when the index was made (or emptied) until MarkRebuilt(): run folders that were there
  // before may be missing in it. RebuildHistory() sees to both.
  virtual Result<bool> NeedsRebuild() = 0;
  virtual Status MarkRebuilt() = 0;

  virtual Result<Seen> LastSeen() = 0;
  // With `before`: only if that is what LastSeen() says, else nothing is done.
  virtual Status MarkSeen(const Seen& now, const std::optional<Seen>& before = std::nullopt) = 0;
};

// SQLite in a file on a local disk (IndexPath()). Missing: made. Written by an older release:
// migrated. By a newer one: kInvalid saying so. Damaged: kCorrupt with the hint `tenon history
// rebuild`. A file that can't be written is opened for reading; writes are then kDenied.
Result<std::unique_ptr<HistoryStore>> OpenSqliteStore(const std::string& path);

// In memory, for tests, and when the home cannot be written.
std::unique_ptr<HistoryStore> MakeMemoryStore();

// Where the index of a home lies: in it, or, when it is on a network file system (where SQLite's
// log can't work), on local disk: $XDG_CACHE_HOME or ~/.cache, else /var/tmp. Makes the folder.
Result<std::string> IndexPath(const std::string& home);

// Throws the file at `path` away, whatever it is, and opens an empty index there: the way out of
// kCorrupt. Programs that have the old one open go on with it and lose nothing but their entries
// here.
Result<std::unique_ptr<HistoryStore>> RecreateSqliteStore(const std::string& path);

// Brings the index up to date with one run folder: ingests what its segments have beyond PlaceOf().
// A segment that can't be read does not keep the others from it; the first such Error is returned,
// and the run is noted as unreadable, with the reason. A folder that looks like a run's and has no
// journal is noted too, once it is a minute old. Nothing that lies there makes this wait, follow a
// symlink in place of a segment, or take more memory than journal::kMaxHeld allows.
// May be repeated; costs little when there is nothing new.
Status IngestRunFolder(HistoryStore& store, const std::string& run_id,
                       const std::string& run_folder);

struct RebuildResult {
  uint64_t runs = 0;            // run folders taken in
  std::vector<Error> problems;  // each names its run; the others are in the index all the same
};
// Brings the index up to date with every folder below `runs_folder` (missing: none) and marks it
// rebuilt. Clear() first makes it from nothing. `progress`, if given, hears of each run.
Result<RebuildResult> RebuildHistory(
    HistoryStore& store, const std::string& runs_folder,
    const std::function<void(uint64_t done, uint64_t total)>& progress);

// What runs/ is recognised by. Changes with every folder that is made or removed there; whoever
// makes one sees to it that it does (engine/run/claim.h). 0: there is none.
int64_t StampOf(const std::string& runs_folder);
// The present boot, as Seen has it.
int64_t BootStamp();

// Brings the index up to date if run folders have come or gone, or if the machine was started anew,
// since LastSeen(); one stat tells. In the same boot only the names are compared: a run that is in
// the index and goes on is looked at by whoever lists it. In another boot all segments are, those
// of the last minutes before it from their first record. A folder that can't be taken in keeps no
// other from it and is tried again next time.
Status CatchUp(HistoryStore& store, const std::string& runs_folder,
               const std::function<void(uint64_t done, uint64_t total)>& progress = {});

// Whether a run on this machine, whose folder was removed by hand, goes on all the same, or might,
// in its container: it stays listed, so that it can be canceled.
bool GoesOnWithoutFolder(HistoryStore& store, const std::string& run_id);

// The index of a home (~/.tenon), wherever it lies, filled from the run folders if it had to be
// made, and caught up with. When there is none and none can be made, or when it is behind and can't
// be written (read-only home): in memory.
Result<std::unique_ptr<HistoryStore>> OpenHistory(
    const std::string& home,
    const std::function<void(uint64_t done, uint64_t total)>& progress = {});
// The same as it is, without a look at the run folders: for who takes in a run of their own.
Result<std::unique_ptr<HistoryStore>> OpenHistoryAsItIs(const std::string& home);

}  // namespace tenon::history

#endif  // TENON_HISTORY_STORE_H_
