// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <string>

#include "history/test_journal.h"
#include "journal/fold.h"

namespace tenon::history {
namespace {

constexpr int64_t kBegin = 1'500'000'010'000'000;

std::string Folder(const TestFolder& home, int64_t number) {
  return run::RunFolder(run::Home(home.path()), IdOf(number)).path();
}

void WriteRun(const TestFolder& home, int64_t number, const Events& host = HostEvents()) {
  const int64_t begin = kBegin + number * 10'000'000;
  WriteSegment(Folder(home, number), "near-a", NearEvents(IdOf(number), number), begin);
  WriteSegment(Folder(home, number), "host", host, begin + 1'000'000);
}

void Overwrite(const std::string& path, const std::string& bytes) {
  Must(WriteFileAtomically(path, bytes, 0644, Durability::kProcess));
}

std::string ViewBytes(const journal::RunView& view) { return EncodeRow(view) + EncodeDetail(view); }

// Expects the index to equal the journal, read directly.
void ExpectEqualToJournal(HistoryStore& store, const TestFolder& home, int64_t number) {
  const auto direct = Must(journal::FoldRunFolder(Folder(home, number)));
  EXPECT_EQ(ViewBytes(Must(store.Get(IdOf(number)))), ViewBytes(direct));
}

TEST(Ingest, FolderBecomesTheRunItsJournalTells) {
  const TestFolder home;
  WriteRun(home, 1);
  const auto store = MakeMemoryStore();
  Must(IngestRunFolder(*store, IdOf(1), Folder(home, 1)));
  ExpectEqualToJournal(*store, home, 1);
  EXPECT_EQ(Must(store->Get(IdOf(1))).state, run::State::kCompleted);
}

TEST(Ingest, RepeatedAndGrowingFolderCountsEachRecordOnce) {
  const TestFolder home;
  const auto store = Must(OpenSqliteStore(home / "history.db"));
  const Events host = HostEvents();
  WriteSegment(Folder(home, 1), "near-a", NearEvents(IdOf(1), 1), kBegin);
  for (size_t i = 0; i < host.size(); ++i) {
    WriteSegment(Folder(home, 1), "host", {host[i]}, kBegin + static_cast<int64_t>(i));
    Must(IngestRunFolder(*store, IdOf(1), Folder(home, 1)));
    Must(IngestRunFolder(*store, IdOf(1), Folder(home, 1)));
    ExpectEqualToJournal(*store, home, 1);
  }
  EXPECT_EQ(Must(store->PlaceOf(IdOf(1))).at("host").record, host.size());
  EXPECT_EQ(Must(store->Get(IdOf(1))).series.at("loss").count, 5u);
}

TEST(Ingest, LongSegmentComesInPiecesWithNothingLost) {
  const TestFolder home;
  const std::string line(1 << 20, 'x');
  Events host;
  for (int i = 0; i < 130; ++i) {
    host.emplace_back(run::Output{run::Stream::kStdout, std::string_view(line).substr(0, 1 << 19)});
    if (i % 10 == 0) host.emplace_back(MetricsOf({{"loss", {1.0 * i}}}, i));
  }
  host.emplace_back(EndOf());
  WriteRun(home, 1, host);
  const auto store = MakeMemoryStore();
  Must(IngestRunFolder(*store, IdOf(1), Folder(home, 1)));
  ExpectEqualToJournal(*store, home, 1);
  const auto view = Must(store->Get(IdOf(1)));
  EXPECT_EQ(view.stdout_bytes, uint64_t{130} << 19);
  EXPECT_EQ(view.series.at("loss").count, 13u);
}

TEST(Ingest, IndexDeletedAndMadeAnewIsEqual) {
  const TestFolder home;
  const std::string path = home / "history.db";
  const std::string runs = run::Home(home.path()).runs();
  std::vector<std::string> before;
  std::string listed;
  {
    const auto store = Must(OpenSqliteStore(path));
    for (int64_t number = 1; number <= 25; ++number) {
      WriteRun(home, number, HostEvents(static_cast<int>(number * 7)));
      Must(IngestRunFolder(*store, IdOf(number), Folder(home, number)));
    }
    for (int64_t number = 1; number <= 25; ++number) {
      before.push_back(Everything(*store, IdOf(number)));
    }
    for (const RunRow& row : Must(store->List({}))) listed += EncodeRow(row);
  }
  const auto expect_equal = [&](HistoryStore& store) {
    std::string again;
    for (const RunRow& row : Must(store.List({}))) again += EncodeRow(row);
    EXPECT_EQ(again, listed);
    for (int64_t number = 1; number <= 25; ++number) {
      EXPECT_EQ(Everything(store, IdOf(number)), before[static_cast<size_t>(number - 1)]);
    }
  };
  {
    const auto store = Must(RecreateSqliteStore(path));
    uint64_t last = 0;
    const auto result = Must(RebuildHistory(*store, runs, [&](uint64_t done, uint64_t total) {
      EXPECT_EQ(total, 25u);
      EXPECT_EQ(done, last + 1);
      last = done;
    }));
    EXPECT_EQ(result.runs, 25u);
    EXPECT_TRUE(result.problems.empty());
    EXPECT_FALSE(Must(store->NeedsRebuild()));
    expect_equal(*store);
    Must(store->Clear());
    Must(RebuildHistory(*store, runs, {}));
    expect_equal(*store);
  }
  const auto memory = MakeMemoryStore();
  Must(RebuildHistory(*memory, runs, {}));
  expect_equal(*memory);
}

TEST(Ingest, JournalCutAtEveryByteThenWholeEndsEqual) {
  const TestFolder home;
  WriteRun(home, 1);
  const std::string path = run::RunFolder(Folder(home, 1)).host_segment();
  const std::string whole = Must(ReadFile(path));
  const auto growing = MakeMemoryStore();
  std::string expected;
  {
    const auto fresh = MakeMemoryStore();
    Must(IngestRunFolder(*fresh, IdOf(1), Folder(home, 1)));
    expected = Everything(*fresh, IdOf(1));
  }
  for (size_t length = 0; length <= whole.size(); ++length) {
    Overwrite(path, whole.substr(0, length));
    Must(IngestRunFolder(*growing, IdOf(1), Folder(home, 1)));
    ExpectEqualToJournal(*growing, home, 1);
  }
  EXPECT_EQ(Everything(*growing, IdOf(1)), expected);
}

TEST(Ingest, FlippedByteAnywhereIsCountedAsTheJournalCountsIt) {
  const TestFolder home;
  WriteRun(home, 1);
  const std::string path = run::RunFolder(Folder(home, 1)).host_segment();
  const std::string whole = Must(ReadFile(path));
  uint64_t with_holes = 0;
  for (size_t i = journal::kFileHeaderSize; i < whole.size(); ++i) {
    std::string damaged = whole;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x10);
    Overwrite(path, damaged);
    const auto store = MakeMemoryStore();
    Must(IngestRunFolder(*store, IdOf(1), Folder(home, 1)));
    ExpectEqualToJournal(*store, home, 1);
    with_holes += Must(store->Get(IdOf(1))).hole_bytes > 0;
  }
  EXPECT_EQ(with_holes, whole.size() - journal::kFileHeaderSize);
}

TEST(Ingest, TornTailIsNotDamageWhileTheWriterLives) {
  const TestFolder home;
  WriteRun(home, 1, {HostEvents()[0], HostEvents()[3]});
  FakeClock clock;
  journal::Writer::Options options;
  options.path = run::RunFolder(Folder(home, 1)).host_segment();
  options.run_key = "01234567-89ab-4def-8123-456789abcdef";
  options.segment = "host";
  options.clock = &clock;
  const auto store = MakeMemoryStore();
  {
    const auto writer = Must(journal::Writer::Open(options));
    const auto fd = Must(OpenFile(options.path, O_WRONLY | O_APPEND));
    Must(WriteAll(fd.get(), "half a record"));
    Must(IngestRunFolder(*store, IdOf(1), Folder(home, 1)));
    EXPECT_EQ(Must(store->Get(IdOf(1))).hole_bytes, 0u);
  }
  const std::string bytes = Must(ReadFile(options.path));
  if (!bytes.ends_with("half a record")) Overwrite(options.path, bytes + "half a record");
  Must(IngestRunFolder(*store, IdOf(1), Folder(home, 1)));
  EXPECT_EQ(Must(store->Get(IdOf(1))).hole_bytes, 13u);
  // The next writer cuts the tail off.
  WriteSegment(Folder(home, 1), "host", {EndOf()});
  Must(IngestRunFolder(*store, IdOf(1), Folder(home, 1)));
  EXPECT_EQ(Must(store->Get(IdOf(1))).hole_bytes, 0u);
  EXPECT_EQ(Must(store->Get(IdOf(1))).state, run::State::kCompleted);
}

// A power cut took back records that the index had already ingested. Whoever recovered the run
// wrote its end under one of their numbers. The run must not stay Running for ever.
TEST(Ingest, RecordsLostInAPowerCutAndWrittenAnewAreBelieved) {
  const TestFolder home;
  const Events full = HostEvents();
  const Events running(full.begin(), full.begin() + 8);
  for (const size_t kept : {4u, 6u, 7u}) {
    Must(RemoveTree(Folder(home, 1)));
    WriteRun(home, 1, running);
    const auto store = Must(RecreateSqliteStore(home / "history.db"));
    Must(IngestRunFolder(*store, IdOf(1), Folder(home, 1)));
    EXPECT_EQ(Must(store->Get(IdOf(1))).state, run::State::kRunning);

    Must(RemoveFile(run::RunFolder(Folder(home, 1)).host_segment()));
    Events recovered(full.begin(), full.begin() + static_cast<ptrdiff_t>(kept));
    run::End end = EndOf(run::State::kFailed, 125);
    end.recovered = true;
    end.reason = "the machine was restarted, a power cut perhaps; nothing of the run is left";
    recovered.emplace_back(end);
    WriteSegment(Folder(home, 1), "host", recovered, kBegin);
    Must(IngestRunFolder(*store, IdOf(1), Folder(home, 1)));
    ExpectEqualToJournal(*store, home, 1);
    EXPECT_EQ(Must(store->Get(IdOf(1))).state, run::State::kFailed) << kept;
  }
}

TEST(Ingest, FileThatIsNoSegmentDoesNotHideTheOthers) {
  const TestFolder home;
  WriteRun(home, 1);
  Overwrite(JoinPath(Folder(home, 1), "aaa.tj"), std::string(500, 'z'));
  const auto store = MakeMemoryStore();
  const Status status = IngestRunFolder(*store, IdOf(1), Folder(home, 1));
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().kind, ErrorKind::kCorrupt);
  EXPECT_NE(status.error().message.find("aaa.tj"), std::string::npos) << status.error().message;
  EXPECT_EQ(Must(store->Get(IdOf(1))).state, run::State::kCompleted);
}

