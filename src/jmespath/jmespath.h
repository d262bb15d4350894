// SPDX-License-Identifier: Apache-2.0
// The query language of --query: JMESPath, complete (https://jmespath.org/specification.html).
#ifndef TENON_JMESPATH_JMESPATH_H_
#define TENON_JMESPATH_JMESPATH_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"

namespace tenon::jmespath {

struct Node;

// A parsed query. Cheap to copy; several threads may use it at once.
class Expression {
 public:
  Expression(std::string text, std::shared_ptr<const Node> root)
      : text_(std::move(text)), root_(std::move(root)) {}
  const std::string& text() const { return text_; }
  const Node& root() const { return *root_; }

 private:
  std::string text_;
  std::shared_ptr<const Node> root_;
};

// Both functions fail with kInvalid. The message has a word of the specification, the query itself,
// and a caret below the place that is meant:
//   syntax: a name should follow the dot
//     foo..bar
//         ^
// The words are syntax, unknown-function and invalid-arity (from Parse), invalid-type and
// invalid-value (from Search). A query or a search beyond the limits fails with "too-much".

// Parses a query. Also checks the names of functions and their number of arguments, so that a
// typing error shows before there is data. Like the Workbench's `az`, takes a literal in back-ticks
// as text when it is not JSON and does not begin like JSON (`Completed` for `"Completed"`).
Result<Expression> Parse(std::string_view text);

// What a search may cost. A search beyond it fails.
struct Limits {
  uint64_t steps = 200'000'000;  // nodes looked at
  uint64_t values = 32'000'000;  // values made, long texts counting several times
};

// The answer, a copy. Whole numbers stay whole where the function allows it.
Result<json::Value> Search(const Expression& expression, const json::Value& value,
                           const Limits& limits = {});

}  // namespace tenon::jmespath

#endif  // TENON_JMESPATH_JMESPATH_H_
