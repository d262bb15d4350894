// SPDX-License-Identifier: Apache-2.0
// Copies objects from one store to another: finds what is missing, cuts it into frames and takes
// the frames. Both ends share this code. The connection that carries the frames knows nothing of
// objects. docs/runner.md describes the frames.
//
// One frame holds many small objects, compressed together where that pays. An object of
// kLargeObject bytes or more travels in pieces; after an interruption it goes on where it stopped.
#ifndef TENON_SNAPSHOT_TRANSFER_TRANSFER_H_
#define TENON_SNAPSHOT_TRANSFER_TRANSFER_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/compress.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/result.h"
#include "snapshot/store/object_store.h"

namespace tenon::snapshot {

// An object of a tree. `size` is 0 for nodes, which are always small.
struct Needed {
  Hash hash;
  uint64_t size = 0;
  bool node = false;
};

// Visits every object that the tree `root` has and `base` has not: nodes before contents, each
// once. Does not read what both trees have at the same place, so one changed file among 100,000
// costs a few nodes. A moved or renamed folder or file is not visited either; a copy of a file may
// be. `base` may be empty (a Hash of zeroes) or unreadable: then everything is visited. kNotFound,
// kCorrupt: `root` cannot be read.
Status VisitNew(const ObjectStore& store, const Hash& root, const Hash& base,
                const std::function<Status(const Needed&)>& visit);

// The objects of a tree that a store lacks. If a node is missing, only the node is listed: what
// lies below it is not known.
struct Lacking {
  std::vector<Hash> objects;
};
// Finds what the store lacks of the tree `root`. Keeps every object it finds (ObjectStore::Keep),
// so that a concurrent Collect() does not remove it. kCorrupt: a stored node is not valid.
// `complete` is a folder of marks: one empty file, named by the root's hex, for each tree that was
// once found complete. A complete tree gets a mark after a Flush() of the store. If `root` or
// `base` has a mark, the tree counts as complete without being read, and the mark's time is
// renewed.
Result<Lacking> FindLacking(ObjectStore& store, const Hash& root, const Hash& base,
                            const std::string& complete);

// For callers about to call Collect(). Removes the marks in `complete` that are older than
// `min_age_us`, except those of trees in `stay`. Returns the trees whose marks remain; Collect()
// must keep these too. Whoever relies on a tree has renewed its mark before, or finds no mark and
// checks every object.
Result<std::vector<Hash>> ForgetOldTrees(const std::string& complete, int64_t min_age_us,
                                         const std::unordered_set<Hash>& stay);
// Removes the mark of a tree that is not complete after all. The next FindLacking() reads the tree.
void ForgetTree(const std::string& complete, const Hash& root);

// Cuts objects into frames and passes each to `put`, in the order of the Send() calls.
//   {"op": "objects"[, "zstd": true]}  body: (32 bytes hash │ u32 length │ bytes)*
//   {"op": "piece", "hash": HEX, "offset": N, "total": N[, "zstd": true]}  body: bytes
class ObjectSender {
 public:
  using Put = std::function<Status(json::Object head, std::string body)>;
  ObjectSender(const ObjectStore& store, Put put);

  // Reads and sends the object, starting at `offset`, which must be 0 for small objects. `size` is
  // the object's size; 0 if it is small or not known. kNotFound, kCorrupt: the object cannot be
  // read. kInvalid: it has another size.
  Status Send(const Hash& hash, uint64_t size, uint64_t offset = 0);
  // Sends the objects that wait for a full frame.
  Status Flush();

  uint64_t raw_bytes() const { return raw_bytes_; }    // of objects
  uint64_t sent_bytes() const { return sent_bytes_; }  // of frames' bodies

 private:
  Status SendLarge(const Hash& hash, uint64_t size, uint64_t offset);
  Status PutBody(json::Object head, std::string body, PieceCompressor& compressor);

  const ObjectStore& store_;
  Put put_;
  std::string batch_;
  uint64_t raw_bytes_ = 0, sent_bytes_ = 0;
};

// Takes the frames of an ObjectSender into a store. Pieces of large objects wait in the folder
// `incoming` (made if needed), in one file each, named by the hash's hex. Only one process at a
// time may add to such a file (flock); for others that object is kUnavailable. Bytes that do not
// have the hash they claim are kCorrupt and are dropped. The store is flushed every so often, so
// that an interruption costs little.
class ObjectReceiver {
 public:
  ObjectReceiver(ObjectStore& store, std::string incoming);
  ~ObjectReceiver();

  // After the first Ask() or AskForNode(), only the objects asked for are taken, each once and with
  // exactly this size (a node: at most kMaxNode bytes). For receivers that do not trust the sender:
  // they know how many bytes may come before they decompress any.
  void Ask(const Hash& hash, uint64_t size);
  void AskForNode(const Hash& hash);
  // An object that was asked for and has not arrived. Empty: all have arrived.
  std::optional<Hash> StillAsked() const;

  // Takes one frame. Objects that the store already has are ignored. kInvalid: a body that can't be
  // decompressed or exceeds 64 MiB, a batch cut short, a frame without content, or a piece that
  // does not follow the bytes received. kCorrupt: an object that was not asked for, or that has
  // another size. kUnavailable: the disk is full; what arrived before stays.
  Status Take(const json::Object& head, std::string_view body);
  // Makes everything taken so far visible to other processes and durable.
  Status Flush();
  // How many bytes of a large object have arrived.
  uint64_t PartialBytes(const Hash& hash) const;

 private:
  struct Incoming;
  struct Piece;
  struct Asked {
    uint64_t size = 0;
    bool node = false;  // `size` is then a maximum
  };
  Status CheckAsked(const Hash& hash, uint64_t size) const;
  void Came(const Hash& hash);
  Status TakeBatch(std::string_view batch);
  Status TakePiece(const Piece& piece);
  Result<std::unique_ptr<Incoming>> OpenIncoming(const Piece& piece) const;
  Status Finish(const Piece& piece, std::unique_ptr<Incoming> incoming);
  Status Count(uint64_t bytes);
  std::string PathOf(const Hash& hash) const;

  ObjectStore& store_;
  std::string incoming_;
  std::map<Hash, std::unique_ptr<Incoming>> open_;
  uint64_t since_flush_ = 0;
  bool only_asked_ = false;
  std::unordered_map<Hash, Asked> asked_;
  uint64_t asked_bytes_ = 0;  // that may still come in batches, with their heads
};

}  // namespace tenon::snapshot

#endif  // TENON_SNAPSHOT_TRANSFER_TRANSFER_H_
