// SPDX-License-Identifier: Apache-2.0
#include "jmespath/lexer.h"

#include <charconv>

#include "base/text.h"
#include "jmespath/node.h"

namespace tenon::jmespath {
namespace {

bool IsNameStart(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

// Drops the back-slash before each `quote`; keeps every other one.
std::string Unescape(std::string_view text, char quote) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size()) {
      ++i;
      if (text[i] != quote) out += '\\';
    }
    out += text[i];
  }
  return out;
}

class Lexer {
 public:
  explicit Lexer(std::string_view query) : query_(query) {}

  Result<std::vector<Token>> All() {
    std::vector<Token> tokens;
    for (;;) {
      while (pos_ < query_.size() && IsBlank(query_[pos_])) ++pos_;
      Token token;
      token.offset = pos_;
      if (pos_ == query_.size()) {
        tokens.push_back(std::move(token));
        return tokens;
      }
      TENON_TRY_VOID(Next(&token));
      tokens.push_back(std::move(token));
    }
  }

 private:
  Error Fail(size_t offset, std::string_view what) const {
    return Fault("syntax", what, query_, offset);
  }

  Status Next(Token* token) {
    const char c = query_[pos_];
    if (IsNameStart(c)) return Name(token);
    if (IsDigit(c) || c == '-') return Number(token);
    if (c == '"') return QuotedName(token);
    if (c == '\'') return RawText(token);
    if (c == '`') return Literal(token);
    return Sign(token);
  }

  Status Name(Token* token) {
    const size_t start = pos_;
    while (pos_ < query_.size() && (IsNameStart(query_[pos_]) || IsDigit(query_[pos_]))) ++pos_;
    token->kind = TokenKind::kName;
    token->text = query_.substr(start, pos_ - start);
    return {};
  }

  Status Number(Token* token) {
    const char* begin = query_.data() + pos_;
    int64_t number = 0;
    const auto [end, failed] = std::from_chars(begin, query_.data() + query_.size(), number);
    if (failed == std::errc::result_out_of_range) return Fail(pos_, "the number is too large");
    if (failed != std::errc()) return Fail(pos_, "a number should follow the minus sign");
    pos_ += static_cast<size_t>(end - begin);
    token->kind = TokenKind::kNumber;
    token->value = number;
    return {};
  }

  // The text between two quotes. A quote behind a back-slash does not end it.
  Result<std::string_view> Quoted(char quote, std::string_view what) {
    const size_t start = pos_++;
    const size_t inner = pos_;
    while (pos_ < query_.size() && query_[pos_] != quote) pos_ += query_[pos_] == '\\' ? 2 : 1;
    if (pos_ >= query_.size()) return Fail(start, std::string(what) + " does not end");
    return query_.substr(inner, pos_++ - inner);
  }

  Status QuotedName(Token* token) {
    TENON_TRY_VOID(Quoted('"', "this quoted name"));
    const auto parsed = json::Parse(query_.substr(token->offset, pos_ - token->offset));
    if (!parsed.ok() || !parsed->is_string()) {
      return Fail(token->offset, "a name in double quotes is written like a text of JSON");
    }
    token->kind = TokenKind::kQuotedName;
    token->text = std::string_view(parsed->get_string());
    return {};
  }

  Status RawText(Token* token) {
    TENON_TRY(const std::string_view inner, Quoted('\'', "this text"));
    token->kind = TokenKind::kLiteral;
    token->value = Unescape(inner, '\'');
    return {};
  }

  Status Literal(Token* token) {
    TENON_TRY(const std::string_view inner, Quoted('`', "this literal"));
    token->kind = TokenKind::kLiteral;
    std::string text = Unescape(inner, '`');
    while (!text.empty() && IsBlank(text.front())) text.erase(0, 1);
    auto parsed = json::Parse(text);
    // `Completed` for `"Completed"`: the language's first form, which people still type.
    const bool looks_like_json = text.empty() || text.find_first_of("[{\"-0123456789") == 0;
    if (!parsed.ok() && !looks_like_json) parsed = json::Parse("\"" + text + "\"");
    if (!parsed.ok()) {
      return Fail(token->offset,
                  "what stands between ` and ` has to be JSON, like `\"text\"` or `1.5`");
    }
    token->value = *std::move(parsed);
    return {};
  }

  Status Sign(Token* token) {
    static constexpr struct {
      std::string_view text;
      TokenKind kind;
    } kSigns[] = {
        {"[]", TokenKind::kFlatten},   {"[?", TokenKind::kFilter},
        {"||", TokenKind::kOr},        {"&&", TokenKind::kAnd},
        {"==", TokenKind::kEqual},     {"!=", TokenKind::kNotEqual},
        {"<=", TokenKind::kLessEqual}, {">=", TokenKind::kGreaterEqual},
        {"@", TokenKind::kCurrent},    {".", TokenKind::kDot},
        {"*", TokenKind::kStar},       {"[", TokenKind::kOpen},
        {"]", TokenKind::kClose},      {"{", TokenKind::kBraceOpen},
        {"}", TokenKind::kBraceClose}, {"(", TokenKind::kParenOpen},
        {")", TokenKind::kParenClose}, {",", TokenKind::kComma},
        {":", TokenKind::kColon},      {"|", TokenKind::kPipe},
        {"!", TokenKind::kNot},        {"&", TokenKind::kReference},
        {"<", TokenKind::kLess},       {">", TokenKind::kGreater},
    };
    for (const auto& sign : kSigns) {
      if (query_.substr(pos_, sign.text.size()) != sign.text) continue;
      token->kind = sign.kind;
      pos_ += sign.text.size();
      return {};
    }
    if (query_[pos_] == '=') return Fail(pos_, "equality is written ==");
    return Fail(pos_, "this character means nothing here");
  }

  std::string_view query_;
  size_t pos_ = 0;
};

}  // namespace

Result<std::vector<Token>> Lex(std::string_view query) { return Lexer(query).All(); }

}  // namespace tenon::jmespath
