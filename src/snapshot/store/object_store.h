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

// Stores contents by SHA-256 in one folder. Many processes may use the folder at once, and any
// number of threads one ObjectStore. Stored objects never change, so readers take no lock. Small
// objects share pack files. Large objects have files of their own, uncompressed if compressing does
// not pay, so that unpacking can reflink them. See docs/formats/snapshot.md.
class ObjectStore {
 public:
  // Makes the folder if needed. Ignores what killed writers left; Collect() removes it.
  static Result<ObjectStore> Open(const std::string& folder);
  ObjectStore(ObjectStore&&) noexcept;
  ObjectStore& operator=(ObjectStore&&) noexcept;
  ~ObjectStore();

  bool Has(const Hash& hash) const;
  // Returns the whole object after checking its hash. For nodes and small files. kInvalid: it is
  // larger than `limit`. kNotFound: it is not in the store. kCorrupt: it is damaged.
  Result<std::string> Read(const Hash& hash, size_t limit = 64u << 20) const;
  // Hands the object's bytes to `sink` in pieces; never has the whole in memory. kCorrupt after the
  // last piece if the hash is wrong.
  Status ReadTo(const Hash& hash, const std::function<Status(std::string_view)>& sink) const;
  // Writes the object into the empty file `fd`, as a reflink if possible. A copy is checked as by
  // ReadTo(). A reflink shares the store's blocks and is not checked.
  Status CopyTo(const Hash& hash, int fd) const;
  // As CopyTo(). Returns whether it made a reflink.
  Result<bool> CopyOrClone(const Hash& hash, int fd) const;

  // Whether the store has the object, for a caller that will rely on it: marks the object as used
  // now, so that a concurrent Collect() does not remove it. `size` is the object's size.
  bool Keep(const Hash& hash, uint64_t size);
  // After a Flush(): the names of the packs that hold every small object put or kept since the
  // Flush() before it.
  std::vector<std::string> PacksInUse() const;
  // Keeps all objects in these packs; false if one of the packs does not exist any more. Packs
  // never change, so this is as good as Keep() for each object.
  bool KeepPacks(const std::vector<std::string>& names);

  // Adds an object. This store can read it at once. Other processes see it, and it survives a power
  // cut, after Flush(). Full disk: kUnavailable, and the store is as it was before.
  Result<Hash> Put(std::string_view bytes);
  // As Put(), for bytes that should have this hash. Small ones share blocks, so it suits many.
  // kCorrupt: they have another hash; nothing is added.
  Status PutAs(const Hash& hash, std::string_view bytes);
  // Moves a whole file into the store. It must have at least kLargeObject bytes, lie on the store's
  // file system and have this hash, which is not checked. If the move fails, the file stays where
  // it was.
  Status Adopt(const std::string& path, const Hash& hash);
  // Adds an open file, read from its beginning. kUnavailable "changed while being read": it has
  // another size than `expected_size`. Calls `on_bytes` on this thread with the number of bytes
  // just read.
  Result<Hash> PutFile(int fd, uint64_t expected_size,
                       const std::function<void(uint64_t)>& on_bytes = nullptr);
  // Makes everything added so far visible to other processes and durable.
  Status Flush();

  struct Usage {
    uint64_t objects = 0;
    uint64_t bytes_on_disk = 0;
  };
  // Counts all objects, including those of other processes.
  Result<Usage> Measure() const;
  // Removes every object that is not in `live` and older than `min_age_us`. Rewrites a pack if that
  // frees at least a quarter of it. Returns what was removed. Safe beside readers. Safe beside
  // writers if `min_age_us` is longer than the time from a Freeze() to the record that makes its
  // objects live.
  Result<Usage> Collect(const std::unordered_set<Hash>& live, int64_t min_age_us);

 private:
  struct Impl;
  struct LargePlace {
    std::string path;
    bool compressed;
  };
  // Reads a small object. *found is false if the object is large or not in the store.
  Status ReadInto(const Hash& hash, std::string* out, bool* found) const;
  Result<LargePlace> FindLarge(const Hash& hash) const;
  Status PutSmall(const Hash& hash, std::string_view bytes, bool among_others);
  explicit ObjectStore(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace tenon::snapshot

#endif  // TENON_SNAPSHOT_STORE_OBJECT_STORE_H_
