// SPDX-License-Identifier: Apache-2.0
#include "snapshot/freeze/folder_scan.h"

#include <dirent.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <set>
#include <string>

#include "base/file.h"
#include "snapshot/freeze/test_files.h"

namespace tenon::snapshot {
namespace {

class FolderScanTest : public testing::Test {
 protected:
  FolderScanTest() : fd_(OpenFile(temp_.path(), O_RDONLY | O_DIRECTORY).value()) {}
  // Reads `name` with ReadSteadily(). `during` is called while the file is being read.
  Result<FileStat> Read(const char* name, const std::function<void(int attempt)>& during) {
    attempts_ = 0;
    return ReadSteadily(fd_.get(), name, [&](int fd, const FileStat& stat) -> Status {
      std::string bytes(stat.size, '\0');
      TENON_TRY(const size_t got, ReadAt(fd, bytes, 0));
      seen_ = bytes.substr(0, got);
      during(++attempts_);
      return {};
    });
  }

  TempFolder temp_;
  UniqueFd fd_;
  int attempts_ = 0;
  std::string seen_;
};

TEST_F(FolderScanTest, FileThatNeverStopsChangingIsAnHonestErrorAfterThreeTries) {
  WriteTestFile(temp_ / "busy", "0");
  auto stat = Read("busy", [&](int attempt) {
    WriteTestFile(temp_ / "busy", std::string(static_cast<size_t>(attempt) + 1, 'x'));
  });
  ASSERT_FALSE(stat.ok());
  EXPECT_EQ(stat.error().kind, ErrorKind::kUnavailable);
  EXPECT_NE(stat.error().message.find("changed while being read"), std::string::npos);
  EXPECT_EQ(attempts_, 3);
}

TEST_F(FolderScanTest, FileThatCalmsDownIsRead) {
  WriteTestFile(temp_ / "busy", "0");
  auto stat = Read("busy", [&](int attempt) {
    if (attempt < 3) {
      WriteTestFile(temp_ / "busy", std::string(static_cast<size_t>(attempt) + 1, 'x'));
    }
  });
  ASSERT_TRUE(stat.ok());
  EXPECT_EQ(seen_, "xxx");
  EXPECT_EQ(stat->size, 3u);
}

TEST_F(FolderScanTest, FileReplacedWhileItIsReadIsTheOldOneWhole) {
  // The descriptor stays with the file that was opened. The next snapshot reads the new one.
  WriteTestFile(temp_ / "a", "old");
  auto stat = Read("a", [&](int attempt) {
    if (attempt > 1) return;
    ASSERT_TRUE(WriteFileAtomically(temp_ / "a", "newer", 0644, Durability::kProcess).ok());
  });
  ASSERT_TRUE(stat.ok());
  EXPECT_TRUE(seen_ == "old" || seen_ == "newer");
  EXPECT_EQ(stat->size, seen_.size());
}

TEST_F(FolderScanTest, FileThatVanishesIsSaidToHaveVanished) {
  WriteTestFile(temp_ / "a", "x");
  auto gone = Read("nothing", [](int) {});
  ASSERT_FALSE(gone.ok());
  EXPECT_EQ(gone.error().kind, ErrorKind::kUnavailable);
  EXPECT_NE(gone.error().message.find("vanished"), std::string::npos);
  EXPECT_EQ(attempts_, 0);
}

TEST_F(FolderScanTest, SymlinkFifoAndFolderAreNotReadAsFiles) {
  WriteTestFile(temp_ / "a", "x");
  ASSERT_EQ(::symlink("a", (temp_ / "link").c_str()), 0);
  ASSERT_EQ(::mkfifo((temp_ / "fifo").c_str(), 0644), 0);
  ASSERT_TRUE(MakeDirs(temp_ / "folder").ok());
  for (const char* name : {"link", "fifo", "folder"}) {
    auto stat = Read(name, [](int) {});
    ASSERT_FALSE(stat.ok()) << name;
    EXPECT_EQ(stat.error().kind, ErrorKind::kUnavailable) << name;
    EXPECT_EQ(attempts_, 0) << name;
  }
  EXPECT_FALSE(OpenFolder(fd_.get(), "link").ok());
  EXPECT_FALSE(OpenFolder(fd_.get(), "a").ok());
  EXPECT_TRUE(OpenFolder(fd_.get(), "folder").ok());
  EXPECT_EQ(*ReadTarget(fd_.get(), "link"), "a");
  EXPECT_FALSE(ReadTarget(fd_.get(), "a").ok());
}

TEST_F(FolderScanTest, ErrorsOfTheReaderAreNotRetried) {
  WriteTestFile(temp_ / "a", "x");
  int calls = 0;
  auto stat = ReadSteadily(fd_.get(), "a", [&](int, const FileStat&) -> Status {
    ++calls;
    return Unavailable("write: No space left on device");
  });
  ASSERT_FALSE(stat.ok());
  EXPECT_EQ(calls, 1);
}

TEST_F(FolderScanTest, ListsEveryNameOnceWithItsType) {
  std::set<std::string> wanted;
  for (int i = 0; i < 12'000; ++i) {
    const std::string name = "a rather long name for a file " + std::to_string(i);
    wanted.insert(name);
    ASSERT_EQ(::symlinkat("x", fd_.get(), name.c_str()), 0);
  }
  FolderLister lister(fd_.get());
  Listing listing;
  int parts = 0;
  for (bool more = true; more; ++parts) {
    auto next = lister.Next(&listing);
    ASSERT_TRUE(next.ok());
    more = *next;
  }
  EXPECT_GT(parts, 2) << "the folder was meant to need several reads";
  ASSERT_EQ(listing.entries.size(), wanted.size());
  for (size_t i = 0; i < listing.entries.size(); ++i) {
    EXPECT_EQ(wanted.erase(std::string(listing[i])), 1u);
    EXPECT_EQ(listing.entries[i].type, DT_LNK);
  }
}

}  // namespace
}  // namespace tenon::snapshot
