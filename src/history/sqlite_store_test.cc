// SPDX-License-Identifier: Apache-2.0
// Failures that only a store in a file can have.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <string>
#include <vector>

#include "base/fd.h"
#include "history/database.h"
#include "history/test_journal.h"

namespace tenon::history {
namespace {

// Runs `body` in a child process; a failed expectation makes its exit code 1.
pid_t Start(const std::function<void()>& body) {
  const pid_t pid = ::fork();
  if (pid != 0) return pid;
  body();
  ::_exit(testing::Test::HasFailure() ? 1 : 0);
}

void ExpectSuccess(pid_t pid) {
  int status = 0;
  ASSERT_EQ(::waitpid(pid, &status, 0), pid);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "a child failed: " << status;
}

// Ingests one batch of one run, as a client that follows the run does.
void GivePiece(HistoryStore& store, int64_t number, size_t begin, size_t end) {
  const int64_t first_us = 1'500'000'000'000'000 + number * 10'000'000;
  const MadeSegment near(NearEvents(IdOf(number), number), first_us);
  const MadeSegment host(HostEvents(), first_us + 1'000'000);
  if (begin == 0) Must(near.GiveAll(store, IdOf(number), "near-a"));
  Must(host.Give(store, IdOf(number), "host", begin, end));
}

TEST(SqliteStore, EightWritersAtOnceLeaveWhatOneWriterLeaves) {
  constexpr int kProcesses = 8, kIngests = 200, kShared = 20;
  const TestFolder folder;
  const std::string path = folder / "history.db";
  std::vector<pid_t> children;
  for (int process = 0; process < kProcesses; ++process) {
    children.push_back(Start([&] {
      // The file does not exist yet, so making it is part of the race.
      const auto store = Must(OpenSqliteStore(path));
      for (int i = 0; i < kIngests; ++i) {
        // All processes ingest runs 1 to 20; the other runs belong to one process. Each run comes
        // in two batches.
        const bool shared = i < 2 * kShared;
        const int64_t number = shared ? 1 + (i / 2 + process) % kShared
                                      : 1000 + process * kIngests + (i - 2 * kShared) / 2;
        GivePiece(*store, number, i % 2 == 0 ? 0 : 3, i % 2 == 0 ? 5 : 100);
      }
    }));
  }
  for (const pid_t child : children) ExpectSuccess(child);

  const auto together = Must(OpenSqliteStore(path));
  const auto alone = MakeMemoryStore();
  for (int64_t number = 1; number <= kShared; ++number) GivePiece(*alone, number, 0, 100);
  for (int process = 0; process < kProcesses; ++process) {
    for (int i = 0; i < kIngests / 2 - kShared; ++i) {
      GivePiece(*alone, 1000 + process * kIngests + i, 0, 100);
    }
  }
  const auto ids = Ids(Must(alone->List({})));
  EXPECT_EQ(ids.size(), static_cast<size_t>(kShared + kProcesses * (kIngests / 2 - kShared)));
  EXPECT_EQ(Ids(Must(together->List({}))), ids);
  for (const std::string& id : ids) {
    ASSERT_EQ(Everything(*together, id), Everything(*alone, id)) << id;
  }
}

TEST(SqliteStore, WriterKilledInTheMiddleLeavesWholeRunsOnly) {
  const TestFolder folder;
  const std::string path = folder / "history.db";
  { const auto made = Must(OpenSqliteStore(path)); }
  int pipe_ends[2];
  ASSERT_EQ(::pipe2(pipe_ends, O_CLOEXEC), 0);
  UniqueFd read_end(pipe_ends[0]), write_end(pipe_ends[1]);
  const pid_t child = Start([&] {
    const auto store = Must(OpenSqliteStore(path));
    GiveRun(*store, 1);
    const MadeSegment near(NearEvents(IdOf(2), 2));
    int calls = 0;
    const std::string payload = run::EncodeEvent(SubmittedOf(IdOf(2), 2));
    (void)store->Ingest(
        IdOf(2), "near-a",
        [&]() -> Result<std::optional<journal::Record>> {
          if (++calls == 1) {
            return std::optional<journal::Record>(
                {1, 5, static_cast<uint8_t>(run::EventType::kSubmitted), payload});
          }
          (void)WriteAll(write_end.get(), "x").ok();  // the child is now inside the transaction
          while (true) ::pause();
        },
        [] {
          return journal::Cursor{1, 100};
        },
        0);
  });
  char byte = 0;
  ASSERT_EQ(::read(read_end.get(), &byte, 1), 1);
  ASSERT_EQ(::kill(child, SIGKILL), 0);
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);

