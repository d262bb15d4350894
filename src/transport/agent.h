// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_TRANSPORT_AGENT_H_
#define TENON_TRANSPORT_AGENT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/frames.h"
#include "base/process.h"
#include "base/result.h"
#include "transport/piped_process.h"

namespace tenon::transport {

// The line an agent prints before its first frame.
inline constexpr const char* kAgentGreeting = "tenon-agent 1\n";

// One conversation with the agent on a host (docs/runner.md § serve). Frames go both ways over the
// pipes of a process: ssh, or the agent itself in tests. One thread at a time.
//
// After an Error, other than kInvalid from Send(), the conversation is over. ended() then says how
// the process ended, if it has, and said() what it wrote to standard error.
class Agent {
 public:
  explicit Agent(PipedProcess process);

  // Sends a frame and does not wait for its answer. Reads what arrives meanwhile, so that two sides
  // that both send much do not block each other. Fails with kUnavailable when the connection has
  // ended or takes no byte for `timeout_us`, with kInvalid when `body` is larger than a frame may
  // be.
  Status Send(const json::Object& head, std::string_view body, int64_t timeout_us);

  // Returns the next frame, nullopt after `timeout_us`. Fails with kUnavailable when the connection
  // has ended, with kCorrupt when it sends no valid frame.
  Result<std::optional<Frame>> Receive(int64_t timeout_us);

  // When the last bytes came from the other side (monotonic clock).
  int64_t last_heard_us() const { return last_heard_us_; }
  bool greeted() const { return reader_.greeted(); }
  // For poll(2): readable when there may be something to Receive().
  int fd() const { return process_.out.get(); }

  // How the process ended; nullopt until Send() or Receive() has noticed its end.
  const std::optional<ExitStatus>& ended() const { return ended_; }
  // The session ended before its command can have started.
  bool refused() const { return process_.refused; }
  // The session ended without an exit status: by a signal, or with the shared connection.
  bool untold() const { return process_.untold; }
  // said(): the last 16 KiB of standard error. noise(): what came before the greeting.
  const std::string& said() const { return said_; }
  const std::string& noise() const { return reader_.noise(); }

 private:
  // Waits until there is something to read or, with `writing`, room to write. False: time is up.
  Result<bool> WaitFor(bool writing, int64_t deadline_us);
  Status TakeIn();
  void TakeWords();
  Error Gone();

  PipedProcess process_;
  FrameReader reader_;
  std::string said_;
  std::optional<ExitStatus> ended_;
  int64_t last_heard_us_ = 0;
};

// The Error in an answer that is not ok.
Error AnswerError(const json::Object& answer);

// Builds the agent's `run` request and reads the answer to it.
json::Object RunRequest(const std::vector<std::string>& argv, int timeout_ms);
Result<CaptureResult> ToCaptureResult(const Frame& answer);

}  // namespace tenon::transport

#endif  // TENON_TRANSPORT_AGENT_H_
