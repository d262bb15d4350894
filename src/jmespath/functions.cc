// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/text.h"
#include "jmespath/evaluator.h"
#include "jmespath/function.h"

namespace tenon::jmespath {
namespace {

using json::Array;
using json::Object;
using json::Value;
using Arguments = std::vector<Argument>;

std::string_view Text(const Argument& argument) { return argument.value->get_string(); }
const Array& List(const Argument& argument) { return argument.value->get_array(); }

double ToDouble(const Value& number) {
  if (number.is_int64()) return static_cast<double>(number.get_int64());
  if (number.is_uint64()) return static_cast<double>(number.get_uint64());
  return number.get_double();
}

// A double without a fraction, as a whole number if int64 can hold it.
Value Whole(double number) {
  if (number >= -9223372036854775808.0 && number < 9223372036854775808.0) {
    return static_cast<int64_t>(number);
  }
  return number;
}

std::string_view TypeName(const Value& value) {
  if (IsNumber(value)) return "number";
  if (value.is_string()) return "string";
  if (value.is_bool()) return "boolean";
  if (value.is_array()) return "array";
  return value.is_object() ? "object" : "null";
}

bool AllOf(const Value& value, bool (*is)(const Value&)) {
  const Array* array = value.if_array();
  return array && std::all_of(array->begin(), array->end(), is);
}

bool IsString(const Value& value) { return value.is_string(); }

bool Fits(const Argument& argument, unsigned types) {
  if (argument.reference) return types & kReference;
  const Value& value = *argument.value;
  if (IsNumber(value)) return types & kNumber;
  if (value.is_string()) return types & kString;
  if (value.is_bool()) return types & kBoolean;
  if (value.is_null()) return types & kNull;
  if (value.is_object()) return types & kObject;
  return (types & kArray) || ((types & kNumbers) && AllOf(value, IsNumber)) ||
         ((types & kStrings) && AllOf(value, IsString));
}

std::string TypesText(unsigned types) {
  static constexpr std::pair<unsigned, std::string_view> kNames[] = {
      {kNumber, "a number"},
      {kString, "a string"},
      {kBoolean, "a boolean"},
      {kArray, "an array"},
      {kObject, "an object"},
      {kNull, "null"},
      {kReference, "an expression like &name"},
      {kNumbers, "an array of numbers"},
      {kStrings, "an array of strings"}};
  std::string text;
  for (const auto& [type, name] : kNames) {
    if (types & type) text += (text.empty() ? "" : " or ") + std::string(name);
  }
  return text;
}

Result<Value> Abs(Evaluator&, const Arguments& a) {
  const Value& number = *a[0].value;
  if (number.is_uint64()) return number;
  if (number.is_double()) return Value(std::fabs(number.get_double()));
  const int64_t whole = number.get_int64();
  if (whole == std::numeric_limits<int64_t>::min()) return Value(uint64_t{1} << 63);
  return Value(whole < 0 ? -whole : whole);
}

Result<Value> Ceil(Evaluator&, const Arguments& a) {
  return a[0].value->is_double() ? Whole(std::ceil(a[0].value->get_double())) : *a[0].value;
}

Result<Value> Floor(Evaluator&, const Arguments& a) {
  return a[0].value->is_double() ? Whole(std::floor(a[0].value->get_double())) : *a[0].value;
}

Result<Value> Sum(Evaluator& evaluator, const Arguments& a) {
  TENON_TRY_VOID(evaluator.Step(List(a[0]).size()));
  int64_t whole = 0;
  bool is_whole = true;
  double sum = 0;
  for (const Value& number : List(a[0])) {
    sum += ToDouble(number);
    is_whole =
        is_whole && number.is_int64() && !__builtin_add_overflow(whole, number.get_int64(), &whole);
  }
  return is_whole ? Value(whole) : Value(sum);
}

Result<Value> Avg(Evaluator& evaluator, const Arguments& a) {
  if (List(a[0]).empty()) return Value(nullptr);
  TENON_TRY(const Value sum, Sum(evaluator, a));
  return Value(ToDouble(sum) / static_cast<double>(List(a[0]).size()));
}

Result<Value> Contains(Evaluator& evaluator, const Arguments& a) {
  if (a[0].value->is_string()) {
    TENON_TRY_VOID(evaluator.Step(Text(a[0]).size()));
    return Value(a[1].value->is_string() && Text(a[0]).find(Text(a[1])) != std::string_view::npos);
  }
  for (const Value& element : List(a[0])) {
    TENON_TRY(const bool same, evaluator.Equal(element, *a[1].value));
    if (same) return Value(true);
  }
  return Value(false);
}

Result<Value> EndsWith(Evaluator&, const Arguments& a) {
  return Value(Text(a[0]).ends_with(Text(a[1])));
}

Result<Value> StartsWith(Evaluator&, const Arguments& a) {
  return Value(Text(a[0]).starts_with(Text(a[1])));
}

Result<Value> Join(Evaluator& evaluator, const Arguments& a) {
  std::string text;
  for (const Value& element : List(a[1])) {
    if (&element != &List(a[1]).front()) text += Text(a[0]);
    text += std::string_view(element.get_string());
    TENON_TRY_VOID(evaluator.Made((Text(a[0]).size() + element.get_string().size()) / 32));
  }
  return Value(text);
}

Result<Value> Keys(Evaluator& evaluator, const Arguments& a) {
  Array keys;
  for (const auto& member : a[0].value->get_object()) {
    TENON_TRY_VOID(evaluator.Made(1 + member.key().size() / 32));
    keys.emplace_back(member.key());
  }
  return Value(std::move(keys));
}

Result<Value> Values(Evaluator& evaluator, const Arguments& a) {
  Array values;
  for (const auto& member : a[0].value->get_object()) {
    TENON_TRY(Value copy, evaluator.Copy(member.value()));
    values.push_back(std::move(copy));
  }
  return Value(std::move(values));
}

Result<Value> Length(Evaluator& evaluator, const Arguments& a) {
  if (const Array* array = a[0].value->if_array()) return Value(array->size());
  if (const Object* object = a[0].value->if_object()) return Value(object->size());
  TENON_TRY_VOID(evaluator.Step(Text(a[0]).size()));
  const auto is_start = [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; };
  return Value(std::count_if(Text(a[0]).begin(), Text(a[0]).end(), is_start));
}

Result<Value> Map(Evaluator& evaluator, const Arguments& a) {
  Array results;
  for (const Value& element : List(a[1])) {
    TENON_TRY(Value result, evaluator.EvaluateCopy(*a[0].reference, element));
    results.push_back(std::move(result));
  }
  return Value(std::move(results));
}

Result<Value> Merge(Evaluator& evaluator, const Arguments& a) {
  Object merged;
  for (const Argument& argument : a) {
    for (const auto& member : argument.value->get_object()) {
      TENON_TRY(merged[member.key()], evaluator.Copy(member.value()));
    }
  }
  return Value(std::move(merged));
}

Result<Value> NotNull(Evaluator& evaluator, const Arguments& a) {
  for (const Argument& argument : a) {
    if (!argument.value->is_null()) return evaluator.Copy(*argument.value);
  }
  return Value(nullptr);
}

Result<Value> Reverse(Evaluator& evaluator, const Arguments& a) {
  TENON_TRY(Value copy, evaluator.Copy(*a[0].value));
  if (copy.is_array()) {
    std::reverse(copy.get_array().begin(), copy.get_array().end());
    return copy;
  }
  std::string_view left = Text(a[0]);
  std::string reversed(left.size(), '\0');
  for (size_t at = reversed.size(); !left.empty();) {
    const size_t length = NextUtf8(left).length;
    at -= length;
    left.copy(reversed.data() + at, length);
    left.remove_prefix(length);
  }
  return Value(reversed);
}

// Compares two numbers or two texts. Comparing UTF-8 bytes orders texts by code point.
int Order(const Value& a, const Value& b) {
  if (IsNumber(a)) return CompareNumbers(a, b);
  const int order = std::string_view(a.get_string()).compare(std::string_view(b.get_string()));
  return order < 0 ? -1 : order > 0 ? 1 : 0;
}

// The keys by which the elements are sorted: all numbers or all texts.
Result<std::vector<Value>> SortKeys(Evaluator& evaluator, const Argument& array,
                                    const Argument& reference) {
  std::vector<Value> keys;
  for (const Value& element : List(array)) {
    TENON_TRY(Value key, evaluator.EvaluateCopy(*reference.reference, element));
    const bool fits =
        keys.empty() ? IsNumber(key) || key.is_string() : TypeName(key) == TypeName(keys.front());
    if (!fits) {
      return evaluator.Fail(
          "invalid-type",
          "this gives " +
              (TypeName(key) == "null" ? std::string("null")
                                       : "a value of type " + std::string(TypeName(key))) +
              " for an element; it has to give numbers only, or strings only",
          reference.offset);
    }
    keys.push_back(std::move(key));
  }
  return keys;
}

// A sort looks at n·log(n) pairs.
uint64_t SortSteps(size_t n) {
  uint64_t steps = n;
  for (size_t left = n; left > 1; left /= 2) steps += n;
  return steps;
}

Result<Value> Sort(Evaluator& evaluator, const Arguments& a) {
  TENON_TRY_VOID(evaluator.Step(SortSteps(List(a[0]).size())));
  TENON_TRY(const Value copy, evaluator.Copy(*a[0].value));
  std::vector<Value> sorted(copy.get_array().begin(), copy.get_array().end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const Value& x, const Value& y) { return Order(x, y) < 0; });
  return Value(Array(sorted.begin(), sorted.end()));
}

Result<Value> SortBy(Evaluator& evaluator, const Arguments& a) {
  TENON_TRY_VOID(evaluator.Step(SortSteps(List(a[0]).size())));
  TENON_TRY(const std::vector<Value> keys, SortKeys(evaluator, a[0], a[1]));
  std::vector<size_t> order(keys.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t x, size_t y) { return Order(keys[x], keys[y]) < 0; });
  Array sorted;
  for (const size_t i : order) {
    TENON_TRY(Value copy, evaluator.Copy(List(a[0])[i]));
    sorted.push_back(std::move(copy));
  }
  return Value(std::move(sorted));
}

