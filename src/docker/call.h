// SPDX-License-Identifier: Apache-2.0
// Makes one call of the engine's API: address, escaping, errors in the engine's words. For this
// folder.
#ifndef TENON_DOCKER_CALL_H_
#define TENON_DOCKER_CALL_H_

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "net/http_client.h"

namespace tenon::docker {

inline constexpr int kCallIdleMs = 60'000;
inline constexpr int kSlowCallIdleMs = 600'000;
inline constexpr int kPullIdleMs = 300'000;

struct Call {
  std::string method = "GET";
  std::string path;  // "/containers/…", escaped
  std::vector<std::pair<std::string, std::string>> query = {};
  const json::Object* body = nullptr;
  std::function<Result<std::string>()> archive = {};  // a tar archive as the body, in pieces
  bool upgrade = false;
  int idle_ms = kCallIdleMs;
};

// An answer whose body has not been read yet.
struct Answer {
  net::HttpExchange exchange;
  net::HttpResponse head;
};

// Connects and sends. `api` is "1.41", or empty for the first call, which has no version. With a
// version, a socket that does not exist means that the engine has gone: kUnavailable.
Result<net::HttpExchange> Send(const std::string& socket, const std::string& api, const Call& call);
// The same, and reads the head of the answer. The engine's 4xx and 5xx are answers, not Errors.
Result<Answer> Ask(const std::string& socket, const std::string& api, const Call& call);

// A whole answer, for short ones.
struct Reply {
  int status = 0;
  std::string body;
  bool ok() const { return status < 400; }
};
Result<Reply> ReadReply(Answer answer);
Result<Reply> AskReply(const std::string& socket, const std::string& api, const Call& call);
// Returns the JSON in the answer; 4xx and 5xx are Errors.
Result<json::Object> AskObject(const std::string& socket, const std::string& api, const Call& call);
Result<json::Array> AskArray(const std::string& socket, const std::string& api, const Call& call);

// The Error for a status of 400 or more, in the engine's words.
Error EngineError(const Reply& reply);
// Parses the engine's JSON. Fails with kCorrupt when it is not an object.
Result<json::Object> ParseObject(std::string_view text);

// Escapes a name such as "a/b:1" for a path; the slashes stay.
std::string EscapePath(std::string_view name);
// Adds the "sha256:" that Podman leaves out of ids in some answers.
std::string WholeImageId(const std::string& id);
// {"label": ["…"]}, as the parameter `filters` wants it; empty for an empty label.
std::vector<std::pair<std::string, std::string>> LabelFilter(const std::string& label);

// {"a": "b"} → pairs; ["a=b"] → pairs.
std::vector<std::pair<std::string, std::string>> Pairs(const json::Object* object);
std::vector<std::pair<std::string, std::string>> Pairs(const json::Array* assignments);

}  // namespace tenon::docker

#endif  // TENON_DOCKER_CALL_H_
