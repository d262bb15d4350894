// SPDX-License-Identifier: Apache-2.0
// Nodes of the tree, docs/formats/snapshot.md § 1. Pure: bytes in, values out.
#ifndef TENON_SNAPSHOT_STORE_TREE_H_
#define TENON_SNAPSHOT_STORE_TREE_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "base/result.h"
#include "snapshot/freeze/unpack.h"

namespace tenon::snapshot {

inline constexpr size_t kMaxName = 255;
inline constexpr size_t kMaxTarget = 4095;
inline constexpr uint32_t kModeBits = 01777;
inline constexpr int kMaxLevel = 8;
inline constexpr int kMaxDepth = 2048;
// No node is larger: 24,576 of weight plus one item, with room.
inline constexpr size_t kMaxNode = 1u << 20;

// One line of a folder. The views belong to whoever made it: the decoded bytes, or the freezer.
struct NodeItem {
  std::string_view name;
  EntryType type = EntryType::kFile;
  uint32_t mode = 0;
  uint64_t size = 0;        // files
  std::string_view target;  // symlinks
  Hash hash;                // files: content; folders and items above level 0: node
};

struct Node {
  int level = 0;
  std::vector<NodeItem> items;  // views into the bytes that were decoded
};

// Checks everything the format page says about one node; kCorrupt otherwise. `bytes` must outlive
// it.
Result<Node> DecodeNode(std::string_view bytes);

bool IsValidName(std::string_view name);

// Cuts a folder's items (strictly ascending by name, checked) into nodes and hands each to `put`,
// lower levels first. Returns the hash of the folder's node, which is handed over last.
Result<Hash> EncodeFolder(const std::vector<NodeItem>& items,
                          const std::function<Result<Hash>(std::string bytes)>& put);

}  // namespace tenon::snapshot

#endif  // TENON_SNAPSHOT_STORE_TREE_H_
