// SPDX-License-Identifier: Apache-2.0
#include "snapshot/freeze/unpack.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/file.h"
#include "snapshot/freeze/freeze.h"
#include "snapshot/freeze/test_files.h"
#include "snapshot/store/tree.h"

namespace tenon::snapshot {
namespace {

class UnpackTest : public testing::Test {
 protected:
  UnpackTest() {
    auto store = ObjectStore::Open(temp_ / "store");
    TENON_CHECK(store.ok());
    store_ = std::make_unique<ObjectStore>(std::move(*store));
  }
  Hash Freeze(const std::string& folder) {
    FreezeOptions options;
    options.folder = folder;
    auto frozen = snapshot::Freeze(*store_, options);
    EXPECT_TRUE(frozen.ok()) << frozen.error().message;
    return frozen->root;
  }
  NodeItem File(std::string_view name, std::string_view bytes) {
    NodeItem item;
    item.name = name;
    item.mode = 0644;
    item.size = bytes.size();
    item.hash = *store_->Put(bytes);
    return item;
  }
  // Nodes as an attacker would write them: EncodeFolder() does not check names.
  Hash Folder(const std::vector<NodeItem>& items) {
    return *EncodeFolder(items, [&](std::string bytes) { return store_->Put(bytes); });
  }
  static NodeItem Named(std::string_view name, EntryType type, const Hash& hash,
                        std::string_view target = {}) {
    NodeItem item;
    item.name = name;
    item.type = type;
    item.mode = type == EntryType::kSymlink ? 0777 : 0755;
    item.hash = hash;
    item.target = target;
    return item;
  }

