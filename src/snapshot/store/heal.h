// SPDX-License-Identifier: Apache-2.0
// Repairs a store that still lists objects whose bytes were damaged (a failing disk, a power cut, a
// manual change).
#ifndef TENON_SNAPSHOT_STORE_HEAL_H_
#define TENON_SNAPSHOT_STORE_HEAL_H_

#include <cstdint>
#include <string>
#include <vector>

#include "base/hash.h"
#include "base/result.h"
#include "snapshot/store/object_store.h"

namespace tenon::snapshot {

// Removes the damaged objects of a tree from the store, which lies in `folder`. Whoever has the
// bytes, the project's folder or another machine, then finds them missing and puts them again.
//
// Returns the paths of the files and folders that cannot be read, "." for the root. Empty: the tree
// is whole. Objects below an unreadable folder are unknown: call this again after that folder is
// repaired. Reads every object of the tree, so call it only after an error.
Result<std::vector<std::string>> DropDamaged(ObjectStore& store, const std::string& folder,
                                             const Hash& root);

// Removes those `suspects` whose bytes are damaged, and everything else in their blocks that can't
// be read. Reads each suspect, and with `all_small` every small object of the store. Undamaged
// objects stay. Returns the number of objects removed. Safe beside readers and writers. An
// ObjectStore that is open notices the removal after Measure().
Result<uint64_t> DropDamagedObjects(const std::string& folder, const std::vector<Hash>& suspects,
                                    bool all_small = false);

}  // namespace tenon::snapshot

#endif  // TENON_SNAPSHOT_STORE_HEAL_H_
