// SPDX-License-Identifier: Apache-2.0
// The UTF-8 part of text.h. Widths come from our own table: wcwidth(3) depends on the locale, and a
// static program has none.
#include <algorithm>
#include <iterator>

#include "base/shown_bytes.h"
#include "base/terminal.h"
#include "base/text.h"

namespace tenon {
namespace {

struct Range {
  char32_t first, last;
};

// Combining marks, joiners and variation selectors.
constexpr Range kZeroWidth[] = {
    {0x0300, 0x036f},   {0x0483, 0x0489},   {0x0591, 0x05bd},   {0x05bf, 0x05bf},
    {0x05c1, 0x05c2},   {0x05c4, 0x05c5},   {0x0610, 0x061a},   {0x064b, 0x065f},
    {0x0670, 0x0670},   {0x06d6, 0x06dc},   {0x06df, 0x06e4},   {0x06e7, 0x06e8},
    {0x06ea, 0x06ed},   {0x0711, 0x0711},   {0x0730, 0x074a},   {0x0900, 0x0902},
    {0x093a, 0x093a},   {0x093c, 0x093c},   {0x0941, 0x0948},   {0x094d, 0x094d},
    {0x0951, 0x0957},   {0x09bc, 0x09bc},   {0x09c1, 0x09c4},   {0x09cd, 0x09cd},
    {0x0a3c, 0x0a3c},   {0x0a41, 0x0a51},   {0x0abc, 0x0abc},   {0x0ac1, 0x0acd},
    {0x0b3c, 0x0b3c},   {0x0b41, 0x0b44},   {0x0b4d, 0x0b56},   {0x0bcd, 0x0bcd},
    {0x0c3e, 0x0c40},   {0x0c46, 0x0c56},   {0x0ccc, 0x0ccd},   {0x0d41, 0x0d44},
    {0x0d4d, 0x0d4d},   {0x0e31, 0x0e31},   {0x0e34, 0x0e3a},   {0x0e47, 0x0e4e},
    {0x0eb1, 0x0eb1},   {0x0eb4, 0x0ebc},   {0x0ec8, 0x0ecd},   {0x0f71, 0x0f7e},
    {0x0f80, 0x0f84},   {0x102d, 0x1030},   {0x1032, 0x1037},   {0x1039, 0x103a},
    {0x1160, 0x11ff},   {0x135d, 0x135f},   {0x17b4, 0x17b5},   {0x17b7, 0x17bd},
    {0x17c9, 0x17d3},   {0x180b, 0x180e},   {0x1ab0, 0x1ace},   {0x1dc0, 0x1dff},
    {0x200b, 0x200f},   {0x202a, 0x202e},   {0x2060, 0x2064},   {0x2066, 0x206f},
    {0x20d0, 0x20f0},   {0x302a, 0x302d},   {0x3099, 0x309a},   {0xa66f, 0xa672},
    {0xa674, 0xa67d},   {0xfb1e, 0xfb1e},   {0xfe00, 0xfe0f},   {0xfe20, 0xfe2f},
    {0xfeff, 0xfeff},   {0x1d167, 0x1d169}, {0x1d173, 0x1d182}, {0xe0001, 0xe007f},
    {0xe0100, 0xe01ef},
};

// East Asian wide and full-width characters, and the emoji that terminals draw two columns wide.
constexpr Range kTwoColumns[] = {
    {0x1100, 0x115f},   {0x231a, 0x231b},   {0x2329, 0x232a},   {0x23e9, 0x23ec},
    {0x23f0, 0x23f0},   {0x23f3, 0x23f3},   {0x25fd, 0x25fe},   {0x2614, 0x2615},
    {0x2648, 0x2653},   {0x267f, 0x267f},   {0x2693, 0x2693},   {0x26a1, 0x26a1},
    {0x26aa, 0x26ab},   {0x26bd, 0x26be},   {0x26c4, 0x26c5},   {0x26ce, 0x26ce},
    {0x26d4, 0x26d4},   {0x26ea, 0x26ea},   {0x26f2, 0x26f3},   {0x26f5, 0x26f5},
    {0x26fa, 0x26fa},   {0x26fd, 0x26fd},   {0x2705, 0x2705},   {0x270a, 0x270b},
    {0x2728, 0x2728},   {0x274c, 0x274c},   {0x274e, 0x274e},   {0x2753, 0x2755},
    {0x2757, 0x2757},   {0x2795, 0x2797},   {0x27b0, 0x27b0},   {0x27bf, 0x27bf},
    {0x2b1b, 0x2b1c},   {0x2b50, 0x2b50},   {0x2b55, 0x2b55},   {0x2e80, 0x303e},
    {0x3041, 0x33ff},   {0x3400, 0x4dbf},   {0x4e00, 0xa4cf},   {0xa960, 0xa97f},
    {0xac00, 0xd7a3},   {0xf900, 0xfaff},   {0xfe10, 0xfe19},   {0xfe30, 0xfe6f},
    {0xff00, 0xff60},   {0xffe0, 0xffe6},   {0x16fe0, 0x18cff}, {0x1b000, 0x1b2ff},
    {0x1f004, 0x1f004}, {0x1f0cf, 0x1f0cf}, {0x1f18e, 0x1f18e}, {0x1f191, 0x1f19a},
    {0x1f200, 0x1f320}, {0x1f32d, 0x1f335}, {0x1f337, 0x1f37c}, {0x1f37e, 0x1f393},
    {0x1f3a0, 0x1f3ca}, {0x1f3cf, 0x1f3d3}, {0x1f3e0, 0x1f3f0}, {0x1f3f4, 0x1f3f4},
    {0x1f3f8, 0x1f43e}, {0x1f440, 0x1f440}, {0x1f442, 0x1f4fc}, {0x1f4ff, 0x1f53d},
    {0x1f54b, 0x1f54e}, {0x1f550, 0x1f567}, {0x1f57a, 0x1f57a}, {0x1f595, 0x1f596},
    {0x1f5a4, 0x1f5a4}, {0x1f5fb, 0x1f64f}, {0x1f680, 0x1f6c5}, {0x1f6cc, 0x1f6cc},
    {0x1f6d0, 0x1f6d2}, {0x1f6d5, 0x1f6d7}, {0x1f6dc, 0x1f6df}, {0x1f6eb, 0x1f6ec},
    {0x1f6f4, 0x1f6fc}, {0x1f7e0, 0x1f7eb}, {0x1f7f0, 0x1f7f0}, {0x1f90c, 0x1f93a},
    {0x1f93c, 0x1f945}, {0x1f947, 0x1f9ff}, {0x1fa70, 0x1faff}, {0x20000, 0x3fffd},
};

// Deceptive characters besides the controls.
constexpr Range kDeceptive[] = {
    {0xad, 0xad},     {0x61c, 0x61c},   {0x180e, 0x180e}, {0x200b, 0x200f},   {0x2028, 0x202e},
    {0x2060, 0x206f}, {0xfeff, 0xfeff}, {0xfff9, 0xfffb}, {0xe0000, 0xe007f},
};

template <size_t N>
bool Contains(const Range (&ranges)[N], char32_t code) {
  auto after = std::upper_bound(std::begin(ranges), std::end(ranges), code,
                                [](char32_t c, const Range& range) { return c < range.first; });
  return after != std::begin(ranges) && code <= std::prev(after)->last;
}

// \xNN, \uNNNN, \UNNNNNNNN
void AppendEscape(std::string& out, char32_t code) {
  constexpr char kHex[] = "0123456789abcdef";
  const int digits = code < 0x100 && code != 0xad ? 2 : code < 0x10000 ? 4 : 8;
  out += digits == 2 ? "\\x" : digits == 4 ? "\\u" : "\\U";
  for (int shift = 4 * (digits - 1); shift >= 0; shift -= 4) out += kHex[code >> shift & 15];
}

}  // namespace

Utf8Char NextUtf8(std::string_view bytes) {
  auto byte = [&](size_t i) { return static_cast<unsigned char>(bytes[i]); };
  unsigned char lead = byte(0);
  if (lead < 0x80) return {lead, 1, true};
  size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4) return {};
  // The bounds of the second byte keep out overlong forms, surrogates and code points above
  // U+10FFFF.
  unsigned char low = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
  unsigned char high = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
  char32_t code = lead & (0x7f >> length);
  for (size_t i = 1; i < length; ++i, low = 0x80, high = 0xbf) {
    if (i >= bytes.size() || byte(i) < low || byte(i) > high) return {0xfffd, i, false};
    code = code << 6 | (byte(i) & 0x3f);
  }
  return {code, length, true};
}

