// SPDX-License-Identifier: Apache-2.0
// Files and folders that are nobody else's affair, also where they were made without that care.
#ifndef TENON_BASE_PRIVATE_FILE_H_
#define TENON_BASE_PRIVATE_FILE_H_

#include <span>
#include <string>
#include <string_view>

namespace tenon {

// Takes from the group and from others whatever they may do with a file or folder that is ours.
// What is not there, not ours or a symlink is left as it is. True: something was taken away.
bool KeepPrivate(const std::string& path);

// The same for a folder (or a symlink to one) that was found open to others: then also for all that
// lies directly in it, and in those of its folders that `deeper` names. One look where nothing is
// wrong.
void KeepFolderPrivate(const std::string& folder, std::span<const std::string_view> deeper);

}  // namespace tenon

#endif  // TENON_BASE_PRIVATE_FILE_H_
