// SPDX-License-Identifier: Apache-2.0
#include "snapshot/store/tree_read.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "snapshot/freeze/unpack.h"

namespace tenon::snapshot {
namespace {

std::string Child(std::string_view folder, std::string_view name) {
  std::string path(folder);
  if (!path.empty()) path += '/';
  path += name;
  return path;
}

// Most bytes that the folders on one path may take together.
constexpr uint64_t kMaxPathBytes = 64u << 20;

// Counts bytes as held while it lives.
class Holding {
 public:
  Holding(uint64_t* held, uint64_t bytes) : held_(held), bytes_(bytes) { *held_ += bytes_; }
  ~Holding() { *held_ -= bytes_; }
  Holding(const Holding&) = delete;
  Holding& operator=(const Holding&) = delete;

 private:
  uint64_t* held_;
  uint64_t bytes_;
};

class Walker {
 public:
  Walker(const ObjectStore& store, const Hash& root,
         const std::function<Status(const Entry&)>& visit)
      : store_(store), root_(root), visit_(visit) {}

  Status Folder(const Hash& folder, const std::string& path, int depth) {
    TENON_EXPECT_PEER(depth <= kMaxDepth, "tree nested too deep at " + path.substr(0, kMaxName));
    TENON_TRY(const FolderReader reader, FolderReader::Read(store_, folder));
    const Holding holding(&held_, reader.held() + path.size());
    TENON_EXPECT_PEER(held_ <= kMaxPathBytes, "the folders of a tree are too large to be walked");
    for (const NodeItem& item : reader.items()) {
      if (++visited_ == kCountFrom) TENON_TRY_VOID(CheckEntryCount(store_, root_));
      const Entry entry = ToEntry(item, Child(path, item.name));
      TENON_TRY_VOID(visit_(entry));
      if (entry.type != EntryType::kFolder) continue;
      TENON_TRY_VOID(Folder(entry.hash, entry.path, depth + 1));
    }
    return {};
  }

 private:
  const ObjectStore& store_;
  const Hash& root_;
  const std::function<Status(const Entry&)>& visit_;
  uint64_t visited_ = 0, held_ = 0;
};

// Counts the entries of a tree. Counts each folder only once, however often the tree names it.
class Counter {
 public:
  explicit Counter(const ObjectStore& store) : store_(store) {}

  Result<uint64_t> Count(const Hash& folder, int depth) {
    if (const auto known = counts_.find(folder); known != counts_.end()) return known->second;
    TENON_EXPECT_PEER(depth <= kMaxDepth, "tree nested too deep");
    std::vector<Hash> below;
    uint64_t count = 0;
    {
      TENON_TRY(const FolderReader reader, FolderReader::Read(store_, folder));
      count = reader.items().size();
      for (const NodeItem& item : reader.items()) {
        if (item.type == EntryType::kFolder) below.push_back(item.hash);
      }
    }
    const Holding holding(&held_, below.size() * sizeof(Hash));
    TENON_EXPECT_PEER(held_ <= kMaxPathBytes, "the folders of a tree are too large to be counted");
    for (const Hash& hash : below) {
      TENON_TRY(const uint64_t more, Count(hash, depth + 1));
      count += more;
      TENON_EXPECT_PEER(count <= kMaxEntries,
                        "the tree stands for more than " + std::to_string(kMaxEntries) +
                            " files and folders, which is more than is written anywhere");
    }
    counts_[folder] = count;
    return count;
  }

 private:
  const ObjectStore& store_;
  std::unordered_map<Hash, uint64_t> counts_;
  uint64_t held_ = 0;
};

bool HasAll(const FolderReader& reader, const std::unordered_set<Hash>& out) {
  return std::all_of(reader.nodes().begin(), reader.nodes().end(),
                     [&](const Hash& hash) { return out.contains(hash); }) &&
         std::all_of(reader.items().begin(), reader.items().end(), [&](const NodeItem& item) {
           return item.type == EntryType::kSymlink || out.contains(item.hash);
         });
}

Status ReachFolder(const ObjectStore& store, const Hash& folder, int depth, uint64_t* held,
                   std::unordered_set<Hash>* out) {
  TENON_EXPECT_PEER(depth <= kMaxDepth, "tree nested too deep");
  TENON_TRY(const FolderReader reader, FolderReader::Read(store, folder));
  const Holding holding(held, reader.held());
  TENON_EXPECT_PEER(*held <= kMaxPathBytes, "the folders of a tree are too large to be walked");
  // A folder in `out` was visited before, unless the same hash is there as a file's content.
  if (out->contains(folder) && HasAll(reader, *out)) return {};
  for (const NodeItem& item : reader.items()) {
    if (item.type == EntryType::kFile) out->insert(item.hash);
    if (item.type == EntryType::kFolder) {
      TENON_TRY_VOID(ReachFolder(store, item.hash, depth + 1, held, out));
    }
  }
  // Added last, so that a folder in `out` always has everything below it there too.
  out->insert(reader.nodes().begin(), reader.nodes().end());
  return {};
}

// Finds one name in a folder. Reads only the nodes on the way to it.
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
  held_ += loaded.bytes->size() + node.items.size() * sizeof(NodeItem);
  TENON_EXPECT_PEER(held_ <= kMaxFolderBytes, "a folder of a tree is too large to be read");
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
  return Walker(store, root, visit).Folder(root, "", 0);
}

Status CheckEntryCount(const ObjectStore& store, const Hash& root) {
  TENON_TRY_VOID(Counter(store).Count(root, 0));
  return {};
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
  uint64_t held = 0;
  return ReachFolder(store, root, 0, &held, out);
}

}  // namespace tenon::snapshot
