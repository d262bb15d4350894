// SPDX-License-Identifier: Apache-2.0
// The table of functions.
#ifndef TENON_JMESPATH_FUNCTION_H_
#define TENON_JMESPATH_FUNCTION_H_

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace tenon::jmespath {

class Evaluator;
struct Node;

// The types an argument may have, as a set of bits.
enum Type : unsigned {
  kNumber = 1,
  kString = 2,
  kBoolean = 4,
  kArray = 8,
  kObject = 16,
  kNull = 32,
  kReference = 64,  // &expression
  kNumbers = 128,   // an array of numbers
  kStrings = 256,   // an array of strings
  kAnything = kNumber | kString | kBoolean | kArray | kObject | kNull,
};

// One argument as the function sees it: a value, or the expression behind an &.
struct Argument {
  const json::Value* value = nullptr;
  const Node* reference = nullptr;
  size_t offset = 0;
};

struct Function {
  std::string_view name;
  std::vector<unsigned> arguments;  // a set of types each; the last repeats when variadic
  bool variadic = false;
  Result<json::Value> (*call)(Evaluator& evaluator, const std::vector<Argument>& arguments);
};

const Function* FindFunction(std::string_view name);  // nullptr: no such function
const std::vector<std::string>& FunctionNames();

// Fails with kInvalid ("invalid-type") unless the argument has one of the function's types for
// `index`.
Status CheckArgument(const Evaluator& evaluator, const Function& function, size_t index,
                     const Argument& argument);

}  // namespace tenon::jmespath

#endif  // TENON_JMESPATH_FUNCTION_H_
