// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_ENGINE_RUN_WRITE_TREE_H_
#define TENON_ENGINE_RUN_WRITE_TREE_H_

#include <string>
#include <vector>

#include "base/result.h"
#include "engine/context.h"
#include "snapshot/freeze/unpack.h"

namespace tenon::engine {

// Writes a tree (hex root) into a folder, made if needed. Files that are there with other contents
// stop it before anything is written, unless `replace`: kInvalid naming them, with `option` as the
// way out. Files the tree does not have are left alone. The tree is one of outputs, and may come
// from a machine that is not to be trusted: a symlink in it is kCorrupt, for no runner records one.
// With `dots_left`, what has a name that begins with a dot, or lies below such, is not written but
// named there. Returns what was written, by path.
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