TEST(Ingest, SegmentOfAnotherRunIsRefused) {
  const TestFolder home;
  WriteRun(home, 1, {HostEvents()[0]});
  auto strange = SubmittedOf(IdOf(1), 1);
  strange.spec.key = "99999999-89ab-4def-8123-456789abcdef";
  const std::string near = run::RunFolder(Folder(home, 1)).near_segment("a");
  Must(RemoveFile(near));
  WriteSegment(Folder(home, 1), "near-a", {strange});
  const auto store = MakeMemoryStore();
  const Status status = IngestRunFolder(*store, IdOf(1), Folder(home, 1));
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().kind, ErrorKind::kCorrupt);
  EXPECT_NE(status.error().message.find("another run"), std::string::npos);
  EXPECT_FALSE(Must(store->Get(IdOf(1))).runner);
  EXPECT_GT(Must(store->Get(IdOf(1))).hole_bytes, 0u);
}

TEST(Ingest, AFolderWithTheRecordOfAnotherRunIsUnreadable) {
  const TestFolder home;
  WriteRun(home, 1, {HostEvents()[0]});
  const std::string near = run::RunFolder(Folder(home, 1)).near_segment("a");
  Must(RemoveFile(near));
  WriteSegment(Folder(home, 1), "near-a", {SubmittedOf(IdOf(2), 2)});
  const auto store = MakeMemoryStore();
  const Status status = IngestRunFolder(*store, IdOf(1), Folder(home, 1));
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().kind, ErrorKind::kCorrupt);
  const auto view = Must(store->Get(IdOf(1)));
  EXPECT_TRUE(view.untold);
  EXPECT_EQ(view.spec.id, IdOf(1)) << "what is done to it is done to this folder";
  EXPECT_NE(view.unreadable.find("another run, " + IdOf(2)), std::string::npos) << view.unreadable;
}

