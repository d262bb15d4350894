// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_JMESPATH_EVALUATOR_H_
#define TENON_JMESPATH_EVALUATOR_H_

#include <deque>
#include <string_view>

#include "jmespath/jmespath.h"
#include "jmespath/node.h"

namespace tenon::jmespath {

// Runs one search. Values of the document and of the query are used where they are; values that the
// query makes are kept in the Evaluator until it goes.
class Evaluator {
 public:
  Evaluator(std::string_view query, const Limits& limits) : query_(query), limits_(limits) {}

  // The value of the node for `current`. It points into `current`, into the query or into the
  // Evaluator, and is valid as long as these are.
  Result<const json::Value*> Evaluate(const Node& node, const json::Value& current);
  // The same, copied.
  Result<json::Value> EvaluateCopy(const Node& node, const json::Value& current);

  // Made() counts values that the query makes, Step() nodes it looks at. Beyond the limits they
  // fail with kInvalid ("too-much"). Copy() counts what it copies, and also fails beyond 512
  // levels.
  Result<json::Value> Copy(const json::Value& value) { return CopyAt(value, 0); }
  Status Made(uint64_t values);
  Status Step(uint64_t steps = 1);
  // Compares numbers by value, and objects whatever the order of their members.
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

// Null, false and empty texts, arrays and objects are false; 0 is true.
bool IsTrue(const json::Value& value);
bool IsNumber(const json::Value& value);
// Returns -1, 0 or 1. Both values must be numbers.
int CompareNumbers(const json::Value& a, const json::Value& b);

}  // namespace tenon::jmespath

#endif  // TENON_JMESPATH_EVALUATOR_H_
