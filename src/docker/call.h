// SPDX-License-Identifier: Apache-2.0
// One call of the engine's API: address, escaping, errors in the engine's words. For this folder.
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

// An answer whose body is still to be read.
struct Answer {
  net::HttpExchange exchange;
  net::HttpResponse head;
};

// Connects and sends. `api` is "1.41", or empty for the first call, which has no version. After
// that a socket that is not there any more is an engine that has gone: kUnavailable.
Result<net::HttpExchange> Send(const std::string& socket, const std::string& api, const Call& call);
// And reads the head. The engine's 4xx and 5xx are answers like others.
Result<Answer> Ask(const std::string& socket, const std::string& api, const Call& call);

// The whole of a short answer: {status, body}.
struct Reply {
  int status = 0;
  std::string body;
  bool ok() const { return status < 400; }
};
Result<Reply> ReadReply(Answer answer);
Result<Reply> AskReply(const std::string& socket, const std::string& api, const Call& call);
// An object; 4xx and 5xx are Errors.
Result<json::Object> AskObject(const std::string& socket, const std::string& api, const Call& call);
Result<json::Array> AskArray(const std::string& socket, const std::string& api, const Call& call);

// What a status of 400 and more means, in the engine's words.
Error EngineError(const Reply& reply);
// Parses the engine's JSON. kCorrupt when it is none.
Result<json::Object> ParseObject(std::string_view text);

// "a/b:1" for a path: the slashes stay.
std::string EscapePath(std::string_view name);
// Podman leaves "sha256:" out of ids in some answers.
std::string WholeImageId(const std::string& id);
// {"label": ["…"]} as the filters parameter wants it; no label: nothing.
std::vector<std::pair<std::string, std::string>> LabelFilter(const std::string& label);

// {"a": "b"} → pairs; ["a=b"] → pairs.
std::vector<std::pair<std::string, std::string>> Pairs(const json::Object* object);
std::vector<std::pair<std::string, std::string>> Pairs(const json::Array* assignments);

}  // namespace tenon::docker

#endif  // TENON_DOCKER_CALL_H_
