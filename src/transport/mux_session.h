// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_TRANSPORT_MUX_SESSION_H_
#define TENON_TRANSPORT_MUX_SESSION_H_

#include <optional>
#include <span>
#include <string>

#include "base/fd.h"
#include "base/process.h"
#include "base/result.h"

namespace tenon::transport {

// A command on a host, over the shared connection that an ssh process of ours keeps. We speak
// OpenSSH's PROTOCOL.mux, version 4, to that process, which saves starting another ssh. The session
// gets no variables of SendEnv. Destroying this object ends the session.
class MuxSession {
 public:
  // Asks for a session and does not wait for an answer. Passes on `standard`, the command's
  // standard input, output and error; the caller still owns its descriptors. Fails when no process
  // listens at `control_path`.
  static Result<MuxSession> Open(const std::string& control_path, const std::string& command,
                                 std::span<const int, 3> standard);

  // Returns how the session ended; nullopt while it goes on. Never waits. As with ssh itself, 255
  // means that the session was refused or that the connection is gone; the reason is appended to
  // `words`. Not to be called again after it has returned a status.
  std::optional<ExitStatus> Ended(std::string* words);
  // Whether the server opened the session, as far as Ended() has read. If so, the command may have
  // run.
  bool opened() const { return opened_; }
  // The session ended without an exit status: by a signal, or with the connection.
  bool untold() const { return untold_; }

 private:
  explicit MuxSession(UniqueFd socket) : socket_(std::move(socket)) {}

  UniqueFd socket_;
  std::string heard_;  // received and not yet parsed
  bool opened_ = false;
  bool untold_ = false;
};

}  // namespace tenon::transport

#endif  // TENON_TRANSPORT_MUX_SESSION_H_
