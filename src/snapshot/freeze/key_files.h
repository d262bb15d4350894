// SPDX-License-Identifier: Apache-2.0
// Files that are known to hold keys or passwords, and Tenon's own folders: what no copy of a
// project should take along unasked. The table is in key_files.cc, a reason for each row.
#ifndef TENON_SNAPSHOT_FREEZE_KEY_FILES_H_
#define TENON_SNAPSHOT_FREEZE_KEY_FILES_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "snapshot/freeze/folder_scan.h"

namespace tenon::snapshot {

enum class KeyKind : uint8_t {
  kNone,
  kKey,    // by its name alone
  kLook,   // if HoldsKey() says so of its contents
  kNamed,  // is taken, and told of: scripts need it, and it often holds passwords
};
struct KeyName {
  KeyKind kind = KeyKind::kNone;
  const char* reason = "";  // "SSH keys"
};
// What the name at the end of `path` is known for; the folders before it count for some. A path is
// of any length, with forward slashes; upper and lower case are the same. Cheap for names that are
// known for nothing.
KeyName LookAtKeyName(std::string_view path, bool is_folder);

// Enough of a file's beginning for HoldsKey().
inline constexpr size_t kKeyBytes = 1u << 20;
// Whether a file of KeyKind::kLook holds a private key or password.
bool HoldsKey(std::string_view bytes);
// The same, of a file in an open folder. False when it can't be read.
bool HoldsKeyAt(int folder, const char* name);

// What a file begins with is enough to see that it is a private key and nothing else, whatever its
// name. A program or a text that mentions one is none.
inline constexpr size_t kBeginningBytes = 4096;
bool IsKeyItself(std::string_view beginning);
// The same, of an open file. False when it can't be read.
bool IsKeyItselfAt(int fd);

// What a home is called where nobody says otherwise; one that was never used has no marks yet.
inline constexpr std::string_view kHomeName = ".tenon";
// Whether a folder with these names in it is a Tenon home, by what every home has.
bool IsTenonHome(const Listing& names);
bool IsTenonHome(const std::vector<std::string>& names);

// A folder, wherever it is met: through a bind mount, under another name.
struct FolderId {
  uint64_t device = 0, inode = 0;
  bool operator==(const FolderId&) const = default;
};
// Those of `paths` that are there; symlinks are followed.
std::vector<FolderId> IdsOf(const std::vector<std::string>& paths);

// Something that was left out because it is private.
struct LeftOut {
  std::string path;
  bool is_folder = false;
  std::string reason;
};

}  // namespace tenon::snapshot

#endif  // TENON_SNAPSHOT_FREEZE_KEY_FILES_H_
