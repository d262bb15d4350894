// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_BASE_JSON_LIMITS_H_
#define TENON_BASE_JSON_LIMITS_H_

#include <cstddef>
#include <string_view>

#include "base/json.h"

namespace tenon::json {

// A value takes up to some 150 bytes beside its text, so a few bytes of text can be much in memory.
// Parse() reads at most this many; more are kInvalid.
inline constexpr size_t kMaxValues = 500'000;

// Parse() with limits of one's own.
Result<Value> ParseLimited(std::string_view text, size_t max_depth, size_t max_values);

// How many values a value is, itself and all below it.
size_t CountValues(const Value& value);

// About how many bytes of memory a value takes, with all below it.
uint64_t MemoryOf(const Value& value);

}  // namespace tenon::json

#endif  // TENON_BASE_JSON_LIMITS_H_
