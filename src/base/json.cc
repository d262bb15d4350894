// SPDX-License-Identifier: Apache-2.0
// Our own parser, which makes Boost.JSON's values. Boost's parser silently takes the last of two
// equal keys and may round a number wrongly in the last place; a metric has to come back as it was
// logged.
#include "base/json.h"

#include <charconv>
#include <cstdlib>

#include "base/json_limits.h"
#include "base/text.h"

namespace tenon::json {
namespace {

class Parser {
 public:
  Parser(std::string_view text, size_t max_depth, size_t max_values)
      : text_(text), max_depth_(max_depth), values_left_(max_values) {}

  Result<Value> Document() {
    TENON_TRY(Value value, ParseValue(0));
    SkipBlanks();
    if (pos_ != text_.size()) return Fail("text after the end of the value");
    return value;
  }

 private:
  Error Fail(std::string_view what) const { return FailAt(pos_, what); }

  Error FailAt(size_t pos, std::string_view what) const {
    std::string_view before = text_.substr(0, pos);
    size_t line = 1;
    for (char c : before) line += c == '\n';
    size_t start = before.rfind('\n');
    size_t column = pos - (start == std::string_view::npos ? 0 : start + 1) + 1;
    return Invalid("JSON, line " + std::to_string(line) + ", column " + std::to_string(column) +
                   ": " + std::string(what));
  }

  bool AtEnd() const { return pos_ == text_.size(); }
  char Peek() const { return AtEnd() ? '\0' : text_[pos_]; }

  void SkipBlanks() {
    while (!AtEnd() && (text_[pos_] == ' ' || text_[pos_] == '\t' || text_[pos_] == '\n' ||
                        text_[pos_] == '\r')) {
      ++pos_;
    }
  }

  bool Take(char c) {
    SkipBlanks();
    if (AtEnd() || text_[pos_] != c) return false;
    ++pos_;
    return true;
  }

  Result<Value> ParseValue(size_t depth) {
    SkipBlanks();
    if (AtEnd()) return Fail("the text ends where a value should be");
    if (values_left_ == 0) return Fail("more values than are read");
    --values_left_;
    switch (text_[pos_]) {
      case '{':
        return ParseObject(depth + 1);
      case '[':
        return ParseArray(depth + 1);
      case '"': {
        TENON_TRY(boost::json::string text, ParseString());
        return Value(std::move(text));
      }
      case 't':
        return ParseWord("true", Value(true));
      case 'f':
        return ParseWord("false", Value(false));
      case 'n':
        return ParseWord("null", Value(nullptr));
      default:
        return ParseNumber();
    }
  }

  Result<Value> ParseWord(std::string_view word, Value value) {
    if (text_.substr(pos_, word.size()) != word) return Fail("not a JSON value");
    pos_ += word.size();
    return value;
  }

  Status CheckDepth(size_t depth) const {
    if (depth <= max_depth_) return {};
    return Fail("nested more than " + std::to_string(max_depth_) + " levels deep");
  }

  Result<Value> ParseObject(size_t depth) {
    TENON_TRY_VOID(CheckDepth(depth));
    ++pos_;
    Object object;
    if (Take('}')) return Value(std::move(object));
    for (;;) {
      SkipBlanks();
      size_t key_pos = pos_;
      if (Peek() != '"') return Fail("a member's name in double quotes should be here");
      TENON_TRY(boost::json::string key, ParseString());
      if (!Take(':')) return Fail("a colon should follow the member's name");
      TENON_TRY(Value value, ParseValue(depth));
      if (!object.emplace(key, std::move(value)).second) {
        return FailAt(key_pos, "the name \"" + ForTerminal(key) + "\" is there twice");
      }
      if (Take('}')) return Value(std::move(object));
      if (!Take(',')) return Fail("a comma or } should be here");
    }
  }

