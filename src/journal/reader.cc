// SPDX-License-Identifier: Apache-2.0
#include "journal/reader.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>

#include "base/file.h"
#include "base/regular_file.h"
#include "run/layout.h"

namespace tenon::journal {
namespace {

constexpr size_t kFirstPiece = 64u << 10;  // most segments are smaller than this
constexpr size_t kLargestPiece = 1u << 20;

}  // namespace

Result<Reader> Reader::Open(const std::string& path, Cursor after) {
  TENON_TRY(UniqueFd fd, OpenRegular(path, O_RDONLY | O_NOFOLLOW));
  Reader reader(std::move(fd), path);
  TENON_TRY_VOID(reader.StartAt(after));
  return reader;
}

Status Reader::StartAt(Cursor after) {
  piece_ = kFirstPiece;
  if (after.record == 0) return {};
  TENON_TRY(bool right, HintIsRight(after));
  if (!right) {
    skip_until_ = after.record;
    return {};
  }
  char bytes[kFileHeaderSize];
  TENON_TRY(size_t got, ReadAt(fd_.get(), bytes, 0));
  if (got == sizeof bytes) {
    Result<StoredHeader> header = DecodeFileHeader(bytes);
    if (!header.ok()) return std::move(header).error().Wrap("read " + path_);
    if (header->whole) TENON_TRY_VOID(CheckHeader(*header));
  }
  header_checked_ = true;
  decoder_ = Decoder(after);
  read_offset_ = after.offset;
  return {};
}

// Whether `after.offset` is right: the record there must follow `after.record`. At the end of the
// file there is no record to check yet, so the offset is believed; the decoder later judges the
// next record by its number.
Result<bool> Reader::HintIsRight(Cursor after) const {
  if (after.offset < kFileHeaderSize) return false;
  char bytes[kRecordHeaderSize];
  Result<size_t> got = ReadAt(fd_.get(), bytes, after.offset);
  if (!got.ok()) return std::move(got).error().Wrap("read " + path_);
  if (*got == sizeof bytes) return Follows(after.record, DecodeRecordHeader(bytes).number);
  struct stat info;
  if (::fstat(fd_.get(), &info) != 0) return FromErrno("read " + path_, errno);
  return *got == 0 && static_cast<uint64_t>(info.st_size) == after.offset;
}

Status Reader::CheckHeader(const StoredHeader& header) {
  header_checked_ = true;
  run_key_ = header.run_key;
  std::string_view name = BaseName(path_);
  if (!name.ends_with(run::kSegmentSuffix)) return {};
  name.remove_suffix(run::kSegmentSuffix.size());
  if (ShortHash(name) == header.segment_hash) return {};
  return Corrupt("read " + path_ + ": this file holds another segment than its name says")
      .WithHint("segments were renamed or swapped; give them their own names back");
}

Result<bool> Reader::ReadMore() {
  Result<size_t> got = ReadAt(fd_.get(), decoder_.Prepare(piece_), read_offset_);
  if (!got.ok()) return std::move(got).error().Wrap("read " + path_);
  decoder_.Commit(*got);
  read_offset_ += *got;
  if (*got == piece_) piece_ = std::min(piece_ * 4, kLargestPiece);
  return *got > 0;
}

void Reader::ReadTailAgain() {
  decoder_.Rewind();
  read_offset_ = decoder_.cursor().offset;
  tail_stale_ = false;
}

Result<std::optional<Record>> Reader::Next() {
  if (tail_stale_) ReadTailAgain();
  bool writer_gone = false;
  for (;;) {
    auto record = decoder_.Next();
    if (!record.ok()) return std::move(record).error().Wrap("read " + path_);
    if (!header_checked_ && decoder_.header()) TENON_TRY_VOID(CheckHeader(*decoder_.header()));
    if (*record) {
      if ((*record)->number > skip_until_) return record;
      decoder_.ForgetHoles();
      continue;
    }
    // A settled decoder has all the bytes. More bytes could come only from a new writer.
    if (!decoder_.settled()) {
      TENON_TRY(bool more, ReadMore());
      if (more) continue;
      if (decoder_.pending() == 0) return record;
      if (writer_gone) {
        decoder_.Settle();
        continue;
      }
      TENON_TRY(bool alive, WriterAlive());
      if (!alive) {
        // The writer may have finished its record between our last read and its exit: read again.
        writer_gone = true;
        ReadTailAgain();
        continue;
      }
    }
    tail_stale_ = true;
    return record;
  }
}

Cursor Reader::cursor() const {
  Cursor cursor = decoder_.cursor();
  cursor.record = std::max(cursor.record, skip_until_);
  return cursor;
}

std::optional<std::string> Reader::run_key() const { return run_key_; }

Result<bool> Reader::WriterAlive() const {
  // A shared lock, so that readers that ask at the same time do not take each other for a writer.
  while (::flock(fd_.get(), LOCK_SH | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) return true;
    if (errno != EINTR) return FromErrno("lock " + path_, errno);
  }
  ::flock(fd_.get(), LOCK_UN);
  return false;
}

}  // namespace tenon::journal
