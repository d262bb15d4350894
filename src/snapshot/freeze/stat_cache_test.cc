// SPDX-License-Identifier: Apache-2.0
#include "snapshot/freeze/stat_cache.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <string>
#include <vector>

#include "base/file.h"
#include "snapshot/freeze/test_files.h"

namespace tenon::snapshot {
namespace {

constexpr int64_t kSecond = 1'000'000'000;
constexpr int64_t kNow = 1'700'000'000 * kSecond;

FileStat StatAt(int64_t mtime_ns, int64_t ctime_ns) {
  FileStat stat;
  stat.ino = 17;
  stat.size = 5;
  stat.mtime_ns = mtime_ns;
  stat.ctime_ns = ctime_ns;
  stat.mode = 0100644;
  return stat;
}

std::string OneFolder(int64_t taken_ns, const std::vector<CachedEntry>& entries) {
  CachedFolderBuilder folder("some/folder", {Sha256Of("top"), Sha256Of("leaf")},
                             {Sha256Of("kept")});
  for (const CachedEntry& entry : entries) folder.Add(entry);
  CachedFolderBuilder other("", {Sha256Of("root")}, {});
  StatCacheBuilder cache(taken_ns, {std::string(32, '7')});
  cache.Add(folder.Finish());
  cache.Add(other.Finish());
  return cache.Finish();
}

StatCache TakenAt(int64_t taken_ns, int64_t now_ns) {
  StatCache cache = StatCache::FromBytes(OneFolder(taken_ns, {}));
  cache.SetNow(now_ns);
  return cache;
}

TEST(StatCache, TellsWhatItWasTold) {
  CachedEntry file{"a\n\xff", CachedKind::kFile, StatAt(1, 2), Sha256Of("f"), Sha256Of("f")};
  CachedEntry stays{"b", CachedKind::kStaysHere, StatAt(3, 4), Hash{}, Sha256Of("redacted")};
  CachedEntry folder{std::string_view("c"), CachedKind::kFolder, {}, Sha256Of("x"), Sha256Of("y")};
  StatCache cache = StatCache::FromBytes(OneFolder(kNow, {file, stays, folder}));
  ASSERT_FALSE(cache.empty());
  EXPECT_EQ(cache.packs(), std::vector<std::string>{std::string(32, '7')});
  EXPECT_FALSE(cache.Find("some").has_value());
  ASSERT_TRUE(cache.Find("").has_value());
  EXPECT_EQ(cache.Find("")->count(), 0u);
  const auto found = cache.Find("some/folder");
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->nodes(), (std::vector<Hash>{Sha256Of("top"), Sha256Of("leaf")}));
  EXPECT_EQ(found->kept_nodes(), (std::vector<Hash>{Sha256Of("kept")}));
  EXPECT_EQ(found->count(), 3u);
  size_t at = 0;
  for (const CachedEntry& wanted : {file, stays, folder}) {
    CachedEntry entry;
    ASSERT_TRUE(found->Next(&at, &entry));
    EXPECT_EQ(entry.name, wanted.name);
    EXPECT_EQ(entry.kind, wanted.kind);
    EXPECT_EQ(entry.stat, wanted.stat);
    EXPECT_EQ(entry.hash, wanted.hash);
    EXPECT_EQ(entry.kept, wanted.kept);
  }
  CachedEntry none;
  EXPECT_FALSE(found->Next(&at, &none));
}

// A file that is written, frozen and written again within one tick of a coarse clock keeps its
// stat.
TEST(StatCache, EditInTheSameSecondIsNotTrusted) {
  const StatCache cache = TakenAt(kNow, kNow + 100 * kSecond);
  EXPECT_FALSE(cache.Believes(StatAt(kNow, kNow)));
  EXPECT_FALSE(cache.Believes(StatAt(kNow - kSecond, kNow - kSecond)));
  EXPECT_FALSE(cache.Believes(StatAt(kNow - 2 * kSecond, kNow - 2 * kSecond)));  // FAT
  EXPECT_TRUE(cache.Believes(StatAt(kNow - 3 * kSecond, kNow - 3 * kSecond)));
}

TEST(StatCache, MtimeSetBackByHandIsNotEnough) {
  const StatCache cache = TakenAt(kNow, kNow + 100 * kSecond);
  EXPECT_FALSE(cache.Believes(StatAt(kNow - 1000 * kSecond, kNow)));
  EXPECT_FALSE(cache.Believes(StatAt(kNow + 1000 * kSecond, kNow - 1000 * kSecond)));
}

TEST(StatCache, ClockSetBackMakesYoungEntriesUntrusted) {
  // The cache was taken when the clock was an hour ahead. Now the clock is right, and new files get
  // times that the cache may have recorded.
  const StatCache cache = TakenAt(kNow + 3600 * kSecond, kNow);
  EXPECT_TRUE(cache.FromTheFuture());
  EXPECT_FALSE(cache.Believes(StatAt(kNow + 1800 * kSecond, kNow + 1800 * kSecond)));
  EXPECT_FALSE(cache.Believes(StatAt(kNow, kNow)));
  EXPECT_TRUE(cache.Believes(StatAt(kNow - 100 * kSecond, kNow - 100 * kSecond)));
}

TEST(StatCache, ClockSetForwardDoesNotMakeOldEntriesYounger) {
  const StatCache cache = TakenAt(kNow, kNow + 1'000'000 * kSecond);
  EXPECT_FALSE(cache.FromTheFuture());
  EXPECT_FALSE(cache.Believes(StatAt(kNow, kNow)));
}

TEST(StatCache, DamageAnywhereMakesItEmpty) {
  const CachedEntry file{"a", CachedKind::kFile, StatAt(1, 2), Sha256Of("f"), Sha256Of("f")};
  const std::string whole = OneFolder(kNow, {file});
  ASSERT_FALSE(StatCache::FromBytes(whole).empty());
  for (size_t at = 0; at < whole.size(); ++at) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
    EXPECT_TRUE(StatCache::FromBytes(damaged).empty()) << at;
    EXPECT_TRUE(StatCache::FromBytes(whole.substr(0, at)).empty()) << at;
  }
}

TEST(StatCache, AFifoInItsPlaceIsNotWaitedFor) {
  TempFolder temp;
  ASSERT_EQ(::mkfifo((temp / "cache").c_str(), 0600), 0);
  ASSERT_EQ(::mkfifo((temp / "cache.clock").c_str(), 0600), 0);
  EXPECT_TRUE(StatCache::Load(temp / "cache").empty());
  EXPECT_FALSE(FileSystemNow(temp / "cache").ok());
}

TEST(StatCache, MissingFileIsAnEmptyCache) {
  TempFolder temp;
  EXPECT_TRUE(StatCache::Load(temp / "none").empty());
  EXPECT_FALSE(StatCache::Load(temp / "none").Find("").has_value());
}

TEST(StatCache, TimeOfTheFileSystemDoesNotGoBack) {
  TempFolder temp;
  const auto first = FileSystemNow(temp / "sub/cache"), second = FileSystemNow(temp / "sub/cache");
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_LE(*first, *second);
}

}  // namespace
}  // namespace tenon::snapshot
