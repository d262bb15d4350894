// SPDX-License-Identifier: Apache-2.0
#include "journal/format.h"

#include <bit>
#include <cstring>

#include "base/hash.h"

namespace tenon::journal {
namespace {

static_assert(std::endian::native == std::endian::little,
              "numbers are stored as they lie in memory");

constexpr uint8_t kVersion = 1;
// Offsets in the file header.
constexpr size_t kKeyAt = 8, kSegmentAt = 24, kTimeAt = 32, kVersionAt = 40, kBootAt = 44,
                 kCrcAt = 60;

template <typename T>
void Put(char* at, T value) {
  std::memcpy(at, &value, sizeof value);
}
template <typename T>
T Get(const char* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

Result<std::string> UuidBytes(std::string_view text) {
  std::string bytes;
  for (size_t i = 0; i < text.size();) {
    if (text[i] == '-') {
      ++i;
      continue;
    }
    int high = HexDigit(text[i]);
    int low = i + 1 < text.size() ? HexDigit(text[i + 1]) : -1;
    if (high < 0 || low < 0) break;
    bytes.push_back(static_cast<char>(high << 4 | low));
    i += 2;
  }
  if (text.size() != 36 || bytes.size() != 16) {
    return Invalid("\"" + std::string(text) + "\" is not a run key (a UUID)");
  }
  return bytes;
}

std::string UuidText(std::string_view bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (size_t i = 0; i < bytes.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    const auto byte = static_cast<uint8_t>(bytes[i]);
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

uint32_t HeaderCrc(const char* header) { return Crc32c({header + kKeyAt, kCrcAt - kKeyAt}); }

}  // namespace

void EncodeRecordHeader(const RecordHeader& header, char* out28) {
  Put(out28, header.crc);
  Put(out28 + 4, header.length);
  Put(out28 + 8, header.number);
  Put(out28 + 16, header.time_us);
  Put(out28 + 24, uint32_t{header.type});
}

RecordHeader DecodeRecordHeader(const char* in28) {
  RecordHeader header;
  header.crc = Get<uint32_t>(in28);
  header.length = Get<uint32_t>(in28 + 4);
  header.number = Get<uint64_t>(in28 + 8);
  header.time_us = Get<int64_t>(in28 + 16);
  header.type = static_cast<uint8_t>(in28[24]);
  return header;
}

uint32_t RecordCrc(const char* header28, std::string_view payload) {
  return Crc32c(payload, Crc32c({header28 + 4, kRecordHeaderSize - 4}));
}

std::string ShortHash(std::string_view name) {
  if (name.empty()) return std::string(8, '\0');
  return std::string(Sha256Of(name).raw().substr(0, 8));
}

Result<std::string> EncodeFileHeader(const FileHeader& header) {
  TENON_TRY(std::string key, UuidBytes(header.run_key));
  std::string bytes(kMagic);
  bytes.resize(kFileHeaderSize, '\0');
  bytes.replace(kKeyAt, 16, key);
  bytes.replace(kSegmentAt, 8, ShortHash(header.segment));
  Put(bytes.data() + kTimeAt, header.time_us);
  bytes[kVersionAt] = static_cast<char>(kVersion);
  bytes.replace(kBootAt, 8, ShortHash(header.boot_id));
  Put(bytes.data() + kCrcAt, HeaderCrc(bytes.data()));
  return bytes;
}

Result<StoredHeader> DecodeFileHeader(const char* in64) {
  const bool magic_right = std::string_view(in64, kMagic.size()) == kMagic;
  const bool crc_right = Get<uint32_t>(in64 + kCrcAt) == HeaderCrc(in64);
  TENON_EXPECT_PEER(magic_right || crc_right, "this is not a journal segment");
  const auto version = static_cast<uint8_t>(in64[kVersionAt]);
  if (crc_right && version != kVersion) {
    return Corrupt("journal format " + std::to_string(version) +
                   " is newer than this program understands")
        .WithHint("use a newer Tenon");
  }
  StoredHeader header;
  header.whole = magic_right && crc_right;
  if (!header.whole) return header;
  header.run_key = UuidText({in64 + kKeyAt, 16});
  header.segment_hash.assign(in64 + kSegmentAt, 8);
  header.time_us = Get<int64_t>(in64 + kTimeAt);
  header.boot_hash.assign(in64 + kBootAt, 8);
  return header;
}

}  // namespace tenon::journal