TEST(Ingest, RebuildGoesOnPastABadRunAndNamesIt) {
  const TestFolder home;
  WriteRun(home, 1);
  WriteRun(home, 2);
  Overwrite(JoinPath(Folder(home, 1), "bad.tj"), std::string(500, 'z'));
  Overwrite(run::Home(home.path()).runs() + "/a-file", "not a run");
  const auto store = MakeMemoryStore();
  const auto result = Must(RebuildHistory(*store, run::Home(home.path()).runs(), {}));
  EXPECT_EQ(result.runs, 1u);
  ASSERT_EQ(result.problems.size(), 1u);
  EXPECT_NE(result.problems[0].message.find(IdOf(1)), std::string::npos);
  EXPECT_EQ(Must(store->CountRuns({})), 2u);
}

TEST(Ingest, ABadRunIsNotedWithItsReasonAndForgottenWhenItIsMended) {
  const TestFolder home;
  WriteRun(home, 1);
  const std::string host = JoinPath(Folder(home, 1), "host.tj");
  Must(RenameFile(host, home / "kept"));
  ASSERT_EQ(::mkfifo(host.c_str(), 0600), 0);
  const auto store = Must(OpenSqliteStore(home / "history.db"));
  EXPECT_EQ(IngestRunFolder(*store, IdOf(1), Folder(home, 1)).error().kind, ErrorKind::kCorrupt);
  EXPECT_NE(Must(store->Get(IdOf(1))).unreadable.find("is a FIFO"), std::string::npos);
  Must(RenameFile(home / "kept", host));
  Must(IngestRunFolder(*store, IdOf(1), Folder(home, 1)));
  EXPECT_EQ(Must(store->Get(IdOf(1))).unreadable, "");
  ExpectEqualToJournal(*store, home, 1);
}

