// SPDX-License-Identifier: Apache-2.0
// A mark that every process of a run inherits and keeps: through a cleared environment, closed
// descriptors, a new session and a double fork, also when the runner is dead.
//
// The mark is an odd value of the limit on file locks (RLIMIT_LOCKS), which the kernel has not
// enforced since Linux 2.4.25: it changes nothing for the script. A child inherits it, a plain user
// cannot raise a hard limit, and everybody may read /proc/PID/limits. A process loses the mark when
// root gives it other limits (a login, a service manager) or when it lowers its own limit. In the
// second case its limit shows that it may have had a mark.
//
//   bits 63–56  0x54        bits 55–48  255 − depth        bits 47–0  SHA-256 of the run's key
//
// A run that a script submits lies one level deeper: its value must be lower than the one its
// runner inherits.
#ifndef TENON_EXECUTOR_RUN_MARK_H_
#define TENON_EXECUTOR_RUN_MARK_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tenon::executor {

// Marks the calling process and all it starts from now on. Returns false when the limit cannot be
// set here. May be repeated.
bool TakeRunMark(const std::string& run_key);
// Whether the calling process has the mark of that run.
bool HasRunMark(const std::string& run_key);

enum class RunMark {
  kNone,     // no mark
  kOurs,     // the mark of the run asked for
  kForeign,  // the mark of another run
  kUnknown,  // the text does not say
};
// Reads the mark in a /proc/PID/limits text.
RunMark ReadRunMark(std::string_view limits, const std::string& run_key);

// Whether the process of that text may have had a mark and given it up: its hard limit is lower
// than every mark.
bool CouldHaveGivenUpMark(std::string_view limits);

// The mark for a run whose runner has `inherited` as its hard limit. nullopt: there is no lower
// level.
std::optional<uint64_t> RunMarkBelow(uint64_t inherited, const std::string& run_key);

}  // namespace tenon::executor

#endif  // TENON_EXECUTOR_RUN_MARK_H_
