// SPDX-License-Identifier: Apache-2.0
#include "run/members.h"

#include <cmath>
#include <limits>

namespace tenon::run {
namespace {

std::string_view View(const boost::json::string& text) { return {text.data(), text.size()}; }

std::optional<int64_t> AsInt(const json::Value& value) {
  if (value.is_int64()) return value.get_int64();
  if (value.is_uint64() && value.get_uint64() <= uint64_t{std::numeric_limits<int64_t>::max()}) {
    return static_cast<int64_t>(value.get_uint64());
  }
  return std::nullopt;
}

}  // namespace

json::Value ToJsonText(std::string_view bytes) { return json::Value(json::EncodeBytes(bytes)); }

json::Array ToJsonTexts(const std::vector<std::string>& texts) {
  json::Array array;
  array.reserve(texts.size());
  for (const std::string& text : texts) array.push_back(ToJsonText(text));
  return array;
}

json::Array ToJsonPairs(const Pairs& pairs) {
  json::Array array;
  array.reserve(pairs.size());
  for (const auto& [first, second] : pairs) {
    array.push_back(json::Array{ToJsonText(first), ToJsonText(second)});
  }
  return array;
}

json::Object ToJsonMap(const Map& map) {
  json::Object object;
  for (const auto& [name, value] : map) object[json::EncodeBytes(name)] = ToJsonText(value);
  return object;
}

json::Value ToJsonNumber(double number) {
  if (std::isnan(number)) return json::Value("NaN");
  if (std::isinf(number)) return json::Value(number > 0 ? "Infinity" : "-Infinity");
  return json::Value(number);
}

std::optional<double> NumberFromJson(const json::Value& value) {
  if (value.is_double()) return value.get_double();
  if (value.is_int64()) return static_cast<double>(value.get_int64());
  if (value.is_uint64()) return static_cast<double>(value.get_uint64());
  if (!value.is_string()) return std::nullopt;
  std::string_view text = View(value.get_string());
  if (text == "NaN") return std::numeric_limits<double>::quiet_NaN();
  if (text == "Infinity") return std::numeric_limits<double>::infinity();
  if (text == "-Infinity") return -std::numeric_limits<double>::infinity();
  return std::nullopt;
}

const json::Value* Members::Find(std::string_view key) const {
  const json::Value* value = object_.if_contains(key);
  return value == nullptr || value->is_null() ? nullptr : value;
}

void Members::Fail(std::string_view key, std::string_view should_be) {
  if (problem_.empty()) {
    problem_ = "member \"" + std::string(key) + "\" should be " + std::string(should_be);
  }
}

void Members::FailMissing(std::string_view key) {
  if (problem_.empty()) problem_ = "\"" + std::string(key) + "\" is missing";
}

void Members::FailWith(std::string problem) {
  if (problem_.empty()) problem_ = std::move(problem);
}

void Members::FailAsIn(std::string_view key, const Members& inner) {
  if (inner.failed() && problem_.empty()) {
    problem_ = "in \"" + std::string(key) + "\": " + inner.problem_;
  }
}

Status Members::status() const {
  if (problem_.empty()) return {};
  return Invalid(problem_);
}

void Members::Read(std::string_view key, std::string& out) {
  const json::Value* value = Find(key);
  if (value == nullptr) return;
  if (!value->is_string()) return Fail(key, "a string");
  out = json::DecodeBytes(View(value->get_string()));
}

void Members::Read(std::string_view key, int64_t& out) {
  const json::Value* value = Find(key);
  if (value == nullptr) return;
  std::optional<int64_t> number = AsInt(*value);
  if (!number) return Fail(key, "a whole number");
  out = *number;
}

void Members::Read(std::string_view key, uint64_t& out) {
  const json::Value* value = Find(key);
  if (value == nullptr) return;
  if (value->is_uint64()) {
    out = value->get_uint64();
  } else if (value->is_int64() && value->get_int64() >= 0) {
    out = static_cast<uint64_t>(value->get_int64());
  } else {
    Fail(key, "a whole number, not negative");
  }
}

void Members::Read(std::string_view key, int& out) {
  int64_t wide = out;
  Read(key, wide);
  if (wide < std::numeric_limits<int>::min() || wide > std::numeric_limits<int>::max()) {
    return Fail(key, "a whole number of 32 bits");
  }
  out = static_cast<int>(wide);
}

void Members::Read(std::string_view key, uint32_t& out) {
  uint64_t wide = out;
  Read(key, wide);
  if (wide > std::numeric_limits<uint32_t>::max()) return Fail(key, "a number of 32 bits");
  out = static_cast<uint32_t>(wide);
}

void Members::Read(std::string_view key, bool& out) {
  const json::Value* value = Find(key);
  if (value == nullptr) return;
  if (!value->is_bool()) return Fail(key, "true or false");
  out = value->get_bool();
}

void Members::Read(std::string_view key, double& out) {
  const json::Value* value = Find(key);
  if (value == nullptr) return;
  std::optional<double> number = NumberFromJson(*value);
  if (!number) return Fail(key, "a number");
  out = *number;
}

void Members::Read(std::string_view key, std::vector<std::string>& out) {
  const json::Array* array = ReadArray(key);
  if (array == nullptr) return;
  out.clear();
  out.reserve(array->size());
  for (const json::Value& item : *array) {
    if (!item.is_string()) return Fail(key, "an array of strings");
    out.push_back(json::DecodeBytes(View(item.get_string())));
  }
}

void Members::Read(std::string_view key, Pairs& out) {
  const json::Array* array = ReadArray(key);
  if (array == nullptr) return;
  out.clear();
  out.reserve(array->size());
  for (const json::Value& item : *array) {
    const json::Array* pair = item.if_array();
    if (pair == nullptr || pair->size() != 2 || !(*pair)[0].is_string() ||
        !(*pair)[1].is_string()) {
      return Fail(key, "an array of pairs of strings");
    }
    out.emplace_back(json::DecodeBytes(View((*pair)[0].get_string())),
                     json::DecodeBytes(View((*pair)[1].get_string())));
  }
}

void Members::Read(std::string_view key, Map& out) {
  const json::Object* object = ReadObject(key);
  if (object == nullptr) return;
  out.clear();
  for (const auto& member : *object) {
    if (!member.value().is_string()) return Fail(key, "an object of strings");
    out[json::DecodeBytes(std::string_view(member.key()))] =
        json::DecodeBytes(View(member.value().get_string()));
  }
}

const json::Object* Members::ReadObject(std::string_view key) {
  const json::Value* value = Find(key);
  if (value == nullptr) return nullptr;
  if (!value->is_object()) Fail(key, "an object");
  return value->if_object();
}

const json::Array* Members::ReadArray(std::string_view key) {
  const json::Value* value = Find(key);
  if (value == nullptr) return nullptr;
  if (!value->is_array()) Fail(key, "an array");
  return value->if_array();
}

}  // namespace tenon::run
