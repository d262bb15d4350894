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
// A secret of several lines also has each line of at least this length masked on its own.
inline constexpr size_t kShortestSecretLine = 8;

// Whether a value can be masked: without the line ends at its end it has kShortestSecret bytes or
// more.
bool IsMaskable(std::string_view secret);

// Replaces every occurrence of a secret by "***", also when it is torn over several pieces of a
// stream. One object per stream; not thread-safe.
//
// A secret is found as it is, without the line ends at its end, and, if it has several lines, in
// each of its lines of kShortestSecretLine bytes or more. Blanks around such a line do not count;
// lines that begin or end a PEM block are not secrets. Each of these forms is also found in the
// ways in which programs write strings, whichever characters they choose to escape: the backslashes
// of JSON, Python, C and shells (\n, \", \/, \$, \u00e9, surrogates, \U0001f600, \xe9 for a
// character or for a byte, \303 for a byte) and the percent signs of addresses (%2F, %2f, + for a
// blank). The whole secret is also found in base64, wherever it stood in the text that was encoded.
//
// Feed() holds back bytes at the end of a piece that could be the beginning of a secret, until the
// next piece or Flush() decides. Where two secrets match at one place, the longer one wins.
// Occurrences that overlap become one "***". The joined output is the same however the stream is
// cut. Without secrets Feed() returns its input unchanged.
class Masker {
 public:
  Masker() = default;
  explicit Masker(const std::vector<std::string>& secrets);

  bool empty() const { return patterns_.empty(); }
  std::string Feed(std::string_view piece);
  std::string Flush();  // the stream has ended; returns what was held back
  bool holding() const { return !held_.empty(); }

  // Masks a whole text at once, independently of the stream.
  std::string Mask(std::string_view text) const;

  // A text with fewer bytes than this has no secret in it. 0: the masker has no secrets.
  size_t shortest() const;

 private:
  struct Found;
  enum class Style : unsigned char;

  void AddStart(std::string_view pattern);
  size_t NextCandidate(std::string_view text, size_t i) const;
  Found Walk(std::string_view text, Style style) const;
  Found Look(std::string_view text) const;
  std::string Scan(std::string_view text, bool at_end, size_t* used, size_t* covered) const;

  std::vector<std::string> patterns_;  // sorted
  std::array<bool, 256> starts_{};     // by byte: whether a secret, in any form, may begin with it
  std::vector<char> pairs_;            // the same for two bytes, as a 16-bit number
  std::string held_;
  size_t covered_ = 0;  // bytes at the front of held_ for which a "***" is already written
};

}  // namespace tenon

#endif  // TENON_BASE_MASK_H_
