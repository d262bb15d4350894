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

// A command over a connection that an ssh process of ours keeps. That process is asked in its own
// words (OpenSSH's PROTOCOL.mux, version 4), which saves starting an ssh that would do no more. The
// session has no variables of SendEnv. Ends when this goes.
class MuxSession {
 public:
  // Hands over `standard`, the command's input, output and error, and does not wait for an answer.
  // An Error: nobody listens there.
  static Result<MuxSession> Open(const std::string& control_path, const std::string& command,
                                 std::span<const int, 3> standard);

  // How it ended; nullopt: it has not. As of ssh itself, 255 means that it was refused, or that the
  // connection is gone; why is appended to `words`.
  std::optional<ExitStatus> Ended(std::string* words);
  // The server had opened it, as far as Ended() has heard: the command may have run.
  bool opened() const { return opened_; }
  // It ended without saying how: by a signal, or with the connection.
  bool untold() const { return untold_; }

 private:
  explicit MuxSession(UniqueFd socket) : socket_(std::move(socket)) {}

  UniqueFd socket_;
  std::string heard_;  // and not yet understood
  bool opened_ = false;
  bool untold_ = false;
};

}  // namespace tenon::transport

#endif  // TENON_TRANSPORT_MUX_SESSION_H_
