// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_RUNNER_AGENT_SERVE_LINK_H_
#define TENON_RUNNER_AGENT_SERVE_LINK_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/frames.h"
#include "base/result.h"

namespace tenon::runner {

// The agent's connection to its client: reads requests and writes answers. Writing blocks, so a
// client that reads slowly slows the agent down, and nothing piles up in memory. An Error means
// that the client is gone or sent nonsense; the agent then ends.
class ServeLink {
 public:
  // Does not own the descriptors.
  ServeLink(int in, int out);

  // Waits for the next request. nullopt: the client has ended the connection.
  Result<std::optional<Frame>> Next();

  // Waits until a request or the end of requests begins to come in, until one of `also` is
  // readable, or until the time is up. True: a request, or the end.
  Result<bool> WaitForRequest(int64_t timeout_us, std::span<const int> also = {});

  // Everything sent from now on answers the request with this number and carries the number. 0: the
  // request has no number.
  void Answering(int64_t id) { answering_ = id; }
  Status Send(const json::Object& head, std::string_view body = {});
  // As Send(), with a part of a file as the body. The file may only grow. If it became shorter all
  // the same, this fails with kUnavailable, the agent ends and the client asks again.
  Status SendFromFile(const json::Object& head, int fd, uint64_t offset, size_t length);
  Status Ok() { return Send({{"ok", true}}); }
  Status Fail(const Error& error);
  // Whether the last answer said `ok` and was not counted as failed after that.
  bool answered_ok() const { return answered_ok_; }
  void CountAsFailed() { answered_ok_ = false; }

 private:
  Status ReadSome();

  int in_, out_;
  FrameReader reader_;
  std::optional<Frame> next_;  // read, but not yet returned
  bool some_ = false;          // part of a frame was read
  bool ended_ = false;
  bool answered_ok_ = false;
  int64_t answering_ = 0;
};

}  // namespace tenon::runner

#endif  // TENON_RUNNER_AGENT_SERVE_LINK_H_
