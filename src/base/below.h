// SPDX-License-Identifier: Apache-2.0
// Writes below a folder that people work in. The folder may hold anything, so each part of a path
// is opened by itself and no symlink is followed.
#ifndef TENON_BASE_BELOW_H_
#define TENON_BASE_BELOW_H_

#include <functional>
#include <string_view>

#include "base/fd.h"
#include "base/result.h"

namespace tenon {

// Opens the folder that holds `path` below the open folder `root`. Follows no symlink. The caller
// makes sure that `path` is relative and has no empty, "." or ".." part. With `make`, makes the
// missing folders. Returns an invalid descriptor when a part of the way is missing or is not a
// folder; errno then says which (ENOENT; ENOTDIR or ELOOP).
UniqueFd OpenParentBelow(int root, std::string_view path, bool make);

// Writes a file at `path` below the open folder `root`, so that it appears there whole. Makes the
// missing folders above it. `fill` writes the bytes to a temporary file, which is then renamed.
// Fails with kInvalid when a symlink or a file stands where a folder must be. Without `replace`,
// also fails with kInvalid when the name is taken; a file system without RENAME_NOREPLACE replaces
// the file even so. On failure the temporary file is removed; folders that were made stay.
Status WriteFileBelow(int root, std::string_view path, bool replace,
                      const std::function<Status(int fd)>& fill);

}  // namespace tenon

#endif  // TENON_BASE_BELOW_H_
