// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_RUNNER_ENVIRONMENT_CONDA_ENV_H_
#define TENON_RUNNER_ENVIRONMENT_CONDA_ENV_H_

#include <string_view>

namespace tenon::runner {

// The Python program that solves and installs with py-rattler. Its one argument is a file with
// {"channels": […], "specs": […], "prefix", "alternative_prefix", "cache"}.
std::string_view CondaScript();

inline constexpr int kNoChannelExit = 75;   // no channel could be reached
inline constexpr int kUnsolvableExit = 65;  // the output ends with the solver's own message

}  // namespace tenon::runner

#endif  // TENON_RUNNER_ENVIRONMENT_CONDA_ENV_H_
