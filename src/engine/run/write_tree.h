// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_ENGINE_RUN_WRITE_TREE_H_
#define TENON_ENGINE_RUN_WRITE_TREE_H_

#include <string>
#include <vector>

#include "base/result.h"
#include "engine/context.h"
#include "snapshot/freeze/unpack.h"

namespace tenon::engine {

// Writes a tree (hex root) into a folder and makes the folder if needed. If existing files have
// other contents, it fails before anything is written (kInvalid, naming them, with `option` as the
// way out), unless `replace`. Files that the tree does not have are left alone. The tree is one of
// outputs and may come from a machine that can't be trusted: a symlink in it is kCorrupt, because
// no runner records one. With `dots_left`, a name that begins with a dot, and what lies below it,
// is not written but added to that list. Returns the paths that were written.
Result<std::vector<std::string>> WriteTree(Context& context, const std::string& tree,
                                           const std::string& folder, bool replace,
                                           const std::string& option,
                                           std::vector<std::string>* dots_left = nullptr);

// Whether `folder` has this file already, byte for byte.
Result<bool> IsSame(const snapshot::Entry& file, const std::string& folder);

// "a, b, c and 7 more"
std::string NameEntries(const std::vector<snapshot::Entry>& entries);

}  // namespace tenon::engine

#endif  // TENON_ENGINE_RUN_WRITE_TREE_H_
