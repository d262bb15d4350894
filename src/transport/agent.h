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

// One conversation with the agent of a host (docs/runner.md § serve): frames there, frames back,
// over the pipes of a process (ssh, or the agent itself in tests). One thread at a time.
//
// After an Error the conversation is over. How the process ended, and what it said, is then known:
// ended() and said().
class Agent {
 public:
  explicit Agent(PipedProcess process);

  // Hands over a frame. Never waits for answers, but takes in what comes meanwhile, so that two
  // sides that both have much to say do not wait for each other. kUnavailable when nothing moves
  // for `timeout_us`.
  Status Send(const json::Object& head, std::string_view body, int64_t timeout_us);

  // The next frame; nullopt after `timeout_us`. kUnavailable: the other side is gone.
  Result<std::optional<Frame>> Receive(int64_t timeout_us);

  // When anything last came from the other side (monotonic).
  int64_t last_heard_us() const { return last_heard_us_; }
  bool greeted() const { return reader_.greeted(); }
  // For poll(2): readable when there may be something to Receive().
  int fd() const { return process_.out.get(); }

  const std::optional<ExitStatus>& ended() const { return ended_; }
  // It ended before its command can have run.
  bool refused() const { return process_.refused; }
  // It ended without saying how: by a signal, or with the shared connection.
  bool untold() const { return process_.untold; }
  // The last words on its standard error, and what came before the greeting.
  const std::string& said() const { return said_; }
  const std::string& noise() const { return reader_.noise(); }

 private:
  // Waits until there is something to read (or, with `writing`, room to write). False: time is up.
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

// The request `run`, and how it was answered.
json::Object RunRequest(const std::vector<std::string>& argv, int timeout_ms);
Result<CaptureResult> ToCaptureResult(const Frame& answer);

}  // namespace tenon::transport

#endif  // TENON_TRANSPORT_AGENT_H_
