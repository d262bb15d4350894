// SPDX-License-Identifier: Apache-2.0
// The JSON form of described structs (base/fields.h), both ways. A struct may add
//
//   void Check(Members& in) const;   calls in.Fail() for values that make no sense
//
// A type with its own JSON form declares two functions in its own namespace instead:
//
//   json::Value ToJsonValue(const T& value);
//   void ReadValue(Members& in, std::string_view key, T& out);
#ifndef TENON_RUN_DESCRIBED_H_
#define TENON_RUN_DESCRIBED_H_

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/fields.h"
#include "base/json.h"
#include "base/result.h"
#include "run/members.h"

namespace tenon::run {

template <Described T>
json::Object ToJsonObject(const T& value);
template <Described T>
void ReadMembers(Members& in, T& out);

inline json::Value ToJsonValue(const std::string& text) { return ToJsonText(text); }
inline json::Value ToJsonValue(const std::vector<std::string>& texts) { return ToJsonTexts(texts); }
inline json::Value ToJsonValue(const Pairs& pairs) { return ToJsonPairs(pairs); }
inline json::Value ToJsonValue(const Map& map) { return ToJsonMap(map); }
inline json::Value ToJsonValue(double number) { return ToJsonNumber(number); }
template <typename T>
requires std::is_integral_v<T> json::Value ToJsonValue(T number) { return json::Value(number); }
template <Described T>
json::Value ToJsonValue(const T& value) {
  return ToJsonObject(value);
}
template <Described T>
json::Value ToJsonValue(const std::vector<T>& items) {
  json::Array array;
  array.reserve(items.size());
  for (const T& item : items) array.push_back(ToJsonObject(item));
  return array;
}
template <typename T>
json::Value ToJsonValue(const std::optional<T>& value) {
  return value ? ToJsonValue(*value) : json::Value(nullptr);
}

// For the types that Members::Read() takes.
template <typename T>
requires requires(Members& in, T& out) { in.Read("", out); }
void ReadValue(Members& in, std::string_view key, T& out) { in.Read(key, out); }
template <Described T>
void ReadValue(Members& in, std::string_view key, T& out) {
  const json::Object* object = in.ReadObject(key);
  if (object == nullptr) return;
  Members inner(*object);
  ReadMembers(inner, out);
  in.FailAsIn(key, inner);
}
template <Described T>
void ReadValue(Members& in, std::string_view key, std::vector<T>& out) {
  const json::Array* array = in.ReadArray(key);
  if (array == nullptr) return;
  out.clear();
  out.reserve(array->size());
  for (const json::Value& item : *array) {
    const json::Object* object = item.if_object();
    if (object == nullptr) return in.Fail(key, "an array of objects");
    Members inner(*object);
    ReadMembers(inner, out.emplace_back());
    if (inner.failed()) return in.FailAsIn(key, inner);
  }
}
template <Described T>
void ReadValue(Members& in, std::string_view key, std::optional<T>& out) {
  if (!in.Has(key)) return;
  ReadValue(in, key, out.emplace());
}

template <Described T>
json::Object ToJsonObject(const T& value) {
  json::Object o;
  ForEachField<T>([&](const auto& field) {
    const auto& member = value.*field.member;
    if (field.rule == FieldRule::kIfSaid && SaysNoMore(member, DefaultOf<T>().*field.member))
      return;
    if constexpr (requires { member.has_value(); }) {
      if (member) o[field.name] = ToJsonValue(*member);
    } else {
      o[field.name] = ToJsonValue(member);
    }
  });
  return o;
}

template <Described T>
void ReadMembers(Members& in, T& out) {
  ForEachField<T>([&](const auto& field) {
    if (field.rule == FieldRule::kRequired && !in.Has(field.name)) in.FailMissing(field.name);
    ReadValue(in, field.name, out.*field.member);
  });
  if constexpr (requires { out.Check(in); }) {
    if (!in.failed()) out.Check(in);
  }
}

// Fails with kInvalid and the first problem. Unknown members are ignored.
template <Described T>
Result<T> FromJsonObject(const json::Object& object) {
  Members in(object);
  T value;
  ReadMembers(in, value);
  TENON_TRY_VOID(in.status());
  return value;
}

}  // namespace tenon::run

#endif  // TENON_RUN_DESCRIBED_H_
