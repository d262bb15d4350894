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

// The agent's connection: requests in, answers out. Writing blocks, so whoever reads slowly holds
// us up and nothing piles up here. An Error means that the client is gone or talks nonsense: the
// agent ends.
class ServeLink {
 public:
  // Does not own them.
  ServeLink(int in, int out);

  // The next request; nullopt: there will be none.
  Result<std::optional<Frame>> Next();

  // Waits until a request (or the end of them) begins to come in, one of `also` is readable, or the
  // time is up. True: a request, or the end.
  Result<bool> WaitForRequest(int64_t timeout_us, std::span<const int> also = {});

  // What is sent from here on answers the request of that number, and bears it; 0: it has none.
  void Answering(int64_t id) { answering_ = id; }
  Status Send(const json::Object& head, std::string_view body = {});
  // The same with that part of a file for a body. The file is only ever appended to; if it became
  // shorter all the same, the agent ends and the client asks again.
  Status SendFromFile(const json::Object& head, int fd, uint64_t offset, size_t length);
  Status Ok() { return Send({{"ok", true}}); }
  Status Fail(const Error& error);
  // Whether the last answer said `ok`, and nothing spoke against it afterwards.
  bool answered_ok() const { return answered_ok_; }
  void CountAsFailed() { answered_ok_ = false; }

 private:
  Status ReadSome();

  int in_, out_;
  FrameReader reader_;
  std::optional<Frame> next_;  // has come in already
  bool some_ = false;          // part of a frame has come
  bool ended_ = false;
  bool answered_ok_ = false;
  int64_t answering_ = 0;
};

}  // namespace tenon::runner

#endif  // TENON_RUNNER_AGENT_SERVE_LINK_H_
