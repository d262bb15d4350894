// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <utility>

#include "base/file.h"
#include "history/codec.h"
#include "history/database.h"
#include "history/intake.h"
#include "history/schema.h"
#include "history/store.h"
#include "run/state.h"

namespace tenon::history {
namespace {

// After this many writes the store is used for a rebuild or a long follow, not for one command.
constexpr int kManyWrites = 100;

// The value of runs.hidden for a run known only from its folder.
constexpr int64_t kHiddenUntold = 2;

// The smallest string greater than every string that begins with `prefix`; "" when there is none.
std::string AfterPrefix(std::string_view prefix) {
  std::string after(prefix);
  while (!after.empty() && after.back() == '\xff') after.pop_back();
  if (!after.empty())
    after.back() = static_cast<char>(static_cast<unsigned char>(after.back()) + 1);
  return after;
}

// The FROM and WHERE of a RunQuery, and its parameters in order.
struct Selection {
  // `homeless`: the index has runs whose project is not known.
  Selection(const RunQuery& query, bool homeless) {
    from = query.unfinished_only ? " FROM runs INDEXED BY runs_unfinished" : " FROM runs";
    where = " WHERE 1";
    if (!query.project_id.empty()) {
      Add(homeless && query.include_unreadable ? " AND project_id IN (?, '')"
                                               : " AND project_id = ?",
          query.project_id);
    }
    if (!query.script.empty()) Add(" AND script = ?", query.script);
    if (!query.target.empty()) Add(" AND target = ?", query.target);
    if (query.include_hidden) {
      if (!query.include_unreadable) where += " AND hidden != 2";
    } else {
      where += query.include_unreadable ? " AND hidden IN (0, 2)" : " AND hidden = 0";
    }
    if (!query.include_untracked) where += " AND tracked = 1";
    if (query.unfinished_only) where += " AND finished = 0";
    AddStates(query.states);
    for (const auto& [name, value] : query.tags) {
      Add(" AND EXISTS(SELECT 1 FROM tags WHERE tags.run_id = runs.run_id AND name = ?", name);
      if (!value.empty()) Add(" AND value = ?", value);
      where += ")";
    }
  }

  void BindTo(Query& query) const {
    for (const std::string& text : texts) query.Bind(text);
  }

  std::string from, where;
  std::vector<std::string> texts;

 private:
  void Add(std::string_view condition, const std::string& text) {
    where += condition;
    texts.push_back(text);
  }
  void AddStates(const std::vector<run::State>& states) {
    if (states.empty()) return;
    where += " AND state IN (";
    for (size_t i = 0; i < states.size(); ++i) {
      if (i > 0) where += ",";
      where += std::to_string(static_cast<int>(states[i]));
    }
    where += ")";
  }
};

class SqliteStore : public HistoryStore {
 public:
  explicit SqliteStore(std::unique_ptr<Database> database) : db_(std::move(database)) {}

  Result<journal::Place> PlaceOf(const std::string& run_id) override {
    TENON_TRY(Query query,
              db_->Prepare("SELECT segment, record, offset FROM segments WHERE run_id = ?"));
    query.Bind(run_id);
    journal::Place place;
    while (true) {
      TENON_TRY(const bool row, query.Step());
      if (!row) return place;
      place[std::string(query.Text(0))] = CursorAt(query, 1);
    }
  }

  Result<journal::Cursor> Ingest(
      const std::string& run_id, const std::string& segment,
      const std::function<Result<std::optional<journal::Record>>()>& read,
      const std::function<journal::Cursor()>& cursor, uint64_t hole_bytes) override {
    TENON_TRY(Transaction transaction, Transaction::Begin(*db_));
    if (++writes_ == kManyWrites) db_->ExpectManyWrites();
    TENON_TRY(auto segments, LoadSegments(run_id));
    SegmentState& state = segments[segment];
    TENON_TRY(
        const bool changed,
        TakeRecords(state, segment, read, cursor, hole_bytes, RoomFor(segment, segments),
                    [&](const StoredBlock& block) { return SaveBlock(run_id, segment, block); }));
    const journal::Cursor at = state.at;
    if (!changed) return at;
    TENON_TRY_VOID(SaveSegment(run_id, segment, state));
    TENON_TRY_VOID(SaveRun(run_id, std::move(segments)));
    TENON_TRY_VOID(transaction.Commit());
    return at;
  }

