// SPDX-License-Identifier: Apache-2.0
// The nodes of a tree (docs/formats/snapshot.md § 1). No I/O: bytes in, values out.
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
// The largest size of a node: 24,576 of weight plus one item, with room to spare.
inline constexpr size_t kMaxNode = 1u << 20;

// One line of a folder. The views point into the decoded bytes, or into the freezer's memory.
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
  std::vector<NodeItem> items;  // views into the decoded bytes
};

// Checks everything that the format page says about one node, else kCorrupt. `bytes` must outlive
// the node.
Result<Node> DecodeNode(std::string_view bytes);

bool IsValidName(std::string_view name);

// Cuts a folder's items (checked to be strictly ascending by name) into nodes and passes each to
// `put`, lower levels first. The folder's own node comes last; returns its hash.
Result<Hash> EncodeFolder(const std::vector<NodeItem>& items,
                          const std::function<Result<Hash>(std::string bytes)>& put);

}  // namespace tenon::snapshot

#endif  // TENON_SNAPSHOT_STORE_TREE_H_