  Result<Value> ParseArray(size_t depth) {
    TENON_TRY_VOID(CheckDepth(depth));
    ++pos_;
    Array array;
    if (Take(']')) return Value(std::move(array));
    for (;;) {
      TENON_TRY(Value value, ParseValue(depth));
      array.push_back(std::move(value));
      if (Take(']')) return Value(std::move(array));
      if (!Take(',')) return Fail("a comma or ] should be here");
    }
  }

  Result<boost::json::string> ParseString() {
    size_t start = pos_++;
    boost::json::string out;
    for (;;) {
      size_t plain = pos_;
      while (pos_ < text_.size() && IsPlain(text_[pos_])) ++pos_;
      out.append(text_.substr(plain, pos_ - plain));
      if (AtEnd()) return FailAt(start, "this string does not end");
      unsigned char c = static_cast<unsigned char>(text_[pos_]);
      if (c == '"') {
        ++pos_;
        return out;
      }
      if (c < 0x20) return Fail("a control character in a string");
      if (c == '\\') {
        TENON_TRY_VOID(ParseEscape(out));
        continue;
      }
      Utf8Char next = NextUtf8(text_.substr(pos_));
      if (!next.valid) return Fail("bytes that are not UTF-8");
      out.append(text_.substr(pos_, next.length));
      pos_ += next.length;
    }
  }

  static bool IsPlain(char c) {
    unsigned char u = static_cast<unsigned char>(c);
    return u >= 0x20 && u < 0x80 && c != '"' && c != '\\';
  }

  Status ParseEscape(boost::json::string& out) {
    size_t start = pos_++;
    char c = Peek();
    ++pos_;
    switch (c) {
      case '"':
      case '\\':
      case '/':
        out.push_back(c);
        return {};
      case 'b':
        out.push_back('\b');
        return {};
      case 'f':
        out.push_back('\f');
        return {};
      case 'n':
        out.push_back('\n');
        return {};
      case 'r':
        out.push_back('\r');
        return {};
      case 't':
        out.push_back('\t');
        return {};
      case 'u':
        break;
      default:
        return FailAt(start, "an unknown escape in a string");
    }
    std::optional<char32_t> code = FourHex();
    if (code && *code >= 0xd800 && *code < 0xdc00 && text_.substr(pos_, 2) == "\\u") {
      pos_ += 2;
      std::optional<char32_t> low = FourHex();
      bool pair = low && *low >= 0xdc00 && *low < 0xe000;
      code =
          pair ? std::optional(0x10000 + ((*code - 0xd800) << 10) + (*low - 0xdc00)) : std::nullopt;
    }
    if (!code || (*code >= 0xd800 && *code < 0xe000)) {
      return FailAt(start, "this \\u escape is no character");
    }
    std::string utf8;
    AppendUtf8(utf8, *code);
    out.append(utf8);
    return {};
  }

  std::optional<char32_t> FourHex() {
    std::string_view digits = text_.substr(std::min(pos_, text_.size()), 4);
    uint32_t code = 0;
    auto [end, failed] = std::from_chars(digits.data(), digits.data() + digits.size(), code, 16);
    if (digits.size() != 4 || failed != std::errc() || end != digits.data() + 4) return {};
    pos_ += 4;
    return code;
  }

  size_t Digits() {
    size_t start = pos_;
    while (Peek() >= '0' && Peek() <= '9') ++pos_;
    return pos_ - start;
  }

  // Checks the grammar first, because from_chars alone takes more than JSON allows ("01", "1.",
  // "inf").
  Result<Value> ParseNumber() {
    size_t start = pos_;
    bool whole = true;
    if (Peek() == '-') ++pos_;
    size_t first = pos_;
    size_t digits = Digits();
    bool fine = digits > 0 && (digits == 1 || text_[first] != '0');
    if (fine && Peek() == '.') {
      ++pos_;
      whole = false;
      fine = Digits() > 0;
    }
    if (fine && (Peek() == 'e' || Peek() == 'E')) {
      ++pos_;
      whole = false;
      if (Peek() == '+' || Peek() == '-') ++pos_;
      fine = Digits() > 0;
    }
    if (!fine) return FailAt(start, "not a JSON value");
    return NumberValue(start, whole);
  }

