// SPDX-License-Identifier: Apache-2.0
#include "history/schema.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/source_tree.h"
#include "history/test_journal.h"

namespace tenon::history {
namespace {

std::string DataFile(std::string_view name) {
  return SourcePath("tests/data/" + std::string(name));
}

// The number of runs in tests/data/history-v*.db. A release wrote each of these files; they never
// change. A new version of the schema gets a new file, made by
//   TENON_TEST_SAVE_HISTORY=1 history_test --gtest_filter=Schema.WriteSavedDatabase
constexpr int64_t kSavedRuns = 5;

std::string CopyOf(std::string_view name, const TestFolder& folder) {
  std::string path = folder / "history.db";
  Must(WriteFileAtomically(path, Must(ReadFile(DataFile(name))), 0644, Durability::kProcess));
  return path;
}
std::string CopyOfVersion1(const TestFolder& folder) { return CopyOf("history-v1.db", folder); }

TEST(Schema, WriteSavedDatabase) {
  if (!::getenv("TENON_TEST_SAVE_HISTORY")) {
    GTEST_SKIP() << "planned: makes a file for a new version of the schema, only when asked to";
  }
  const TestFolder folder;
  const std::string path = folder / "history.db";
  {
    const auto store = Must(OpenSqliteStore(path));
    run::Annotation tag;
    tag.set_tags = {{"stage", "prod"}};
    for (int64_t number = 1; number <= kSavedRuns; ++number) GiveRun(*store, number, {tag});
    Must(store->MarkRebuilt());
  }
  Must(Must(Database::Open(path))->ReadInt("PRAGMA wal_checkpoint(TRUNCATE)"));
  const std::string name = "history-v" + std::to_string(Migrations().size()) + ".db";
  ASSERT_FALSE(Exists(DataFile(name))) << name << " has been released";
  Must(WriteFileAtomically(DataFile(name), Must(ReadFile(path)), 0644, Durability::kProcess));
}

TEST(Schema, SavedOlderVersionsWantToBeMadeAgainFromTheJournals) {
  for (const char* name : {"history-v1.db", "history-v2.db", "history-v3.db"}) {
    const TestFolder folder;
    const auto store = Must(OpenSqliteStore(CopyOf(name, folder)));
    EXPECT_TRUE(Must(store->NeedsRebuild())) << name;
    EXPECT_TRUE(Must(store->List({})).empty()) << name;
    for (int64_t number = 1; number <= kSavedRuns; ++number) GiveRun(*store, number);
    EXPECT_EQ(Must(store->LastNumber("p")), kSavedRuns) << name;
  }
}

class SavedVersion : public testing::TestWithParam<const char*> {};

TEST_P(SavedVersion, OpensWithAllItsRuns) {
  const TestFolder folder;
  const auto store = Must(OpenSqliteStore(CopyOf(GetParam(), folder)));
  EXPECT_FALSE(Must(store->NeedsRebuild()));
  EXPECT_EQ(Ids(Must(store->List({}))),
            (std::vector<std::string>{IdOf(5), IdOf(4), IdOf(3), IdOf(2), IdOf(1)}));
  RunQuery tagged;
  tagged.tags = {{"stage", "prod"}};
  EXPECT_EQ(Must(store->CountRuns(tagged)), static_cast<uint64_t>(kSavedRuns));
  for (int64_t number = 1; number <= kSavedRuns; ++number) {
    const auto view = Must(store->Get(IdOf(number)));
    EXPECT_EQ(json::Print(view.spec.ToJson()),
              json::Print(SubmittedOf(IdOf(number), number).spec.ToJson()));
    EXPECT_EQ(view.state, run::State::kCompleted);
    EXPECT_EQ(view.end->exit_code, 0);
    EXPECT_EQ(view.notices.size(), 1u);
    std::string points;
    Must(store->ReadMetrics(IdOf(number), "seen", [&](const auto&, const run::MetricPoint& point) {
      points += std::to_string(point.step) + "=" + run::FormatMetric(point.value) + " ";
      return Status();
    }));
    EXPECT_EQ(points, "0=0 1=1 2=2 ");
    EXPECT_EQ(Must(store->PlaceOf(IdOf(number))).at("host").record, HostEvents().size());
  }
  GiveRun(*store, kSavedRuns + 1);
  EXPECT_EQ(Must(store->LastNumber("p")), kSavedRuns + 1);
}

INSTANTIATE_TEST_SUITE_P(Schema, SavedVersion, testing::Values("history-v4.db", "history-v5.db"));

TEST(Schema, DamagedVersion4IsMadeAgainFromTheJournals) {
  for (const char* damage : {"UPDATE segments SET fold = x'01ff'", "UPDATE views SET row = x''",
                             "UPDATE views SET detail = x'0207'"}) {
    const TestFolder folder;
    const std::string path = CopyOf("history-v4.db", folder);
    Must(Must(Database::Open(path))->Execute(damage));
    const auto store = Must(OpenSqliteStore(path));
    EXPECT_TRUE(Must(store->NeedsRebuild())) << damage;
    EXPECT_TRUE(Must(store->List({})).empty()) << damage;
    for (int64_t number = 1; number <= kSavedRuns; ++number) GiveRun(*store, number);
    EXPECT_EQ(Must(store->LastNumber("p")), kSavedRuns) << damage;
  }
}

Status AddColor(Database& database) {
  return database.Execute("ALTER TABLE runs ADD COLUMN color TEXT NOT NULL DEFAULT 'blue'");
}
Status FailHalfway(Database& database) {
  TENON_TRY_VOID(database.Execute("DROP TABLE tags"));
  return Unavailable("the disk is full");
}

TEST(Schema, MigrationTakesEachStepOnceAndInOrder) {
  const TestFolder folder;
  const auto database = Must(Database::Open(CopyOfVersion1(folder)));
  const std::array<Migration, 2> two = {Migrations()[0], AddColor};
  Must(Migrate(*database, two));
  EXPECT_EQ(Must(database->ReadInt("PRAGMA user_version")), 2);
  EXPECT_EQ(Must(database->ReadInt("SELECT count(*) FROM runs WHERE color = 'blue'")), kSavedRuns);
  Must(Migrate(*database, two));  // a second AddColor would fail
}

TEST(Schema, FailedMigrationLeavesTheOldDatabaseWhole) {
  const TestFolder folder;
  const std::string path = CopyOfVersion1(folder);
  {
    const auto database = Must(Database::Open(path));
    const std::array<Migration, 3> three = {Migrations()[0], AddColor, FailHalfway};
    const Status status = Migrate(*database, three);
    ASSERT_FALSE(status.ok());
    EXPECT_NE(status.error().message.find("version 3"), std::string::npos);
    EXPECT_NE(status.error().message.find("disk is full"), std::string::npos);
    EXPECT_EQ(Must(database->ReadInt("PRAGMA user_version")), 1);
  }
  const auto database = Must(Database::Open(path));
  EXPECT_EQ(Must(database->ReadInt("SELECT count(*) FROM runs")), kSavedRuns);
  EXPECT_EQ(Must(database->ReadInt("SELECT count(*) FROM tags")), kSavedRuns);
}

TEST(Schema, DatabaseOlderThanEveryReleaseIsEmptiedAndSaysSo) {
  const TestFolder folder;
  const std::string path = folder / "history.db";
  {
    const auto database = Must(Database::Open(path));
    Must(
        database->Execute("CREATE TABLE runs(run_id TEXT, json TEXT);"
                          "CREATE VIEW \"odd \"\"view\" AS SELECT run_id FROM runs;"
                          "CREATE INDEX by_id ON runs(run_id);"
                          "INSERT INTO runs VALUES('digits_1', '{}')"));
  }
  const auto store = Must(OpenSqliteStore(path));
  EXPECT_TRUE(Must(store->NeedsRebuild()));
  EXPECT_EQ(Must(store->CountRuns({})), 0u);
  GiveRun(*store, 1);
  EXPECT_EQ(Must(store->CountRuns({})), 1u);
}

TEST(Schema, DatabaseOfANewerReleaseIsRefusedUntouched) {
  const TestFolder folder;
  const std::string path = CopyOfVersion1(folder);
  {
    const auto database = Must(Database::Open(path));
    Must(database->Execute("PRAGMA user_version=99"));
  }
  const auto opened = OpenSqliteStore(path);
  ASSERT_FALSE(opened.ok());
  EXPECT_EQ(opened.error().kind, ErrorKind::kInvalid);
  EXPECT_NE(opened.error().message.find("newer Tenon"), std::string::npos)
      << opened.error().message;
  EXPECT_FALSE(opened.error().hint.empty());
  const auto database = Must(Database::Open(path));
  EXPECT_EQ(Must(database->ReadInt("SELECT count(*) FROM runs")), kSavedRuns);
}

}  // namespace
}  // namespace tenon::history
