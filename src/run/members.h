// SPDX-License-Identifier: Apache-2.0
// Reading JSON members into a struct, strictly: an absent member keeps its default, a member of the
// wrong type is remembered as the error. Strings go through json::EncodeBytes/DecodeBytes, so any
// bytes (arguments, paths, environment) come back as they were.
#ifndef TENON_RUN_MEMBERS_H_
#define TENON_RUN_MEMBERS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace tenon::run {

using Pairs = std::vector<std::pair<std::string, std::string>>;

json::Value ToJsonText(std::string_view bytes);
json::Array ToJsonTexts(const std::vector<std::string>& texts);
// Names and values, for example an environment.
using Map = std::map<std::string, std::string>;
json::Object ToJsonMap(const Map& map);
json::Array ToJsonPairs(const Pairs& pairs);  // [["a", "b"], …]: keeps order and repeats
// A number that JSON cannot write becomes the string "NaN", "Infinity" or "-Infinity".
json::Value ToJsonNumber(double number);
std::optional<double> NumberFromJson(const json::Value& value);

// Keeps a reference to the object; the object must outlive it.
class Members {
 public:
  explicit Members(const json::Object& object) : object_(object) {}

  void Read(std::string_view key, std::string& out);
  void Read(std::string_view key, int64_t& out);
  void Read(std::string_view key, uint64_t& out);
  void Read(std::string_view key, int& out);
  void Read(std::string_view key, uint32_t& out);
  void Read(std::string_view key, bool& out);
  void Read(std::string_view key, double& out);
  void Read(std::string_view key, std::vector<std::string>& out);
  void Read(std::string_view key, Pairs& out);
  void Read(std::string_view key, Map& out);
  template <typename T>
  void Read(std::string_view key, std::optional<T>& out) {
    if (!Find(key)) return;
    T value{};
    Read(key, value);
    out = std::move(value);
  }
  // For members that are objects or arrays. Returns nullptr when the member is absent or has
  // another type; the second is also an error. The result points into the object.
  const json::Object* ReadObject(std::string_view key);
  const json::Array* ReadArray(std::string_view key);

  bool Has(std::string_view key) const { return Find(key) != nullptr; }  // null counts as absent

  // Records that the value of `key` is wrong. Only the first problem is kept.
  void Fail(std::string_view key, std::string_view should_be);
  void FailMissing(std::string_view key);
  void FailWith(std::string problem);  // the whole message
  // Records the problem of `inner`, if it has any. `inner` reads the member `key`, or an object
  // inside it.
  void FailAsIn(std::string_view key, const Members& inner);
  bool failed() const { return !problem_.empty(); }
  // kInvalid with the first problem.
  Status status() const;

 private:
  const json::Value* Find(std::string_view key) const;  // nullptr when absent or null

  const json::Object& object_;
  std::string problem_;
};

}  // namespace tenon::run

#endif  // TENON_RUN_MEMBERS_H_
