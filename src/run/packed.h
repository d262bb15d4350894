// SPDX-License-Identifier: Apache-2.0
// The bytes of records that come in millions, metrics and samples: varints, differences, texts. The
// grammar is in docs/formats/journal.md.
#ifndef TENON_RUN_PACKED_H_
#define TENON_RUN_PACKED_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace tenon::run {

class PackedWriter {
 public:
  // `expected`: bytes to make room for.
  explicit PackedWriter(size_t expected);

  void Byte(uint8_t byte) { out_.push_back(static_cast<char>(byte)); }
  void Varint(uint64_t value);
  // The difference to `previous`, which becomes the value. Differences wrap around at 64 bits.
  void Signed(int64_t value, uint64_t& previous);
  void Text(std::string_view text);
  void Doubles(const double* numbers, size_t count);
  // Room for more bytes, to be filled before the next call.
  char* Extend(size_t bytes);

  // The body as the payload of a record: compressed where that is smaller. Called last.
  std::string TakePayload();

 private:
  std::string out_;
};

// The body of a payload; it lies in `payload`, or in `storage` if it was compressed. kCorrupt for a
// body over `most` bytes and for what TakePayload() does not make.
Result<std::string_view> UnpackPayload(std::string_view payload, size_t most, std::string* storage);

// Takes a body apart, from its beginning. After the first failure everything reads as zero and
// ok() is false.
class PackedReader {
 public:
  explicit PackedReader(std::string_view body) : rest_(body) {}

  bool ok() const { return ok_; }
  size_t left() const { return rest_.size(); }

  uint8_t Byte();
  uint64_t Varint();
  int64_t Signed(uint64_t& previous);
  std::string_view Bytes(uint64_t count);
  std::string Text() { return std::string(Bytes(Varint())); }
  std::vector<double> Doubles(uint64_t count);
  uint64_t Fail();

 private:
  std::string_view rest_;
  bool ok_ = true;
};

}  // namespace tenon::run

#endif  // TENON_RUN_PACKED_H_
