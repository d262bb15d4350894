// SPDX-License-Identifier: Apache-2.0
// Occurrences that overlap ("abcdef" and "defghi" in "abcdefghi") are covered by one "***".
// Replacing one after the other would let the end of the second through. So the scan goes on inside
// a covered stretch and looks for a secret that reaches further. The result does not depend on how
// the stream is cut: a place is decided only when no secret can still begin there and end beyond
// the text.
//
// Escaped forms are not listed. Each program chooses which characters it escapes, and how, so a
// secret has more forms than can be written down. Instead the text is read as an escaped one, and
// the outcome is compared with the secrets. Each style gives a text one reading, so nothing is
// tried twice. A style is tried only at places where the text has one of its marks, so it costs
// ordinary lines nothing. The patterns are sorted, and a reading narrows the range of patterns that
// still fit, byte by byte: a key file of a thousand lines costs hardly more than one password.
#include "base/mask.h"

#include <algorithm>
#include <optional>

#include "base/text.h"

namespace tenon {

enum class Masker::Style : unsigned char {
  kRaw,
  kText,     // backslashes; \xe9 is the character, \351 a byte
  kBytes,    // backslashes; \xe9 is the byte
  kPercent,  // %2F
  kForm,     // %2F, and + is a blank
};

// What Walk() and Look() find at the beginning of a text.
struct Masker::Found {
  size_t length = 0;       // of the longest secret found; 0: none
  bool undecided = false;  // the text ends before a (longer) secret can be ruled out
  bool backslash = false, percent = false;  // marks that were seen on the way
};

namespace {

std::string_view WithoutLineEnds(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.remove_suffix(1);
  return text;
}

// What base64 makes of a secret in the middle of other bytes ("user:password"), without a first and
// a last character that mix bits of the secret with bits of the other bytes. `first`: the first bit
// of the secret that begins a character, which is 0, 2 or 4.
std::string InBase64(std::string_view secret, size_t first, std::string_view last_two) {
  std::string out;
  for (size_t bit = first; bit + 6 <= secret.size() * 8; bit += 6) {
    const size_t at = bit / 8;
    const uint32_t next = at + 1 < secret.size() ? static_cast<unsigned char>(secret[at + 1]) : 0;
    const uint32_t two = static_cast<uint32_t>(static_cast<unsigned char>(secret[at])) << 8 | next;
    const uint32_t value = two >> (10 - bit % 8) & 63;
    const size_t n = value % 26;
    out += static_cast<char>(value < 26   ? 'A' + n
                             : value < 52 ? 'a' + n
                             : value < 62 ? '0' + (value - 52)
                                          : last_two[value - 62]);
  }
  return out;
}

// Adds the forms of a secret that are looked for, each in every style.
void AddPatterns(std::string_view secret, std::vector<std::string>* patterns) {
  if (secret.empty()) return;
  patterns->emplace_back(secret);
  const std::string_view body = WithoutLineEnds(secret);
  if (body.size() >= kShortestSecret) {
    patterns->emplace_back(body);
    for (const size_t first : {0, 2, 4}) {
      for (const char* last_two : {"+/", "-_"}) {
        patterns->push_back(InBase64(body, first, last_two));
      }
    }
  }
  if (body.find('\n') == std::string_view::npos) return;
  for (const std::string& whole : Split(body, '\n')) {
    const std::string_view line = Trim(whole);
    const bool frame = line.starts_with("-----BEGIN ") || line.starts_with("-----END ");
    if (line.size() >= kShortestSecretLine && !frame) patterns->emplace_back(line);
  }
}

// The byte that a backslash and `letter` stand for; nullopt: they stand for none. Blanks and
// punctuation stand for themselves, as in JSON's \/ and in words quoted for shells and regular
// expressions.
std::optional<char> Escaped(char letter) {
  switch (letter) {
    case 'a':
      return '\a';
    case 'b':
      return '\b';
    case 'f':
      return '\f';
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    case 'v':
      return '\v';
    default:
      break;
  }
  const bool word = (letter >= '0' && letter <= '9') || (letter >= 'A' && letter <= 'Z') ||
                    (letter >= 'a' && letter <= 'z');
  return letter >= ' ' && letter <= '~' && !word ? std::optional(letter) : std::nullopt;
}

constexpr std::string_view kEscapeLetters = "abfnrtv !\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~";
constexpr std::string_view kHexDigits = "0123456789abcdef";

std::optional<uint32_t> HexValue(char c) {
  if (c >= 'A' && c <= 'F') c = static_cast<char>(c - 'A' + 'a');
  const size_t at = kHexDigits.find(c);
  if (at == std::string_view::npos) return std::nullopt;
  return static_cast<uint32_t>(at);
}

// One character of an escaped text, after reading.
struct Unit {
  enum class Kind { kRead, kWrong, kCut };  // kCut: the text ends in the middle of it
  Kind kind = Kind::kRead;
  size_t length = 1;
  unsigned char count = 1;
  char bytes[4] = {};
};

Unit OneByte(char byte, size_t length) {
  Unit unit;
  unit.length = length;
  unit.bytes[0] = byte;
  return unit;
}

Unit Not(Unit::Kind kind) {
  Unit unit;
  unit.kind = kind;
  return unit;
}

Unit Character(char32_t code, size_t length) {
  if (code > 0x10ffff) return Not(Unit::Kind::kWrong);
  std::string bytes;
  AppendUtf8(bytes, code);
  Unit unit;
  unit.length = length;
  unit.count = static_cast<unsigned char>(std::min(bytes.size(), sizeof unit.bytes));
  std::copy_n(bytes.begin(), unit.count, unit.bytes);
  return unit;
}

// Reads `digits` hexadecimal digits from `at` on.
Unit::Kind ReadHex(std::string_view text, size_t at, size_t digits, uint32_t* value) {
  *value = 0;
  for (size_t i = at; i < at + digits; ++i) {
    if (i >= text.size()) return Unit::Kind::kCut;
    const auto digit = HexValue(text[i]);
    if (!digit) return Unit::Kind::kWrong;
    *value = *value << 4 | *digit;
  }
  return Unit::Kind::kRead;
}

Unit ReadPercent(std::string_view text) {
  uint32_t value;
  const Unit::Kind kind = ReadHex(text, 1, 2, &value);
  return kind == Unit::Kind::kRead ? OneByte(static_cast<char>(value), 3) : Not(kind);
}

// `\ud83d\ude00` is one character.
Unit ReadSurrogates(std::string_view text, uint32_t high) {
  constexpr std::string_view kSecond = "\\u";
  const std::string_view rest = text.substr(6);
  if (rest.size() < kSecond.size()) {
    return Not(kSecond.starts_with(rest) ? Unit::Kind::kCut : Unit::Kind::kWrong);
  }
  uint32_t low;
  if (!rest.starts_with(kSecond)) return Not(Unit::Kind::kWrong);
  if (const auto kind = ReadHex(rest, 2, 4, &low); kind != Unit::Kind::kRead) return Not(kind);
  if (low < 0xdc00 || low > 0xdfff) return Not(Unit::Kind::kWrong);
  return Character(0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00), 12);
}

// `\303`: a byte, as C, git and bash write it.
Unit ReadOctal(std::string_view text) {
  uint32_t value = 0;
  for (size_t i = 1; i < 4; ++i) {
    if (i >= text.size()) return Not(Unit::Kind::kCut);
    if (text[i] < '0' || text[i] > (i == 1 ? '3' : '7')) return Not(Unit::Kind::kWrong);
    value = value << 3 | static_cast<uint32_t>(text[i] - '0');
  }
  return OneByte(static_cast<char>(value), 4);
}

Unit ReadBackslash(std::string_view text, bool x_is_byte) {
  if (text.size() < 2) return Not(Unit::Kind::kCut);
  if (text[1] >= '0' && text[1] <= '3') return ReadOctal(text);
  if (const auto byte = Escaped(text[1])) return OneByte(*byte, 2);
  const size_t digits = text[1] == 'x' ? 2 : text[1] == 'u' ? 4 : text[1] == 'U' ? 8 : 0;
  if (digits == 0) return Not(Unit::Kind::kWrong);
  uint32_t value;
  if (const auto kind = ReadHex(text, 2, digits, &value); kind != Unit::Kind::kRead) {
    return Not(kind);
  }
  if (digits == 2 && x_is_byte) return OneByte(static_cast<char>(value), 4);
  if (digits == 4 && value >= 0xd800 && value <= 0xdbff) return ReadSurrogates(text, value);
  // Python writes a byte that is not UTF-8 this way.
  if (digits == 4 && value >= 0xdc80 && value <= 0xdcff)
    return OneByte(static_cast<char>(value), 6);
  return Character(value, 2 + digits);
}

}  // namespace

