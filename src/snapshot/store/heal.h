// SPDX-License-Identifier: Apache-2.0
// A store whose bytes were damaged (a failing disk, a power cut, somebody's hand) while it still
// has them by name.
#ifndef TENON_SNAPSHOT_STORE_HEAL_H_
#define TENON_SNAPSHOT_STORE_HEAL_H_

#include <cstdint>
#include <string>
#include <vector>

#include "base/hash.h"
#include "base/result.h"
#include "snapshot/store/object_store.h"

namespace tenon::snapshot {

// What of a tree cannot be read from the store: paths of files and folders, "." for the root; below
// a folder that cannot be read nothing is known, so one who has mended that looks again. Empty: the
// tree is whole. Every object of the tree
// is read, so this is for after something has gone wrong.
//
// What is damaged is taken out of the store, which lies in `folder`: whoever has the bytes, the
// project's folder or another machine, then finds them lacking and puts them again.
Result<std::vector<std::string>> DropDamaged(ObjectStore& store, const std::string& folder,
                                             const Hash& root);

// Takes out those of the suspects whose bytes are damaged, and whatever else of a damaged block
// can't be read. Each suspect is read; with `all_small`, every small object of the store. What is
// whole stays. Returns how many objects went. Safe
// beside readers and writers; a store that is open looks again at what is there with Measure().
Result<uint64_t> DropDamagedObjects(const std::string& folder, const std::vector<Hash>& suspects,
                                    bool all_small = false);

}  // namespace tenon::snapshot

#endif  // TENON_SNAPSHOT_STORE_HEAL_H_
