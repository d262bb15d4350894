// SPDX-License-Identifier: Apache-2.0
// The encoding of records that come in millions, metrics and samples: varints, differences, texts.
// docs/formats/journal.md has the grammar.
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
  // `expected`: how many bytes to reserve.
  explicit PackedWriter(size_t expected);

  void Byte(uint8_t byte) { out_.push_back(static_cast<char>(byte)); }
  void Varint(uint64_t value);
  // Writes the difference to `previous` and sets `previous` to `value`. Differences wrap around at
  // 64 bits.
  void Signed(int64_t value, uint64_t& previous);
  void Text(std::string_view text);
  void Doubles(const double* numbers, size_t count);
  // Appends `bytes` bytes and returns a pointer to them. The caller fills them before its next
  // call.
  char* Extend(size_t bytes);

  // Returns the body as the payload of a record, compressed if that is smaller. Must be the last
  // call.
  std::string TakePayload();

 private:
  std::string out_;
};

// Returns the body of a payload. The result points into `payload`, or into `*storage` if the
// payload was compressed. Fails with kCorrupt for a body over `most` bytes and for anything that
// TakePayload() does not produce.
Result<std::string_view> UnpackPayload(std::string_view payload, size_t most, std::string* storage);

// Reads a body from its beginning; the body must outlive the reader. After the first failure every
// read returns zero or nothing, and ok() is false.
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
  // Marks the body as malformed. Returns 0.
  uint64_t Fail();

 private:
  std::string_view rest_;
  bool ok_ = true;
};

}  // namespace tenon::run

#endif  // TENON_RUN_PACKED_H_