void AppendUtf8(std::string& out, char32_t code) {
  auto tail = [&](int shift) { out += static_cast<char>(0x80 | (code >> shift & 0x3f)); };
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xc0 | code >> 6);
    tail(0);
  } else if (code < 0x10000) {
    out += static_cast<char>(0xe0 | code >> 12);
    tail(6);
    tail(0);
  } else {
    out += static_cast<char>(0xf0 | code >> 18);
    tail(12);
    tail(6);
    tail(0);
  }
}

bool IsUtf8(std::string_view bytes) {
  while (!bytes.empty()) {
    Utf8Char next = NextUtf8(bytes);
    if (!next.valid) return false;
    bytes.remove_prefix(next.length);
  }
  return true;
}

bool IsDeceptive(char32_t code) {
  return code < 0x20 || (code >= 0x7f && code < 0xa0) || Contains(kDeceptive, code);
}

std::string ForTerminal(std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size());
  while (!bytes.empty()) {
    // Nearly everything is plain ASCII.
    size_t plain = 0;
    while (plain < bytes.size() && bytes[plain] >= 0x20 && bytes[plain] < 0x7f) ++plain;
    out += bytes.substr(0, plain);
    bytes.remove_prefix(plain);
    if (bytes.empty()) break;
    const Utf8Char next = NextUtf8(bytes);
    if (!next.valid) {
      AppendUtf8(out, 0xfffd);
    } else if (next.code != '\n' && next.code != '\t' && IsDeceptive(next.code)) {
      AppendEscape(out, next.code);
    } else {
      out += bytes.substr(0, next.length);
    }
    bytes.remove_prefix(next.length);
  }
  return out;
}

