// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_RUNNER_AGENT_SERVE_FOLLOW_H_
#define TENON_RUNNER_AGENT_SERVE_FOLLOW_H_

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "runner/agent/file_watch.h"
#include "runner/agent/serve_link.h"

namespace tenon::runner {

// The streams of one connection. Each stream sends what is appended to files, until the client ends
// it (docs/runner.md § serve). Streams go on between requests and pause while a request is carried
// out. An Error means that the link failed.
class ServeFollows {
 public:
  explicit ServeFollows(ServeLink& link);
  ~ServeFollows();

  // Carries out the request `follow`. Answers only if it cannot be carried out.
  Status Begin(const json::Object& request);
  // Carries out the request `unfollow`. Does not answer.
  void End(int64_t id);
  // Serves the streams until a request begins to come in. Returns at once when there are no
  // streams.
  Status UntilRequest();

 private:
  class Stream;

  ServeLink& link_;
  std::map<int64_t, std::unique_ptr<Stream>> streams_;
  // Watches of streams that have ended, to be used again: the kernel takes ten milliseconds to
  // remove one.
  std::vector<std::unique_ptr<FileWatch>> spare_watches_;
};

}  // namespace tenon::runner

#endif  // TENON_RUNNER_AGENT_SERVE_FOLLOW_H_