  Result<journal::RunView> Get(const std::string& run_id) override {
    TENON_TRY(Query query,
              db_->Prepare("SELECT row, detail, unreadable, hidden FROM runs JOIN views USING (id) "
                           "WHERE run_id = ?"));
    TENON_TRY(const bool row, query.Bind(run_id).Step());
    if (!row) return NotFound("there is no run " + run_id);
    journal::RunView view;
    TENON_TRY_VOID(DecodeRow(query.Blob(0), view));
    TENON_TRY_VOID(DecodeDetail(query.Blob(1), view));
    view.unreadable = query.Text(2);
    view.untold = query.Int(3) == kHiddenUntold;
    return view;
  }

  Status Visit(const RunQuery& query, const std::function<Status(const RunRow&)>& visit) override {
    TENON_TRY(const bool homeless, HasHomeless());
    const Selection selection(query, homeless);
    TENON_TRY(Query rows, db_->Prepare("SELECT row, unreadable, hidden" + selection.from +
                                       " CROSS JOIN views USING (id)" + selection.where +
                                       " ORDER BY created_us DESC, run_id DESC LIMIT ? OFFSET ?"));
    selection.BindTo(rows);
    rows.Bind(query.limit == 0 ? int64_t{-1} : static_cast<int64_t>(query.limit));
    rows.Bind(static_cast<int64_t>(query.offset));
    RunRow row;  // one for all rows, so that its memory is used again
    while (true) {
      TENON_TRY(const bool more, rows.Step());
      if (!more) return {};
      TENON_TRY_VOID(DecodeRow(rows.Blob(0), row));
      row.unreadable = rows.Text(1);
      row.untold = rows.Int(2) == kHiddenUntold;
      TENON_TRY_VOID(visit(row));
    }
  }

  Result<uint64_t> CountRuns(const RunQuery& query) override {
    TENON_TRY(const bool homeless, HasHomeless());
    const Selection selection(query, homeless);
    TENON_TRY(Query count, db_->Prepare("SELECT count(*)" + selection.from + selection.where));
    selection.BindTo(count);
    TENON_TRY_VOID(count.Step());
    return static_cast<uint64_t>(count.Int(0));
  }

  Result<std::vector<std::string>> IdsWithPrefix(const std::string& project_id,
                                                 std::string_view prefix, size_t limit) override {
    const std::string after = AfterPrefix(prefix);
    std::string sql = "SELECT run_id FROM runs WHERE run_id >= ?";
    if (!after.empty()) sql += " AND run_id < ?";
    if (!project_id.empty()) sql += " AND +project_id = ?";  // +: walk the ids, not the project
    TENON_TRY(Query query, db_->Prepare(sql + " ORDER BY created_us DESC, run_id DESC LIMIT ?"));
    query.Bind(prefix);
    if (!after.empty()) query.Bind(after);
    if (!project_id.empty()) query.Bind(project_id);
    query.Bind(static_cast<int64_t>(limit));
    std::vector<std::string> ids;
    while (true) {
      TENON_TRY(const bool row, query.Step());
      if (!row) return ids;
      ids.emplace_back(query.Text(0));
    }
  }

  Result<std::optional<std::string>> IdOfNumber(const std::string& project_id,
                                                int64_t number) override {
    TENON_TRY(Query query,
              db_->Prepare(project_id.empty() ? "SELECT run_id FROM runs WHERE number = ? "
                                                "ORDER BY created_us DESC, run_id DESC LIMIT 1"
                                              : "SELECT run_id FROM runs INDEXED BY runs_by_number "
                                                "WHERE number = ? AND project_id = ? "
                                                "ORDER BY created_us DESC, run_id DESC LIMIT 1"));
    query.Bind(number);
    if (!project_id.empty()) query.Bind(project_id);
    TENON_TRY(const bool row, query.Step());
    if (!row) return std::optional<std::string>();
    return std::optional<std::string>(query.Text(0));
  }