  Result<Value> NumberValue(size_t start, bool whole) const {
    const char* begin = text_.data() + start;
    const char* end = text_.data() + pos_;
    if (whole) {
      int64_t number = 0;
      if (std::from_chars(begin, end, number).ec == std::errc()) return Value(number);
      uint64_t large = 0;
      if (*begin != '-' && std::from_chars(begin, end, large).ec == std::errc()) {
        return Value(large);
      }
    }
    double real = 0;
    if (std::from_chars(begin, end, real).ec == std::errc()) return Value(real);
    // from_chars reports both 1e999 and 1e-999 as out of range; the latter is zero or nearly so.
    real = std::strtod(std::string(begin, end).c_str(), nullptr);
    if (real > 1 || real < -1) return FailAt(start, "the number is too large");
    return Value(real);
  }

  std::string_view text_;
  size_t max_depth_;
  size_t values_left_;
  size_t pos_ = 0;
};

}  // namespace

Result<Value> Parse(std::string_view text, size_t max_depth) {
  return ParseLimited(text, max_depth, kMaxValues);
}

Result<Value> ParseLimited(std::string_view text, size_t max_depth, size_t max_values) {
  return Parser(text, max_depth, max_values).Document();
}

size_t CountValues(const Value& value) {
  size_t count = 1;
  if (const Array* array = value.if_array()) {
    for (const Value& item : *array) count += CountValues(item);
  } else if (const Object* object = value.if_object()) {
    for (const auto& member : *object) count += CountValues(member.value());
  }
  return count;
}

uint64_t MemoryOf(const Value& value) {
  constexpr uint64_t kHeapCost = 16;                   // of one block on the heap, beside its bytes
  constexpr uint64_t kMemberCost = 3 * sizeof(Value);  // the value, the place of its key, the index
  uint64_t bytes = sizeof(Value);
  if (const auto* text = value.if_string()) {
    bytes += text->size() + kHeapCost;
  } else if (const Array* array = value.if_array()) {
    bytes += kHeapCost;
    for (const Value& item : *array) bytes += MemoryOf(item);
  } else if (const Object* object = value.if_object()) {
    bytes += kHeapCost;
    for (const auto& member : *object) {
      bytes += kMemberCost + member.key().size() + kHeapCost + MemoryOf(member.value());
    }
  }
  return bytes;
}

std::string GetString(const Object& object, std::string_view key, std::string_view otherwise) {
  const Value* value = object.if_contains(key);
  if (!value || !value->is_string()) return std::string(otherwise);
  return std::string(std::string_view(value->get_string()));
}

int64_t GetInt(const Object& object, std::string_view key, int64_t otherwise) {
  const Value* value = object.if_contains(key);
  if (!value) return otherwise;
  if (value->is_int64()) return value->get_int64();
  // The parser makes a uint64 only of a number beyond int64, but a value that we put in ourselves
  // may be a smaller uint64.
  if (value->is_uint64() && value->get_uint64() <= INT64_MAX) {
    return static_cast<int64_t>(value->get_uint64());
  }
  return otherwise;
}

double GetDouble(const Object& object, std::string_view key, double otherwise) {
  const Value* value = object.if_contains(key);
  if (!value) return otherwise;
  if (value->is_double()) return value->get_double();
  if (value->is_int64()) return static_cast<double>(value->get_int64());
  if (value->is_uint64()) return static_cast<double>(value->get_uint64());
  return otherwise;
}

bool GetBool(const Object& object, std::string_view key, bool otherwise) {
  const Value* value = object.if_contains(key);
  return value && value->is_bool() ? value->get_bool() : otherwise;
}

const Object* GetObject(const Object& object, std::string_view key) {
  const Value* value = object.if_contains(key);
  return value ? value->if_object() : nullptr;
}

const Array* GetArray(const Object& object, std::string_view key) {
  const Value* value = object.if_contains(key);
  return value ? value->if_array() : nullptr;
}

}  // namespace tenon::json
