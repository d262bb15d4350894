// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_SNAPSHOT_STORE_TREE_READ_H_
#define TENON_SNAPSHOT_STORE_TREE_READ_H_

#include <memory>
#include <string>
#include <vector>

#include "base/hash.h"
#include "base/result.h"
#include "snapshot/store/object_store.h"
#include "snapshot/store/tree.h"

namespace tenon::snapshot {

// One folder of a tree with all its nodes, checked: names ascend from the first to the last leaf.
class FolderReader {
 public:
  // Reads the folder's nodes. kCorrupt, kNotFound name the node.
  static Result<FolderReader> Read(const ObjectStore& store, const Hash& folder);

  // In order of their names; valid as long as the reader.
  const std::vector<NodeItem>& items() const { return items_; }
  // The hashes of all its nodes, the folder's own first.
  const std::vector<Hash>& nodes() const { return nodes_; }
  // Bytes of memory it takes, about; at most kMaxFolderBytes, else kCorrupt.
  uint64_t held() const { return held_; }

 private:
  Status Add(const ObjectStore& store, const Hash& node, int level);

  std::vector<std::unique_ptr<std::string>> bytes_;
  std::vector<NodeItem> items_;
  std::vector<Hash> nodes_;
  uint64_t held_ = 0;
};

// Some 300,000 entries.
inline constexpr uint64_t kMaxFolderBytes = 48u << 20;

// kCorrupt when the tree has more than kMaxEntries, each counted as often as it would be written.
// Reads every node once.
Status CheckEntryCount(const ObjectStore& store, const Hash& root);
// From how many entries on a walk or an unpack asks for it: small trees need not be counted.
inline constexpr uint64_t kCountFrom = 20'000;

// A node as bytes and as decoded; the views in `node` point into `bytes`.
struct LoadedNode {
  std::unique_ptr<std::string> bytes;
  Node node;
};
Result<LoadedNode> LoadNode(const ObjectStore& store, const Hash& hash);

// An item as the outside sees it, with `path` in front of its name.
Entry ToEntry(const NodeItem& item, std::string path);

}  // namespace tenon::snapshot

#endif  // TENON_SNAPSHOT_STORE_TREE_READ_H_
