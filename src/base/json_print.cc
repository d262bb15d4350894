// SPDX-License-Identifier: Apache-2.0
// Prints values as JSON text. Numbers look as Python's json module writes them: the shortest digits
// that give the same double again, always with a point or an exponent, in plain notation from 1e-4
// up to 1e16.
#include <charconv>
#include <cmath>
#include <cstring>

#include "base/json.h"
#include "base/terminal.h"
#include "base/text.h"

namespace tenon::json {
namespace {

constexpr char kHex[] = "0123456789abcdef";
constexpr std::string_view kByteMark = "\xef\xbf\xbf";  // U+FFFF

void AppendDouble(std::string& out, double value) {
  if (!std::isfinite(value)) {
    out += "null";
    return;
  }
  const double size = std::fabs(value);
  const bool plain = size == 0 || (size >= 1e-4 && size < 1e16);
  char buffer[32];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value,
                                 plain ? std::chars_format::fixed : std::chars_format::scientific)
                       .ptr;
  const std::string_view text(buffer, static_cast<size_t>(end - buffer));
  out += text;
  if (plain && text.find('.') == std::string_view::npos) out += ".0";
}

// As one or two \u escapes.
void AppendEscaped(std::string& out, char32_t code) {
  if (code >= 0x10000) {
    AppendEscaped(out, 0xd800 + ((code - 0x10000) >> 10));
    code = 0xdc00 + ((code - 0x10000) & 0x3ff);
  }
  out += "\\u";
  for (int shift = 12; shift >= 0; shift -= 4) out += kHex[code >> shift & 15];
}

void AppendControl(std::string& out, unsigned char c) {
  switch (c) {
    case '"':
      out += "\\\"";
      return;
    case '\\':
      out += "\\\\";
      return;
    case '\n':
      out += "\\n";
      return;
    case '\r':
      out += "\\r";
      return;
    case '\t':
      out += "\\t";
      return;
    case '\b':
      out += "\\b";
      return;
    case '\f':
      out += "\\f";
      return;
    default:
      out += "\\u00";
      out += kHex[c >> 4];
      out += kHex[c & 15];
  }
}

constexpr uint64_t kOnes = 0x0101010101010101;
constexpr uint64_t kHighs = 0x8080808080808080;

// Has the high bit set of every byte that is zero, and maybe of bytes behind the first zero byte.
// That is enough to tell whether there is a zero byte.
constexpr uint64_t ZeroBytes(uint64_t word) { return (word - kOnes) & ~word & kHighs; }

// Whether one of eight bytes is a control character, a quote, a backslash or not ASCII.
bool AnySpecial(const char* bytes) {
  uint64_t word;
  std::memcpy(&word, bytes, sizeof word);
  const uint64_t below_blank = (word - kOnes * 0x20) & ~word & kHighs;
  return ((word & kHighs) | below_blank | ZeroBytes(word ^ (kOnes * '"')) |
          ZeroBytes(word ^ (kOnes * '\\')) | ZeroBytes(word ^ (kOnes * 0x7f))) != 0;
}

// How many bytes at the beginning are plain ASCII that JSON takes as it is.
size_t PlainLength(std::string_view text) {
  constexpr size_t kStep = sizeof(uint64_t);
  size_t n = 0;
  while (text.size() - n >= kStep && !AnySpecial(text.data() + n)) n += kStep;
  if (n > 0 && n < text.size() && text.size() - n < kStep &&
      !AnySpecial(text.data() + text.size() - kStep)) {
    return text.size();
  }
  while (n < text.size() && text[n] >= 0x20 && text[n] < 0x7f && text[n] != '"' &&
         text[n] != '\\') {
    ++n;
  }
  return n;
}

void AppendString(std::string& out, std::string_view text) {
  out += '"';
  while (!text.empty()) {
    if (const size_t plain = PlainLength(text); plain > 0) {
      out += text.substr(0, plain);
      text.remove_prefix(plain);
      continue;
    }
    unsigned char c = static_cast<unsigned char>(text.front());
    if (c < 0x20 || c == '"' || c == '\\') {
      AppendControl(out, c);
      text.remove_prefix(1);
      continue;
    }
    Utf8Char next = NextUtf8(text);
    if (!next.valid) {
      AppendUtf8(out, 0xfffd);
    } else if (IsDeceptive(next.code)) {
      AppendEscaped(out, next.code);
    } else {
      out += text.substr(0, next.length);
    }
    text.remove_prefix(next.length);
  }
  out += '"';
}

// The colours that az's jsonc (Pygments' terminal colours) gives each kind of word.
constexpr std::string_view kKeyColor = "\x1b[94m";
constexpr std::string_view kStringColor = "\x1b[33m";
constexpr std::string_view kWordColor = "\x1b[34m";
constexpr std::string_view kColorEnd = "\x1b[39;49;00m";

class Printer {
 public:
  Printer(bool pretty, bool color, size_t depth) : pretty_(pretty), color_(color), depth_(depth) {}

