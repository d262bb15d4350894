// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_SNAPSHOT_FREEZE_GLOB_H_
#define TENON_SNAPSHOT_FREEZE_GLOB_H_

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace tenon::snapshot {

// A compiled wildcard pattern of an ignore file. Wildcards do not match '/', except "**" where it
// stands for whole folders. Patterns are bytes and case-sensitive. Matching takes at most the
// product of both lengths times the length of the text, for any pattern.
class Glob {
 public:
  // Never fails. A pattern that git calls malformed (a class without an end, a backslash at the
  // end) matches nothing.
  static Glob Compile(std::string_view pattern);
  bool Matches(std::string_view text) const;

 private:
  enum class Kind : uint8_t {
    kByte,       // this byte
    kAny,        // "?": any byte but '/'
    kClass,      // "[...]": a byte of classes_[index], never '/'
    kStar,       // "*": any bytes but '/'
    kDeep,       // "**": any bytes
    kDeepSlash,  // "**/": nothing, or any bytes up to and with a '/'
  };
  struct Token {
    Kind kind;
    uint8_t byte = 0;
    uint16_t index = 0;
  };
  using ByteSet = std::array<uint64_t, 4>;

  bool CompileClass(std::string_view pattern, size_t* at);
  void CompileStars(std::string_view pattern, size_t* at);
  bool MatchesByte(const Token& token, uint8_t byte) const;

  bool never_ = false;
  std::vector<Token> tokens_;
  std::vector<ByteSet> classes_;
};

}  // namespace tenon::snapshot

#endif  // TENON_SNAPSHOT_FREEZE_GLOB_H_
