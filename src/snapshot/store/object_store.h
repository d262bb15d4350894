// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_SNAPSHOT_STORE_OBJECT_STORE_H_
#define TENON_SNAPSHOT_STORE_OBJECT_STORE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "base/hash.h"
#include "base/result.h"

namespace tenon::snapshot {

// Contents by SHA-256, in one folder. Many processes may use it at once; what is in it never
// changes, so readers need no lock. Any number of threads may use one ObjectStore. Small objects
// lie together in pack files, large ones in files of their own (raw when compressing does not pay,
// so that unpacking can reflink them). docs/formats/snapshot.md.
class ObjectStore {
 public:
  // Makes the folder if needed. Leftovers of killed writers are ignored and removed by Collect().
  static Result<ObjectStore> Open(const std::string& folder);
  ObjectStore(ObjectStore&&) noexcept;
  ObjectStore& operator=(ObjectStore&&) noexcept;
  ~ObjectStore();

  bool Has(const Hash& hash) const;
  // The whole object, checked against its hash. For nodes and small files; larger than `limit` is
  // kInvalid.
  Result<std::string> Read(const Hash& hash, size_t limit = 64u << 20) const;
  // The object's bytes in pieces, never whole in memory; checked, kCorrupt after the last piece if
  // wrong.
  Status ReadTo(const Hash& hash, const std::function<Status(std::string_view)>& sink) const;
  // Writes the object into the empty file `fd`: reflink if possible, else a copy. Copies are
  // checked like ReadTo; a reflink shares the store's blocks and is not read.
  Status CopyTo(const Hash& hash, int fd) const;
  // The same; says whether it was a reflink.
  Result<bool> CopyOrClone(const Hash& hash, int fd) const;

  // Has(), for one who is going to rely on it: marks the object as used now, so that a Collect()
  // that runs at the same time leaves it alone. `size` is the object's.
  bool Keep(const Hash& hash, uint64_t size);
  // The names of the packs in which everything small lies that was put or kept before the last
  // Flush() and after the one before it.
  std::vector<std::string> PacksInUse() const;
  // Keep() for all that lies in these packs; false if one is not there any more. Packs never
  // change, so this is as good as asking for each object.
  bool KeepPacks(const std::vector<std::string>& names);

  // Adds objects. What was added can be read through the same store at once; other processes see it
  // and a power cut spares it after Flush(). A full disk is kUnavailable and leaves the store as it
  // was.
  Result<Hash> Put(std::string_view bytes);
  // The same for bytes that are said to have this hash, and for many small ones: they share blocks.
  // kCorrupt, and nothing added, when they have another.
  Status PutAs(const Hash& hash, std::string_view bytes);
  // Takes over a whole file, of at least kLargeObject bytes and on the store's file system, whose
  // bytes have this hash; that is not checked. On failure the file is where it was.
  Status Adopt(const std::string& path, const Hash& hash);
  // The open file from its beginning, streamed; stops with kUnavailable "changed while being read"
  // when it yields another number of bytes than `expected_size`.
  // `on_bytes` is told, on this thread, how many more bytes were read.
  Result<Hash> PutFile(int fd, uint64_t expected_size,
                       const std::function<void(uint64_t)>& on_bytes = nullptr);
  Status Flush();

  struct Usage {
    uint64_t objects = 0;
    uint64_t bytes_on_disk = 0;
  };
  Result<Usage> Measure() const;
  // Removes every object not in `live` that is older than `min_age_us`, rewriting packs where that
  // frees at least a quarter of them. Returns what was removed. Safe beside readers, and beside
  // writers if `min_age_us` is longer than it takes from a Freeze() to the record that makes it
  // live.
  Result<Usage> Collect(const std::unordered_set<Hash>& live, int64_t min_age_us);

 private:
  struct Impl;
  struct LargePlace {
    std::string path;
    bool compressed;
  };
  // A small object; *found is false for a large one and for one that is not there.
  Status ReadInto(const Hash& hash, std::string* out, bool* found) const;
  Result<LargePlace> FindLarge(const Hash& hash) const;
  Status PutSmall(const Hash& hash, std::string_view bytes, bool among_others);
  explicit ObjectStore(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace tenon::snapshot

#endif  // TENON_SNAPSHOT_STORE_OBJECT_STORE_H_
