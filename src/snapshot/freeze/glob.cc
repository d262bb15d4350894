// SPDX-License-Identifier: Apache-2.0
#include "snapshot/freeze/glob.h"

#include <optional>
#include <string>

namespace tenon::snapshot {
namespace {

bool IsAlpha(int c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool IsDigit(int c) { return c >= '0' && c <= '9'; }
// White space as git defines it: no vertical tab, no form feed.
bool IsSpace(int c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
bool IsPrint(int c) { return c >= 0x20 && c <= 0x7e; }

// Whether `c` is in [:name:]; nullopt for an unknown name. ASCII only.
std::optional<bool> InNamedClass(std::string_view name, int c) {
  if (name == "alnum") return IsAlpha(c) || IsDigit(c);
  if (name == "alpha") return IsAlpha(c);
  if (name == "blank") return c == ' ' || c == '\t';
  if (name == "cntrl") return c < 0x20 || c == 0x7f;
  if (name == "digit") return IsDigit(c);
  if (name == "graph") return IsPrint(c) && !IsSpace(c);
  if (name == "lower") return c >= 'a' && c <= 'z';
  if (name == "print") return IsPrint(c);
  if (name == "punct") return IsPrint(c) && c != ' ' && !IsAlpha(c) && !IsDigit(c);
  if (name == "space") return IsSpace(c);
  if (name == "upper") return c >= 'A' && c <= 'Z';
  if (name == "xdigit") return IsDigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
  return std::nullopt;
}

template <typename ByteSet>
void Add(ByteSet* set, uint8_t byte) {
  (*set)[byte >> 6] |= uint64_t{1} << (byte & 63);
}

}  // namespace

// Compiles one class. Moves *at from the '[' to behind the ']'. False: malformed.
bool Glob::CompileClass(std::string_view pattern, size_t* at) {
  ByteSet set{};
  size_t p = *at + 1;
  auto peek = [&](size_t i) { return i < pattern.size() ? static_cast<uint8_t>(pattern[i]) : 0; };
  const bool negated = peek(p) == '!' || peek(p) == '^';
  if (negated) ++p;
  uint8_t previous = 0;  // where a range would start; 0: none
  bool first = true;
  for (; first || peek(p) != ']'; ++p) {
    first = false;
    uint8_t c = peek(p);
    if (c == 0) return false;
    if (c == '\\') {
      c = peek(++p);
      if (c == 0) return false;
      Add(&set, c);
      previous = c;
    } else if (c == '-' && previous && peek(p + 1) && peek(p + 1) != ']') {
      c = peek(++p);
      if (c == '\\') c = peek(++p);
      if (c == 0) return false;
      for (int b = previous; b <= c; ++b) Add(&set, static_cast<uint8_t>(b));
      previous = 0;
    } else if (c == '[' && peek(p + 1) == ':') {
      const size_t end = pattern.find(']', p + 2);
      if (end == std::string_view::npos) return false;
      if (end < p + 3 || pattern[end - 1] != ':') {  // no ":]": an ordinary '['
        Add(&set, '[');
        previous = '[';
        continue;
      }
      const std::string_view name = pattern.substr(p + 2, end - p - 3);
      if (!InNamedClass(name, 0)) return false;
      for (int b = 0; b < 128; ++b) {
        if (*InNamedClass(name, b)) Add(&set, static_cast<uint8_t>(b));
      }
      p = end;
      previous = 0;
    } else {
      Add(&set, c);
      previous = c;
    }
  }
  if (negated) {
    for (uint64_t& word : set) word = ~word;
  }
  set['/' >> 6] &= ~(uint64_t{1} << ('/' & 63));
  tokens_.push_back({Kind::kClass, 0, static_cast<uint16_t>(classes_.size())});
  classes_.push_back(set);
  *at = p + 1;
  return true;
}

// Compiles a run of stars. Moves *at from the first star to behind what was compiled.
void Glob::CompileStars(std::string_view pattern, size_t* at) {
  const size_t start = *at;
  size_t p = start;
  while (p < pattern.size() && pattern[p] == '*') ++p;
  const bool before = start == 0 || pattern[start - 1] == '/';
  const bool at_end = p == pattern.size();
  const bool slash = !at_end && pattern[p] == '/';
  const bool escaped_slash = p + 1 < pattern.size() && pattern[p] == '\\' && pattern[p + 1] == '/';
  if (p - start < 2 || !before || !(at_end || slash || escaped_slash)) {
    tokens_.push_back({Kind::kStar});
  } else if (slash) {
    tokens_.push_back({Kind::kDeepSlash});
    ++p;
  } else {
    tokens_.push_back({Kind::kDeep});
  }
  *at = p;
}

Glob Glob::Compile(std::string_view pattern) {
  Glob glob;
  for (size_t at = 0; at < pattern.size();) {
    const char c = pattern[at];
    if (c == '*') {
      glob.CompileStars(pattern, &at);
    } else if (c == '?') {
      glob.tokens_.push_back({Kind::kAny});
      ++at;
    } else if (c == '[') {
      if (glob.classes_.size() > 0xfff0 || !glob.CompileClass(pattern, &at)) {
        glob.never_ = true;
        return glob;
      }
    } else {
      if (c == '\\' && ++at == pattern.size()) {
        glob.never_ = true;
        return glob;
      }
      glob.tokens_.push_back({Kind::kByte, static_cast<uint8_t>(pattern[at])});
      ++at;
    }
  }
  return glob;
}

bool Glob::MatchesByte(const Token& token, uint8_t byte) const {
  switch (token.kind) {
    case Kind::kByte:
      return token.byte == byte;
    case Kind::kAny:
      return byte != '/';
    case Kind::kClass:
      return classes_[token.index][byte >> 6] >> (byte & 63) & 1;
    default:
      return false;
  }
}

// Only the last star and the last deep wildcard are tried again. What an earlier one could match in
// addition, the later one can match too: between two stars of one path component, or between two
// runs of whole folders, the leftmost match is the best.
bool Glob::Matches(std::string_view text) const {
  if (never_) return false;
  constexpr size_t kNone = static_cast<size_t>(-1);
  size_t star = kNone, star_text = 0;
  size_t deep = kNone, deep_text = 0;
  size_t t = 0, p = 0;
  for (;;) {
    if (p < tokens_.size()) {
      const Token& token = tokens_[p];
      if (token.kind == Kind::kStar) {
        star = p++;
        star_text = t;
        continue;
      }
      if (token.kind == Kind::kDeep || token.kind == Kind::kDeepSlash) {
        deep = p++;
        deep_text = t;
        star = kNone;
        continue;
      }
      if (t < text.size() && MatchesByte(token, static_cast<uint8_t>(text[t]))) {
        ++p;
        ++t;
        continue;
      }
    } else if (t == text.size()) {
      return true;
    }
    if (star != kNone && star_text < text.size() && text[star_text] != '/') {
      t = ++star_text;
      p = star + 1;
      continue;
    }
    if (deep == kNone) return false;
    if (tokens_[deep].kind == Kind::kDeepSlash) {
      const size_t slash = text.find('/', deep_text);
      if (slash == std::string_view::npos) return false;
      deep_text = slash + 1;
    } else {
      if (deep_text == text.size()) return false;
      ++deep_text;
    }
    t = deep_text;
    p = deep + 1;
    star = kNone;
  }
}

}  // namespace tenon::snapshot
