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
  size_t limit = 0;    // 0: all
  size_t offset = 0;
};

// A row of a listing: the view without what only one run's page needs (steps, notices; artifacts and
// series are there, because listings in JSON show them).
using RunRow = journal::RunView;

// The index over journals. Everything in it can be dropped and made again from the run folders, so no
// write here waits for the disk. Safe for many processes at once. Methods are called from one thread.
class HistoryStore {
 public:
  virtual ~HistoryStore() = default;

  // Where ingest has got to in each segment of a run; empty for an unknown run.
  virtual Result<journal::Place> PlaceOf(const std::string& run_id) = 0;

  // Takes records of one segment that follow `after` (as PlaceOf said). `read` is called until it
  // returns nullopt and yields them in order. Keyed by (run, segment, record): records at or before
  // the stored place are skipped, so a repeat or two clients at once change nothing. All or nothing.
  // Returns the new place.
  virtual Result<journal::Cursor> Ingest(
      const std::string& run_id, const std::string& segment,
      const std::function<Result<std::optional<journal::Record>>()>& read,
      const std::function<journal::Cursor()>& cursor, uint64_t hole_bytes) = 0;

  virtual Result<journal::RunView> Get(const std::string& run_id) = 0;                  // kNotFound
  virtual Result<std::vector<RunRow>> List(const RunQuery& query) = 0;                  // newest first
  virtual Result<uint64_t> CountRuns(const RunQuery& query) = 0;
  // Ids that begin with `prefix` (at most `limit`), newest first.
  virtual Result<std::vector<std::string>> IdsWithPrefix(const std::string& project_id,
                                                         std::string_view prefix, size_t limit) = 0;
  virtual Result<std::optional<std::string>> IdOfNumber(const std::string& project_id, int64_t number) = 0;
  virtual Result<int64_t> LastNumber(const std::string& project_id) = 0;                // 0: none

  // Every point of a series (all series when `name` is empty), in the order they were logged.
  virtual Status ReadMetrics(const std::string& run_id, const std::string& name,
                             const std::function<Status(const std::string& series,
                                                        const run::MetricPoint& point)>& visit) = 0;

  virtual Status Delete(const std::string& run_id) = 0;  // not there = success
  virtual Status Clear() = 0;                            // everything; for rebuild
};

// SQLite in a file. Missing: made. Written by an older release: migrated. By a newer one: kInvalid
// saying so. Damaged: kCorrupt with the hint `tenon history rebuild`.
Result<std::unique_ptr<HistoryStore>> OpenSqliteStore(const std::string& path);

// In memory, for tests, and when the home cannot be written.
std::unique_ptr<HistoryStore> MakeMemoryStore();

// Brings the index up to date with one run folder: ingests what its segments have beyond PlaceOf().
Status IngestRunFolder(HistoryStore& store, const std::string& run_id, const std::string& run_folder);

}  // namespace tenon::history

#endif  // TENON_HISTORY_STORE_H_
