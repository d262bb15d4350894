// SPDX-License-Identifier: Apache-2.0
// Keeps files and folders private to their owner, also those that were made open to others.
#ifndef TENON_BASE_PRIVATE_FILE_H_
#define TENON_BASE_PRIVATE_FILE_H_

#include <span>
#include <string>
#include <string_view>

namespace tenon {

// Takes all permissions on a file or folder of ours from the group and from others. Leaves alone
// what is missing, belongs to another user or is a symlink. True: it took some away.
bool KeepPrivate(const std::string& path);

// Does the same for a folder, or for a symlink to one. If the folder was open to others, also does
// it for everything directly in the folder and directly in those of its subfolders that `deeper`
// names. Costs one stat(2) where nothing is wrong.
void KeepFolderPrivate(const std::string& folder, std::span<const std::string_view> deeper);

}  // namespace tenon

#endif  // TENON_BASE_PRIVATE_FILE_H_
