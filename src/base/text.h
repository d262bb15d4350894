// SPDX-License-Identifier: Apache-2.0
// Words for people: sizes, spelling help, quoting, UTF-8.
#ifndef TENON_BASE_TEXT_H_
#define TENON_BASE_TEXT_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tenon {

std::vector<std::string> Split(std::string_view text, char separator);  // keeps empty parts
std::string Join(std::span<const std::string> parts, std::string_view separator);
std::string_view Trim(std::string_view text);  // blanks, tabs, CR, LF at both ends
std::string ToLower(std::string_view text);    // ASCII

std::string HumanBytes(uint64_t bytes);  // "812 B", "1.4 KB", "3.2 GB" (powers of 1000)
// "1 file", "2 files"
std::string Count(uint64_t n, std::string_view singular, std::string_view plural);

// The candidate nearest to `word`, if it is near enough to be a typo: it differs in one letter, or
// in at most a third of the letters of `word`, compared without case. Else nullopt.
std::optional<std::string> DidYouMean(std::string_view word,
                                      std::span<const std::string> candidates);

// The first character of `bytes`, which must not be empty. Where that is not UTF-8, `valid` is
// false and `length` counts the bytes that one U+FFFD stands for (1 to 3).
struct Utf8Char {
  char32_t code = 0xfffd;
  size_t length = 1;
  bool valid = false;
};
Utf8Char NextUtf8(std::string_view bytes);
void AppendUtf8(std::string& out, char32_t code);

bool IsUtf8(std::string_view bytes);
// The text as a terminal may show it (base/terminal.h): no control characters but newline and tab.
std::string ForTerminal(std::string_view bytes);
// Columns a terminal needs (wide characters count two, combining ones none).
size_t DisplayWidth(std::string_view utf8);

// Quotes a word for a POSIX shell, if it needs quotes.
std::string ShellQuote(std::string_view word);

// "90", "90s", "10m", "2h", "1d", "1h30m" → microseconds. nullopt: not a duration.
std::optional<int64_t> ParseDuration(std::string_view text);

// Random version-4 UUID, lower case with dashes; and `n` random bytes as hex.
std::string NewUuid();
std::string RandomHex(size_t n);

}  // namespace tenon

#endif  // TENON_BASE_TEXT_H_
