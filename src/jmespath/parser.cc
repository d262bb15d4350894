// SPDX-License-Identifier: Apache-2.0
// Precedence climbing over the tokens. What stands to the right of a projection belongs to it, up
// to the first token whose power is below kProjectionStops. That rule is what makes `a[*].b[0]`
// differ from `a[*].b | [0]`.
#include <algorithm>

#include "base/text.h"
#include "jmespath/function.h"
#include "jmespath/jmespath.h"
#include "jmespath/lexer.h"
#include "jmespath/node.h"

namespace tenon::jmespath {
namespace {

constexpr size_t kMaxLength = 64u << 10;
constexpr size_t kMaxDepth = 400;
constexpr int kProjectionStops = 10;

using NodePtr = std::unique_ptr<Node>;

int Power(TokenKind kind) {
  switch (kind) {
    case TokenKind::kPipe:
      return 1;
    case TokenKind::kOr:
      return 2;
    case TokenKind::kAnd:
      return 3;
    case TokenKind::kEqual:
    case TokenKind::kNotEqual:
    case TokenKind::kLess:
    case TokenKind::kLessEqual:
    case TokenKind::kGreater:
    case TokenKind::kGreaterEqual:
      return 5;
    case TokenKind::kFlatten:
      return 9;
    case TokenKind::kStar:
      return 20;
    case TokenKind::kFilter:
      return 21;
    case TokenKind::kDot:
      return 40;
    case TokenKind::kNot:
      return 45;
    case TokenKind::kBraceOpen:
      return 50;
    case TokenKind::kOpen:
      return 55;
    case TokenKind::kParenOpen:
      return 60;
    default:
      return 0;
  }
}

class Parser {
 public:
  Parser(std::string_view query, std::vector<Token> tokens)
      : query_(query), tokens_(std::move(tokens)) {}

  Result<NodePtr> Document() {
    TENON_TRY(NodePtr node, ParseExpression(0));
    if (Now().kind != TokenKind::kEnd) return Unexpected("the query should end here");
    return node;
  }

 private:
  const Token& Now() const { return tokens_[at_]; }
  const Token& Later() const { return tokens_[std::min(at_ + 1, tokens_.size() - 1)]; }
  bool At(TokenKind kind) const { return Now().kind == kind; }
  void Advance() {
    if (at_ + 1 < tokens_.size()) ++at_;
  }

  Error Unexpected(std::string_view what) const {
    std::string text(what);
    if (At(TokenKind::kEnd)) text += ", but the query ends";
    return Fault("syntax", text, query_, Now().offset);
  }

  Status Take(TokenKind kind, std::string_view what) {
    if (!At(kind)) return Unexpected(what);
    Advance();
    return {};
  }

  static NodePtr Make(Kind kind, size_t offset) {
    auto node = std::make_unique<Node>();
    node->kind = kind;
    node->offset = offset;
    return node;
  }

  Status Adopt(Node& node, NodePtr child) const {
    node.depth = std::max(node.depth, child->depth + 1);
    if (node.depth > kMaxDepth) return TooDeep(node.offset);
    node.children.push_back(std::move(child));
    return {};
  }

  Error TooDeep(size_t offset) const {
    return Fault("too-much", "nested more than " + std::to_string(kMaxDepth) + " levels deep",
                 query_, offset);
  }

  Result<NodePtr> Pair(Kind kind, size_t offset, NodePtr left, NodePtr right) const {
    NodePtr node = Make(kind, offset);
    TENON_TRY_VOID(Adopt(*node, std::move(left)));
    TENON_TRY_VOID(Adopt(*node, std::move(right)));
    return node;
  }

  Result<NodePtr> ParseExpression(int power) {
    if (++nesting_ > kMaxDepth) return TooDeep(Now().offset);
    TENON_TRY(NodePtr left, First());
    while (power < Power(Now().kind)) {
      TENON_TRY(left, Continue(std::move(left)));
    }
    --nesting_;
    return left;
  }

