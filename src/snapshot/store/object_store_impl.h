// SPDX-License-Identifier: Apache-2.0
// What object_store.cc (reading, adding) and collect.cc (removing, joining) share.
#ifndef TENON_SNAPSHOT_STORE_OBJECT_STORE_IMPL_H_
#define TENON_SNAPSHOT_STORE_OBJECT_STORE_IMPL_H_

#include <time.h>

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "snapshot/store/large_object.h"
#include "snapshot/store/object_store.h"
#include "snapshot/store/pack.h"
#include "snapshot/store/store_files.h"

namespace tenon::snapshot {

// Thread-safe throughout. Locks are taken in the order write_mutex, packs_mutex, the store's lock.
struct ObjectStore::Impl {
  explicit Impl(std::string path) : files(std::move(path)) {}

  struct InPack {
    std::shared_ptr<Pack> pack;
    PackEntry entry;
  };

  // --- looking up (object_store.cc) ---
  // Lists packs/ and opens what is new; forgets what is gone. Damaged packs are remembered as such.
  Status ListPacks() const;
  // ListPacks(), if packs/ may have changed since the last time.
  Status ListPacksIfChanged() const;
  std::optional<InPack> FindInPacks(const Hash& hash) const;
  std::optional<bool> FindLarge(const Hash& hash) const;  // whether it is compressed
  bool IsPending(const Hash& hash) const;
  // The object lies in no pack we can read: kNotFound, or kCorrupt if a damaged one may have held
  // it.
  Error Missing(const Hash& hash) const;
  Status ReadPending(const Hash& hash, std::string* out, bool* found) const;

  // --- adding (object_store.cc); write_mutex held where the name says so ---
  bool KeepPacked(const InPack& found);
  // A file that is there and can't be the object, because its length is wrong, is removed.
  bool KeepLarge(const Hash& hash, uint64_t size);
  Status BeginLocked();
  Status BeginPackLocked();
  Status PutAlone(const Hash& hash, std::string_view bytes);
  Status PutAmongOthers(const Hash& hash, std::string_view bytes);
  Status FailUnlessLocked(Status status);
  Status FailUnlessPlacing(const PackWriter::FullBlock& full, std::string_view frame);
  Result<std::string> NewTempPath();
  Result<Hash> AddLarge(const std::string& temp, const LargeObject& object, uint64_t size);
  Status FlushLocked(std::unique_lock<std::mutex>* lock);
  Status PublishLarge();
  Status PublishPack();
  // Drops everything not flushed; later calls answer `error` until Flush().
  Error FailLocked(Error error);

  // --- removing (collect.cc) ---
  // Joins the smallest packs when there are too many. Does nothing while somebody else rewrites.
  Status JoinPacks();

  const StoreFiles files;

  mutable std::shared_mutex packs_mutex;               // guards the four below
  mutable std::vector<std::shared_ptr<Pack>> packs;    // largest count first
  mutable std::map<std::string, std::string> damaged;  // path → what is wrong
  mutable timespec listed_mtime{};
  mutable bool listed_racy = true;  // packs/ was so new that it may change without showing it

  mutable std::mutex write_mutex;  // guards what follows
  std::unique_ptr<WriterFolder> folder;
  std::unique_ptr<PackWriter> writer;
  std::string writer_path;
  struct PendingLarge {
    std::string temp;
    bool compressed;
  };
  std::unordered_map<Hash, PendingLarge> pending_large;
  std::vector<std::string> in_use;  // paths of packs, see PacksInUse()
  std::optional<Error> failure;
  size_t compressing = 0;  // threads that are compressing a block of `writer`
  std::condition_variable none_compressing;
};

}  // namespace tenon::snapshot

#endif  // TENON_SNAPSHOT_STORE_OBJECT_STORE_IMPL_H_
