// SPDX-License-Identifier: Apache-2.0
// Fuzzes any bytes as a segment in pieces of any size, as an event, as metric blocks and as a fold.
// The first byte selects which; the second seeds the sizes of the pieces.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "base/field_codec.h"
#include "journal/fold.h"
#include "journal/format.h"
#include "journal/reader.h"
#include "run/event.h"
#include "run/metric.h"

namespace tenon::journal {
namespace {

// What a decoder returned.
struct Tally {
  uint64_t records = 0;
  uint64_t record_bytes = 0;
  uint64_t last = 0;
  bool refused = false;
};

void Drain(Decoder& decoder, SegmentFold& fold, Tally& tally) {
  for (;;) {
    auto record = decoder.Next();
    if (!record.ok()) {
      TENON_CHECK(record.error().kind == ErrorKind::kCorrupt);
      tally.refused = true;
      return;
    }
    if (!*record) return;
    TENON_CHECK((*record)->number > tally.last);
    tally.last = (*record)->number;
    ++tally.records;
    tally.record_bytes += kRecordHeaderSize + (*record)->payload.size();
    TENON_CHECK(fold.Apply(**record, "host").ok());
  }
}

Tally Decode(std::string_view bytes, uint8_t seed) {
  Decoder decoder;
  SegmentFold fold;
  Tally tally;
  uint32_t state = seed;
  for (std::string_view rest = bytes; !rest.empty() && !tally.refused;) {
    state = state * 1664525 + 1013904223;
    // Seed 0: all bytes at once.
    const size_t piece = seed == 0 ? rest.size() : 1 + (state >> 24) * (state >> 30);
    decoder.Feed(rest.substr(0, piece));
    rest.remove_prefix(std::min(piece, rest.size()));
    Drain(decoder, fold, tally);
  }
  decoder.Settle();
  if (!tally.refused) Drain(decoder, fold, tally);
  decoder.Finish();
  if (tally.refused) return tally;
  uint64_t sum = tally.record_bytes;
  bool header_lost = false;
  for (const Hole& hole : decoder.holes()) {
    sum += hole.bytes;
    header_lost |= hole.offset == 0 && hole.bytes > 0;
  }
  TENON_CHECK(sum + (header_lost || bytes.empty() ? 0 : kFileHeaderSize) == bytes.size());
  SegmentFold again;
  TENON_CHECK(Unpack(Pack(fold), again));
  return tally;
}

void DecodeAsSegment(std::string_view bytes, uint8_t seed) {
  const Tally whole = Decode(bytes, 0);
  const Tally pieces = Decode(bytes, seed);
  // When bytes come late, the decoder may pass over damage at another place. But whether it refuses
  // a foreign file must not depend on the pieces.
  TENON_CHECK(whole.refused == pieces.refused);
}

// A record with the right checksum, so that its payload is decoded.
std::string RightRecord(uint64_t number, uint8_t type, std::string_view payload) {
  RecordHeader header{0, static_cast<uint32_t>(payload.size()), number, 0, type};
  std::string bytes(kRecordHeaderSize, '\0');
  EncodeRecordHeader(header, bytes.data());
  header.crc = RecordCrc(bytes.data(), payload);
  EncodeRecordHeader(header, bytes.data());
  return bytes.append(payload);
}

std::string Header() {
  return *EncodeFileHeader({"6ba7b810-9dad-41d1-80b4-00c04fd430c8", "host", 0, ""});
}

void DecodeAsPayload(uint8_t type, std::string_view payload) {
  auto event = run::DecodeEvent(type, payload);
  if (!event.ok()) {
    TENON_CHECK(event.error().kind == ErrorKind::kCorrupt);
  } else if (*event) {
    const std::string encoded = run::EncodeEvent(**event);
    auto again = run::DecodeEvent(type, encoded);
    TENON_CHECK(again.ok() && *again);
    TENON_CHECK(run::EncodeEvent(**again) == encoded);
  }
  if (payload.size() > kMaxPayload) return;
  Decode(Header() + RightRecord(1, type, payload), 0);
}

// Two good records with damage between them. The record before the damage must come out.
void DecodeBetweenGoodOnes(std::string_view damage, uint8_t seed) {
  std::string bytes = Header() + RightRecord(1, 7, R"({"text":"a"})") + std::string(damage);
  const uint64_t far_ahead = uint64_t{1} << 40;
  bytes += RightRecord(far_ahead, 7, R"({"text":"b"})");
  const Tally tally = Decode(bytes, seed);
  TENON_CHECK(!tally.refused && tally.records >= 1);
}

}  // namespace
}  // namespace tenon::journal

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tenon::journal;
  if (size < 2) return 0;
  const std::string_view rest(reinterpret_cast<const char*>(data) + 2, size - 2);
  switch (data[0] % 5) {
    case 0:
      DecodeAsSegment(rest, data[1]);
      break;
    case 1:
      DecodeAsSegment(Header() + std::string(rest), data[1]);
      break;
    case 2:
      DecodeAsPayload(data[1], rest);
      break;
    case 3:
      DecodeAsPayload(5, rest);
      break;
    default:
      DecodeBetweenGoodOnes(rest, data[1]);
  }
  return 0;
}