  void Append(const Value& value) {
    switch (value.kind()) {
      case boost::json::kind::object:
        return AppendObject(value.get_object());
      case boost::json::kind::array:
        return AppendArray(value.get_array());
      default:
        break;
    }
    Paint(value.is_string() ? kStringColor : kWordColor, [&] { AppendScalar(value); });
  }

  std::string Finish() && { return std::move(out_); }

 private:
  template <typename F>
  void Paint(std::string_view color, F append) {
    if (color_) out_ += color;
    append();
    if (color_) out_ += kColorEnd;
  }

  void AppendScalar(const Value& value) {
    switch (value.kind()) {
      case boost::json::kind::string:
        return AppendString(out_, value.get_string());
      case boost::json::kind::int64:
        out_ += std::to_string(value.get_int64());
        return;
      case boost::json::kind::uint64:
        out_ += std::to_string(value.get_uint64());
        return;
      case boost::json::kind::double_:
        return AppendDouble(out_, value.get_double());
      case boost::json::kind::bool_:
        out_ += value.get_bool() ? "true" : "false";
        return;
      default:
        out_ += "null";
        return;
    }
  }

  void NewLine() {
    if (!pretty_) return;
    out_ += '\n';
    out_.append(2 * depth_, ' ');
  }

  template <typename List, typename F>
  void AppendList(const List& list, char open, char close, F append) {
    out_ += open;
    if (!list.empty()) {
      ++depth_;
      bool first = true;
      for (const auto& element : list) {
        if (!first) out_ += ',';
        first = false;
        NewLine();
        append(element);
      }
      --depth_;
      NewLine();
    }
    out_ += close;
  }

  void AppendObject(const Object& object) {
    AppendList(object, '{', '}', [&](const auto& member) {
      Paint(kKeyColor, [&] { AppendString(out_, member.key()); });
      out_ += pretty_ ? ": " : ":";
      Append(member.value());
    });
  }

  void AppendArray(const Array& array) {
    AppendList(array, '[', ']', [&](const Value& element) { Append(element); });
  }

  bool pretty_;
  bool color_;
  size_t depth_;
  std::string out_;
};

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

}  // namespace

std::string Print(const Value& value) {
  Printer printer(false, false, 0);
  printer.Append(value);
  return std::move(printer).Finish();
}

std::string PrintPretty(const Value& value, bool color, size_t depth) {
  Printer printer(true, color, depth);
  printer.Append(value);
  return std::move(printer).Finish();
}

std::string EncodeBytes(std::string_view bytes) {
  if (PlainLength(bytes) == bytes.size()) return std::string(bytes);
  std::string text;
  text.reserve(bytes.size());
  while (!bytes.empty()) {
    Utf8Char next = NextUtf8(bytes);
    std::string_view part = bytes.substr(0, next.length);
    if (next.valid && next.code != 0xffff) {
      text += part;
    } else {
      for (char c : part) {
        text += kByteMark;
        text += kHex[static_cast<unsigned char>(c) >> 4];
        text += kHex[static_cast<unsigned char>(c) & 15];
      }
    }
    bytes.remove_prefix(next.length);
  }
  return text;
}

Value EncodedValue(std::string_view bytes, Storage storage) {
  if (PlainLength(bytes) == bytes.size()) return Value(bytes, std::move(storage));
  return Value(EncodeBytes(bytes), std::move(storage));
}

std::string DecodeBytes(std::string_view text) {
  std::string bytes;
  bytes.reserve(text.size());
  for (;;) {
    size_t mark = text.find(kByteMark);
    bytes += text.substr(0, mark);
    if (mark == std::string_view::npos) return bytes;
    text.remove_prefix(mark + kByteMark.size());
    int high = text.size() < 2 ? -1 : HexDigit(text[0]);
    int low = text.size() < 2 ? -1 : HexDigit(text[1]);
    if (high < 0 || low < 0) {
      bytes += kByteMark;  // EncodeBytes() did not write this mark
      continue;
    }
    bytes += static_cast<char>(high << 4 | low);
    text.remove_prefix(2);
  }
}

}  // namespace tenon::json