// The index of the first element with the largest (sign 1) or smallest (sign -1) key.
template <typename List>
size_t Extreme(const List& keys, int sign) {
  size_t best = 0;
  for (size_t i = 1; i < keys.size(); ++i) {
    if (Order(keys[i], keys[best]) * sign > 0) best = i;
  }
  return best;
}

Result<Value> ExtremeOf(Evaluator& evaluator, const Arguments& a, int sign) {
  TENON_TRY_VOID(evaluator.Step(List(a[0]).size()));
  if (List(a[0]).empty()) return Value(nullptr);
  return evaluator.Copy(List(a[0])[Extreme(List(a[0]), sign)]);
}

Result<Value> ExtremeBy(Evaluator& evaluator, const Arguments& a, int sign) {
  TENON_TRY(const std::vector<Value> keys, SortKeys(evaluator, a[0], a[1]));
  if (keys.empty()) return Value(nullptr);
  return evaluator.Copy(List(a[0])[Extreme(keys, sign)]);
}

Result<Value> ToArray(Evaluator& evaluator, const Arguments& a) {
  TENON_TRY(Value copy, evaluator.Copy(*a[0].value));
  if (copy.is_array()) return copy;
  Array array;
  array.push_back(std::move(copy));
  return Value(std::move(array));
}