  // Parses what may begin an expression.
  Result<NodePtr> First() {
    const Token& token = Now();
    const size_t offset = token.offset;
    switch (token.kind) {
      case TokenKind::kName:
        return NameOrCall();
      case TokenKind::kQuotedName: {
        Advance();
        if (At(TokenKind::kParenOpen)) {
          return Fault("syntax", "a function's name is not quoted", query_, offset);
        }
        NodePtr node = Make(Kind::kField, offset);
        node->text = token.text;
        return node;
      }
      case TokenKind::kLiteral: {
        Advance();
        NodePtr node = Make(Kind::kLiteral, offset);
        node->value = token.value;
        return node;
      }
      case TokenKind::kCurrent:
        Advance();
        return Make(Kind::kIdentity, offset);
      case TokenKind::kStar: {
        Advance();
        NodePtr right = Make(Kind::kIdentity, offset);
        if (!At(TokenKind::kClose)) {
          TENON_TRY(right, ProjectionRight(Power(TokenKind::kStar)));
        }
        return Pair(Kind::kValueProjection, offset, Make(Kind::kIdentity, offset),
                    std::move(right));
      }
      case TokenKind::kFilter:
        Advance();
        return Filter(Make(Kind::kIdentity, offset), offset);
      case TokenKind::kFlatten:
        Advance();
        return Flatten(Make(Kind::kIdentity, offset), offset);
      case TokenKind::kBraceOpen:
        Advance();
        return Hash(offset);
      case TokenKind::kOpen:
        Advance();
        return FirstBracket(offset);
      case TokenKind::kParenOpen: {
        Advance();
        TENON_TRY(NodePtr inner, ParseExpression(0));
        TENON_TRY_VOID(Take(TokenKind::kParenClose, "a ) should be here"));
        return inner;
      }
      case TokenKind::kNot: {
        Advance();
        TENON_TRY(NodePtr inner, ParseExpression(Power(TokenKind::kNot)));
        NodePtr node = Make(Kind::kNot, offset);
        TENON_TRY_VOID(Adopt(*node, std::move(inner)));
        return node;
      }
      case TokenKind::kReference:
        return Unexpected("&… is an argument of functions like sort_by() only");
      case TokenKind::kNumber:
        return Unexpected("a number is written `1`, in back-ticks, when it is a value");
      default:
        return Unexpected("a name, a literal or another expression should be here");
    }
  }

  // Parses what may follow an expression.
  Result<NodePtr> Continue(NodePtr left) {
    const Token& token = Now();
    const size_t offset = token.offset;
    switch (token.kind) {
      case TokenKind::kDot:
        Advance();
        return Dot(std::move(left), offset);
      case TokenKind::kPipe:
        return Binary(Kind::kSub, std::move(left));
      case TokenKind::kOr:
        return Binary(Kind::kOr, std::move(left));
      case TokenKind::kAnd:
        return Binary(Kind::kAnd, std::move(left));
      case TokenKind::kEqual:
      case TokenKind::kNotEqual:
      case TokenKind::kLess:
      case TokenKind::kLessEqual:
      case TokenKind::kGreater:
      case TokenKind::kGreaterEqual: {
        const auto comparison = static_cast<Comparison>(static_cast<int>(token.kind) -
                                                        static_cast<int>(TokenKind::kEqual));
        TENON_TRY(NodePtr node, Binary(Kind::kCompare, std::move(left)));
        node->comparison = comparison;
        return node;
      }
      case TokenKind::kFlatten:
        Advance();
        return Flatten(std::move(left), offset);
      case TokenKind::kFilter:
        Advance();
        return Filter(std::move(left), offset);
      case TokenKind::kOpen:
        Advance();
        return Bracket(std::move(left), offset);
      case TokenKind::kParenOpen:
        return Unexpected("only a function's name may stand before (");
      default:
        return Unexpected("this can't follow what stands before it");
    }
  }

  Result<NodePtr> Binary(Kind kind, NodePtr left) {
    const Token& token = Now();
    Advance();
    TENON_TRY(NodePtr right, ParseExpression(Power(token.kind)));
    return Pair(kind, token.offset, std::move(left), std::move(right));
  }

  Result<NodePtr> Dot(NodePtr left, size_t offset) {
    if (At(TokenKind::kStar)) {
      Advance();
      TENON_TRY(NodePtr right, ProjectionRight(Power(TokenKind::kDot)));
      return Pair(Kind::kValueProjection, offset, std::move(left), std::move(right));
    }
    TENON_TRY(NodePtr right, DotRight(Power(TokenKind::kDot)));
    return Pair(Kind::kSub, offset, std::move(left), std::move(right));
  }

  Result<NodePtr> DotRight(int power) {
    const size_t offset = Now().offset;
    switch (Now().kind) {
      case TokenKind::kName:
      case TokenKind::kQuotedName:
      case TokenKind::kStar:
        return ParseExpression(power);
      case TokenKind::kOpen:
        Advance();
        return List(offset);
      case TokenKind::kBraceOpen:
        Advance();
        return Hash(offset);
      default:
        return Unexpected("a name, *, [ or { should follow the dot");
    }
  }