bool IsMaskable(std::string_view secret) {
  return WithoutLineEnds(secret).size() >= kShortestSecret;
}

Masker::Masker(const std::vector<std::string>& secrets) {
  for (const std::string& secret : secrets) AddPatterns(secret, &patterns_);
  std::sort(patterns_.begin(), patterns_.end());
  patterns_.erase(std::unique(patterns_.begin(), patterns_.end()), patterns_.end());
  if (patterns_.empty()) return;
  pairs_.resize(1 << 16);
  for (const std::string& pattern : patterns_) AddStart(pattern);
}

size_t Masker::shortest() const {
  size_t shortest = 0;
  for (const std::string& pattern : patterns_) {
    if (shortest == 0 || pattern.size() < shortest) shortest = pattern.size();
  }
  return shortest;
}

// Notes the pairs of bytes with which the pattern may begin, in any style.
void Masker::AddStart(std::string_view pattern) {
  auto add = [this](char first, char second) {
    const auto high = static_cast<unsigned char>(first);
    starts_[high] = true;
    pairs_[static_cast<size_t>(high) << 8 | static_cast<unsigned char>(second)] = true;
  };
  const char first = pattern[0];
  auto add_behind = [&](char start) {
    if (pattern.size() == 1) {
      for (int second = 0; second < 256; ++second) add(start, static_cast<char>(second));
      return;
    }
    add(start, pattern[1]);
    add(start, '\\');
    add(start, '%');
    if (pattern[1] == ' ') add(start, '+');
  };
  add_behind(first);
  if (first == ' ') add_behind('+');
  for (const char letter : std::string_view("uUx")) add('\\', letter);
  add('\\', static_cast<char>('0' + (static_cast<unsigned char>(first) >> 6)));
  for (const char letter : kEscapeLetters) {
    if (Escaped(letter) == first) add('\\', letter);
  }
  const char digit = kHexDigits[static_cast<unsigned char>(first) >> 4];
  add('%', digit);
  if (digit >= 'a') add('%', static_cast<char>(digit - 'a' + 'A'));
}

