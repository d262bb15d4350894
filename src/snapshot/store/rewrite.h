// SPDX-License-Identifier: Apache-2.0
// Writes new packs from existing ones. Used for removing, joining and repairing.
#ifndef TENON_SNAPSHOT_STORE_REWRITE_H_
#define TENON_SNAPSHOT_STORE_REWRITE_H_

#include <sys/stat.h>

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "snapshot/store/pack.h"
#include "snapshot/store/store_files.h"

namespace tenon::snapshot {

// A file's modification time.
Result<int64_t> ModifiedNs(const std::string& path);
Status SetModified(const std::string& path, int64_t ns);

// Copies objects from one pack to another. Blocks are copied as they are stored. If only some of a
// block's objects are wanted, they are read and put into new blocks. `in_block` has the number of
// objects in each block.
Status CopyEntries(const Pack& from, std::vector<PackEntry> entries,
                   const std::unordered_map<uint64_t, size_t>& in_block, PackWriter* to);
// How many objects each block of a pack has.
std::unordered_map<uint64_t, size_t> CountBlocks(const std::vector<PackEntry>& entries);

// A pack being written for publication.
struct NewPack {
  std::string temp;
  std::unique_ptr<PackWriter> writer;
};
Result<NewPack> BeginPack(WriterFolder* folder);
// Finishes the pack, makes it durable, moves it into packs/ and returns its path.
Result<std::string> PublishNewPack(const StoreFiles& files, NewPack pack);

// Removes the file of a large object, unless it is not the file of `seen` any more. True: it was
// removed.
Result<bool> RemoveLarge(const StoreFiles& files, const std::string& path, const struct stat& seen);

}  // namespace tenon::snapshot

#endif  // TENON_SNAPSHOT_STORE_REWRITE_H_
