// SPDX-License-Identifier: Apache-2.0
// Recognizes files that hold keys or passwords, and Tenon homes. A copy of a project leaves them
// out unless the user asks for them. The table in key_files.cc gives a reason for each row.
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
  kKey,    // a key by its name alone
  kLook,   // a key if HoldsKey() finds one in its contents
  kNamed,  // taken and reported: scripts need it, and it often holds passwords
};
struct KeyName {
  KeyKind kind = KeyKind::kNone;
  const char* reason = "";  // "SSH keys"
};
// What the last name of `path` is known for; some rows also look at the folders before it. `path`
// may have any length and has forward slashes. Ignores case. Cheap for names that are not in the
// table.
KeyName LookAtKeyName(std::string_view path, bool is_folder);

// HoldsKey() needs at most this many bytes from the beginning of a file.
inline constexpr size_t kKeyBytes = 1u << 20;
// Whether a file of KeyKind::kLook holds a private key or a password.
bool HoldsKey(std::string_view bytes);
// The same for a file in an open folder. False if the file can't be read.
bool HoldsKeyAt(int folder, const char* name);

// Whether a file is a private key and nothing else, whatever its name. Needs only the beginning of
// the file. A program or a text that mentions a key is not one.
inline constexpr size_t kBeginningBytes = 4096;
bool IsKeyItself(std::string_view beginning);
// The same for an open file. False if it can't be read.
bool IsKeyItselfAt(int fd);

// The default name of a home. A home that was never used is known by this name only.
inline constexpr std::string_view kHomeName = ".tenon";
// Whether a folder that contains these names is a Tenon home.
bool IsTenonHome(const Listing& names);
bool IsTenonHome(const std::vector<std::string>& names);

// Identifies a folder even behind a bind mount or another name.
struct FolderId {
  uint64_t device = 0, inode = 0;
  bool operator==(const FolderId&) const = default;
};
// The ids of those `paths` that exist. Symlinks are followed.
std::vector<FolderId> IdsOf(const std::vector<std::string>& paths);

// A file or folder that was left out because it is private.
struct LeftOut {
  std::string path;
  bool is_folder = false;
  std::string reason;
};

}  // namespace tenon::snapshot

#endif  // TENON_SNAPSHOT_FREEZE_KEY_FILES_H_