  Result<int64_t> LastNumber(const std::string& project_id) override {
    TENON_TRY(Query query,
              db_->Prepare(project_id.empty() ? "SELECT max(0, coalesce(max(number), 0)) FROM runs"
                                              : "SELECT max(0, coalesce(max(number), 0)) FROM runs "
                                                "WHERE project_id = ?"));
    if (!project_id.empty()) query.Bind(project_id);
    TENON_TRY_VOID(query.Step());
    return query.Int(0);
  }

  Status ReadMetrics(const std::string& run_id, const std::string& name,
                     const std::function<Status(const std::string& series,
                                                const run::MetricPoint& point)>& visit) override {
    std::string sql = "SELECT series, data FROM metric_blocks WHERE run_id = ?";
    if (!name.empty()) sql += " AND series = ?";
    TENON_TRY(Query query, db_->Prepare(sql + " ORDER BY run_id, series, segment, record, block"));
    query.Bind(run_id);
    if (!name.empty()) query.Bind(name);
    while (true) {
      TENON_TRY(const bool row, query.Step());
      if (!row) return {};
      TENON_TRY_VOID(VisitPoints(std::string(query.Text(0)), query.Blob(1), visit));
    }
  }

  Status SetUnreadable(const std::string& run_id, const std::string& why,
                       const journal::RunView& known) override {
    bool there = false, told = false;
    std::string before, project;
    {
      TENON_TRY(Query query, db_->Prepare("SELECT unreadable, hidden, project_id FROM runs "
                                          "JOIN views USING (id) WHERE run_id = ?"));
      TENON_TRY(there, query.Bind(run_id).Step());
      if (there) {
        before = query.Text(0);
        told = query.Int(1) != kHiddenUntold;
        project = query.Text(2);
      }
    }
    if (why == before && (told || !there || !project.empty())) return {};
    if (!told && why.empty()) return Delete(run_id);
    TENON_TRY(Transaction transaction, Transaction::Begin(*db_));
    if (!told) TENON_TRY_VOID(SaveUntold(run_id, known));
    TENON_TRY(Query query, db_->Prepare("UPDATE views SET unreadable = ? WHERE id = "
                                        "(SELECT id FROM runs WHERE run_id = ?)"));
    TENON_TRY_VOID(query.Bind(why).Bind(run_id).Run());
    return transaction.Commit();
  }

  Status Delete(const std::string& run_id) override {
    TENON_TRY(Transaction transaction, Transaction::Begin(*db_));
    for (const char* sql :
         {"DELETE FROM views WHERE id = (SELECT id FROM runs WHERE run_id = ?)",
          "DELETE FROM runs WHERE run_id = ?", "DELETE FROM tags WHERE run_id = ?",
          "DELETE FROM segments WHERE run_id = ?", "DELETE FROM metric_blocks WHERE run_id = ?"}) {
      TENON_TRY(Query query, db_->Prepare(sql));
      TENON_TRY_VOID(query.Bind(run_id).Run());
    }
    return transaction.Commit();
  }

  Status Clear() override {
    TENON_TRY(Transaction transaction, Transaction::Begin(*db_));
    TENON_TRY_VOID(
        db_->Execute("DELETE FROM views; DELETE FROM runs; DELETE FROM tags; "
                     "DELETE FROM segments; DELETE FROM metric_blocks; "
                     "UPDATE meta SET value = 0 WHERE key IN ('complete', 'runs', 'boot')"));
    return transaction.Commit();
  }

  Result<bool> NeedsRebuild() override {
    TENON_TRY(Query query, db_->Prepare("SELECT value FROM meta WHERE key = 'complete'"));
    TENON_TRY(const bool row, query.Step());
    return !row || query.Int(0) == 0;
  }

