// SPDX-License-Identifier: Apache-2.0
// The tree a query is parsed into.
#ifndef TENON_JMESPATH_NODE_H_
#define TENON_JMESPATH_NODE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace tenon::jmespath {

struct Function;

enum class Kind {
  kIdentity,         // @, and the right side of a projection that has none
  kField,            // text
  kIndex,            // first
  kSlice,            // first:last:step
  kLiteral,          // value
  kSub,              // left . right, left | right, left[right]
  kProjection,       // [*], [1:2], [] : right for every element of left
  kValueProjection,  // *: right for every member's value of left
  kFilter,           // [?…]: right for every element of left for which the third child holds
  kFlatten,
  kList,  // [a, b]
  kHash,  // {a: b}; names
  kCompare,
  kOr,
  kAnd,
  kNot,
  kCall,       // function
  kReference,  // &expression, as an argument only
};

enum class Comparison { kEqual, kNotEqual, kLess, kLessEqual, kGreater, kGreaterEqual };

struct Node {
  Kind kind = Kind::kIdentity;
  size_t offset = 0;  // in the text of the query
  std::vector<std::unique_ptr<Node>> children;
  std::string text;
  std::vector<std::string> names;
  json::Value value;
  std::optional<int64_t> first, last, step;
  Comparison comparison = Comparison::kEqual;
  const Function* function = nullptr;
  size_t depth = 1;
};

// A kInvalid Error that says "word: what", then the query, and a caret below `offset`.
Error Fault(std::string_view word, std::string_view what, std::string_view query, size_t offset);

}  // namespace tenon::jmespath

#endif  // TENON_JMESPATH_NODE_H_