Result<Value> ToNumber(Evaluator&, const Arguments& a) {
  if (IsNumber(*a[0].value)) return *a[0].value;
  if (!a[0].value->is_string()) return Value(nullptr);
  auto parsed = json::Parse(Text(a[0]), 0);
  if (!parsed.ok() || !IsNumber(*parsed)) return Value(nullptr);
  return parsed;
}

Result<Value> ToString(Evaluator& evaluator, const Arguments& a) {
  TENON_TRY(Value copy, evaluator.Copy(*a[0].value));
  if (copy.is_string()) return copy;
  const std::string text = json::Print(copy);
  TENON_TRY_VOID(evaluator.Made(text.size() / 32));
  return Value(text);
}

Result<Value> TypeOf(Evaluator&, const Arguments& a) { return Value(TypeName(*a[0].value)); }

const std::vector<Function>& Functions() {
  static const std::vector<Function> functions = {
      {"abs", {kNumber}, false, Abs},
      {"avg", {kNumbers}, false, Avg},
      {"ceil", {kNumber}, false, Ceil},
      {"contains", {kArray | kString, kAnything}, false, Contains},
      {"ends_with", {kString, kString}, false, EndsWith},
      {"floor", {kNumber}, false, Floor},
      {"join", {kString, kStrings}, false, Join},
      {"keys", {kObject}, false, Keys},
      {"length", {kString | kArray | kObject}, false, Length},
      {"map", {kReference, kArray}, false, Map},
      {"max",
       {kNumbers | kStrings},
       false,
       [](Evaluator& e, const Arguments& a) { return ExtremeOf(e, a, 1); }},
      {"max_by",
       {kArray, kReference},
       false,
       [](Evaluator& e, const Arguments& a) { return ExtremeBy(e, a, 1); }},
      {"merge", {kObject}, true, Merge},
      {"min",
       {kNumbers | kStrings},
       false,
       [](Evaluator& e, const Arguments& a) { return ExtremeOf(e, a, -1); }},
      {"min_by",
       {kArray, kReference},
       false,
       [](Evaluator& e, const Arguments& a) { return ExtremeBy(e, a, -1); }},
      {"not_null", {kAnything}, true, NotNull},
      {"reverse", {kString | kArray}, false, Reverse},
      {"sort", {kNumbers | kStrings}, false, Sort},
      {"sort_by", {kArray, kReference}, false, SortBy},
      {"starts_with", {kString, kString}, false, StartsWith},
      {"sum", {kNumbers}, false, Sum},
      {"to_array", {kAnything}, false, ToArray},
      {"to_number", {kAnything}, false, ToNumber},
      {"to_string", {kAnything}, false, ToString},
      {"type", {kAnything}, false, TypeOf},
      {"values", {kObject}, false, Values},
  };
  return functions;
}

}  // namespace

const Function* FindFunction(std::string_view name) {
  for (const Function& function : Functions()) {
    if (function.name == name) return &function;
  }
  return nullptr;
}

const std::vector<std::string>& FunctionNames() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> list;
    for (const Function& function : Functions()) list.emplace_back(function.name);
    return list;
  }();
  return names;
}

Status CheckArgument(const Evaluator& evaluator, const Function& function, size_t index,
                     const Argument& argument) {
  const unsigned types = function.arguments[std::min(index, function.arguments.size() - 1)];
  if (Fits(argument, types)) return {};
  const std::string got = argument.reference ? "an expression"
                          : argument.value->is_null()
                              ? "null"
                              : "a value of type " + std::string(TypeName(*argument.value));
  const bool mixed =
      argument.value && argument.value->is_array() && (types & (kNumbers | kStrings));
  return evaluator.Fail("invalid-type",
                        std::string(function.name) + "() takes " + TypesText(types) +
                            " here, not " + (mixed ? "this array" : got),
                        argument.offset);
}

}  // namespace tenon::jmespath
