// SPDX-License-Identifier: Apache-2.0
#include "engine/compare.h"

#include <algorithm>
#include <utility>

#include "base/hash.h"
#include "snapshot/unpack.h"

namespace tenon::engine {
namespace {

// A file as far as a comparison cares: equal marks are equal files.
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

Result<std::vector<File>> FilesOf(const snapshot::ObjectStore& objects, const Hash& root) {
  std::vector<File> files;
  TENON_TRY_VOID(snapshot::Walk(objects, root, [&](const snapshot::Entry& entry) {
    if (entry.type == snapshot::EntryType::kFolder) return Status();
    std::string mark(entry.hash.raw());
    mark += static_cast<char>(entry.type);
    mark += std::to_string(entry.mode);
    files.push_back({entry.path, std::move(mark)});
    return Status();
  }));
  SortByPath(&files);
  return files;
}

std::vector<File> OutputsOf(const journal::RunView& run) {
  std::vector<File> files;
  for (const run::Artifact& artifact : run.artifacts) {
    files.push_back({artifact.path, artifact.hash});
  }
  SortByPath(&files);
  // A file that was recorded twice counts once, by its first record, as in ReadArtifact().
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
  TENON_TRY(const auto files_a, FilesOf(*objects, a));
  TENON_TRY(const auto files_b, FilesOf(*objects, b));
  return Merge(files_a, files_b);
}

FileChanges CompareOutputs(const journal::RunView& first, const journal::RunView& second) {
  return Merge(OutputsOf(first), OutputsOf(second));
}

}  // namespace tenon::engine
