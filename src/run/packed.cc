// SPDX-License-Identifier: Apache-2.0
#include "run/packed.h"

#include <bit>
#include <cstring>

#include "base/check.h"
#include "base/compress.h"

namespace tenon::run {
namespace {

static_assert(std::endian::native == std::endian::little,
              "doubles are stored as they lie in memory");

constexpr size_t kCompressFrom = 256;
constexpr char kPlain = 0, kCompressed = 1;

uint64_t Zigzag(uint64_t value) { return (value << 1) ^ (0 - (value >> 63)); }
uint64_t Unzigzag(uint64_t value) { return (value >> 1) ^ (0 - (value & 1)); }

}  // namespace

PackedWriter::PackedWriter(size_t expected) {
  out_.reserve(expected + 1);
  out_.push_back(kPlain);
}

void PackedWriter::Varint(uint64_t value) {
  char buffer[10];
  size_t n = 0;
  while (value >= 0x80) {
    buffer[n++] = static_cast<char>(value | 0x80);
    value >>= 7;
  }
  buffer[n++] = static_cast<char>(value);
  out_.append(buffer, n);
}

void PackedWriter::Signed(int64_t value, uint64_t& previous) {
  Varint(Zigzag(static_cast<uint64_t>(value) - previous));
  previous = static_cast<uint64_t>(value);
}

void PackedWriter::Text(std::string_view text) {
  Varint(text.size());
  out_ += text;
}

void PackedWriter::Doubles(const double* numbers, size_t count) {
  out_.append(reinterpret_cast<const char*>(numbers), count * sizeof(double));
}

char* PackedWriter::Extend(size_t bytes) {
  const size_t start = out_.size();
  out_.resize(start + bytes);
  return out_.data() + start;
}

std::string PackedWriter::TakePayload() {
  if (out_.size() <= kCompressFrom) return std::move(out_);
  const std::string frame = Compress(std::string_view(out_).substr(1));
  if (frame.size() + 1 >= out_.size()) return std::move(out_);
  return std::string(1, kCompressed) + frame;
}

Result<std::string_view> UnpackPayload(std::string_view payload, size_t most,
                                       std::string* storage) {
  TENON_EXPECT_PEER(!payload.empty(), "a packed payload is empty");
  const char form = payload[0];
  payload.remove_prefix(1);
  if (form == kPlain) {
    TENON_EXPECT_PEER(payload.size() <= most, "a packed payload is too large");
    return payload;
  }
  TENON_EXPECT_PEER(form == kCompressed, "a packed payload has an unknown form");
  TENON_TRY(*storage, Decompress(payload, most));
  return std::string_view(*storage);
}

uint64_t PackedReader::Varint() {
  uint64_t value = 0;
  for (size_t i = 0; i < rest_.size() && i < 10; ++i) {
    const auto byte = static_cast<uint8_t>(rest_[i]);
    if (i == 9 && byte > 1) break;
    value |= uint64_t{byte & 0x7fu} << (7 * i);
    if (byte < 0x80) {
      rest_.remove_prefix(i + 1);
      return value;
    }
  }
  return Fail();
}

int64_t PackedReader::Signed(uint64_t& previous) {
  previous += Unzigzag(Varint());
  return static_cast<int64_t>(previous);
}

uint8_t PackedReader::Byte() {
  const std::string_view byte = Bytes(1);
  return byte.empty() ? 0 : static_cast<uint8_t>(byte[0]);
}

std::string_view PackedReader::Bytes(uint64_t count) {
  if (count > rest_.size()) {
    Fail();
    return {};
  }
  const std::string_view bytes = rest_.substr(0, count);
  rest_.remove_prefix(count);
  return bytes;
}

std::vector<double> PackedReader::Doubles(uint64_t count) {
  if (count > rest_.size() / sizeof(double)) {
    Fail();
    return {};
  }
  std::vector<double> numbers(count);
  const std::string_view bytes = Bytes(count * sizeof(double));
  if (count > 0) std::memcpy(numbers.data(), bytes.data(), bytes.size());
  return numbers;
}

uint64_t PackedReader::Fail() {
  ok_ = false;
  rest_ = {};
  return 0;
}

}  // namespace tenon::run
