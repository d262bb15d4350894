// SPDX-License-Identifier: Apache-2.0
// JSON values. The rest of Tenon uses only the names below; Boost.JSON is behind them. Objects keep
// the order of insertion.
#ifndef TENON_BASE_JSON_H_
#define TENON_BASE_JSON_H_

#include <boost/json/array.hpp>
#include <boost/json/monotonic_resource.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace tenon::json {

using Value = boost::json::value;
using Object = boost::json::object;
using Array = boost::json::array;
// Where a value keeps its parts; by default the heap. A pool makes many values cheaply: give it a
// buffer to begin with, pass its address as the storage, and call release() when the values are
// gone.
using Storage = boost::json::storage_ptr;
using Pool = boost::json::monotonic_resource;

// Parses text from outside. Fails with kInvalid, naming line and column, on more than `max_depth`
// levels, text after the value, NaN, a name that an object has twice, or more values than
// kMaxValues (json_limits.h).
Result<Value> Parse(std::string_view text, size_t max_depth = 64);

// Prints one line. Infinity and NaN become null, invalid UTF-8 becomes U+FFFD, and characters that
// are IsDeceptive() (terminal.h) are escaped.
std::string Print(const Value& value);
// Prints for people, indented by two. `color` uses ANSI colours (az's jsonc). `depth`: how many
// lists and objects are around the text, which indent it further.
std::string PrintPretty(const Value& value, bool color = false, size_t depth = 0);

// Members of an object. A member that is absent or of another type gives `otherwise`.
std::string GetString(const Object& object, std::string_view key, std::string_view otherwise = "");
int64_t GetInt(const Object& object, std::string_view key, int64_t otherwise = 0);
double GetDouble(const Object& object, std::string_view key, double otherwise = 0);
bool GetBool(const Object& object, std::string_view key, bool otherwise = false);
const Object* GetObject(const Object& object, std::string_view key);  // nullptr: none
const Array* GetArray(const Object& object, std::string_view key);    // nullptr: none

// Bytes that may not be UTF-8, as a JSON-safe string and back. Valid UTF-8 without U+FFFF stays as
// it is; any other byte B becomes U+FFFF followed by two hex digits.
std::string EncodeBytes(std::string_view bytes);
Value EncodedValue(std::string_view bytes, Storage storage = {});
std::string DecodeBytes(std::string_view text);

}  // namespace tenon::json

#endif  // TENON_BASE_JSON_H_
