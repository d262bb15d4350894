// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <optional>
#include <string>
#include <vector>

#include "history/failing_store.h"
#include "history/test_journal.h"
#include "journal/fold.h"

namespace tenon::history {
namespace {

constexpr int64_t kBegin = 1'500'000'010'000'000;

class CatchUpTest : public testing::Test {
 protected:
  CatchUpTest() { Must(MakeDirs(runs())); }
  ~CatchUpTest() override { ::unsetenv("TENON_TEST_BOOT_ID"); }

  std::string runs() const { return run::Home(home_.path()).runs(); }
  std::string Folder(int64_t number) const { return JoinPath(runs(), IdOf(number)); }
  void Write(int64_t number) {
    WriteSegment(Folder(number), "near-a", NearEvents(IdOf(number), number), kBegin + number);
    WriteSegment(Folder(number), "host", HostEvents(), kBegin + number + 1000);
    Touch();
  }
  // The time of runs/ may not change between two writes of this test, so set it.
  void Touch() {
    const timespec times[2] = {{0, UTIME_OMIT}, {1'700'000'000 + ++touched_, 0}};
    ASSERT_EQ(::utimensat(AT_FDCWD, runs().c_str(), times, 0), 0);
  }
  std::unique_ptr<HistoryStore> Open() { return Must(OpenHistory(home_.path())); }
  size_t Count() { return Must(Open()->CountRuns({})); }
  void Restart(const char* boot) { ::setenv("TENON_TEST_BOOT_ID", boot, 1); }

  TestFolder home_;
  int64_t touched_ = 0;
};

TEST_F(CatchUpTest, FoldersThatCameOrWentAreNoticedByOneStat) {
  Write(1);
  EXPECT_EQ(Count(), 1u);
  Write(2);
  Write(3);
  EXPECT_EQ(Count(), 3u);
  Must(RemoveTree(Folder(2)));
  Touch();
  EXPECT_EQ(Count(), 2u);
  EXPECT_EQ(Must(Open()->LastSeen()), (Seen{StampOf(runs()), BootStamp()}));
}

TEST_F(CatchUpTest, NothingIsLookedAtWhereNothingHasChanged) {
  Write(1);
  const auto store = Open();
  // Makes a folder without changing the stamp of runs/. No program does that.
  WriteSegment(Folder(2), "near-a", NearEvents(IdOf(2), 2), kBegin);
  const timespec times[2] = {{0, UTIME_OMIT}, {1'700'000'000 + touched_, 0}};
  ASSERT_EQ(::utimensat(AT_FDCWD, runs().c_str(), times, 0), 0);
  EXPECT_EQ(Count(), 1u);
  Restart("another");
  EXPECT_EQ(Count(), 2u);
}

TEST_F(CatchUpTest, ASubmitThatIsAboutToBeginIsLookedForAgain) {
  Write(1);
  Must(MakeDirs(Folder(2)));
  Touch();
  EXPECT_EQ(Count(), 1u);
  // The submit writes its record and dies. runs/ has not changed since.
  WriteSegment(Folder(2), "near-a", NearEvents(IdOf(2), 2), kBegin);
  EXPECT_EQ(Count(), 2u);
}

TEST_F(CatchUpTest, ASegmentThatHasAWriterAndNoRecordIsLookedForAgain) {
  Write(1);
  Must(MakeDirs(Folder(2)));
  const std::string near = Folder(2) + "/near-a.tj";
  Must(WriteFileAtomically(near, "", 0644, Durability::kProcess));
  Touch();
  {
    const UniqueFd writer = Must(OpenFile(near, O_RDWR));
    ASSERT_EQ(::flock(writer.get(), LOCK_EX), 0);
    EXPECT_EQ(Count(), 1u);
  }
  WriteSegment(Folder(2), "near-a", NearEvents(IdOf(2), 2), kBegin);
  EXPECT_EQ(Count(), 2u);
}

// An index that has nothing yet and can't take anything in.
class BusyStore : public FailingStore {
 public:
  Result<journal::RunView> Get(const std::string& id) override { return NotFound(id); }
  Result<std::vector<std::string>> IdsWithPrefix(const std::string&, std::string_view,
                                                 size_t) override {
    return std::vector<std::string>();
  }
  Result<Seen> LastSeen() override { return Seen{0, BootStamp()}; }
  Status MarkSeen(const Seen& seen, const std::optional<Seen>&) override {
    marked = seen;
    return {};
  }
  std::optional<Seen> marked;
};

TEST_F(CatchUpTest, WhatCouldNotBeReadNowIsLookedForAgain) {
  Write(1);
  BusyStore store;
  Must(CatchUp(store, runs()));
  ASSERT_TRUE(store.marked.has_value());
  EXPECT_EQ(store.marked->runs, 0);
}

TEST_F(CatchUpTest, WhatADeadSubmitHasLeftIsNoReasonToLookEachTime) {
  Write(1);
  Must(MakeDirs(Folder(2)));
  const timespec old[2] = {{1'600'000'000, 0}, {1'600'000'000, 0}};
  ASSERT_EQ(::utimensat(AT_FDCWD, Folder(2).c_str(), old, 0), 0);
  Touch();
  EXPECT_EQ(Count(), 1u);
  EXPECT_EQ(Must(Open()->LastSeen()).runs, StampOf(runs()));
}

TEST_F(CatchUpTest, RecordsThatARestartTookBackAreTakenOutOfTheIndex) {
  for (const bool zeros : {false, true}) {
    const int64_t number = zeros ? 2 : 1;
    Write(number);
    EXPECT_EQ(Must(Open()->Get(IdOf(number))).state, run::State::kCompleted);
    const std::string path = Folder(number) + "/host.tj";
    std::string bytes = Must(ReadFile(path));
    const size_t keep = bytes.size() / 2;
    bytes.resize(keep);
    if (zeros) bytes.resize(keep * 2, '\0');
    Must(WriteFileAtomically(path, bytes, 0644, Durability::kProcess));
    Restart(zeros ? "third" : "second");
    const auto view = Must(Open()->Get(IdOf(number)));
    EXPECT_FALSE(run::IsFinal(view.state));
    const auto direct = Must(journal::FoldRunFolder(Folder(number)));
    EXPECT_EQ(EncodeRow(view) + EncodeDetail(view), EncodeRow(direct) + EncodeDetail(direct));
  }
}

TEST_F(CatchUpTest, RebuildAfterCatchingUpChangesNothing) {
  for (int64_t number : {1, 2, 3}) Write(number);
  Open();
  Write(4);
  Must(RemoveTree(Folder(1)));
  Touch();
  Restart("second");
  auto store = Open();
  std::string before, after;
  Must(store->Visit({}, [&](const RunRow& row) {
    before += EncodeRow(row);
    return Status();
  }));
  Must(store->Clear());
  EXPECT_TRUE(Must(RebuildHistory(*store, runs(), {})).problems.empty());
  Must(store->Visit({}, [&](const RunRow& row) {
    after += EncodeRow(row);
    return Status();
  }));
  EXPECT_EQ(before, after);
  EXPECT_EQ(Must(store->LastSeen()), (Seen{StampOf(runs()), BootStamp()}));
}

TEST_F(CatchUpTest, SeenIsOnlyMovedFromWhereItWas) {
  const auto store = Open();
  Must(store->MarkSeen({1, 2}));
  Must(store->MarkSeen({5, 6}, Seen{3, 2}));
  EXPECT_EQ(Must(store->LastSeen()), (Seen{1, 2}));
  Must(store->MarkSeen({5, 6}, Seen{1, 2}));
  EXPECT_EQ(Must(store->LastSeen()), (Seen{5, 6}));
  Must(store->Clear());
  EXPECT_EQ(Must(store->LastSeen()), Seen{});
}

}  // namespace
}  // namespace tenon::history
