// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_BASE_CHECK_H_
#define TENON_BASE_CHECK_H_

namespace tenon {

// Prints file, line and condition to standard error and aborts.
[[noreturn]] void CheckFailed(const char* file, int line, const char* condition);

}  // namespace tenon

// We are wrong if this does not hold: abort. Never for anything a user, script, host or file can
// cause.
#define TENON_CHECK(condition)                                              \
  do {                                                                      \
    if (!(condition)) ::tenon::CheckFailed(__FILE__, __LINE__, #condition); \
  } while (false)

// A script, host or file sent nonsense if this does not hold: return a kCorrupt Error saying
// `text`. Needs base/result.h at the place of use.
#define TENON_EXPECT_PEER(condition, text)           \
  do {                                               \
    if (!(condition)) return ::tenon::Corrupt(text); \
  } while (false)

#endif  // TENON_BASE_CHECK_H_
