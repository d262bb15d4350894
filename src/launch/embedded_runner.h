// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_LAUNCH_EMBEDDED_RUNNER_H_
#define TENON_LAUNCH_EMBEDDED_RUNNER_H_

#include <string_view>

namespace tenon::launch {

// The stripped, static `tenon-runner` that was built together with this program, as the bytes of an
// executable file. Lives in read-only memory for as long as the program runs. Defined only in
// `tenon` and in test programs; the build generates the definition.
std::string_view EmbeddedRunner();

// SHA-256 of those bytes, 64 lower-case hex digits: the name under which a host keeps them.
std::string_view EmbeddedRunnerHash();

}  // namespace tenon::launch

#endif  // TENON_LAUNCH_EMBEDDED_RUNNER_H_
