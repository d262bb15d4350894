// SPDX-License-Identifier: Apache-2.0
// Writing below a folder that people work in: anything may lie there, so every step of a path is
// opened by itself and no symlink is followed.
#ifndef TENON_BASE_BELOW_H_
#define TENON_BASE_BELOW_H_

#include <functional>
#include <string_view>

#include "base/fd.h"
#include "base/result.h"

namespace tenon {

// Opens the folder of `path` below the open folder `root`, going through no symlink. `path` is
// relative and has no empty, "." or ".." part; that is the caller's to check. With `make`, folders
// that are not there are made. Invalid descriptor: something on the way is not there, or is no
// folder; errno says which (ENOENT; ENOTDIR or ELOOP).
UniqueFd OpenParentBelow(int root, std::string_view path, bool make);

// Makes a file appear whole at `path` below the open folder `root`, with the folders above it:
// `fill` writes its bytes under a name of its own, then it is moved into its place. Over nothing
// that is there, unless `replace`. kInvalid: a symlink or a file stands where a folder must be, or
// the name is taken. On failure nothing is left behind.
Status WriteFileBelow(int root, std::string_view path, bool replace,
                      const std::function<Status(int fd)>& fill);

}  // namespace tenon

#endif  // TENON_BASE_BELOW_H_
