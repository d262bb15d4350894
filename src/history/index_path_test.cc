// SPDX-License-Identifier: Apache-2.0
#include "history/index_path.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "history/test_journal.h"

namespace tenon::history {
namespace {

constexpr uint64_t kExt4 = 0xef53, kTmpfs = 0x01021994, kOverlay = 0x794c7630, kXfs = 0x58465342,
                   kBtrfs = 0x9123683e, kNfs = 0x6969, kCifs = 0xff534d42, kFuse = 0x65735546;

auto NetworkBelow(std::vector<std::string> folders) {
  return [folders = std::move(folders)](const std::string& path) {
    for (const std::string& folder : folders) {
      if (path == folder || path.starts_with(folder + "/")) return true;
    }
    return false;
  };
}

TEST(IndexPath, NetworkFileSystemsAreKnown) {
  for (const uint64_t type : {kExt4, kTmpfs, kOverlay, kXfs, kBtrfs}) {
    EXPECT_FALSE(IsNetworkFileSystem(type)) << std::hex << type;
  }
  for (const uint64_t type : {kNfs, kCifs, kFuse}) {
    EXPECT_TRUE(IsNetworkFileSystem(type)) << std::hex << type;
  }
}

TEST(IndexPath, LocalHomeKeepsItsIndex) {
  const IndexPlace place{"/home/ada/.tenon", "/cache", "/home/ada", 1000};
  EXPECT_EQ(ChooseIndexPath(place, NetworkBelow({"/net"})), "/home/ada/.tenon/history.db");
}

TEST(IndexPath, NetworkHomeGoesToTheCacheFolder) {
  IndexPlace place{"/net/ada/.tenon", "/scratch/cache", "/net/ada", 1000};
  const std::string path = ChooseIndexPath(place, NetworkBelow({"/net"}));
  EXPECT_TRUE(path.starts_with("/scratch/cache/tenon/")) << path;
  EXPECT_TRUE(path.ends_with("/history.db")) << path;
  // Two homes do not share an index; the same home always gets the same one.
  EXPECT_EQ(ChooseIndexPath(place, NetworkBelow({"/net"})), path);
  place.home = "/net/ada/other";
  EXPECT_NE(ChooseIndexPath(place, NetworkBelow({"/net"})), path);
}

TEST(IndexPath, CacheIsBelowTheUsersHomeWhenNotNamed) {
  for (const char* cache : {"", "relative/is/ignored"}) {
    const IndexPlace place{"/net/projects/.tenon", cache, "/home/ada", 1000};
    const std::string path = ChooseIndexPath(place, NetworkBelow({"/net"}));
    EXPECT_TRUE(path.starts_with("/home/ada/.cache/tenon/")) << path;
  }
}

TEST(IndexPath, CacheOnTheNetworkTooGoesToVarTmp) {
  const IndexPlace place{"/net/ada/.tenon", "", "/net/ada", 1000};
  const std::string path = ChooseIndexPath(place, NetworkBelow({"/net"}));
  EXPECT_TRUE(path.starts_with("/var/tmp/tenon-1000/")) << path;
  const IndexPlace nowhere{"/net/ada/.tenon", "", "", 7};
  EXPECT_TRUE(ChooseIndexPath(nowhere, NetworkBelow({"/net"})).starts_with("/var/tmp/tenon-7/"));
}

TEST(IndexPath, FolderThatIsNotThereYetGetsAnAnswer) {
  const TestFolder folder;
  EXPECT_TRUE(Must(IndexPath(folder / "not/yet")).ends_with("/history.db"));
}

}  // namespace
}  // namespace tenon::history
