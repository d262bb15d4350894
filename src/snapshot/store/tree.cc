// SPDX-License-Identifier: Apache-2.0
#include "snapshot/store/tree.h"

#include <utility>

namespace tenon::snapshot {
namespace {

constexpr std::string_view kMagic = "TN\x01";
constexpr uint64_t kMeanWeight = 6144;
constexpr uint64_t kMaxWeight = 24576;

uint32_t Mix(uint32_t h) {
  h ^= h >> 16;
  h *= 0x85ebca6b;
  h ^= h >> 13;
  h *= 0xc2b2ae35;
  return h ^ (h >> 16);
}

uint64_t WeightOf(std::string_view name, int level) { return name.size() + (level == 0 ? 48 : 36); }

bool CutsAfter(std::string_view name, int level) {
  const uint64_t h = Mix(Crc32c(name) ^ (0x9e3779b9u * static_cast<uint32_t>(level)));
  return h * kMeanWeight < WeightOf(name, level) << 32;
}

void AppendVarint(std::string* out, uint64_t value) {
  while (value >= 0x80) {
    out->push_back(static_cast<char>(value | 0x80));
    value >>= 7;
  }
  out->push_back(static_cast<char>(value));
}

void AppendItem(std::string* out, const NodeItem& item, int level) {
  AppendVarint(out, item.name.size());
  out->append(item.name);
  if (level == 0) {
    out->push_back(static_cast<char>(item.type));
    AppendVarint(out, item.mode);
    if (item.type == EntryType::kSymlink) {
      AppendVarint(out, item.target.size());
      out->append(item.target);
      return;
    }
    if (item.type == EntryType::kFile) AppendVarint(out, item.size);
  }
  out->append(item.hash.raw());
}

// Reads from the front. After a failure it yields only zeros and empty views.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}
  bool failed() const { return failed_; }
  bool done() const { return !failed_ && bytes_.empty(); }

  std::string_view Take(uint64_t n) {
    if (failed_ || n > bytes_.size()) {
      failed_ = true;
      return {};
    }
    const std::string_view taken = bytes_.substr(0, n);
    bytes_.remove_prefix(n);
    return taken;
  }
  uint8_t Byte() {
    const std::string_view one = Take(1);
    return one.empty() ? 0 : static_cast<uint8_t>(one[0]);
  }
  // Accepts only the shortest form, so that equal folders have equal bytes.
  uint64_t Varint() {
    uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const uint8_t byte = Byte();
      if (shift == 63 && byte > 1) break;
      value |= uint64_t{byte & 0x7fu} << shift;
      if (byte < 0x80) {
        if (byte == 0 && shift > 0) break;
        return value;
      }
    }
    failed_ = true;
    return 0;
  }
  Hash TakeHash() {
    const std::string_view raw = Take(32);
    return failed_ ? Hash{} : Hash::FromBytes(raw);
  }

 private:
  std::string_view bytes_;
  bool failed_ = false;
};

Result<NodeItem> DecodeItem(Reader* reader, int level) {
  NodeItem item;
  item.name = reader->Take(reader->Varint());
  TENON_EXPECT_PEER(!reader->failed() && IsValidName(item.name), "a name that no file can have");
  if (level > 0) {
    item.type = EntryType::kFolder;
    item.hash = reader->TakeHash();
    return item;
  }
  const uint8_t type = reader->Byte();
  TENON_EXPECT_PEER(type >= 1 && type <= 3, "an unknown type of entry");
  item.type = static_cast<EntryType>(type);
  const uint64_t mode = reader->Varint();
  TENON_EXPECT_PEER(mode <= kModeBits, "a mode with other than permission bits");
  item.mode = static_cast<uint32_t>(mode);
  if (item.type == EntryType::kSymlink) {
    item.target = reader->Take(reader->Varint());
    TENON_EXPECT_PEER(!item.target.empty() && item.target.size() <= kMaxTarget &&
                          item.target.find('\0') == std::string_view::npos,
                      "a symlink target that no file system takes");
    return item;
  }
  if (item.type == EntryType::kFile) item.size = reader->Varint();
  item.hash = reader->TakeHash();
  return item;
}

// Cuts one level into nodes. *above receives the items of the next level.
Status EncodeLevel(const std::vector<NodeItem>& items, int level,
                   const std::function<Result<Hash>(std::string bytes)>& put,
                   std::vector<NodeItem>* above) {
  size_t start = 0;
  std::string body;
  uint64_t weight = 0;
  // Above the leaves a node has at least 16 items, so that no choice of names makes the tree deep.
  const size_t least = level == 0 ? 1 : 16;
  for (size_t i = 0; i < items.size() || i == 0; ++i) {
    const bool empty = items.empty();
    if (!empty) {
      TENON_CHECK(i == 0 || items[i - 1].name < items[i].name);
      AppendItem(&body, items[i], level);
      weight += WeightOf(items[i].name, level);
    }
    const size_t count = empty ? 0 : i + 1 - start;
    const bool last = empty || i + 1 == items.size();
    const bool full = weight >= kMaxWeight || (!empty && CutsAfter(items[i].name, level));
    if (!last && (!full || count < least)) continue;
    std::string node(kMagic);
    node.push_back(static_cast<char>(level));
    AppendVarint(&node, count);
    node += body;
    NodeItem upper;
    upper.type = EntryType::kFolder;
    if (!empty) upper.name = items[start].name;
    TENON_TRY(upper.hash, put(std::move(node)));
    above->push_back(upper);
    body.clear();
    weight = 0;
    start = i + 1;
  }
  return {};
}

}  // namespace

bool IsValidName(std::string_view name) {
  return !name.empty() && name.size() <= kMaxName && name != "." && name != ".." &&
         name.find('/') == std::string_view::npos && name.find('\0') == std::string_view::npos;
}

Result<Node> DecodeNode(std::string_view bytes) {
  Reader reader(bytes);
  TENON_EXPECT_PEER(reader.Take(2) == kMagic.substr(0, 2), "not a tree node");
  const int version = reader.Byte();
  TENON_EXPECT_PEER(version == 1, "tree node of version " + std::to_string(version) +
                                      ", which this program does not know");
  Node node;
  node.level = reader.Byte();
  TENON_EXPECT_PEER(node.level <= kMaxLevel, "tree node of too high a level");
  const uint64_t count = reader.Varint();
  TENON_EXPECT_PEER(!reader.failed() && count <= bytes.size() / 4, "tree node with a wrong count");
  TENON_EXPECT_PEER(count > 0 || node.level == 0, "empty tree node above level 0");
  node.items.reserve(count);
  for (uint64_t i = 0; i < count; ++i) {
    TENON_TRY(NodeItem item, DecodeItem(&reader, node.level));
    TENON_EXPECT_PEER(!reader.failed(), "tree node cut short");
    TENON_EXPECT_PEER(node.items.empty() || node.items.back().name < item.name,
                      "names of a tree node out of order");
    node.items.push_back(item);
  }
  TENON_EXPECT_PEER(reader.done(), "bytes behind the end of a tree node");
  return node;
}

Result<Hash> EncodeFolder(const std::vector<NodeItem>& items,
                          const std::function<Result<Hash>(std::string bytes)>& put) {
  std::vector<NodeItem> lower, upper;
  TENON_TRY_VOID(EncodeLevel(items, 0, put, &upper));
  for (int level = 1; upper.size() > 1; ++level) {
    TENON_CHECK(level <= kMaxLevel);
    lower.swap(upper);
    upper.clear();
    TENON_TRY_VOID(EncodeLevel(lower, level, put, &upper));
  }
  return upper.front().hash;
}

}  // namespace tenon::snapshot
