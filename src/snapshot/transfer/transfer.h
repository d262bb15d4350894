// SPDX-License-Identifier: Apache-2.0
// Objects on their way from one store to another: what is missing, how they are cut into frames,
// how the other side takes them. Both ends are the same code; whoever carries the frames (a
// connection to a host) knows nothing of objects. docs/runner.md has the frames.
//
// Small objects travel many in one frame, compressed together where that pays; an object of
// kLargeObject and more travels in pieces, and one that was cut off goes on where it stopped.
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

// Visits every object that the tree `root` has and `base` has not, nodes before contents; each
// once. What both trees share in the same place is not even read, so one changed file among 100,000
// costs a few nodes; what was moved or renamed is not visited either (a copy of a file may be).
// `base` may be empty (Hash of zeroes): then everything. A base that cannot be read counts as
// empty. kNotFound, kCorrupt: `root` itself.
Status VisitNew(const ObjectStore& store, const Hash& root, const Hash& base,
                const std::function<Status(const Needed&)>& visit);

// What a store lacks of a tree. Below a node that is not there nothing can be said, so only the
// node itself is named.
struct Lacking {
  std::vector<Hash> objects;
};
// `complete`: a folder with one empty file for each tree (by its root's hex) that was once found
// complete here. A tree found complete is added to it, after a Flush() of the store; `root` and
// `base`, if they are in there, are taken as complete without looking, and their marks become new.
// Everything else found is kept (ObjectStore::Keep), so that a Collect() that runs meanwhile leaves
// it alone. kCorrupt: a node that is there is none.
Result<Lacking> FindLacking(ObjectStore& store, const Hash& root, const Hash& base,
                            const std::string& complete);

// For one who is about to Collect(): removes the marks in `complete` that are older than
// `min_age_us`, but for those of trees in `stay`, and returns the trees of the others, which must
// stay too. Whoever relies on a tree has made its mark new before, or does not find it any more and
// looks at every object.
Result<std::vector<Hash>> ForgetOldTrees(const std::string& complete, int64_t min_age_us,
                                         const std::unordered_set<Hash>& stay);
// The tree is not what its mark says: looked at again next time.
void ForgetTree(const std::string& complete, const Hash& root);

// Cuts objects into frames and hands each to `put`, in the order they were asked for.
//   {"op": "objects"[, "zstd": true]}  body: (32 bytes hash │ u32 length │ bytes)*
//   {"op": "piece", "hash": HEX, "offset": N, "total": N[, "zstd": true]}  body: bytes
class ObjectSender {
 public:
  using Put = std::function<Status(json::Object head, std::string body)>;
  ObjectSender(const ObjectStore& store, Put put);

  // Reads and sends the object from `offset` (other than 0 for large ones only). `size`: as far as
  // known, 0 = small. kNotFound, kCorrupt: the object; kInvalid: it has another size.
  Status Send(const Hash& hash, uint64_t size, uint64_t offset = 0);
  // What is still held back to fill a frame.
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

// Takes such frames into a store. Pieces of large objects wait in `incoming` (made if needed), one
// file for each, named by the hash's hex; one process at a time adds to a file (flock), another
// that brings the same object gets kUnavailable. Bytes that do not have the hash they claim are
// kCorrupt and are dropped. The store is flushed now and then, so that a cut costs little.
class ObjectReceiver {
 public:
  ObjectReceiver(ObjectStore& store, std::string incoming);
  ~ObjectReceiver();

  // After the first of these calls nothing is taken but what was asked for, each object once and
  // of exactly this size (a node: of at most kMaxNode bytes). For one who does not trust the
  // sender: before anything is unpacked it is known how much there may be.
  void Ask(const Hash& hash, uint64_t size);
  void AskForNode(const Hash& hash);
  // One that was asked for and has not come; nothing, if all have.
  std::optional<Hash> StillAsked() const;

  // One frame. Objects that are there already are dropped silently. A body that decompresses to
  // more than 64 MiB or not at all, a batch cut short, a frame that brings nothing, a piece that
  // does not follow what is there: kInvalid. An object that was not asked for, or has another size:
  // kCorrupt. Full disk: kUnavailable, what came before stays.
  Status Take(const json::Object& head, std::string_view body);
  // Makes everything taken so far visible to others and safe from a power cut.
  Status Flush();
  // How much of a large object is already here.
  uint64_t PartialBytes(const Hash& hash) const;

 private:
  struct Incoming;
  struct Piece;
  struct Asked {
    uint64_t size = 0;
    bool node = false;  // then `size` is the most it may have
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
  uint64_t asked_bytes_ = 0;  // that may still come in batches, their heads included
};

}  // namespace tenon::snapshot

#endif  // TENON_SNAPSHOT_TRANSFER_TRANSFER_H_