  const auto store = Must(OpenSqliteStore(path));
  EXPECT_EQ(Ids(Must(store->List({}))), std::vector<std::string>{IdOf(1)});
  GiveRun(*store, 2);
  EXPECT_EQ(Must(store->CountRuns({})), 2u);
}

TEST(SqliteStore, ReopenedStoreGoesOnWhereItWas) {
  const TestFolder folder;
  const std::string path = folder / "history.db";
  const MadeSegment host(HostEvents());
  std::string all;
  {
    const auto store = Must(OpenSqliteStore(path));
    GiveRun(*store, 1);
    all = Everything(*store, IdOf(1));
    Must(host.Give(*store, IdOf(2), "host", 0, 4));
  }
  const auto store = Must(OpenSqliteStore(path));
  EXPECT_EQ(Everything(*store, IdOf(1)), all);
  EXPECT_EQ(Must(store->PlaceOf(IdOf(2))).at("host").record, 4u);
  Must(host.Give(*store, IdOf(2), "host", 4, host.size()));
  Must(MadeSegment(NearEvents(IdOf(2), 2)).GiveAll(*store, IdOf(2), "near-a"));
  EXPECT_EQ(Must(store->Get(IdOf(2))).series.at("loss").count, 5u);
}

TEST(SqliteStore, FileThatIsNoDatabaseIsCorruptWithAWayOut) {
  const TestFolder folder;
  const std::string path = folder / "history.db";
  Must(WriteFileAtomically(path, std::string(20'000, 'x'), 0644, Durability::kProcess));
  const auto opened = OpenSqliteStore(path);
  ASSERT_FALSE(opened.ok());
  EXPECT_EQ(opened.error().kind, ErrorKind::kCorrupt) << opened.error().message;
  EXPECT_NE(opened.error().hint.find("tenon history rebuild"), std::string::npos);
  EXPECT_NE(opened.error().message.find(path), std::string::npos);

  const auto store = Must(RecreateSqliteStore(path));
  EXPECT_TRUE(Must(store->NeedsRebuild()));
  GiveRun(*store, 1);
}

// Overwrites every page but the first with zeros, one at a time. The store must return an Error or
// the truth; it must never crash or return data of another run.
TEST(SqliteStore, DamagedPagesAreReportedNotBelieved) {
  const TestFolder folder;
  const std::string path = folder / "history.db";
  std::vector<std::string> truth(1);
  {
    const auto store = Must(OpenSqliteStore(path));
    for (int64_t number = 1; number <= 30; ++number) {
      GiveRun(*store, number);
      truth.push_back(Everything(*store, IdOf(number)));
    }
  }
  {
    const auto database = Must(Database::Open(path));
    Must(database->Execute("PRAGMA journal_mode=DELETE"));
  }
  const std::string whole = Must(ReadFile(path));
  int reported = 0;
  for (size_t page = 4096; page < whole.size(); page += 4096) {
    std::string damaged = whole;
    std::fill_n(damaged.begin() + static_cast<ptrdiff_t>(page), 4096, '\0');
    const std::string copy = folder / "damaged.db";
    Must(WriteFileAtomically(copy, damaged, 0644, Durability::kProcess));
    const auto opened = OpenSqliteStore(copy);
    bool failed = !opened.ok();
    EXPECT_TRUE(opened.ok() || opened.error().kind == ErrorKind::kCorrupt);
    for (size_t number = 1; opened.ok() && number < truth.size(); ++number) {
      const auto view = (*opened)->Get(IdOf(static_cast<int64_t>(number)));
      if (view.ok()) {
        EXPECT_EQ(view->spec.id, IdOf(static_cast<int64_t>(number)));
        continue;
      }
      failed = true;
      EXPECT_TRUE(view.error().kind == ErrorKind::kCorrupt ||
                  view.error().kind == ErrorKind::kNotFound)
          << view.error().message;
    }
    reported += failed;
    for (const char* suffix : {"", "-wal", "-shm"}) Must(RemoveFile(copy + suffix));
  }
  EXPECT_GT(reported, 0);
}

TEST(SqliteStore, FolderThatIsNotThereIsAnErrorThatNamesTheFile) {
  const TestFolder folder;
  const auto opened = OpenSqliteStore(folder / "missing/history.db");
  ASSERT_FALSE(opened.ok());
  EXPECT_EQ(opened.error().kind, ErrorKind::kNotFound);
  EXPECT_NE(opened.error().message.find("missing/history.db"), std::string::npos);
}

// Runs `body` in a child process as a user who may read the folder but not write it.
void AsReaderOf(const std::string& folder, const std::function<void()>& body) {
  ASSERT_EQ(::chmod(folder.c_str(), 0555), 0);
  ExpectSuccess(Start([&] {
    if (::geteuid() == 0) {
      ASSERT_EQ(::setgid(65534), 0);
      ASSERT_EQ(::setuid(65534), 0);
    }
    body();
  }));
  ASSERT_EQ(::chmod(folder.c_str(), 0755), 0);
}

void ExpectListingsButNoWrites(const std::string& path) {
  const auto store = Must(OpenSqliteStore(path));
  EXPECT_EQ(Ids(Must(store->List({}))), (std::vector<std::string>{IdOf(2), IdOf(1)}));
  EXPECT_EQ(Must(store->Get(IdOf(1))).spec.number, 1);
  const auto taken = MadeSegment(NearEvents(IdOf(3), 3)).GiveAll(*store, IdOf(3), "near-a");
  ASSERT_FALSE(taken.ok());
  EXPECT_EQ(taken.error().kind, ErrorKind::kDenied) << taken.error().message;
  EXPECT_EQ(store->Delete(IdOf(1)).error().kind, ErrorKind::kDenied);
  EXPECT_EQ(Must(store->CountRuns({})), 2u);
}

TEST(SqliteStore, ReadOnlyHomeCanBeListedNotWritten) {
  const TestFolder folder;
  const std::string path = folder / "history.db";
  {
    const auto store = Must(OpenSqliteStore(path));
    GiveRun(*store, 1);
    GiveRun(*store, 2);
  }
  for (const char* suffix : {"", "-wal", "-shm"}) ::chmod((path + suffix).c_str(), 0444);
  AsReaderOf(folder.path(), [&] { ExpectListingsButNoWrites(path); });
}

TEST(SqliteStore, ReadOnlyHomeWithoutALogCanBeListedNotWritten) {
  const TestFolder folder;
  const std::string path = folder / "history.db";
  {
    const auto store = Must(OpenSqliteStore(path));
    GiveRun(*store, 1);
    GiveRun(*store, 2);
  }
  {
    const auto database = Must(Database::Open(path));
    Must(database->ReadInt("PRAGMA wal_checkpoint(TRUNCATE)"));
  }
  Must(RemoveFile(path + "-wal"));
  Must(RemoveFile(path + "-shm"));
  ASSERT_EQ(::chmod(path.c_str(), 0444), 0);
  AsReaderOf(folder.path(), [&] { ExpectListingsButNoWrites(path); });
}

TEST(SqliteStore, ReadOnlyHomeWithoutAnIndexIsDenied) {
  const TestFolder folder;
  AsReaderOf(folder.path(), [&] {
    const auto opened = OpenSqliteStore(folder / "history.db");
    ASSERT_FALSE(opened.ok());
    EXPECT_EQ(opened.error().kind, ErrorKind::kDenied) << opened.error().message;
  });
}

}  // namespace
}  // namespace tenon::history
