// SPDX-License-Identifier: Apache-2.0
#include "history/schema.h"

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "history/codec_v4.h"

namespace tenon::history {
namespace {

// `runs` has the columns that listings filter and order by. Its indexes have all of these columns,
// so a page of a listing takes one walk along an index and one look-up in `views` per row. `views`
// has the run in the form of codec.h: `row` is what listings show, `detail` the rest. A run is in
// both once its kSubmitted record is known; its segments may be stored before that. A run known
// only from its folder has hidden = 2.
//
// The points of a series are stored together. The key makes a repeated ingest harmless.
//
// meta: 'complete' is 1 once every run folder has been looked at since the file was made; 'runs'
// and 'boot' are the two members of Seen (store.h).
constexpr const char* kVersion1 = R"sql(
CREATE TABLE meta(key TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
INSERT INTO meta VALUES('complete', 0);

CREATE TABLE segments(
  run_id TEXT NOT NULL,
  segment TEXT NOT NULL,
  record INTEGER NOT NULL,
  offset INTEGER NOT NULL,
  tail INTEGER NOT NULL,
  fold BLOB NOT NULL,
  PRIMARY KEY(run_id, segment));

CREATE TABLE metric_blocks(
  run_id TEXT NOT NULL,
  series TEXT NOT NULL,
  segment TEXT NOT NULL,
  record INTEGER NOT NULL,
  block INTEGER NOT NULL,
  data BLOB NOT NULL,
  PRIMARY KEY(run_id, series, segment, record, block)) WITHOUT ROWID;

CREATE TABLE runs(
  id INTEGER PRIMARY KEY,
  run_id TEXT NOT NULL UNIQUE,
  project_id TEXT NOT NULL,
  number INTEGER NOT NULL,
  created_us INTEGER NOT NULL,
  state INTEGER NOT NULL,
  finished INTEGER NOT NULL,
  hidden INTEGER NOT NULL,
  tracked INTEGER NOT NULL,
  script TEXT NOT NULL,
  target TEXT NOT NULL);
CREATE INDEX runs_by_project ON runs(
  project_id, created_us DESC, run_id DESC, hidden, tracked, finished, state, script, target);
CREATE INDEX runs_by_time ON runs(
  created_us DESC, run_id DESC, hidden, tracked, finished, state, script, target);
CREATE INDEX runs_by_number ON runs(project_id, number);
CREATE INDEX runs_unfinished ON runs(created_us DESC, run_id DESC) WHERE finished = 0;

CREATE TABLE views(id INTEGER PRIMARY KEY, row BLOB NOT NULL, detail BLOB NOT NULL);

CREATE TABLE tags(
  run_id TEXT NOT NULL,
  name TEXT NOT NULL,
  value TEXT NOT NULL,
  PRIMARY KEY(run_id, name)) WITHOUT ROWID;
)sql";

Status ToVersion1(Database& database) { return database.Execute(kVersion1); }

// Folds and runs have new members (environments, containers), so they are made again from the
// journals.
Status ToVersion2(Database& database) {
  return database.Execute(
      "DELETE FROM segments; DELETE FROM metric_blocks; DELETE FROM runs; DELETE FROM views; "
      "DELETE FROM tags; UPDATE meta SET value = 0 WHERE key = 'complete';");
}

// Likewise: hosts, retries, data sets.
Status ToVersion3(Database& database) { return ToVersion2(database); }

// Runs whose folder can't be read get a row with the reason. Likewise new members: outputs that are
// not collected, who asks for a GPU.
Status ToVersion4(Database& database) {
  TENON_TRY_VOID(
      database.Execute("ALTER TABLE views ADD COLUMN unreadable TEXT NOT NULL DEFAULT '';"));
  return ToVersion2(database);
}

// Converts every value of a column. False: one of the values is damaged.
Result<bool> Convert(Database& database, const std::string& table, const std::string& column,
                     std::optional<std::string> (*convert)(std::string_view)) {
  std::vector<int64_t> ids;
  {
    TENON_TRY(Query query, database.Prepare("SELECT rowid FROM " + table));
    while (true) {
      TENON_TRY(const bool row, query.Step());
      if (!row) break;
      ids.push_back(query.Int(0));
    }
  }
  for (const int64_t id : ids) {
    std::optional<std::string> made;
    {
      TENON_TRY(Query read,
                database.Prepare("SELECT " + column + " FROM " + table + " WHERE rowid = ?"));
      TENON_TRY(const bool row, read.Bind(id).Step());
      if (row) made = convert(read.Blob(0));
    }
    if (!made) return false;
    TENON_TRY(Query write,
              database.Prepare("UPDATE " + table + " SET " + column + " = ? WHERE rowid = ?"));
    TENON_TRY_VOID(write.BindBlob(*made).Bind(id).Run());
  }
  return true;
}

// Members of folds and runs carry tags: from this version on a new member needs no migration. A
// damaged index is made again from the journals.
Status ToVersion5(Database& database) {
  using Column =
      std::tuple<const char*, const char*, std::optional<std::string> (*)(std::string_view)>;
  for (const auto& [table, column, convert] :
       {Column{"segments", "fold", FoldFromVersion4}, Column{"views", "row", RowFromVersion4},
        Column{"views", "detail", DetailFromVersion4}}) {
    TENON_TRY(const bool whole, Convert(database, table, column, convert));
    if (!whole) return ToVersion2(database);
  }
  return {};
}

constexpr std::array<Migration, 5> kMigrations = {ToVersion1, ToVersion2, ToVersion3, ToVersion4,
                                                  ToVersion5};

std::string Quoted(std::string_view name) {
  std::string out = "\"";
  for (const char c : name) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + "\"";
}

Status DropEverything(Database& database) {
  std::vector<std::string> statements;
  {
    TENON_TRY(Query query, database.Prepare("SELECT type, name FROM sqlite_schema WHERE type IN "
                                            "('table', 'view') AND name NOT LIKE 'sqlite\\_%' "
                                            "ESCAPE '\\'"));
    while (true) {
      TENON_TRY(const bool row, query.Step());
      if (!row) break;
      statements.push_back("DROP " + std::string(query.Text(0)) + " " + Quoted(query.Text(1)));
    }
  }
  for (const std::string& sql : statements) TENON_TRY_VOID(database.Execute(sql.c_str()));
  return {};
}

Result<int64_t> CheckedVersion(Database& database, size_t newest) {
  TENON_TRY(const int64_t version, database.ReadInt("PRAGMA user_version"));
  if (version < 0 || static_cast<uint64_t>(version) > newest) {
    return Invalid("the history index " + database.path() +
                   " was written by a newer Tenon (its version is " + std::to_string(version) +
                   ", this program knows up to " + std::to_string(newest) + ")")
        .WithHint("use the newer tenon; or delete that file, it is made anew from the run folders");
  }
  return version;
}

}  // namespace

std::span<const Migration> Migrations() { return kMigrations; }

Status Migrate(Database& database, std::span<const Migration> migrations) {
  TENON_TRY(int64_t version, CheckedVersion(database, migrations.size()));
  if (static_cast<uint64_t>(version) == migrations.size()) return {};
  if (database.read_only()) {
    return Denied("the history index " + database.path() +
                  " has to be brought up to date, but can't be written");
  }
  TENON_TRY(Transaction transaction, Transaction::Begin(database));
  // Another program may have migrated the file while this one waited.
  TENON_TRY(version, CheckedVersion(database, migrations.size()));
  if (version == 0) TENON_TRY_VOID(DropEverything(database));
  for (size_t i = static_cast<size_t>(version); i < migrations.size(); ++i) {
    if (Status status = migrations[i](database); !status.ok()) {
      return std::move(status).error().Wrap("taking the history index to version " +
                                            std::to_string(i + 1));
    }
  }
  TENON_TRY_VOID(
      database.Execute(("PRAGMA user_version=" + std::to_string(migrations.size())).c_str()));
  return transaction.Commit();
}

}  // namespace tenon::history
