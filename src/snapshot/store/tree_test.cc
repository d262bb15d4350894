// SPDX-License-Identifier: Apache-2.0
#include "snapshot/store/tree.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

namespace tenon::snapshot {
namespace {

using Nodes = std::map<Hash, std::string>;

struct Named {
  std::string name;
  std::string content;
};

std::vector<NodeItem> Items(const std::vector<Named>& files) {
  std::vector<NodeItem> items;
  for (const Named& file : files) {
    NodeItem item;
    item.name = file.name;
    item.mode = 0644;
    item.size = file.content.size();
    item.hash = Sha256Of(file.content);
    items.push_back(item);
  }
  return items;
}

Hash Encode(const std::vector<NodeItem>& items, Nodes* nodes) {
  return *EncodeFolder(items, [&](std::string bytes) -> Result<Hash> {
    const Hash hash = Sha256Of(bytes);
    (*nodes)[hash] = std::move(bytes);
    return hash;
  });
}

std::vector<Named> ManyFiles(int count, size_t name_length) {
  std::vector<Named> files;
  for (int i = 0; i < count; ++i) {
    std::string digits = std::to_string(1'000'000 + i);
    files.push_back({digits + std::string(name_length - digits.size(), 'n'), "content " + digits});
  }
  return files;
}

uint64_t NewBytes(const Nodes& before, const Nodes& after) {
  uint64_t bytes = 0;
  for (const auto& [hash, node] : after) bytes += before.contains(hash) ? 0 : node.size();
  return bytes;
}

TEST(Tree, NodesComeBackAsTheyWere) {
  NodeItem file, link, folder;
  file.name = std::string_view("a\n\xff", 3);
  file.mode = 01755;
  file.size = uint64_t{5} << 30;
  file.hash = Sha256Of("f");
  link.name = "b";
  link.type = EntryType::kSymlink;
  link.mode = 0777;
  link.target = "../outside/\xfe";
  folder.name = std::string_view("c");
  folder.type = EntryType::kFolder;
  folder.mode = 0700;
  folder.hash = Sha256Of("d");
  Nodes nodes;
  const Hash top = Encode({file, link, folder}, &nodes);
  auto node = DecodeNode(nodes[top]);
  ASSERT_TRUE(node.ok()) << node.error().message;
  ASSERT_EQ(node->items.size(), 3u);
  EXPECT_EQ(node->level, 0);
  EXPECT_EQ(node->items[0].name, file.name);
  EXPECT_EQ(node->items[0].mode, file.mode);
  EXPECT_EQ(node->items[0].size, file.size);
  EXPECT_EQ(node->items[0].hash, file.hash);
  EXPECT_EQ(node->items[1].target, link.target);
  EXPECT_EQ(node->items[2].hash, folder.hash);
  EXPECT_EQ(node->items[2].type, EntryType::kFolder);
}

TEST(Tree, EmptyFolderHasANode) {
  Nodes nodes;
  const Hash top = Encode({}, &nodes);
  ASSERT_EQ(nodes.size(), 1u);
  auto node = DecodeNode(nodes[top]);
  ASSERT_TRUE(node.ok());
  EXPECT_TRUE(node->items.empty());
}

// The reason for the whole format: see docs/formats/snapshot.md § 1.
TEST(Tree, OneChangeAmong100000ChangesFewNodes) {
  for (const size_t name_length : {size_t{12}, size_t{60}, size_t{255}}) {
    std::vector<Named> files = ManyFiles(100'000, name_length);
    Nodes before;
    const Hash top = Encode(Items(files), &before);
    EXPECT_GT(before.size(), 100u);
    uint64_t worst = 0;
    for (size_t i = 7; i < files.size(); i += 33'331) {
      std::vector<Named> changed = files;
      changed[i].content += "!";
      Nodes after;
      EXPECT_NE(Encode(Items(changed), &after), top);
      worst = std::max(worst, NewBytes(before, after));
      changed = files;
      changed.erase(changed.begin() + static_cast<long>(i));
      after.clear();
      Encode(Items(changed), &after);
      worst = std::max(worst, NewBytes(before, after));
      changed = files;
      changed.insert(changed.begin() + static_cast<long>(i), {files[i].name.substr(0, 7), "new"});
      after.clear();
      Encode(Items(changed), &after);
      worst = std::max(worst, NewBytes(before, after));
    }
    EXPECT_LE(worst, 64u << 10) << "names of " << name_length;
  }
}

TEST(Tree, NamesChosenToCutEverywhereDoNotMakeItDeep) {
  // If names could end a node at every item of every level, the tree would be as deep as it is
  // wide.
  std::vector<Named> files;
  for (int i = 0; files.size() < 3000; ++i)
    files.push_back({"x" + std::to_string(1'000'000 + i), ""});
  Nodes nodes;
  const Hash top = Encode(Items(files), &nodes);
  auto node = DecodeNode(nodes[top]);
  ASSERT_TRUE(node.ok());
  EXPECT_LE(node->level, 3);
  for (const auto& [hash, bytes] : nodes) EXPECT_LT(bytes.size(), kMaxNode);
}

std::string Leaf(std::initializer_list<std::string> items) {
  std::string bytes("TN\x01\x00", 4);
  bytes += static_cast<char>(items.size());
  for (const std::string& item : items) bytes += item;
  return bytes;
}

std::string FileItem(const std::string& name, const std::string& mode = std::string("\xa4\x03")) {
  return static_cast<char>(name.size()) + name + '\x01' + mode + '\x00' + std::string(32, 'h');
}

TEST(Tree, HostileNodesAreCorrupt) {
  ASSERT_TRUE(DecodeNode(Leaf({FileItem("a"), FileItem("b")})).ok());
  const std::map<std::string, std::string> hostile = {
      {"parent", Leaf({FileItem("..")})},
      {"self", Leaf({FileItem(".")})},
      {"slash", Leaf({FileItem("a/b")})},
      {"absolute", Leaf({FileItem("/etc")})},
      {"NUL", Leaf({FileItem(std::string("a\0b", 3))})},
      {"no name", Leaf({FileItem("")})},
      {"twice", Leaf({FileItem("a"), FileItem("a")})},
      {"order", Leaf({FileItem("b"), FileItem("a")})},
      {"set-uid", Leaf({FileItem("a", "\xed\x13")})},
      {"long varint", Leaf({FileItem("a", std::string("\xa4\x83\x00", 3))})},
      {"rest", Leaf({FileItem("a")}) + "x"},
      {"type", Leaf({std::string("\x01"
                                 "a\x07") +
                     std::string(40, 'h')})},
      {"target", Leaf({std::string("\x01"
                                   "a\x02\xff\x03\x00",
                                   6)})},
      {"count", std::string("TN\x01\x00\xff\xff\xff\xff\x0f", 9)},
      {"version", std::string("TN\x02\x00\x00", 5)},
      {"level", std::string("TN\x01\x09\x00", 5)},
      {"empty above", std::string("TN\x01\x01\x00", 5)},
      {"nothing", ""},
  };
  for (const auto& [what, bytes] : hostile) {
    auto node = DecodeNode(bytes);
    ASSERT_FALSE(node.ok()) << what;
    EXPECT_EQ(node.error().kind, ErrorKind::kCorrupt) << what;
  }
}

TEST(Tree, CutAtAnyLengthIsCorrupt) {
  const std::string whole = Leaf({FileItem("a"), FileItem("b")});
  for (size_t length = 0; length < whole.size(); ++length) {
    EXPECT_FALSE(DecodeNode(whole.substr(0, length)).ok()) << length;
  }
}

}  // namespace
}  // namespace tenon::snapshot
