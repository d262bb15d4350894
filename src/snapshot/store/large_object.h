// SPDX-License-Identifier: Apache-2.0
// Objects that have a file of their own. Never whole in memory.
#ifndef TENON_SNAPSHOT_STORE_LARGE_OBJECT_H_
#define TENON_SNAPSHOT_STORE_LARGE_OBJECT_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/hash.h"
#include "base/result.h"
#include "snapshot/store/codec.h"

namespace tenon::snapshot {

// The reason of the kUnavailable that means: the file is not what it was a moment ago.
inline constexpr std::string_view kChangedWhileRead = "changed-while-read";
inline Error ChangedWhileRead() {
  return Unavailable("changed while being read").WithReason(kChangedWhileRead);
}

// Told how many more bytes were read; may be empty.
using OnBytes = std::function<void(uint64_t)>;

struct LargeObject {
  Hash hash;
  bool compressed = false;
};

// Writes the first `size` bytes of an open file to the new file `path`: as a clone if the file
// system can, else compressed or raw as pays. kUnavailable "changed while being read" if it has
// another size. The disk is not waited for. On failure `path` is removed.
Result<LargeObject> StoreLargeFile(int source, uint64_t size, const std::string& path,
                                   const OnBytes& on_bytes);
Result<LargeObject> StoreLargeBytes(std::string_view bytes, const std::string& path);

// The object's bytes in pieces; kCorrupt after the last if they do not have the hash.
Status ReadLarge(const std::string& path, bool compressed, const Hash& hash, const Sink& sink);

// Writes the object into the empty file `fd`. True: as a clone, of which only the size is known
// good. Long stretches of zeros become holes.
Result<bool> CopyLarge(const std::string& path, bool compressed, const Hash& hash, int fd);

}  // namespace tenon::snapshot

#endif  // TENON_SNAPSHOT_STORE_LARGE_OBJECT_H_
