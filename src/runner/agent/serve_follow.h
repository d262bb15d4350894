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

// The streams of one conversation: each tells what comes to files until it is ended (docs/runner.md
// § serve). They go on between requests, not while one is carried out. An Error is the link's.
class ServeFollows {
 public:
  explicit ServeFollows(ServeLink& link);
  ~ServeFollows();

  // The request `follow`. It is answered only if it cannot be carried out.
  Status Begin(const json::Object& request);
  // The request `unfollow`, which is not answered.
  void End(int64_t id);
  // Sends what comes to the files until a request begins to come in. Without streams: at once.
  Status UntilRequest();

 private:
  class Stream;

  ServeLink& link_;
  std::map<int64_t, std::unique_ptr<Stream>> streams_;
  // The kernel takes ten milliseconds to do away with one, so they are used again.
  std::vector<std::unique_ptr<FileWatch>> spare_watches_;
};

}  // namespace tenon::runner

#endif  // TENON_RUNNER_AGENT_SERVE_FOLLOW_H_
