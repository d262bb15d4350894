// SPDX-License-Identifier: Apache-2.0
#include "engine/run/compare.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/hash.h"
#include "snapshot/freeze/unpack.h"
#include "snapshot/store/tree_read.h"

namespace tenon::engine {
namespace {

// A file of a comparison. Files with equal marks are equal.
struct File {
  std::string path;
  std::string mark;
};

// Both lists are sorted by path; each path occurs once in a list.
FileChanges Merge(const std::vector<File>& first, const std::vector<File>& second) {
  FileChanges changes;
  auto a = first.begin(), b = second.begin();
  while (a != first.end() || b != second.end()) {
    if (b == second.end() || (a != first.end() && a->path < b->path)) {
      changes.removed.push_back((a++)->path);
    } else if (a == first.end() || b->path < a->path) {
      changes.added.push_back((b++)->path);
    } else {
      if (a->mark != b->mark) changes.changed.push_back(a->path);
      ++a;
      ++b;
    }
  }
  return changes;
}

void SortByPath(std::vector<File>* files) {
  std::stable_sort(files->begin(), files->end(),
                   [](const File& a, const File& b) { return a.path < b.path; });
}

Result<Hash> RootOf(const journal::RunView& run) {
  const auto root = Hash::FromHex(run.spec.kept_tree);
  TENON_EXPECT_PEER(root.has_value(), "the run " + run.spec.id + " has no snapshot on record");
  return *root;
}

// Compares two trees folder by folder. Folders with equal hashes are not read.
class TreeComparer {
 public:
  explicit TreeComparer(const snapshot::ObjectStore& objects) : objects_(objects) {}

  Result<FileChanges> Run(const Hash& first, const Hash& second) {
    TENON_TRY_VOID(Folders(&first, &second, "", 0));
    for (auto* list : {&changes_.added, &changes_.removed, &changes_.changed}) {
      std::sort(list->begin(), list->end());
    }
    return std::move(changes_);
  }

 private:
  // A null hash: that side has no such folder.
  Status Folders(const Hash* first, const Hash* second, const std::string& path, int depth) {
    if (first && second && *first == *second) return {};
    TENON_EXPECT_PEER(depth <= snapshot::kMaxDepth, "tree nested too deep");
    if (++folders_ > kMaxNamed) changes_.more = true;
    if (changes_.more) return {};
    std::optional<snapshot::FolderReader> left, right;
    if (first) {
      TENON_TRY(left, snapshot::FolderReader::Read(objects_, *first));
    }
    if (second) {
      TENON_TRY(right, snapshot::FolderReader::Read(objects_, *second));
    }
    const Items none;
    const Items& a = left ? left->items() : none;
    const Items& b = right ? right->items() : none;
    const uint64_t held = (left ? left->held() : 0) + (right ? right->held() : 0) + path.size();
    held_ += held;
    TENON_EXPECT_PEER(held_ <= kMaxHeld, "the folders of the trees are too large to be compared");
    auto i = a.begin();
    auto k = b.begin();
    while (i != a.end() || k != b.end()) {
      const bool in_first = i != a.end() && (k == b.end() || i->name <= k->name);
      const bool in_second = k != b.end() && (i == a.end() || k->name <= i->name);
      TENON_TRY_VOID(Entries(in_first ? &*i : nullptr, in_second ? &*k : nullptr, path, depth));
      if (in_first) ++i;
      if (in_second) ++k;
    }
    held_ -= held;
    return {};
  }

  Status Entries(const snapshot::NodeItem* first, const snapshot::NodeItem* second,
                 const std::string& folder, int depth) {
    if (changes_.more) return {};
    std::string path = folder;
    if (!path.empty()) path += '/';
    path += (first ? first : second)->name;
    const bool first_file = first && first->type != snapshot::EntryType::kFolder;
    const bool second_file = second && second->type != snapshot::EntryType::kFolder;
    if (first_file && second_file) {
      const bool same = first->type == second->type && first->mode == second->mode &&
                        first->hash == second->hash && first->target == second->target;
      if (!same) Name(&changes_.changed, path);
    } else if (first_file) {
      Name(&changes_.removed, path);
    } else if (second_file) {
      Name(&changes_.added, path);
    }
    const Hash* left = first && !first_file ? &first->hash : nullptr;
    const Hash* right = second && !second_file ? &second->hash : nullptr;
    return left || right ? Folders(left, right, path, depth + 1) : Status();
  }

  void Name(std::vector<std::string>* list, const std::string& path) {
    named_bytes_ += path.size();
    if (++named_ > kMaxNamed || named_bytes_ > kMaxNamedBytes) {
      changes_.more = true;
    } else {
      list->push_back(path);
    }
  }

  using Items = std::vector<snapshot::NodeItem>;
  static constexpr uint64_t kMaxHeld = 96u << 20, kMaxNamedBytes = 24u << 20;

  const snapshot::ObjectStore& objects_;
  FileChanges changes_;
  size_t folders_ = 0, named_ = 0;
  uint64_t held_ = 0, named_bytes_ = 0;
};

std::vector<File> OutputsOf(const journal::RunView& run) {
  std::vector<File> files;
  for (const run::Artifact& artifact : run.artifacts) {
    files.push_back({artifact.path, artifact.hash});
  }
  SortByPath(&files);
  // If a file was recorded twice, its first record counts, as in ReadArtifact().
  const auto same = [](const File& a, const File& b) { return a.path == b.path; };
  files.erase(std::unique(files.begin(), files.end(), same), files.end());
  return files;
}

}  // namespace

Result<FileChanges> CompareSnapshots(Context& context, const journal::RunView& first,
                                     const journal::RunView& second) {
  TENON_TRY(const Hash a, RootOf(first));
  TENON_TRY(const Hash b, RootOf(second));
  if (a == b) return FileChanges{};
  TENON_TRY(snapshot::ObjectStore * objects, context.Objects());
  return TreeComparer(*objects).Run(a, b);
}

FileChanges CompareOutputs(const journal::RunView& first, const journal::RunView& second) {
  return Merge(OutputsOf(first), OutputsOf(second));
}

}  // namespace tenon::engine
