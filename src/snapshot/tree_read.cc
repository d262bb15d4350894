// SPDX-License-Identifier: Apache-2.0
#include "snapshot/tree_read.h"

#include <algorithm>
#include <utility>

#include "snapshot/unpack.h"

namespace tenon::snapshot {
namespace {

std::string Child(std::string_view folder, std::string_view name) {
  std::string path(folder);
  if (!path.empty()) path += '/';
  path += name;
  return path;
}

Status WalkFolder(const ObjectStore& store, const Hash& folder, const std::string& path, int depth,
                  const std::function<Status(const Entry&)>& visit) {
  TENON_EXPECT_PEER(depth <= kMaxDepth, "tree nested too deep at " + path);
  TENON_TRY(const FolderReader reader, FolderReader::Read(store, folder));
  for (const NodeItem& item : reader.items()) {
    const Entry entry = ToEntry(item, Child(path, item.name));
    TENON_TRY_VOID(visit(entry));
    if (entry.type != EntryType::kFolder) continue;
    TENON_TRY_VOID(WalkFolder(store, entry.hash, entry.path, depth + 1, visit));
  }
  return {};
}

bool HasAll(const FolderReader& reader, const std::unordered_set<Hash>& out) {
  return std::all_of(reader.nodes().begin(), reader.nodes().end(),
                     [&](const Hash& hash) { return out.contains(hash); }) &&
         std::all_of(reader.items().begin(), reader.items().end(), [&](const NodeItem& item) {
           return item.type == EntryType::kSymlink || out.contains(item.hash);
         });
}

Status ReachFolder(const ObjectStore& store, const Hash& folder, int depth,
                   std::unordered_set<Hash>* out) {
  TENON_EXPECT_PEER(depth <= kMaxDepth, "tree nested too deep");
  TENON_TRY(const FolderReader reader, FolderReader::Read(store, folder));
  // A folder in `out` was reached before, unless it is there as the content of a file.
  if (out->contains(folder) && HasAll(reader, *out)) return {};
  for (const NodeItem& item : reader.items()) {
    if (item.type == EntryType::kFile) out->insert(item.hash);
    if (item.type == EntryType::kFolder) {
      TENON_TRY_VOID(ReachFolder(store, item.hash, depth + 1, out));
    }
  }
  // Last, so that a folder in `out` always has all below it there as well.
  out->insert(reader.nodes().begin(), reader.nodes().end());
  return {};
}

// Finds one name in a folder without reading more nodes than lie on the way.
Result<NodeItem> FindInFolder(const ObjectStore& store, Hash folder, std::string_view name,
                              LoadedNode* holder) {
  for (int level = -1;;) {
    TENON_TRY(*holder, LoadNode(store, folder));
    const Node& node = holder->node;
    TENON_EXPECT_PEER(level < 0 || node.level == level - 1, "tree node of a wrong level");
    level = node.level;
    auto after = std::upper_bound(
        node.items.begin(), node.items.end(), name,
        [](std::string_view wanted, const NodeItem& item) { return wanted < item.name; });
    if (after == node.items.begin()) return NotFound("");
    const NodeItem& item = *std::prev(after);
    if (level > 0) {
      folder = item.hash;
      continue;
    }
    if (item.name != name) return NotFound("");
    return item;
  }
}

}  // namespace

Entry ToEntry(const NodeItem& item, std::string path) {
  Entry entry;
  entry.path = std::move(path);
  entry.type = item.type;
  entry.mode = item.mode;
  entry.size = item.type == EntryType::kSymlink ? item.target.size() : item.size;
  entry.hash = item.type == EntryType::kSymlink ? Sha256Of(item.target) : item.hash;
  entry.target = item.target;
  return entry;
}

Result<LoadedNode> LoadNode(const ObjectStore& store, const Hash& hash) {
  auto bytes = store.Read(hash, kMaxNode);
  if (!bytes.ok()) return std::move(bytes).error().Wrap("read tree node");
  LoadedNode loaded;
  loaded.bytes = std::make_unique<std::string>(std::move(*bytes));
  auto node = DecodeNode(*loaded.bytes);
  if (!node.ok()) return std::move(node).error().Wrap("tree node " + hash.Hex());
  loaded.node = std::move(*node);
  return loaded;
}

Result<FolderReader> FolderReader::Read(const ObjectStore& store, const Hash& folder) {
  FolderReader reader;
  TENON_TRY_VOID(reader.Add(store, folder, -1));
  return reader;
}

Status FolderReader::Add(const ObjectStore& store, const Hash& hash, int level) {
  TENON_TRY(LoadedNode loaded, LoadNode(store, hash));
  Node& node = loaded.node;
  nodes_.push_back(hash);
  TENON_EXPECT_PEER(level < 0 || (node.level == level && !node.items.empty()),
                    "tree node " + hash.Hex() + " of a wrong level");
  bytes_.push_back(std::move(loaded.bytes));
  if (node.level > 0) {
    for (const NodeItem& item : node.items) {
      const size_t before = items_.size();
      TENON_TRY_VOID(Add(store, item.hash, node.level - 1));
      TENON_EXPECT_PEER(items_[before].name == item.name,
                        "tree node " + hash.Hex() + " names another node than it has");
    }
    return {};
  }
  TENON_EXPECT_PEER(
      items_.empty() || node.items.empty() || items_.back().name < node.items.front().name,
      "tree node " + hash.Hex() + ": names out of order");
  if (items_.empty()) {
    items_ = std::move(node.items);
  } else {
    items_.insert(items_.end(), node.items.begin(), node.items.end());
  }
  return {};
}

Status Walk(const ObjectStore& store, const Hash& root,
            const std::function<Status(const Entry&)>& visit) {
  return WalkFolder(store, root, "", 0, visit);
}

Result<Entry> Find(const ObjectStore& store, const Hash& root, std::string_view path) {
  Hash folder = root;
  for (size_t start = 0;;) {
    const size_t slash = path.find('/', start);
    const std::string_view name = path.substr(start, slash - start);
    LoadedNode holder;
    auto item = FindInFolder(store, folder, name, &holder);
    if (!item.ok() && item.error().kind == ErrorKind::kNotFound && item.error().message.empty()) {
      return NotFound("the snapshot has no " + std::string(path));
    }
    if (!item.ok()) return std::move(item).error();
    if (slash == std::string_view::npos) return ToEntry(*item, std::string(path));
    if (item->type != EntryType::kFolder) {
      return NotFound("the snapshot has no " + std::string(path));
    }
    folder = item->hash;
    start = slash + 1;
  }
}

Status Reachable(const ObjectStore& store, const Hash& root, std::unordered_set<Hash>* out) {
  return ReachFolder(store, root, 0, out);
}

}  // namespace tenon::snapshot
