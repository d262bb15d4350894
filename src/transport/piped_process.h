// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_TRANSPORT_PIPED_PROCESS_H_
#define TENON_TRANSPORT_PIPED_PROCESS_H_

#include <sys/types.h>

#include <optional>
#include <string>

#include "base/fd.h"
#include "base/process.h"
#include "transport/mux_session.h"

namespace tenon::transport {

// A program with pipes to its standard streams: a child process, or a session of a shared
// connection. The destructor ends it.
struct PipedProcess {
  pid_t pid = 0;                      // 0: none, or reaped
  std::optional<MuxSession> session;  // instead of a child process
  UniqueFd in, out, err;

  PipedProcess() = default;
  PipedProcess(PipedProcess&& other) noexcept;
  PipedProcess& operator=(PipedProcess&& other) noexcept;
  ~PipedProcess();

  bool Going() const { return pid > 0 || session; }
  // Returns how it ended; nullopt while it goes on, and after the end was returned once. Never
  // waits. The reason why a session ended is appended to `words`; a child process writes it to
  // `err`.
  std::optional<ExitStatus> TakeEnd(std::string* words);
  bool refused = false;  // the session ended before the server opened it
  bool untold = false;   // the session ended without an exit status
};

}  // namespace tenon::transport

#endif  // TENON_TRANSPORT_PIPED_PROCESS_H_
