// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_BASE_MASK_H_
#define TENON_BASE_MASK_H_

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tenon {

// The shortest secret we agree to mask; shorter ones would turn ordinary text into asterisks.
inline constexpr size_t kShortestSecret = 6;

// Replaces every occurrence of a secret by "***", also when it is torn over several pieces of a
// stream. One object per stream; not thread-safe.
//
// Bytes at the end of a piece that could be the beginning of a secret are held back until the next
// piece or Flush() decides. Where two secrets match at one place the longer wins; occurrences that
// overlap become one "***". The joined output is the same however the stream is cut. With no
// secrets Feed() returns its input unchanged.
class Masker {
 public:
  Masker() = default;
  explicit Masker(std::vector<std::string> secrets);

  bool empty() const { return secrets_.empty(); }
  std::string Feed(std::string_view piece);
  std::string Flush();  // what was held back; the stream has ended
  bool holding() const { return !held_.empty(); }

  // A whole text at once; independent of the stream state.
  std::string Mask(std::string_view text) const;

 private:
  size_t NextCandidate(std::string_view text, size_t i) const;
  std::string Scan(std::string_view text, bool at_end, size_t* used, size_t* covered) const;

  std::vector<std::string> secrets_;  // longest first
  std::array<bool, 256> starts_{};    // first bytes of the secrets
  std::vector<char> pairs_;           // first two bytes of the secrets, as a 16-bit number
  std::string held_;
  size_t covered_ = 0;  // bytes at the front of held_ that a "***" already written stands for
};

}  // namespace tenon

#endif  // TENON_BASE_MASK_H_