// The first place from `i` on where a secret may begin. Compares two bytes, because the first byte
// of a secret is often a letter that every line has.
size_t Masker::NextCandidate(std::string_view text, size_t i) const {
  if (i >= text.size()) return i;
  size_t pair = static_cast<unsigned char>(text[i]);
  for (; i + 1 < text.size(); ++i) {
    pair = (pair << 8 | static_cast<unsigned char>(text[i + 1])) & 0xffff;
    if (pairs_[pair]) return i;
  }
  return starts_[pair & 0xff] ? i : text.size();
}

// Reads the text in one style for as long as a pattern fits.
Masker::Found Masker::Walk(std::string_view text, Style style) const {
  Found found;
  auto low = patterns_.begin(), high = patterns_.end();
  size_t depth = 0, at = 0;  // positions in the pattern and in the text
  for (;;) {
    // All patterns in the range begin with what was read; the first one may end here.
    if (low != high && low->size() == depth) {
      found.length = at;
      ++low;
    }
    if (low == high) return found;
    if (at >= text.size()) {
      found.undecided = true;
      return found;
    }
    const char c = text[at];
    found.backslash |= c == '\\';
    found.percent |= c == '%' || c == '+';
    Unit unit;
    if (c == '\\' && (style == Style::kText || style == Style::kBytes)) {
      unit = ReadBackslash(text.substr(at), style == Style::kBytes);
    } else if (c == '%' && (style == Style::kPercent || style == Style::kForm)) {
      unit = ReadPercent(text.substr(at));
    } else {
      unit.bytes[0] = c == '+' && style == Style::kForm ? ' ' : c;
    }
    if (unit.kind != Unit::Kind::kRead) {
      found.undecided = unit.kind == Unit::Kind::kCut;
      return found;
    }
    at += unit.length;
    for (size_t i = 0; i < unit.count && low != high; ++i, ++depth) {
      if (low->size() == depth && ++low == high) break;  // this pattern ends within the character
      const auto byte = static_cast<unsigned char>(unit.bytes[i]);
      low = std::lower_bound(low, high, byte, [&](const std::string& pattern, unsigned char b) {
        return static_cast<unsigned char>(pattern[depth]) < b;
      });
      high = std::upper_bound(low, high, byte, [&](unsigned char b, const std::string& pattern) {
        return b < static_cast<unsigned char>(pattern[depth]);
      });
    }
  }
}

