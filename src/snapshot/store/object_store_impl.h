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

// All members are thread-safe. Lock order: write_mutex, packs_mutex, the store's lock.
struct ObjectStore::Impl {
  explicit Impl(std::string path) : files(std::move(path)) {}

  struct InPack {
    std::shared_ptr<Pack> pack;
    PackEntry entry;
  };

  // --- looking up (object_store.cc) ---
  // Lists packs/, opens new packs and forgets removed ones. Records damaged packs in `damaged`.
  Status ListPacks() const;
  // Calls ListPacks() if packs/ may have changed since the last listing.
  Status ListPacksIfChanged() const;
  std::optional<InPack> FindInPacks(const Hash& hash) const;
  std::optional<bool> FindLarge(const Hash& hash) const;  // whether it is compressed
  bool IsPending(const Hash& hash) const;
  // The error for an object that is in no readable pack: kCorrupt if a damaged pack may hold it,
  // else kNotFound.
  Error Missing(const Hash& hash) const;
  Status ReadPending(const Hash& hash, std::string* out, bool* found) const;

  // --- adding (object_store.cc); methods named …Locked need write_mutex ---
  bool KeepPacked(const InPack& found);
  // Also removes a file whose length shows that it is not the object.
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
  // Drops everything that is not flushed. Later calls return `error` until Flush().
  Error FailLocked(Error error);

  // --- removing (collect.cc) ---
  // Joins the smallest packs. Does nothing while another process rewrites packs.
  Status JoinPacks();

  const StoreFiles files;

  mutable std::shared_mutex packs_mutex;               // guards the four below
  mutable std::vector<std::shared_ptr<Pack>> packs;    // largest count first
  mutable std::map<std::string, std::string> damaged;  // path → what is wrong
  mutable timespec listed_mtime{};
  mutable bool listed_racy = true;  // packs/ may have changed since without a newer time

  mutable std::mutex write_mutex;  // guards what follows
  std::unique_ptr<WriterFolder> folder;
  std::unique_ptr<PackWriter> writer;
  std::string writer_path;
  struct PendingLarge {
    std::string temp;
    bool compressed;
  };
  std::unordered_map<Hash, PendingLarge> pending_large;
  std::vector<std::string> in_use;  // paths of packs; see PacksInUse()
  std::optional<Error> failure;
  size_t compressing = 0;  // threads that are compressing a block of `writer`
  std::condition_variable none_compressing;
};

}  // namespace tenon::snapshot

#endif  // TENON_SNAPSHOT_STORE_OBJECT_STORE_IMPL_H_