  TempFolder temp_;
  std::unique_ptr<ObjectStore> store_;
};

TEST_F(UnpackTest, FolderThatIsNotEmptyIsLeftAlone) {
  WriteTestFile(temp_ / "project/a", "x");
  const Hash root = Freeze(temp_ / "project");
  WriteTestFile(temp_ / "target/precious", "p");
  auto unpacked = Unpack(*store_, root, temp_ / "target");
  ASSERT_FALSE(unpacked.ok());
  EXPECT_EQ(unpacked.error().kind, ErrorKind::kInvalid);
  EXPECT_EQ(Describe(temp_ / "target").size(), 1u);
}

TEST_F(UnpackTest, CountsWhatItWrites) {
  WriteTestFile(temp_ / "project/a", "12345");
  WriteTestFile(temp_ / "project/sub/b", "678");
  ASSERT_TRUE(MakeDirs(temp_ / "target").ok());  // empty is fine
  auto unpacked = Unpack(*store_, Freeze(temp_ / "project"), temp_ / "target");
  ASSERT_TRUE(unpacked.ok()) << unpacked.error().message;
  EXPECT_EQ(unpacked->files, 2u);
  EXPECT_EQ(unpacked->bytes, 8u);
}

TEST_F(UnpackTest, ManyFilesInManyFolders) {
  for (int i = 0; i < 1500; ++i) {
    WriteTestFile(temp_ / ("project/d" + std::to_string(i % 40) + "/f" + std::to_string(i)),
                  std::string(static_cast<size_t>(i), 'x') + std::to_string(i));
    WriteTestFile(temp_ / ("project/one/f" + std::to_string(i)), std::to_string(i * 7));
  }
  const Hash root = Freeze(temp_ / "project");
  for (int threads : {1, 2, 4}) {
    const std::string target = temp_ / ("target" + std::to_string(threads));
    ASSERT_TRUE(Unpack(*store_, root, target, threads).ok());
    EXPECT_TRUE(Describe(target) == Describe(temp_ / "project"));
  }
}

TEST_F(UnpackTest, LargeFilesAreReflinkedWhereTheFileSystemCan) {
  const std::string bytes = RandomBytes(3u << 20, 1);
  WriteTestFile(temp_ / "project/large", bytes);
  auto from = OpenFile(temp_ / "project/large", O_RDONLY);
  auto to = OpenFile(temp_ / "probe", O_RDWR | O_CREAT);
  const bool can = ::ioctl(to->get(), FICLONE, from->get()) == 0;
  auto unpacked = Unpack(*store_, Freeze(temp_ / "project"), temp_ / "target");
  ASSERT_TRUE(unpacked.ok()) << unpacked.error().message;
  EXPECT_EQ(unpacked->reflinked, can ? 1u : 0u);
  EXPECT_TRUE(*ReadFile(temp_ / "target/large") == bytes);
  // A script that writes to its copy must not change the store.
  WriteTestFile(temp_ / "target/large", "overwritten");
  EXPECT_TRUE(*store_->Read(Sha256Of(bytes)) == bytes);
}

TEST_F(UnpackTest, NamesThatLeadOutAreCorruptAndWriteNothing) {
  const Hash inner = Folder({File("evil", "x")});
  const std::string absolute = temp_ / "evil";
  const std::map<std::string, std::vector<NodeItem>> attacks = {
      {"parent file", {File("..", "x")}},
      {"slash", {File("../evil", "x")}},
      {"absolute", {File(absolute, "x")}},
      {"parent folder", {Named("..", EntryType::kFolder, inner)}},
      {"empty name", {File("", "x")}},
  };
  for (const auto& [what, items] : attacks) {
    const Hash root = Folder(items);
    ASSERT_TRUE(store_->Flush().ok());
    auto unpacked = Unpack(*store_, root, temp_ / ("target " + what));
    ASSERT_FALSE(unpacked.ok()) << what;
    EXPECT_EQ(unpacked.error().kind, ErrorKind::kCorrupt) << what;
    EXPECT_FALSE(Exists(temp_ / "evil")) << what;
    EXPECT_TRUE(Describe(temp_ / ("target " + what)).empty()) << what;
    auto walked = Walk(*store_, root, [](const Entry&) { return Status(); });
    EXPECT_FALSE(walked.ok()) << what;
  }
}

// If a symlink and a folder had the same name, the folder's files could be written through the
// symlink.
TEST_F(UnpackTest, SymlinkAndFolderOfOneNameAreCorrupt) {
  ASSERT_TRUE(MakeDirs(temp_ / "outside").ok());
  const Hash inner = Folder({File("evil", "x")});
  const std::string outside = temp_ / "outside";
  std::string bytes("TN\x01\x00\x02", 5);
  bytes += std::string(
               "\x01"
               "a\x02\xff\x03") +
           static_cast<char>(outside.size()) + outside;
  bytes += std::string(
               "\x01"
               "a\x03\xed\x03") +
           std::string(inner.raw());
  const Hash root = *store_->Put(bytes);
  auto unpacked = Unpack(*store_, root, temp_ / "target");
  ASSERT_FALSE(unpacked.ok());
  EXPECT_EQ(unpacked.error().kind, ErrorKind::kCorrupt);
  EXPECT_TRUE(Describe(temp_ / "outside").empty());
}

TEST_F(UnpackTest, NodesOfAWrongLevelOrOrderAreCorrupt) {
  const Hash leaf = Folder({File("b", "x")}), other = Folder({File("a", "y")});
  auto index = [&](std::string_view first, const Hash& one, std::string_view second,
                   const Hash& two) {
    std::string bytes("TN\x01\x01\x02", 5);
    bytes += static_cast<char>(first.size()) + std::string(first) + std::string(one.raw());
    bytes += static_cast<char>(second.size()) + std::string(second) + std::string(two.raw());
    return *store_->Put(bytes);
  };
  const Hash twice = index("b", leaf, "c", leaf), unordered = index("b", leaf, "c", other);
  const Hash nested = index("b", twice, "c", leaf), lies = index("a", leaf, "c", leaf);
  for (const Hash& root : {twice, unordered, nested, lies}) {
    auto unpacked = Unpack(*store_, root, temp_ / ("target" + root.Hex().substr(0, 8)));
    ASSERT_FALSE(unpacked.ok());
    EXPECT_EQ(unpacked.error().kind, ErrorKind::kCorrupt) << unpacked.error().message;
  }
}

TEST_F(UnpackTest, MissingObjectsAreNamed) {
  NodeItem file = File("a", "x");
  file.hash = Sha256Of("not there");
  auto unpacked = Unpack(*store_, Folder({file}), temp_ / "target");
  ASSERT_FALSE(unpacked.ok());
  EXPECT_EQ(unpacked.error().kind, ErrorKind::kNotFound);
  EXPECT_NE(unpacked.error().message.find("target/a"), std::string::npos);
  EXPECT_EQ(Unpack(*store_, Sha256Of("no tree"), temp_ / "target2").error().kind,
            ErrorKind::kNotFound);
  EXPECT_EQ(Unpack(*store_, *store_->Put("no node"), temp_ / "target3").error().kind,
            ErrorKind::kCorrupt);
}

TEST_F(UnpackTest, WalkGoesInOrderAndFoldersComeFirst) {
  for (const char* path : {"b", "a/z", "a/b/c", "a.txt", "c/d"}) {
    WriteTestFile(temp_ / (std::string("project/") + path), path);
  }
  std::vector<std::string> paths;
  const Hash root = Freeze(temp_ / "project");
  ASSERT_TRUE(Walk(*store_, root, [&](const Entry& entry) -> Status {
                paths.push_back(entry.path);
                return {};
              }).ok());
  EXPECT_EQ(paths,
            (std::vector<std::string>{"a", "a/b", "a/b/c", "a/z", "a.txt", "b", "c", "c/d"}));
  auto stopped = Walk(*store_, root, [](const Entry&) -> Status { return Denied("enough"); });
  EXPECT_EQ(stopped.error().message, "enough");
}

TEST_F(UnpackTest, FindTellsOneEntryEvenAmongThousands) {
  for (int i = 0; i < 2000; ++i) WriteTestFile(temp_ / ("project/d/f" + std::to_string(i)), "x");
  ASSERT_EQ(::symlink("f1", (temp_ / "project/d/link").c_str()), 0);
  const Hash root = Freeze(temp_ / "project");
  for (int i = 0; i < 2000; i += 37) {
    EXPECT_TRUE(Find(*store_, root, "d/f" + std::to_string(i)).ok());
  }
  EXPECT_EQ(Find(*store_, root, "d/link")->target, "f1");
  EXPECT_EQ(Find(*store_, root, "d")->type, EntryType::kFolder);
  for (const char* none : {"d/f2000", "d/", "d/f1/x", "e", "", "/d", "d/link/x", "a"}) {
    auto found = Find(*store_, root, none);
    ASSERT_FALSE(found.ok()) << none;
    EXPECT_EQ(found.error().kind, ErrorKind::kNotFound) << none;
  }
}

TEST_F(UnpackTest, ReachableIsEnoughToKeepATreeThroughCollect) {
  for (int i = 0; i < 2000; ++i) {
    WriteTestFile(temp_ / ("project/d/f" + std::to_string(i)), std::to_string(i));
    WriteTestFile(temp_ / ("dead/f" + std::to_string(i)), "dead" + std::to_string(i));
  }
  WriteTestFile(temp_ / "project/large", RandomBytes(2u << 20, 1));
  const Hash root = Freeze(temp_ / "project"), dead = Freeze(temp_ / "dead");
  std::unordered_set<Hash> live;
  ASSERT_TRUE(Reachable(*store_, root, &live).ok());
  EXPECT_GT(live.size(), 2001u);
  ASSERT_GE(store_->Collect(live, -3'600'000'000)->objects, 2000u);
  EXPECT_TRUE(Unpack(*store_, root, temp_ / "target").ok());
  EXPECT_FALSE(Unpack(*store_, dead, temp_ / "target2").ok());
}

// A file with the bytes of a folder's node must not count as that folder being visited.
TEST_F(UnpackTest, ReachableIsNotFooledByAFileThatLooksLikeANode) {
  const Hash inner = Folder({File("x", "content of x")});
  const std::string node = *store_->Read(inner);
  const Hash root = Folder({File("a", node), Named("b", EntryType::kFolder, inner)});
  std::unordered_set<Hash> live;
  ASSERT_TRUE(Reachable(*store_, root, &live).ok());
  EXPECT_TRUE(live.contains(Sha256Of("content of x")));
}

TEST_F(UnpackTest, CompareTellsChangedAndMissingAndNothingElse) {
  for (const char* path : {"same", "edited", "gone", "sub/same", "to-folder", "sub2/x", "script"}) {
    WriteTestFile(temp_ / (std::string("project/") + path), path);
  }
  ASSERT_EQ(::symlink("same", (temp_ / "project/link").c_str()), 0);
  const Hash root = Freeze(temp_ / "project");
  auto same = Compare(*store_, root, temp_ / "project");
  ASSERT_TRUE(same.ok());
  EXPECT_TRUE(same->changed.empty() && same->missing.empty());

  WriteTestFile(temp_ / "project/edited", "EDITED");  // same size
  WriteTestFile(temp_ / "project/script", "script", 0755);
  WriteTestFile(temp_ / "project/unknown", "x");
  ASSERT_TRUE(RemoveFile(temp_ / "project/gone").ok());
  ASSERT_TRUE(RemoveFile(temp_ / "project/link").ok());
  ASSERT_EQ(::symlink("other", (temp_ / "project/link").c_str()), 0);
  ASSERT_TRUE(RemoveFile(temp_ / "project/to-folder").ok());
  ASSERT_TRUE(MakeDirs(temp_ / "project/to-folder").ok());
  ASSERT_TRUE(RemoveTree(temp_ / "project/sub2").ok());
  ASSERT_EQ(::symlink("sub", (temp_ / "project/sub2").c_str()), 0);
  auto names = [](const std::vector<Entry>& entries) {
    std::vector<std::string> paths;
    for (const Entry& entry : entries) paths.push_back(entry.path);
    return paths;
  };
  auto difference = Compare(*store_, root, temp_ / "project");
  ASSERT_TRUE(difference.ok()) << difference.error().message;
  EXPECT_EQ(names(difference->changed),
            (std::vector<std::string>{"edited", "link", "script", "sub2", "to-folder"}));
  EXPECT_EQ(names(difference->missing), (std::vector<std::string>{"gone", "sub2/x"}));

  // In tree order every entry can be restored.
  ASSERT_TRUE(Walk(*store_, root, [&](const Entry& entry) {
                return WriteEntry(*store_, entry, temp_ / "project");
              }).ok());
  auto restored = Compare(*store_, root, temp_ / "project");
  EXPECT_TRUE(restored->changed.empty() && restored->missing.empty());
  EXPECT_EQ(*ReadFile(temp_ / "project/unknown"), "x");
}

TEST_F(UnpackTest, WriteEntryDoesNotGoThroughSymlinksOrOut) {
  WriteTestFile(temp_ / "project/sub/x", "new");
  const Hash root = Freeze(temp_ / "project");
  Entry entry = *Find(*store_, root, "sub/x");
  ASSERT_TRUE(MakeDirs(temp_ / "outside").ok());
  ASSERT_TRUE(MakeDirs(temp_ / "target").ok());
  ASSERT_EQ(::symlink("../outside", (temp_ / "target/sub").c_str()), 0);
  auto through = WriteEntry(*store_, entry, temp_ / "target");
  ASSERT_FALSE(through.ok());
  EXPECT_EQ(through.error().kind, ErrorKind::kInvalid);
  for (const char* path : {"../evil", "sub/../../evil", "/evil", "", "a//b", "."}) {
    entry.path = path;
    auto out = WriteEntry(*store_, entry, temp_ / "target");
    ASSERT_FALSE(out.ok()) << path;
    EXPECT_EQ(out.error().kind, ErrorKind::kCorrupt) << path;
  }
  EXPECT_TRUE(Describe(temp_ / "outside").empty());
  EXPECT_FALSE(Exists(temp_ / "evil"));
}

TEST_F(UnpackTest, WriteEntryReplacesASymlinkItselfAndNoFullFolder) {
  WriteTestFile(temp_ / "project/x", "new", 0640);
  const Entry entry = *Find(*store_, Freeze(temp_ / "project"), "x");
  WriteTestFile(temp_ / "precious", "old");
  ASSERT_TRUE(MakeDirs(temp_ / "target").ok());
  ASSERT_EQ(::symlink("../precious", (temp_ / "target/x").c_str()), 0);
  ASSERT_TRUE(WriteEntry(*store_, entry, temp_ / "target").ok());
  EXPECT_EQ(*ReadFile(temp_ / "precious"), "old");
  EXPECT_EQ(Describe(temp_ / "target").at("x"), "file 416 new");

  WriteTestFile(temp_ / "full/x/inside", "keep me");
  auto refused = WriteEntry(*store_, entry, temp_ / "full");
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().kind, ErrorKind::kInvalid);
  EXPECT_EQ(Describe(temp_ / "full").size(), 2u);
}

}  // namespace
}  // namespace tenon::snapshot
