// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_BASE_FUZZ_INPUT_H_
#define TENON_BASE_FUZZ_INPUT_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tenon {

// Takes bytes off the front of a fuzzer's input. At its end numbers are 0 and byte strings are
// short.
class FuzzInput {
 public:
  FuzzInput(const uint8_t* data, size_t size) : rest_(reinterpret_cast<const char*>(data), size) {}
  bool empty() const { return rest_.empty(); }
  uint8_t Byte() {
    const std::string_view one = Bytes(1);
    return one.empty() ? 0 : static_cast<uint8_t>(one[0]);
  }
  size_t Number() { return Byte() | size_t{Byte()} << 8; }
  std::string_view Bytes(size_t count) {
    const std::string_view bytes = rest_.substr(0, count);
    rest_.remove_prefix(bytes.size());
    return bytes;
  }
  std::string_view Rest() { return Bytes(rest_.size()); }

 private:
  std::string_view rest_;
};

}  // namespace tenon

#endif  // TENON_BASE_FUZZ_INPUT_H_
