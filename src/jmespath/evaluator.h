// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_JMESPATH_EVALUATOR_H_
#define TENON_JMESPATH_EVALUATOR_H_

#include <deque>
#include <string_view>

#include "jmespath/jmespath.h"
#include "jmespath/node.h"

namespace tenon::jmespath {

// One search. Values are looked at where they are; what a query makes is kept here until the end.
class Evaluator {
 public:
  Evaluator(std::string_view query, const Limits& limits) : query_(query), limits_(limits) {}

  // The value of the node for `current`: a part of that, of the query, or one kept here.
  Result<const json::Value*> Evaluate(const Node& node, const json::Value& current);
  // The same as a value of its own.
  Result<json::Value> EvaluateCopy(const Node& node, const json::Value& current);

  // Values of its own count against the limits, and so does their nesting.
  Result<json::Value> Copy(const json::Value& value) { return CopyAt(value, 0); }
  Status Made(uint64_t values);
  Status Step(uint64_t steps = 1);
  // Numbers are equal by value, objects in any order.
  Result<bool> Equal(const json::Value& a, const json::Value& b);

  Error Fail(std::string_view word, std::string_view what, size_t offset) const {
    return Fault(word, what, query_, offset);
  }

 private:
  Result<json::Value> CopyAt(const json::Value& value, size_t depth);
  const json::Value* Keep(json::Value value);
  Result<const json::Value*> Project(const Node& node, const json::Value& current);
  Result<const json::Value*> Flatten(const Node& node, const json::Value& current);
  Result<const json::Value*> Slice(const Node& node, const json::Value& current);
  Result<const json::Value*> List(const Node& node, const json::Value& current);
  Result<const json::Value*> Hash(const Node& node, const json::Value& current);
  Result<const json::Value*> Compare(const Node& node, const json::Value& current);
  Result<const json::Value*> Call(const Node& node, const json::Value& current);

  std::string_view query_;
  Limits limits_;
  uint64_t steps_ = 0;
  uint64_t values_ = 0;
  std::deque<json::Value> kept_;
};

// False are null, false, and what is empty; 0 is not.
bool IsTrue(const json::Value& value);
bool IsNumber(const json::Value& value);
// -1, 0, 1; both are numbers.
int CompareNumbers(const json::Value& a, const json::Value& b);

}  // namespace tenon::jmespath

#endif  // TENON_JMESPATH_EVALUATOR_H_