TEST(Ingest, AFolderWithoutAJournalIsOneOnlyWhenItIsOld) {
  const TestFolder home;
  Must(MakeDirs(JoinPath(Folder(home, 1), "work")));
  const auto store = MakeMemoryStore();
  Must(IngestRunFolder(*store, IdOf(1), Folder(home, 1)));
  EXPECT_FALSE(store->Get(IdOf(1)).ok());
  const timespec old[2] = {{1, 0}, {1, 0}};
  ASSERT_EQ(::utimensat(AT_FDCWD, Folder(home, 1).c_str(), old, 0), 0);
  Must(IngestRunFolder(*store, IdOf(1), Folder(home, 1)));
  EXPECT_EQ(Must(store->Get(IdOf(1))).unreadable, "it has no journal");
}

TEST(Ingest, FolderThatIsNotThereIsNotFound) {
  const auto store = MakeMemoryStore();
  EXPECT_EQ(IngestRunFolder(*store, "x", "/nonexistent/x").error().kind, ErrorKind::kNotFound);
  EXPECT_EQ(Must(RebuildHistory(*store, "/nonexistent/runs", {})).runs, 0u);
}

TEST(OpenHistory, LostIndexIsMadeAnewByItself) {
  const TestFolder home;
  WriteRun(home, 1);
  {
    const auto store = Must(OpenHistory(home.path()));
    EXPECT_EQ(Must(store->CountRuns({})), 1u);
    EXPECT_FALSE(Must(store->NeedsRebuild()));
  }
  for (const char* suffix : {"", "-wal", "-shm"}) Must(RemoveFile(home / "history.db" + suffix));
  WriteRun(home, 2);
  EXPECT_EQ(Must(Must(OpenHistory(home.path()))->CountRuns({})), 2u);
}

TEST(OpenHistory, ReadOnlyHomeWithoutAnIndexIsListedFromItsFolders) {
  const TestFolder home;
  WriteRun(home, 1);
  // Give the home to the user of the child: only the owner may read what is in it.
  if (::geteuid() == 0) {
    ASSERT_EQ(::system(("chown -R 65534:65534 '" + home.path() + "'").c_str()), 0);
  }
  ASSERT_EQ(::chmod(home.path().c_str(), 0555), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    if (::geteuid() == 0 && (::setgid(65534) != 0 || ::setuid(65534) != 0)) ::_exit(3);
    const auto store = OpenHistory(home.path());
    if (!store.ok()) {
      ADD_FAILURE() << store.error().message;
      ::_exit(4);
    }
    const auto count = (*store)->CountRuns({});
    ::_exit(count.ok() && *count == 1 ? 0 : 5);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_EQ(::chmod(home.path().c_str(), 0755), 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  EXPECT_FALSE(Exists(home / "history.db"));
}

}  // namespace
}  // namespace tenon::history
