// SPDX-License-Identifier: Apache-2.0
#include "jmespath/evaluator.h"

#include <algorithm>
#include <cmath>

#include "jmespath/function.h"

namespace tenon::jmespath {
namespace {

using json::Value;

constexpr size_t kMaxNesting = 512;
constexpr size_t kBytesPerValue = 32;  // a longer text counts as several values

const Value kNullValue = nullptr;
const Value kTrueValue = true;
const Value kFalseValue = false;

const Value* Bool(bool value) { return value ? &kTrueValue : &kFalseValue; }

const Value* Element(const Value& value, int64_t index) {
  const json::Array* array = value.if_array();
  if (!array) return &kNullValue;
  const auto size = static_cast<int64_t>(array->size());
  if (index < 0) index += size;
  return index >= 0 && index < size ? &(*array)[static_cast<size_t>(index)] : &kNullValue;
}

int Sign(auto a, auto b) { return a < b ? -1 : a > b ? 1 : 0; }

// Compares a whole number with a double exactly. The double may lie beyond what the integer can be.
int CompareWhole(int64_t a, double b) {
  if (b >= 9223372036854775808.0) return -1;
  if (b < -9223372036854775808.0) return 1;
  const double whole = std::trunc(b);
  const int order = Sign(a, static_cast<int64_t>(whole));
  return order != 0 ? order : Sign(whole, b);
}

int CompareWhole(uint64_t a, double b) {
  if (b >= 18446744073709551616.0) return -1;
  if (b < 0) return 1;
  const double whole = std::trunc(b);
  const int order = Sign(a, static_cast<uint64_t>(whole));
  return order != 0 ? order : Sign(whole, b);
}

int CompareWithDouble(const Value& a, double b) {
  if (a.is_double()) return Sign(a.get_double(), b);
  return a.is_int64() ? CompareWhole(a.get_int64(), b) : CompareWhole(a.get_uint64(), b);
}

}  // namespace

bool IsNumber(const Value& value) {
  return value.is_int64() || value.is_uint64() || value.is_double();
}

bool IsTrue(const Value& value) {
  switch (value.kind()) {
    case boost::json::kind::null:
      return false;
    case boost::json::kind::bool_:
      return value.get_bool();
    case boost::json::kind::string:
      return !value.get_string().empty();
    case boost::json::kind::array:
      return !value.get_array().empty();
    case boost::json::kind::object:
      return !value.get_object().empty();
    default:
      return true;
  }
}

int CompareNumbers(const Value& a, const Value& b) {
  if (b.is_double()) return CompareWithDouble(a, b.get_double());
  if (a.is_double()) return -CompareWithDouble(b, a.get_double());
  if (a.is_int64() && b.is_int64()) return Sign(a.get_int64(), b.get_int64());
  if (a.is_uint64() && b.is_uint64()) return Sign(a.get_uint64(), b.get_uint64());
  // Our parser makes a uint64 only of a number beyond int64; values from elsewhere may be smaller
  // ones.
  if (a.is_int64())
    return a.get_int64() < 0 ? -1 : Sign(static_cast<uint64_t>(a.get_int64()), b.get_uint64());
  return -CompareNumbers(b, a);
}

Status Evaluator::Step(uint64_t steps) {
  steps_ += steps;
  if (steps_ <= limits_.steps) return {};
  return Fail("too-much", "this query takes too many steps on this data", 0);
}

Status Evaluator::Made(uint64_t values) {
  values_ += values;
  if (values_ <= limits_.values) return {};
  return Fail("too-much", "this query makes too much out of this data", 0);
}

const Value* Evaluator::Keep(Value value) {
  kept_.push_back(std::move(value));
  return &kept_.back();
}

Result<Value> Evaluator::CopyAt(const Value& value, size_t depth) {
  if (depth > kMaxNesting) return Fail("too-much", "the answer is nested too deeply", 0);
  TENON_TRY_VOID(Made(1));
  if (const json::Array* array = value.if_array()) {
    json::Array copy;
    copy.reserve(array->size());
    for (const Value& element : *array) {
      TENON_TRY(Value inner, CopyAt(element, depth + 1));
      copy.push_back(std::move(inner));
    }
    return Value(std::move(copy));
  }
  if (const json::Object* object = value.if_object()) {
    json::Object copy;
    copy.reserve(object->size());
    for (const auto& member : *object) {
      TENON_TRY(Value inner, CopyAt(member.value(), depth + 1));
      TENON_TRY_VOID(Made(member.key().size() / kBytesPerValue));
      copy.emplace(member.key(), std::move(inner));
    }
    return Value(std::move(copy));
  }
  if (value.is_string()) TENON_TRY_VOID(Made(value.get_string().size() / kBytesPerValue));
  return value;
}

Result<bool> Evaluator::Equal(const Value& a, const Value& b) {
  TENON_TRY_VOID(Step());
  if (IsNumber(a) && IsNumber(b)) return CompareNumbers(a, b) == 0;
  if (a.kind() != b.kind()) return false;
  if (const json::Array* left = a.if_array()) {
    const json::Array& right = b.get_array();
    if (left->size() != right.size()) return false;
    for (size_t i = 0; i < left->size(); ++i) {
      TENON_TRY(const bool same, Equal((*left)[i], right[i]));
      if (!same) return false;
    }
    return true;
  }
  if (const json::Object* left = a.if_object()) {
    const json::Object& right = b.get_object();
    if (left->size() != right.size()) return false;
    for (const auto& member : *left) {
      const Value* other = right.if_contains(member.key());
      if (!other) return false;
      TENON_TRY(const bool same, Equal(member.value(), *other));
      if (!same) return false;
    }
    return true;
  }
  return a == b;
}

Result<const Value*> Evaluator::Evaluate(const Node& node, const Value& current) {
  TENON_TRY_VOID(Step());
  switch (node.kind) {
    case Kind::kIdentity:
      return &current;
    case Kind::kField: {
      const json::Object* object = current.if_object();
      const Value* member = object ? object->if_contains(node.text) : nullptr;
      return member ? member : &kNullValue;
    }
    case Kind::kIndex:
      return Element(current, *node.first);
    case Kind::kSlice:
      return Slice(node, current);
    case Kind::kLiteral:
      return &node.value;
    case Kind::kSub: {
      TENON_TRY(const Value* left, Evaluate(*node.children[0], current));
      return Evaluate(*node.children[1], *left);
    }
    case Kind::kProjection:
    case Kind::kValueProjection:
    case Kind::kFilter:
      return Project(node, current);
    case Kind::kFlatten:
      return Flatten(node, current);
    case Kind::kList:
      return List(node, current);
    case Kind::kHash:
      return Hash(node, current);
    case Kind::kCompare:
      return Compare(node, current);
    case Kind::kOr:
    case Kind::kAnd: {
      TENON_TRY(const Value* left, Evaluate(*node.children[0], current));
      if (IsTrue(*left) == (node.kind == Kind::kOr)) return left;
      return Evaluate(*node.children[1], current);
    }
    case Kind::kNot: {
      TENON_TRY(const Value* inner, Evaluate(*node.children[0], current));
      return Bool(!IsTrue(*inner));
    }
    case Kind::kCall:
      return Call(node, current);
    case Kind::kReference:
      break;  // the parser allows it only as an argument, and Call() does not evaluate it
  }
  return Internal("a reference was evaluated by itself");
}

Result<Value> Evaluator::EvaluateCopy(const Node& node, const Value& current) {
  TENON_TRY(const Value* value, Evaluate(node, current));
  return Copy(*value);
}

Result<const Value*> Evaluator::Project(const Node& node, const Value& current) {
  TENON_TRY(const Value* base, Evaluate(*node.children[0], current));
  json::Array results;
  auto project = [&](const Value& element) -> Status {
    if (node.kind == Kind::kFilter) {
      TENON_TRY(const Value* condition, Evaluate(*node.children[2], element));
      if (!IsTrue(*condition)) return {};
    }
    TENON_TRY(const Value* result, Evaluate(*node.children[1], element));
    if (result->is_null()) return {};
    TENON_TRY(Value copy, Copy(*result));
    results.push_back(std::move(copy));
    return {};
  };
  if (node.kind == Kind::kValueProjection) {
    const json::Object* object = base->if_object();
    if (!object) return &kNullValue;
    for (const auto& member : *object) TENON_TRY_VOID(project(member.value()));
  } else {
    const json::Array* array = base->if_array();
    if (!array) return &kNullValue;
    for (const Value& element : *array) TENON_TRY_VOID(project(element));
  }
  return Keep(std::move(results));
}

Result<const Value*> Evaluator::Flatten(const Node& node, const Value& current) {
  TENON_TRY(const Value* base, Evaluate(*node.children[0], current));
  const json::Array* array = base->if_array();
  if (!array) return &kNullValue;
  json::Array flat;
  auto add = [&](const Value& element) -> Status {
    TENON_TRY(Value copy, Copy(element));
    flat.push_back(std::move(copy));
    return {};
  };
  for (const Value& element : *array) {
    if (const json::Array* inner = element.if_array()) {
      for (const Value& value : *inner) TENON_TRY_VOID(add(value));
    } else {
      TENON_TRY_VOID(add(element));
    }
  }
  return Keep(std::move(flat));
}

Result<const Value*> Evaluator::Slice(const Node& node, const Value& current) {
  const int64_t step = node.step.value_or(1);
  if (step == 0) return Fail("invalid-value", "the step of a slice can't be 0", node.offset);
  const json::Array* array = current.if_array();
  if (!array) return &kNullValue;
  const auto size = static_cast<int64_t>(array->size());
  const int64_t low = step > 0 ? 0 : -1, high = step > 0 ? size : size - 1;
  auto place = [&](const std::optional<int64_t>& given, int64_t otherwise) {
    if (!given) return otherwise;
    return std::clamp(*given < 0 ? *given + size : *given, low, high);
  };
  const int64_t first = place(node.first, step > 0 ? low : high);
  const int64_t last = place(node.last, step > 0 ? high : low);
  json::Array part;
  for (int64_t i = first; step > 0 ? i < last : i > last;) {
    TENON_TRY(Value copy, Copy((*array)[static_cast<size_t>(i)]));
    part.push_back(std::move(copy));
    const int64_t left = step > 0 ? last - i : i - last;
    if (step >= left || step <= -left) break;  // also keeps i + step from overflowing
    i += step;
  }
  return Keep(std::move(part));
}

Result<const Value*> Evaluator::List(const Node& node, const Value& current) {
  if (current.is_null()) return &kNullValue;
  json::Array list;
  for (const auto& child : node.children) {
    TENON_TRY(Value element, EvaluateCopy(*child, current));
    list.push_back(std::move(element));
  }
  return Keep(std::move(list));
}

Result<const Value*> Evaluator::Hash(const Node& node, const Value& current) {
  if (current.is_null()) return &kNullValue;
  json::Object object;
  for (size_t i = 0; i < node.children.size(); ++i) {
    TENON_TRY(Value member, EvaluateCopy(*node.children[i], current));
    object[node.names[i]] = std::move(member);
  }
  return Keep(std::move(object));
}

Result<const Value*> Evaluator::Compare(const Node& node, const Value& current) {
  TENON_TRY(const Value* left, Evaluate(*node.children[0], current));
  TENON_TRY(const Value* right, Evaluate(*node.children[1], current));
  if (node.comparison == Comparison::kEqual || node.comparison == Comparison::kNotEqual) {
    TENON_TRY(const bool same, Equal(*left, *right));
    return Bool(same == (node.comparison == Comparison::kEqual));
  }
  if (!IsNumber(*left) || !IsNumber(*right)) return &kNullValue;
  const int order = CompareNumbers(*left, *right);
  switch (node.comparison) {
    case Comparison::kLess:
      return Bool(order < 0);
    case Comparison::kLessEqual:
      return Bool(order <= 0);
    case Comparison::kGreater:
      return Bool(order > 0);
    default:
      return Bool(order >= 0);
  }
}

Result<const Value*> Evaluator::Call(const Node& node, const Value& current) {
  std::vector<Argument> arguments;
  for (const auto& child : node.children) {
    Argument argument;
    argument.offset = child->offset;
    if (child->kind == Kind::kReference) {
      argument.reference = child->children[0].get();
    } else {
      TENON_TRY(argument.value, Evaluate(*child, current));
    }
    TENON_TRY_VOID(CheckArgument(*this, *node.function, arguments.size(), argument));
    arguments.push_back(argument);
  }
  TENON_TRY(Value result, node.function->call(*this, arguments));
  return Keep(std::move(result));
}

Result<Value> Search(const Expression& expression, const Value& value, const Limits& limits) {
  Evaluator evaluator(expression.text(), limits);
  return evaluator.EvaluateCopy(expression.root(), value);
}

}  // namespace tenon::jmespath