size_t ShownBytes(std::string_view bytes) {
  constexpr size_t kQuote = 5;   // a single quote, quoted for a shell and then in JSON
  constexpr size_t kEscape = 6;  // \u001b
  constexpr size_t kByte = 5;    // U+FFFF and two digits
  size_t shown = 0;
  while (!bytes.empty()) {
    const char c = bytes.front();
    if (c >= 0x20 && c < 0x7f) {
      shown += c == '\'' ? kQuote : c == '"' || c == '\\' ? 2 : 1;
      bytes.remove_prefix(1);
      continue;
    }
    const Utf8Char next = NextUtf8(bytes);
    if (!next.valid || next.code == 0xffff) {
      shown += kByte * next.length;
    } else if (IsDeceptive(next.code)) {
      shown += next.code >= 0x10000 ? 2 * kEscape : kEscape;
    } else {
      shown += next.length;
    }
    bytes.remove_prefix(next.length);
  }
  return shown;
}

std::string OneLine(std::string_view bytes) {
  std::string text(bytes);
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == '\n' || c == '\t' || c == '\r'; }, ' ');
  return ForTerminal(text);
}

size_t DisplayWidth(std::string_view utf8) {
  // Nearly everything is plain ASCII, and tables ask for the width of every cell.
  if (std::all_of(utf8.begin(), utf8.end(), [](char c) { return c >= 0x20 && c < 0x7F; })) {
    return utf8.size();
  }
  size_t width = 0;
  while (!utf8.empty()) {
    Utf8Char next = NextUtf8(utf8);
    utf8.remove_prefix(next.length);
    if (next.code < 0x20 || (next.code >= 0x7f && next.code < 0xa0)) continue;
    if (Contains(kZeroWidth, next.code)) continue;
    width += Contains(kTwoColumns, next.code) ? 2 : 1;
  }
  return width;
}

}  // namespace tenon
