// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_BASE_JSON_LIMITS_H_
#define TENON_BASE_JSON_LIMITS_H_

#include <cstddef>
#include <string_view>

#include "base/json.h"

namespace tenon::json {

// A value takes up to some 150 bytes of memory beside its text, so a short text can fill much
// memory. Parse() reads at most this many values and fails with kInvalid on more.
inline constexpr size_t kMaxValues = 500'000;

// Parse() with the caller's own limits.
Result<Value> ParseLimited(std::string_view text, size_t max_depth, size_t max_values);

// Counts a value and all values inside it.
size_t CountValues(const Value& value);

// Estimates the bytes of memory that a value takes, with all values inside it.
uint64_t MemoryOf(const Value& value);

}  // namespace tenon::json

#endif  // TENON_BASE_JSON_LIMITS_H_
