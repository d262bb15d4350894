// SPDX-License-Identifier: Apache-2.0
// Writing a pack anew from others: what removing, joining and mending share.
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

// Copies objects from pack to pack: blocks as they are stored, except those of which not all
// objects are wanted (`in_block` has how many there are): these are taken out and put together with
// others.
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
// On disk and in its place; the path.
Result<std::string> PublishNewPack(const StoreFiles& files, NewPack pack);

// Removes the file of a large object, unless it is another one by now. True: it is gone.
Result<bool> RemoveLarge(const StoreFiles& files, const std::string& path, const struct stat& seen);

}  // namespace tenon::snapshot

#endif  // TENON_SNAPSHOT_STORE_REWRITE_H_
