// SPDX-License-Identifier: Apache-2.0
#include "engine/run/write_tree.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <vector>

#include "base/file.h"
#include "base/hash.h"
#include "base/text.h"
#include "run/artifact_name.h"

namespace tenon::engine {
namespace {

constexpr size_t kNamesShown = 10;
constexpr size_t kPiece = 1u << 20;

}  // namespace

std::string NameEntries(const std::vector<snapshot::Entry>& entries) {
  std::vector<std::string> names;
  for (const auto& entry : entries) {
    if (names.size() == kNamesShown) break;
    names.push_back(ForTerminal(entry.path));
  }
  std::string text = Join(names, ", ");
  if (entries.size() > kNamesShown) {
    text += " and " + std::to_string(entries.size() - kNamesShown) + " more";
  }
  return text;
}

Result<std::vector<std::string>> WriteTree(Context& context, const std::string& tree,
                                           const std::string& folder, bool replace,
                                           const std::string& option,
                                           std::vector<std::string>* dots_left) {
  const auto root = Hash::FromHex(tree);
  TENON_EXPECT_PEER(root.has_value(), "`" + tree + "` is not the hash of a tree");
  TENON_TRY(snapshot::ObjectStore * objects, context.Objects());
  snapshot::Difference difference;
  if (!Exists(folder)) {
    TENON_TRY_VOID(MakeDirs(folder));
  } else if (!IsDirectory(folder)) {
    return Invalid(ForTerminal(folder) + " is there and is no folder").WithHint("move it away");
  }
  TENON_TRY(difference, snapshot::Compare(*objects, *root, folder));
  for (auto* list : {&difference.changed, &difference.missing}) {
    if (dots_left != nullptr) {
      std::erase_if(*list, [&](const snapshot::Entry& entry) {
        if (!run::HasDotPart(entry.path)) return false;
        if (entry.type != snapshot::EntryType::kFolder) dots_left->push_back(entry.path);
        return true;
      });
    }
    for (const snapshot::Entry& entry : *list) {
      TENON_EXPECT_PEER(entry.type != snapshot::EntryType::kSymlink,
                        "the outputs have a symbolic link, " + ForTerminal(entry.path) +
                            ", which no run records");
    }
  }
  if (!difference.changed.empty() && !replace) {
    return Invalid("in " + ForTerminal(folder) +
                   " these are there with other contents: " + NameEntries(difference.changed))
        .WithHint(option + " replaces them; nothing has been written");
  }
  // In the order of paths: each folder is made before its files.
  std::vector<const snapshot::Entry*> entries;
  for (const auto* list : {&difference.missing, &difference.changed}) {
    for (const snapshot::Entry& entry : *list) entries.push_back(&entry);
  }
  std::sort(entries.begin(), entries.end(),
            [](const auto* a, const auto* b) { return a->path < b->path; });
  std::vector<std::string> written;
  for (const snapshot::Entry* entry : entries) {
    TENON_TRY_VOID(snapshot::WriteEntry(*objects, *entry, folder));
    if (entry->type != snapshot::EntryType::kFolder) written.push_back(entry->path);
  }
  return written;
}

Result<bool> IsSame(const snapshot::Entry& file, const std::string& folder) {
  const std::string path = JoinPath(folder, file.path);
  struct stat st;
  if (::lstat(path.c_str(), &st) != 0 || !S_ISREG(st.st_mode) ||
      static_cast<uint64_t>(st.st_size) != file.size) {
    return false;
  }
  TENON_TRY(auto fd, OpenFile(path, O_RDONLY));
  Sha256 hash;
  std::vector<char> buffer(kPiece);
  for (uint64_t offset = 0;;) {
    TENON_TRY(const size_t size, ReadAt(fd.get(), buffer, offset));
    if (size == 0) break;
    hash.Update({buffer.data(), size});
    offset += size;
  }
  return hash.Finish() == file.hash;
}

}  // namespace tenon::engine
