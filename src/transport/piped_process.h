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

// A program with pipes to its standard streams: a process of ours, or one beyond a shared
// connection. Ended when this goes.
struct PipedProcess {
  pid_t pid = 0;                      // 0: none, or reaped
  std::optional<MuxSession> session;  // instead of a process
  UniqueFd in, out, err;

  PipedProcess() = default;
  PipedProcess(PipedProcess&& other) noexcept;
  PipedProcess& operator=(PipedProcess&& other) noexcept;
  ~PipedProcess();

  bool Going() const { return pid > 0 || session; }
  // How it ended; nullopt: it has not, or that was told before. Why a session ended is appended to
  // `words`; a process says so on `err`.
  std::optional<ExitStatus> TakeEnd(std::string* words);
  bool refused = false;  // the session had not even been opened when it ended
  bool untold = false;   // the session ended without saying how
};

}  // namespace tenon::transport

#endif  // TENON_TRANSPORT_PIPED_PROCESS_H_
