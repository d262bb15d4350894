// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "journal/reader.h"

namespace tenon::journal {
namespace {

// Whether these 28 bytes could be a record header. Does not check the checksum.
bool HasHeaderShape(const char* at, const RecordHeader& header) {
  return header.length <= kMaxPayload && header.number != 0 && at[25] == 0 && at[26] == 0 &&
         at[27] == 0;
}

// Many bytes that look like headers of large records could make the search for the next real record
// take hours. So the search checksums at most kFreeChecks bytes, plus kChecksPerByte for each byte
// passed over. Beyond that it looks for small records only.
constexpr uint64_t kFreeChecks = 256u << 20;
constexpr uint64_t kChecksPerByte = 16;
constexpr size_t kSmallPayload = 4096;

size_t SizeOf(const RecordHeader& header) { return kRecordHeaderSize + header.length; }

}  // namespace

Decoder::Decoder(Cursor at) : at_(at), header_seen_(at.record != 0) {
  if (at_.record == 0) at_.offset = 0;
}

void Decoder::Feed(std::string_view bytes) {
  if (bytes.empty()) return;
  std::span<char> room = Prepare(bytes.size());
  std::memcpy(room.data(), bytes.data(), bytes.size());
  Commit(bytes.size());
}

std::span<char> Decoder::Prepare(size_t size) {
  const size_t unread = end_ - begin_;
  if (capacity_ - end_ < size) {
    if (capacity_ < unread + size) {
      capacity_ = std::max(2 * unread, unread + size);
      auto larger = std::make_unique_for_overwrite<char[]>(capacity_);
      if (unread > 0) std::memcpy(larger.get(), buffer_.get() + begin_, unread);
      buffer_ = std::move(larger);
    } else if (unread > 0) {
      std::memmove(buffer_.get(), buffer_.get() + begin_, unread);
    }
    begin_ = 0;
    end_ = unread;
  }
  return {buffer_.get() + end_, size};
}

void Decoder::Commit(size_t used) {
  TENON_CHECK(used <= capacity_ - end_);
  end_ += used;
}

Result<std::optional<Record>> Decoder::Next() {
  if (!header_seen_) {
    TENON_TRY(bool there, TakeHeader());
    if (!there) return std::optional<Record>();
  }
  if (!FindRecord()) return std::optional<Record>();
  return std::optional<Record>(TakeRecord());
}

Result<bool> Decoder::TakeHeader() {
  if (Unread().size() < kFileHeaderSize) return false;
  std::string_view bytes = Unread().substr(0, kFileHeaderSize);
  if (bytes.find_first_not_of('\0') == std::string_view::npos) {
    // A power cut took the header back. Records after it can still be read.
    Skip(kFileHeaderSize);
  } else {
    TENON_TRY(StoredHeader header, DecodeFileHeader(bytes.data()));
    if (header.whole) {
      header_ = std::move(header);
    } else {
      holes_.push_back({0, kFileHeaderSize, 0});
    }
    begin_ += kFileHeaderSize;
    at_.offset = kFileHeaderSize;
  }
  header_seen_ = true;
  aligned_ = true;
  return true;
}

Decoder::Look Decoder::LookAt(size_t position, bool sieve) const {
  const size_t unread = end_ - begin_;
  const Look incomplete = settled_ ? Look::kNone : Look::kIncomplete;
  if (position + kRecordHeaderSize > unread) return incomplete;
  const char* at = buffer_.get() + begin_ + position;
  const RecordHeader header = DecodeRecordHeader(at);
  if (!HasHeaderShape(at, header)) return Look::kNone;
  const bool plausible = IsPlausibleNext(at_.record, header.number);
  if (sieve && !plausible) return Look::kNone;
  if (position + SizeOf(header) > unread) return plausible ? incomplete : Look::kNone;
  if (sieve && header.length > kSmallPayload) {
    if (checked_ > kFreeChecks + kChecksPerByte * passed_) return Look::kNone;
    checked_ += header.length;
  }
  const bool right = RecordCrc(at, {at + kRecordHeaderSize, header.length}) == header.crc;
  return right ? Look::kWhole : Look::kNone;
}

// Whether a whole record lies where the damaged record at the front says that it ends. Looking
// there first keeps bytes that a script printed from being taken for records. *position is that
// place when a record is there, whole or not yet complete; else 0.
bool Decoder::IsWholeAfterNamedEnd(size_t* position) const {
  *position = 0;
  std::string_view unread = Unread();
  if (unread.size() < kRecordHeaderSize) return false;
  const RecordHeader header = DecodeRecordHeader(unread.data());
  if (!HasHeaderShape(unread.data(), header) || !Follows(at_.record, header.number)) return false;
  const Look look = LookAt(SizeOf(header), true);
  if (look != Look::kNone) *position = SizeOf(header);
  return look == Look::kWhole;
}

// Passes over bytes until a whole record is at the front. Returns false when the buffer has none;
// bytes that may still become a record are kept. Zeros and small numbers often look like the
// beginning of a record, so such a place does not end the search: a whole record behind it is
// better proof.
bool Decoder::Scan() {
  const size_t unread = end_ - begin_;
  size_t keep_from = unread;
  for (size_t position = aligned_ ? 1 : 0; position < unread; ++position) {
    const Look look = LookAt(position, true);
    if (look == Look::kWhole) {
      Skip(position);
      return true;
    }
    if (look == Look::kIncomplete) keep_from = std::min(keep_from, position);
  }
  Skip(keep_from);
  return false;
}

bool Decoder::FindRecord() {
  while (aligned_ && begin_ != end_) {
    const Look look = LookAt(0, false);
    if (look == Look::kIncomplete) return false;
    if (look == Look::kNone) break;
    const RecordHeader header = DecodeRecordHeader(buffer_.get() + begin_);
    if (header.number > at_.record) return true;
    Skip(SizeOf(header));  // a repeat
    aligned_ = true;
  }
  if (begin_ == end_) return false;
  if (aligned_) {
    size_t named_end;
    const bool whole = IsWholeAfterNamedEnd(&named_end);
    if (whole) Skip(named_end);
    if (named_end != 0) return whole;
  }
  return Scan();
}

void Decoder::Skip(size_t bytes) {
  begin_ += bytes;
  skipped_ += bytes;
  passed_ += bytes;
  if (bytes > 0) aligned_ = false;
}

void Decoder::AddHole(uint64_t bytes) {
  if (holes_.size() < kMaxHoles) {
    holes_.push_back({at_.offset, bytes, at_.record});
  } else {
    holes_.back().bytes += bytes;
  }
}

Record Decoder::TakeRecord() {
  const char* at = buffer_.get() + begin_;
  const RecordHeader header = DecodeRecordHeader(at);
  if (skipped_ > 0 || !Follows(at_.record, header.number)) {
    AddHole(skipped_);
  }
  at_.offset += skipped_ + SizeOf(header);
  at_.record = header.number;
  begin_ += SizeOf(header);
  skipped_ = 0;
  aligned_ = true;
  return {header.number, header.time_us, header.type, {at + kRecordHeaderSize, header.length}};
}

uint64_t Decoder::pending() const { return skipped_ + (end_ - begin_); }

uint64_t Decoder::Finish() {
  settled_ = true;
  if (header_seen_ && FindRecord()) return 0;
  const uint64_t tail = pending();
  if (tail > 0 && !tail_is_hole_) {
    holes_.push_back({at_.offset, tail, at_.record});
    tail_is_hole_ = true;
  }
  return tail;
}

void Decoder::Rewind() {
  if (tail_is_hole_ && !holes_.empty()) holes_.pop_back();
  tail_is_hole_ = false;
  begin_ = end_ = 0;
  skipped_ = 0;
  aligned_ = true;
  settled_ = false;
  header_seen_ = at_.record != 0 || at_.offset != 0;
}

std::optional<std::string> Decoder::run_key() const {
  if (!header_) return std::nullopt;
  return header_->run_key;
}

}  // namespace tenon::journal