  Status MarkRebuilt() override {
    TENON_TRY(Transaction transaction, Transaction::Begin(*db_));
    TENON_TRY_VOID(db_->Execute("INSERT OR REPLACE INTO meta VALUES('complete', 1)"));
    return transaction.Commit();
  }

  Result<Seen> LastSeen() override {
    TENON_TRY(Query query,
              db_->Prepare("SELECT key, value FROM meta WHERE key IN ('runs', 'boot')"));
    Seen seen;
    while (true) {
      TENON_TRY(const bool row, query.Step());
      if (!row) return seen;
      (query.Text(0) == "runs" ? seen.runs : seen.boot) = query.Int(1);
    }
  }

  Status MarkSeen(const Seen& now, const std::optional<Seen>& before) override {
    TENON_TRY(Transaction transaction, Transaction::Begin(*db_));
    if (before) {
      TENON_TRY(const Seen last, LastSeen());
      if (last != *before) return {};
    }
    {
      TENON_TRY(Query query,
                db_->Prepare("INSERT OR REPLACE INTO meta VALUES('runs', ?), ('boot', ?)"));
      TENON_TRY_VOID(query.Bind(now.runs).Bind(now.boot).Run());
    }
    return transaction.Commit();
  }

 private:
  static journal::Cursor CursorAt(const Query& query, int column) {
    return {static_cast<uint64_t>(query.Int(column)), static_cast<uint64_t>(query.Int(column + 1))};
  }

  Result<std::map<std::string, SegmentState>> LoadSegments(const std::string& run_id) {
    TENON_TRY(Query query, db_->Prepare("SELECT segment, record, offset, tail, fold FROM segments "
                                        "WHERE run_id = ?"));
    query.Bind(run_id);
    std::map<std::string, SegmentState> segments;
    while (true) {
      TENON_TRY(const bool row, query.Step());
      if (!row) return segments;
      SegmentState& state = segments[std::string(query.Text(0))];
      state.at = CursorAt(query, 1);
      state.tail = static_cast<uint64_t>(query.Int(3));
      TENON_TRY(state.fold, DecodeFold(query.Blob(4)));
    }
  }

  Status SaveSegment(const std::string& run_id, const std::string& segment,
                     const SegmentState& state) {
    TENON_TRY(Query query,
              db_->Prepare("INSERT OR REPLACE INTO segments VALUES(?, ?, ?, ?, ?, ?)"));
    const std::string fold = EncodeFold(state.fold);
    query.Bind(run_id).Bind(segment).Bind(static_cast<int64_t>(state.at.record));
    query.Bind(static_cast<int64_t>(state.at.offset)).Bind(static_cast<int64_t>(state.tail));
    return query.BindBlob(fold).Run();
  }

  Status SaveBlock(const std::string& run_id, const std::string& segment,
                   const StoredBlock& block) {
    TENON_TRY(Query query,
              db_->Prepare("INSERT OR REPLACE INTO metric_blocks VALUES(?, ?, ?, ?, ?, ?)"));
    query.Bind(run_id).Bind(block.series).Bind(segment);
    query.Bind(static_cast<int64_t>(block.record)).Bind(static_cast<int64_t>(block.block));
    return query.BindBlob(block.data).Run();
  }

  // Saves the rows by which the run is found. Saves none while no segment says what was submitted.
  Status SaveRun(const std::string& run_id, std::map<std::string, SegmentState>&& segments) {
    std::map<std::string, journal::SegmentFold> folds;
    for (auto& [name, state] : segments) folds[name] = std::move(state.fold);
    auto combined = journal::Combine(folds);
    if (!combined.ok()) {
      if (combined.error().kind == ErrorKind::kNotFound) return {};
      return std::move(combined).error();
    }
    const journal::RunView& view = *combined;
    folds.clear();
    TENON_TRY_VOID(SaveView(run_id, view, view.hidden));
    return SaveTags(run_id, view);
  }

