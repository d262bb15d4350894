// SPDX-License-Identifier: Apache-2.0
#include "yaml/scalar.h"

#include <algorithm>
#include <cstdio>

#include "base/text.h"

namespace tenon::yaml {
namespace {

constexpr size_t kNone = std::string_view::npos;

bool IsWord(std::string_view text) {
  const std::string lower = ToLower(text);
  for (const char* word :
       {"~", "null", "true", "false", "yes", "no", "on", "off", ".nan", ".inf"}) {
    if (lower == word) return true;
  }
  return false;
}

// Some readers take U+FEFF, U+2028 and similar characters for a line end, or drop them.
bool MustBeEscaped(char32_t code) {
  return code < 0x20 || (code >= 0x7f && code <= 0x9f) || code == 0x2028 || code == 0x2029 ||
         code == 0xfeff || code == 0xfffe || code == 0xffff;
}

bool AllShowable(std::string_view text) {
  while (!text.empty()) {
    const Utf8Char next = NextUtf8(text);
    if (!next.valid || MustBeEscaped(next.code)) return false;
    text.remove_prefix(next.length);
  }
  return true;
}

}  // namespace

bool CanStandPlain(std::string_view text, bool in_flow) {
  if (text.empty() || IsWord(text) || !AllShowable(text)) return false;
  if (text.front() == ' ' || text.back() == ' ' || text.back() == ':') return false;
  if (std::string_view(",[]{}#&*!|>'\"%@`").find(text.front()) != kNone) return false;
  if (text.front() == '-' || text.front() == '?' || text.front() == ':') {
    if (text.size() == 1 || text[1] == ' ' || in_flow) return false;
  }
  if (text.starts_with("---") || text.starts_with("...")) return false;
  if (text.find(": ") != kNone || text.find(" #") != kNone) return false;
  return !in_flow || text.find_first_of(",[]{}:") == kNone;
}

bool IsJsonNumber(std::string_view text) {
  const auto digits = [&text] {
    const size_t n = std::min(text.find_first_not_of("0123456789"), text.size());
    text.remove_prefix(n);
    return n;
  };
  if (text.starts_with('-')) text.remove_prefix(1);
  const bool zero = text.starts_with('0');
  const size_t whole = digits();
  if (whole == 0 || (zero && whole > 1)) return false;
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    if (digits() == 0) return false;
  }
  if (text.starts_with('e') || text.starts_with('E')) {
    text.remove_prefix(1);
    if (text.starts_with('+') || text.starts_with('-')) text.remove_prefix(1);
    if (digits() == 0) return false;
  }
  return text.empty();
}

bool CanBeSingleQuoted(std::string_view text) { return AllShowable(text); }

std::string SingleQuoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'') out += '\'';
    out += c;
  }
  return out + "'";
}

std::string DoubleQuoted(std::string_view text) {
  std::string out = "\"";
  while (!text.empty()) {
    const Utf8Char next = NextUtf8(text);
    const std::string_view raw = text.substr(0, next.length);
    text.remove_prefix(next.length);
    if (next.code == '"' || next.code == '\\') {
      out += '\\';
      out += raw;
    } else if (next.code == '\n') {
      out += "\\n";
    } else if (next.code == '\t') {
      out += "\\t";
    } else if (next.code == '\r') {
      out += "\\r";
    } else if (MustBeEscaped(next.code)) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04X", static_cast<unsigned>(next.code));
      out += escape;
    } else {
      out += raw;
    }
  }
  return out + "\"";
}

}  // namespace tenon::yaml
