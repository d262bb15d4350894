// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_TRANSPORT_PIPED_PROCESS_H_
#define TENON_TRANSPORT_PIPED_PROCESS_H_

#include <sys/types.h>

#include "base/fd.h"

namespace tenon::transport {

// A program with pipes to its standard streams; killed and reaped when this goes.
struct PipedProcess {
  pid_t pid = 0;
  UniqueFd in, out, err;

  PipedProcess() = default;
  PipedProcess(PipedProcess&& other) noexcept;
  PipedProcess& operator=(PipedProcess&& other) noexcept;
  ~PipedProcess();
};

}  // namespace tenon::transport

#endif  // TENON_TRANSPORT_PIPED_PROCESS_H_