  Result<NodePtr> ProjectionRight(int power) {
    if (Power(Now().kind) < kProjectionStops) return Make(Kind::kIdentity, Now().offset);
    if (At(TokenKind::kOpen) || At(TokenKind::kFilter)) return ParseExpression(power);
    if (!At(TokenKind::kDot)) return Unexpected("this can't follow a projection");
    Advance();
    return DotRight(power);
  }

  Result<NodePtr> Flatten(NodePtr left, size_t offset) {
    NodePtr flat = Make(Kind::kFlatten, offset);
    TENON_TRY_VOID(Adopt(*flat, std::move(left)));
    TENON_TRY(NodePtr right, ProjectionRight(Power(TokenKind::kFlatten)));
    return Pair(Kind::kProjection, offset, std::move(flat), std::move(right));
  }

  Result<NodePtr> Filter(NodePtr left, size_t offset) {
    TENON_TRY(NodePtr condition, ParseExpression(0));
    TENON_TRY_VOID(Take(TokenKind::kClose, "a ] should end the filter here"));
    NodePtr right = Make(Kind::kIdentity, offset);
    if (!At(TokenKind::kFlatten)) {
      TENON_TRY(right, ProjectionRight(Power(TokenKind::kFilter)));
    }
    TENON_TRY(NodePtr node, Pair(Kind::kFilter, offset, std::move(left), std::move(right)));
    TENON_TRY_VOID(Adopt(*node, std::move(condition)));
    return node;
  }

  // Parses what follows a [ that begins an expression.
  Result<NodePtr> FirstBracket(size_t offset) {
    if (At(TokenKind::kNumber) || At(TokenKind::kColon)) {
      return IndexOrSlice(Make(Kind::kIdentity, offset), offset);
    }
    if (At(TokenKind::kStar) && Later().kind == TokenKind::kClose) {
      return Bracket(Make(Kind::kIdentity, offset), offset);
    }
    return List(offset);
  }

  // Parses what follows a [ that stands behind an expression.
  Result<NodePtr> Bracket(NodePtr left, size_t offset) {
    if (At(TokenKind::kNumber) || At(TokenKind::kColon)) {
      return IndexOrSlice(std::move(left), offset);
    }
    TENON_TRY_VOID(Take(TokenKind::kStar, "a number, a slice or * should follow this ["));
    TENON_TRY_VOID(Take(TokenKind::kClose, "a ] should be here"));
    TENON_TRY(NodePtr right, ProjectionRight(Power(TokenKind::kStar)));
    return Pair(Kind::kProjection, offset, std::move(left), std::move(right));
  }

  Result<NodePtr> IndexOrSlice(NodePtr left, size_t offset) {
    if (!At(TokenKind::kColon) && Later().kind != TokenKind::kColon) {
      NodePtr index = Make(Kind::kIndex, offset);
      index->first = Now().value.get_int64();
      Advance();
      TENON_TRY_VOID(Take(TokenKind::kClose, "a ] should be here"));
      return Pair(Kind::kSub, offset, std::move(left), std::move(index));
    }
    TENON_TRY(NodePtr slice, Slice(offset));
    TENON_TRY(NodePtr base, Pair(Kind::kSub, offset, std::move(left), std::move(slice)));
    TENON_TRY(NodePtr right, ProjectionRight(Power(TokenKind::kStar)));
    return Pair(Kind::kProjection, offset, std::move(base), std::move(right));
  }

  Result<NodePtr> Slice(size_t offset) {
    NodePtr node = Make(Kind::kSlice, offset);
    std::optional<int64_t>* parts[] = {&node->first, &node->last, &node->step};
    for (size_t part = 0;;) {
      if (At(TokenKind::kNumber)) {
        *parts[part] = Now().value.get_int64();
        Advance();
      }
      if (!At(TokenKind::kColon)) break;
      if (++part == 3) return Unexpected("a slice has at most two colons");
      Advance();
    }
    TENON_TRY_VOID(Take(TokenKind::kClose, "a number, a colon or ] should be here"));
    return node;
  }

  Result<NodePtr> List(size_t offset) {
    NodePtr node = Make(Kind::kList, offset);
    for (;;) {
      TENON_TRY(NodePtr element, ParseExpression(0));
      TENON_TRY_VOID(Adopt(*node, std::move(element)));
      if (At(TokenKind::kClose)) break;
      TENON_TRY_VOID(Take(TokenKind::kComma, "a comma or ] should be here"));
    }
    Advance();
    return node;
  }

