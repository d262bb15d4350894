// SPDX-License-Identifier: Apache-2.0
#include "snapshot/transfer/transfer.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/file.h"
#include "base/text.h"
#include "snapshot/store/le.h"
#include "snapshot/store/pack.h"
#include "snapshot/store/tree.h"

namespace tenon::snapshot {
namespace {

constexpr size_t kBatch = 512u << 10;
constexpr size_t kPiece = 1u << 20;
constexpr size_t kMaxBody = 64u << 20;
constexpr size_t kEntryHead = 32 + 4;
constexpr int kBatchLevel = 3, kPieceLevel = 1;
// An interruption loses at most this much.
constexpr uint64_t kFlushEvery = 64u << 20;
// No sender sends so many large objects at the same time.
constexpr size_t kMaxOpen = 16;
constexpr int kOpenTries = 100;

}  // namespace

// --- sending ---

ObjectSender::ObjectSender(const ObjectStore& store, Put put)
    : store_(store), put_(std::move(put)) {}

Status ObjectSender::Send(const Hash& hash, uint64_t size, uint64_t offset) {
  if (size >= kLargeObject) return SendLarge(hash, size, offset);
  TENON_TRY(const std::string bytes, store_.Read(hash, kMaxBody));
  if (bytes.size() >= kLargeObject) return SendLarge(hash, bytes.size(), offset);
  raw_bytes_ += bytes.size();
  if (!batch_.empty() && batch_.size() + bytes.size() > kBatch) TENON_TRY_VOID(Flush());
  batch_ += hash.raw();
  Append32(&batch_, static_cast<uint32_t>(bytes.size()));
  batch_ += bytes;
  return batch_.size() >= kBatch ? Flush() : Status();
}

Status ObjectSender::SendLarge(const Hash& hash, uint64_t size, uint64_t offset) {
  TENON_TRY_VOID(Flush());
  PieceCompressor compressor(kPieceLevel);
  std::string piece;
  uint64_t read = 0, sent = offset;
  const auto wrong_size = [&] {
    return Invalid("object " + hash.Hex() + " has other than the " + std::to_string(size) +
                   " bytes it was asked for with");
  };
  const auto send = [&]() -> Status {
    json::Object head{{"op", "piece"},
                      {"hash", hash.Hex()},
                      {"offset", static_cast<int64_t>(sent)},
                      {"total", static_cast<int64_t>(size)}};
    sent += piece.size();
    raw_bytes_ += piece.size();
    return PutBody(std::move(head), std::exchange(piece, {}), compressor);
  };
  Status sent_all = store_.ReadTo(hash, [&](std::string_view bytes) -> Status {
    const uint64_t skip = std::min<uint64_t>(bytes.size(), offset - std::min(offset, read));
    read += bytes.size();
    if (read > size) return wrong_size();
    bytes.remove_prefix(skip);
    while (!bytes.empty()) {
      const size_t take = std::min(bytes.size(), kPiece - piece.size());
      piece += bytes.substr(0, take);
      bytes.remove_prefix(take);
      if (piece.size() == kPiece) TENON_TRY_VOID(send());
    }
    return {};
  });
  if (!sent_all.ok()) return sent_all;
  if (read != size || offset > size) return wrong_size();
  // If the receiver has all bytes, an empty piece makes it finish the object.
  return !piece.empty() || offset == size ? send() : Status();
}

Status ObjectSender::Flush() {
  if (batch_.empty()) return {};
  PieceCompressor compressor(kBatchLevel);
  return PutBody({{"op", "objects"}}, std::exchange(batch_, {}), compressor);
}

Status ObjectSender::PutBody(json::Object head, std::string body, PieceCompressor& compressor) {
  if (auto compressed = compressor.Try(body)) {
    head["zstd"] = true;
    body = std::move(*compressed);
  }
  sent_bytes_ += body.size();
  return put_(std::move(head), std::move(body));
}

// --- receiving ---

struct ObjectReceiver::Piece {
  Hash hash;
  uint64_t offset = 0, total = 0;
  std::string_view bytes;
};

struct ObjectReceiver::Incoming {
  UniqueFd fd;  // locked
  uint64_t size = 0;
  Sha256 sha;  // of the bytes in the file
};

ObjectReceiver::ObjectReceiver(ObjectStore& store, std::string incoming)
    : store_(store), incoming_(std::move(incoming)) {}
ObjectReceiver::~ObjectReceiver() = default;

std::string ObjectReceiver::PathOf(const Hash& hash) const {
  return JoinPath(incoming_, hash.Hex());
}

void ObjectReceiver::Ask(const Hash& hash, uint64_t size) {
  only_asked_ = true;
  if (!asked_.emplace(hash, Asked{size, false}).second) return;
  if (size < kLargeObject) asked_bytes_ += kEntryHead + size;
}

void ObjectReceiver::AskForNode(const Hash& hash) {
  only_asked_ = true;
  if (asked_.emplace(hash, Asked{kMaxNode, true}).second) asked_bytes_ += kEntryHead + kMaxNode;
}

std::optional<Hash> ObjectReceiver::StillAsked() const {
  return asked_.empty() ? std::nullopt : std::optional(asked_.begin()->first);
}

Status ObjectReceiver::CheckAsked(const Hash& hash, uint64_t size) const {
  if (!only_asked_) return {};
  const auto asked = asked_.find(hash);
  TENON_EXPECT_PEER(asked != asked_.end(),
                    "object " + hash.Hex() + " was sent here, and nobody asked for it");
  const bool fits = asked->second.node ? size <= asked->second.size : size == asked->second.size;
  TENON_EXPECT_PEER(fits, "object " + hash.Hex() + " was sent with " + std::to_string(size) +
                              " bytes; " + std::to_string(asked->second.size) + " were asked for");
  return {};
}

void ObjectReceiver::Came(const Hash& hash) {
  const auto asked = asked_.find(hash);
  if (asked == asked_.end()) return;
  if (asked->second.node || asked->second.size < kLargeObject) {
    asked_bytes_ -= kEntryHead + asked->second.size;
  }
  asked_.erase(asked);
}

Status ObjectReceiver::Take(const json::Object& head, std::string_view body) {
  const std::string op = json::GetString(head, "op");
  const bool batch = op == "objects";
  if (!batch && op != "piece") return Invalid("objects sent here: a frame that has none");
  Piece piece;
  // The size limit is known before anything is decompressed.
  uint64_t most = only_asked_ ? std::min<uint64_t>(kMaxBody, asked_bytes_) : kMaxBody;
  if (!batch) {
    const auto hash = Hash::FromHex(json::GetString(head, "hash"));
    const int64_t offset = json::GetInt(head, "offset", -1),
                  total = json::GetInt(head, "total", -1);
    if (!hash || offset < 0 || total < 0 || offset > total) {
      return Invalid("objects sent here: a piece that is none");
    }
    piece = {*hash, static_cast<uint64_t>(offset), static_cast<uint64_t>(total), {}};
    TENON_TRY_VOID(CheckAsked(piece.hash, piece.total));
    most = std::min<uint64_t>(kMaxBody, piece.total - piece.offset);
  }
  std::string raw;
  if (json::GetBool(head, "zstd")) {
    auto decompressed = Decompress(body, most);
    if (!decompressed.ok()) return Invalid("objects sent here: " + decompressed.error().message);
    raw = std::move(*decompressed);
    body = raw;
  }
  if (body.size() > most) return Invalid("objects sent here: too many bytes at once");
  if (body.empty() && (batch || piece.offset < piece.total)) {
    return Invalid("objects sent here: a frame that brings nothing");
  }
  if (batch) return TakeBatch(body);
  piece.bytes = body;
  return TakePiece(piece);
}

Status ObjectReceiver::TakeBatch(std::string_view batch) {
  const uint64_t whole = batch.size();
  while (!batch.empty()) {
    if (batch.size() < kEntryHead) return Invalid("objects sent here: a batch cut short");
    const Hash hash = Hash::FromBytes(batch.substr(0, 32));
    const uint32_t size = Load32(batch.data() + 32);
    batch.remove_prefix(kEntryHead);
    if (size > batch.size()) return Invalid("objects sent here: a batch cut short");
    TENON_TRY_VOID(CheckAsked(hash, size));
    TENON_TRY_VOID(store_.PutAs(hash, batch.substr(0, size)));
    Came(hash);
    batch.remove_prefix(size);
  }
  return Count(whole);
}

Result<std::unique_ptr<ObjectReceiver::Incoming>> ObjectReceiver::OpenIncoming(
    const Piece& piece) const {
  const std::string path = PathOf(piece.hash);
  TENON_TRY_VOID(MakeDirs(incoming_, 0700));
  auto incoming = std::make_unique<Incoming>();
  struct stat held {
  }, named{};
  // Another process may have finished the object and moved the file away since it was opened. Then
  // the name belongs to another file, or to none.
  for (int tries = 0;; ++tries) {
    TENON_TRY(incoming->fd, OpenFile(path, O_RDWR | O_CREAT, 0600));
    if (::flock(incoming->fd.get(), LOCK_EX | LOCK_NB) != 0 || tries == kOpenTries) {
      return Unavailable("object " + piece.hash.Hex() + " is being sent here by somebody else")
          .WithHint("try again when that is over");
    }
    if (::fstat(incoming->fd.get(), &held) != 0) return FromErrno("look at " + path, errno);
    if (::stat(path.c_str(), &named) == 0 && named.st_ino == held.st_ino) break;
  }
  if (piece.offset > static_cast<uint64_t>(held.st_size)) {
    return Invalid("object " + piece.hash.Hex() + ": a piece from byte " +
                   std::to_string(piece.offset) + ", but only " + std::to_string(held.st_size) +
                   " are here");
  }
  if (::ftruncate(incoming->fd.get(), static_cast<off_t>(piece.offset)) != 0) {
    return FromErrno("shorten " + path, errno);
  }
  // Fails now instead of filling the disk with an object that can't be completed.
  const uint64_t more = piece.total - piece.offset;
  if (const auto free = FreeBytes(incoming_); free.ok() && more > *free) {
    return FromErrno("object " + piece.hash.Hex() + ": " + HumanBytes(more) +
                         " are to come, and the disk has room for " + HumanBytes(*free),
                     ENOSPC);
  }
  std::string buffer(std::min<uint64_t>(piece.offset, kPiece), '\0');
  while (incoming->size < piece.offset) {
    TENON_TRY(const size_t got, ReadAt(incoming->fd.get(), buffer, incoming->size));
    if (got == 0) return Unavailable("read " + path + ": it became shorter");
    incoming->sha.Update(std::string_view(buffer).substr(0, got));
    incoming->size += got;
  }
  return incoming;
}

Status ObjectReceiver::TakePiece(const Piece& piece) {
  auto found = open_.find(piece.hash);
  if (found == open_.end()) {
    if (store_.Keep(piece.hash, piece.total)) {
      // Another process has put it into the store meanwhile.
      if (piece.offset + piece.bytes.size() == piece.total) Came(piece.hash);
      return {};
    }
    if (open_.size() >= kMaxOpen) return Invalid("objects sent here: too many at the same time");
    TENON_TRY(auto opened, OpenIncoming(piece));
    found = open_.emplace(piece.hash, std::move(opened)).first;
  }
  Incoming& incoming = *found->second;
  if (piece.offset != incoming.size) {
    const std::string expected = std::to_string(incoming.size);
    open_.erase(found);
    return Invalid("object " + piece.hash.Hex() + ": a piece from byte " +
                   std::to_string(piece.offset) + " where byte " + expected + " comes next");
  }
  if (auto written = WriteAllAt(incoming.fd.get(), piece.bytes, incoming.size); !written.ok()) {
    (void)!::ftruncate(incoming.fd.get(), static_cast<off_t>(incoming.size));
    open_.erase(found);
    return std::move(written).error().Wrap("keeping object " + piece.hash.Hex());
  }
  incoming.sha.Update(piece.bytes);
  incoming.size += piece.bytes.size();
  if (incoming.size < piece.total) return {};
  std::unique_ptr<Incoming> whole = std::move(found->second);
  open_.erase(found);
  return Finish(piece, std::move(whole));
}

Status ObjectReceiver::Finish(const Piece& piece, std::unique_ptr<Incoming> incoming) {
  const std::string path = PathOf(piece.hash);
  if (incoming->sha.Finish() != piece.hash) {
    (void)RemoveFile(path).ok();
    return Corrupt("bytes that are said to be object " + piece.hash.Hex() + " are not it");
  }
  if (piece.total >= kLargeObject) {
    TENON_TRY_VOID(store_.Adopt(path, piece.hash));
  } else {
    TENON_TRY_VOID(store_.PutFile(incoming->fd.get(), piece.total));
    TENON_TRY_VOID(RemoveFile(path));
  }
  Came(piece.hash);
  return Count(piece.total);
}

Status ObjectReceiver::Count(uint64_t bytes) {
  since_flush_ += bytes;
  return since_flush_ >= kFlushEvery ? Flush() : Status();
}

Status ObjectReceiver::Flush() {
  since_flush_ = 0;
  return store_.Flush();
}

uint64_t ObjectReceiver::PartialBytes(const Hash& hash) const {
  const auto found = open_.find(hash);
  if (found != open_.end()) return found->second->size;
  struct stat info;
  if (::stat(PathOf(hash).c_str(), &info) != 0) return 0;
  return static_cast<uint64_t>(info.st_size);
}

}  // namespace tenon::snapshot
