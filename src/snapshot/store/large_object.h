// SPDX-License-Identifier: Apache-2.0
// Objects that have a file of their own. They are never held in memory as a whole.
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

// The reason of a kUnavailable error: the file changed while it was read.
inline constexpr std::string_view kChangedWhileRead = "changed-while-read";
inline Error ChangedWhileRead() {
  return Unavailable("changed while being read").WithReason(kChangedWhileRead);
}

// Called with the number of bytes just read. May be empty.
using OnBytes = std::function<void(uint64_t)>;

struct LargeObject {
  Hash hash;
  bool compressed = false;
};

// Writes the first `size` bytes of an open file to the new file `path`: as a clone if the file
// system can, else compressed or raw, whichever pays. kUnavailable "changed while being read": the
// file has another size. Does not wait for the disk. Removes `path` on failure.
Result<LargeObject> StoreLargeFile(int source, uint64_t size, const std::string& path,
                                   const OnBytes& on_bytes);
Result<LargeObject> StoreLargeBytes(std::string_view bytes, const std::string& path);

// Hands the object's bytes to `sink` in pieces. kCorrupt after the last piece if the hash is wrong.
Status ReadLarge(const std::string& path, bool compressed, const Hash& hash, const Sink& sink);

// Writes the object into the empty file `fd`. True: it is a clone, and its bytes were not checked.
// Otherwise long stretches of zeros become holes.
Result<bool> CopyLarge(const std::string& path, bool compressed, const Hash& hash, int fd);

}  // namespace tenon::snapshot

#endif  // TENON_SNAPSHOT_STORE_LARGE_OBJECT_H_
