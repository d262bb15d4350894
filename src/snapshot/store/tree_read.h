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

// One folder of a tree with all its nodes. Its names are checked to ascend from the first leaf to
// the last.
class FolderReader {
 public:
  // Reads the folder's nodes. kCorrupt and kNotFound name the node.
  static Result<FolderReader> Read(const ObjectStore& store, const Hash& folder);

  // Ordered by name. Valid as long as the reader.
  const std::vector<NodeItem>& items() const { return items_; }
  // The hashes of all its nodes, the folder's own first.
  const std::vector<Hash>& nodes() const { return nodes_; }
  // About how many bytes of memory it takes. A folder of more than kMaxFolderBytes is kCorrupt.
  uint64_t held() const { return held_; }

 private:
  Status Add(const ObjectStore& store, const Hash& node, int level);

  std::vector<std::unique_ptr<std::string>> bytes_;
  std::vector<NodeItem> items_;
  std::vector<Hash> nodes_;
  uint64_t held_ = 0;
};

// Enough for some 300,000 entries.
inline constexpr uint64_t kMaxFolderBytes = 48u << 20;

// kCorrupt if the tree has more than kMaxEntries, each counted as often as it would be written.
// Reads every node once.
Status CheckEntryCount(const ObjectStore& store, const Hash& root);
// Walk() and Unpack() call CheckEntryCount() after this many entries: smaller trees need no check.
inline constexpr uint64_t kCountFrom = 20'000;

// A node as bytes and as decoded; the views in `node` point into `bytes`.
struct LoadedNode {
  std::unique_ptr<std::string> bytes;
  Node node;
};
Result<LoadedNode> LoadNode(const ObjectStore& store, const Hash& hash);

// The public form of an item with the path `path`.
Entry ToEntry(const NodeItem& item, std::string path);

}  // namespace tenon::snapshot

#endif  // TENON_SNAPSHOT_STORE_TREE_READ_H_
