// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_BASE_CHECK_H_
#define TENON_BASE_CHECK_H_

namespace tenon {

// Prints file, line and condition to standard error and aborts.
[[noreturn]] void CheckFailed(const char* file, int line, const char* condition);

}  // namespace tenon

// Aborts when `condition` does not hold, which is a mistake of ours. Not for anything that a user,
// script, host or file can cause.
#define TENON_CHECK(condition)                                              \
  do {                                                                      \
    if (!(condition)) ::tenon::CheckFailed(__FILE__, __LINE__, #condition); \
  } while (false)

// Returns a kCorrupt Error saying `text` when `condition` does not hold: a script, host or file
// sent nonsense. The place of use includes base/result.h.
#define TENON_EXPECT_PEER(condition, text)           \
  do {                                               \
    if (!(condition)) return ::tenon::Corrupt(text); \
  } while (false)

#endif  // TENON_BASE_CHECK_H_