  Status SaveView(const std::string& run_id, const journal::RunView& view, int64_t hidden) {
    TENON_TRY(const int64_t id, SaveRunRow(run_id, view, hidden));
    TENON_TRY(Query query,
              db_->Prepare("INSERT OR REPLACE INTO views(id, row, detail) VALUES(?, ?, ?)"));
    const std::string row = EncodeRow(view);
    const std::string detail = EncodeDetail(view);
    return query.Bind(id).BindBlob(row).BindBlob(detail).Run();
  }

  // Saves a row for a run known only from its folder. If `known` has no project, takes that of the
  // newest run whose id begins alike.
  Status SaveUntold(const std::string& run_id, journal::RunView known) {
    if (known.spec.project_id.empty()) {
      const std::string stem = run_id.substr(0, run_id.rfind('_') + 1);
      TENON_TRY(Query query, db_->Prepare("SELECT project_id FROM runs WHERE run_id >= ? AND "
                                          "run_id < ? AND project_id != '' "
                                          "ORDER BY created_us DESC LIMIT 1"));
      TENON_TRY(const bool row, query.Bind(stem).Bind(AfterPrefix(stem)).Step());
      if (row) known.spec.project_id = query.Text(0);
    }
    return SaveView(run_id, known, kHiddenUntold);
  }

  // Whether any run has no known project. Most indexes have none, so listings need not look for
  // them.
  Result<bool> HasHomeless() {
    TENON_TRY(Query query, db_->Prepare("SELECT 1 FROM runs WHERE project_id = '' LIMIT 1"));
    return query.Step();
  }

  Result<int64_t> SaveRunRow(const std::string& run_id, const journal::RunView& view,
                             int64_t hidden) {
    TENON_TRY(
        Query query,
        db_->Prepare("INSERT INTO runs(run_id, project_id, number, created_us, state, finished, "
                     "hidden, tracked, script, target) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?) "
                     "ON CONFLICT(run_id) DO UPDATE SET project_id = excluded.project_id, "
                     "number = excluded.number, created_us = excluded.created_us, "
                     "state = excluded.state, finished = excluded.finished, "
                     "hidden = excluded.hidden, tracked = excluded.tracked, "
                     "script = excluded.script, target = excluded.target RETURNING id"));
    query.Bind(run_id).Bind(view.spec.project_id).Bind(view.spec.number).Bind(view.created_us);
    query.Bind(static_cast<int64_t>(view.state)).Bind(int64_t{run::IsFinal(view.state)});
    query.Bind(hidden).Bind(int64_t{view.spec.tracked});
    query.Bind(view.spec.script).Bind(view.spec.target);
    TENON_TRY(const bool row, query.Step());
    TENON_CHECK(row);
    return query.Int(0);
  }

  Status SaveTags(const std::string& run_id, const journal::RunView& view) {
    {
      TENON_TRY(Query query, db_->Prepare("DELETE FROM tags WHERE run_id = ?"));
      TENON_TRY_VOID(query.Bind(run_id).Run());
    }
    for (const auto& [name, value] : view.tags) {
      TENON_TRY(Query query, db_->Prepare("INSERT INTO tags VALUES(?, ?, ?)"));
      TENON_TRY_VOID(query.Bind(run_id).Bind(name).Bind(value).Run());
    }
    return {};
  }

  std::unique_ptr<Database> db_;
  int writes_ = 0;
};

}  // namespace

Result<std::unique_ptr<HistoryStore>> OpenSqliteStore(const std::string& path) {
  TENON_TRY(std::unique_ptr<Database> database, Database::Open(path));
  TENON_TRY_VOID(Migrate(*database, Migrations()));
  return std::unique_ptr<HistoryStore>(std::make_unique<SqliteStore>(std::move(database)));
}

Result<std::unique_ptr<HistoryStore>> RecreateSqliteStore(const std::string& path) {
  // Remove the log before the file, so that a new file never has the old log beside it.
  for (const char* suffix : {"-wal", "-shm", "-journal", ""}) {
    TENON_TRY_VOID(RemoveFile(path + suffix));
  }
  return OpenSqliteStore(path);
}

}  // namespace tenon::history
