// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_JMESPATH_LEXER_H_
#define TENON_JMESPATH_LEXER_H_

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace tenon::jmespath {

enum class TokenKind {
  kEnd,
  kName,
  kQuotedName,
  kLiteral,
  kNumber,
  kCurrent,  // @
  kDot,
  kStar,
  kOpen,     // [
  kClose,    // ]
  kFlatten,  // []
  kFilter,   // [?
  kBraceOpen,
  kBraceClose,
  kParenOpen,
  kParenClose,
  kComma,
  kColon,
  kPipe,
  kOr,
  kAnd,
  kNot,
  kReference,  // &
  kEqual,
  kNotEqual,
  kLess,
  kLessEqual,
  kGreater,
  kGreaterEqual,
};

struct Token {
  TokenKind kind = TokenKind::kEnd;
  size_t offset = 0;
  std::string text;   // of a name
  json::Value value;  // of a literal or a number
};

// The tokens of a query, kEnd last.
Result<std::vector<Token>> Lex(std::string_view query);

}  // namespace tenon::jmespath

#endif  // TENON_JMESPATH_LEXER_H_