Masker::Found Masker::Look(std::string_view text) const {
  Found found = Walk(text, Style::kRaw);
  auto also = [&](Style style) {
    const Found other = Walk(text, style);
    found.length = std::max(found.length, other.length);
    found.undecided |= other.undecided;
  };
  // A reading that met no mark is the same in every style.
  if (found.backslash) {
    also(Style::kText);
    also(Style::kBytes);
  }
  if (found.percent) {
    also(Style::kPercent);
    also(Style::kForm);
  }
  return found;
}

// `covered`: how many bytes at the front of `text` have a "***" already written for them; on
// return, the same for the text behind the `used` bytes.
std::string Masker::Scan(std::string_view text, bool at_end, size_t* used, size_t* covered) const {
  std::string out;
  out.reserve(text.size());
  size_t cover = *covered;
  size_t i = 0;
  while (i < text.size()) {
    size_t candidate = NextCandidate(text, i);
    size_t shown = std::max(i, cover);
    if (candidate > shown) out += text.substr(shown, candidate - shown);
    i = candidate;
    if (i == text.size()) break;

    const Found found = Look(text.substr(i));
    if (found.length > 0) {
      if (i >= cover) out += "***";
      cover = std::max(cover, i + found.length);
    }
    if (found.undecided && !at_end) break;
    if (i >= cover) out += text[i];
    ++i;
  }
  *used = i;
  *covered = cover > i ? cover - i : 0;
  return out;
}

std::string Masker::Feed(std::string_view piece) {
  if (patterns_.empty()) return std::string(piece);
  std::string joined;
  if (!held_.empty()) {
    joined = held_;
    joined += piece;
    piece = joined;
  }
  size_t used = 0;
  std::string out = Scan(piece, false, &used, &covered_);
  held_ = std::string(piece.substr(used));
  return out;
}

std::string Masker::Flush() {
  if (patterns_.empty()) return "";
  size_t used = 0;
  std::string out = Scan(held_, true, &used, &covered_);
  held_.clear();
  covered_ = 0;
  return out;
}

std::string Masker::Mask(std::string_view text) const {
  if (patterns_.empty()) return std::string(text);
  size_t used = 0, covered = 0;
  return Scan(text, true, &used, &covered);
}

}  // namespace tenon
