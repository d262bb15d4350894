// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_RUNNER_SUPERVISE_STREAMS_H_
#define TENON_RUNNER_SUPERVISE_STREAMS_H_

#include <functional>

#include "base/result.h"

namespace tenon::runner {

// Where a script writes, if the program that starts it records its output.
struct Streams {
  int stdout_fd = -1;
  int stderr_fd = -1;
};

// Opens the streams. Called right before a script without a recorder of its own is started. From
// then on, what the script writes to the streams and into its metric files is recorded.
using OpenStreams = std::function<Result<Streams>()>;

}  // namespace tenon::runner

#endif  // TENON_RUNNER_SUPERVISE_STREAMS_H_