  Result<NodePtr> Hash(size_t offset) {
    NodePtr node = Make(Kind::kHash, offset);
    for (;;) {
      if (!At(TokenKind::kName) && !At(TokenKind::kQuotedName)) {
        return Unexpected("a member's name should be here, as in {id: run_id}");
      }
      node->names.push_back(Now().text);
      Advance();
      TENON_TRY_VOID(Take(TokenKind::kColon, "a colon should follow the member's name"));
      TENON_TRY(NodePtr value, ParseExpression(0));
      TENON_TRY_VOID(Adopt(*node, std::move(value)));
      if (At(TokenKind::kBraceClose)) break;
      TENON_TRY_VOID(Take(TokenKind::kComma, "a comma or } should be here"));
    }
    Advance();
    return node;
  }

  Result<NodePtr> NameOrCall() {
    const Token& token = Now();
    Advance();
    if (At(TokenKind::kParenOpen)) return Call(token);
    NodePtr node = Make(Kind::kField, token.offset);
    node->text = token.text;
    return node;
  }

  Result<NodePtr> Call(const Token& name) {
    Advance();
    NodePtr node = Make(Kind::kCall, name.offset);
    while (!At(TokenKind::kParenClose)) {
      TENON_TRY(NodePtr argument, Argument());
      TENON_TRY_VOID(Adopt(*node, std::move(argument)));
      if (At(TokenKind::kParenClose)) break;
      TENON_TRY_VOID(Take(TokenKind::kComma, "a comma or ) should be here"));
      if (At(TokenKind::kParenClose)) return Unexpected("an argument should follow the comma");
    }
    Advance();
    node->function = FindFunction(name.text);
    if (!node->function) return UnknownFunction(name);
    const Function& function = *node->function;
    const size_t given = node->children.size();
    if (given < function.arguments.size() ||
        (!function.variadic && given > function.arguments.size())) {
      return Fault("invalid-arity",
                   std::string(function.name) + "() takes " +
                       (function.variadic ? "at least " : "") +
                       Count(function.arguments.size(), "argument", "arguments") + ", not " +
                       std::to_string(given),
                   query_, name.offset);
    }
    return node;
  }

  Error UnknownFunction(const Token& name) const {
    Error error =
        Fault("unknown-function", "there is no function " + name.text + "()", query_, name.offset);
    if (auto near = DidYouMean(name.text, FunctionNames())) {
      error.hint = "did you mean " + *near + "()?";
    }
    return error;
  }

  Result<NodePtr> Argument() {
    if (!At(TokenKind::kReference)) return ParseExpression(0);
    NodePtr node = Make(Kind::kReference, Now().offset);
    Advance();
    TENON_TRY(NodePtr inner, ParseExpression(0));
    TENON_TRY_VOID(Adopt(*node, std::move(inner)));
    return node;
  }

  std::string_view query_;
  std::vector<Token> tokens_;
  size_t at_ = 0;
  size_t nesting_ = 0;
};

}  // namespace

Error Fault(std::string_view word, std::string_view what, std::string_view query, size_t offset) {
  // Shows only the surroundings of `offset`, in one line, so that the caret stands below the right
  // place.
  constexpr size_t kBefore = 48, kAfter = 24;
  offset = std::min(offset, query.size());
  size_t begin = offset > kBefore ? offset - kBefore : 0;
  size_t end = std::min(query.size(), offset + kAfter);
  auto inside = [&](size_t i) {
    return i > 0 && i < query.size() && (static_cast<unsigned char>(query[i]) & 0xC0) == 0x80;
  };
  while (inside(begin)) ++begin;
  while (inside(end)) ++end;
  while (begin < offset && inside(offset)) --offset;
  auto shown = [](std::string_view part) {
    std::string text = ForTerminal(part);
    std::replace_if(
        text.begin(), text.end(), [](char c) { return c == '\n' || c == '\t'; }, ' ');
    return text;
  };
  const std::string before = (begin > 0 ? "…" : "") + shown(query.substr(begin, offset - begin));
  std::string text = std::string(word) + ": " + std::string(what) + "\n  " + before +
                     shown(query.substr(offset, end - offset)) + (end < query.size() ? "…" : "") +
                     "\n  " + std::string(DisplayWidth(before), ' ') + "^";
  return Invalid(std::move(text));
}

Result<Expression> Parse(std::string_view text) {
  if (text.size() > kMaxLength) {
    return Fault("too-much", "the query is longer than " + HumanBytes(kMaxLength), text, 0);
  }
  if (!IsUtf8(text)) return Fault("syntax", "the query is not UTF-8", text, 0);
  TENON_TRY(std::vector<Token> tokens, Lex(text));
  TENON_TRY(NodePtr root, Parser(text, std::move(tokens)).Document());
  return Expression(std::string(text), std::shared_ptr<const Node>(std::move(root)));
}

}  // namespace tenon::jmespath
