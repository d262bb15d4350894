// SPDX-License-Identifier: Apache-2.0
#include "docker/call.h"

#include "base/text.h"
#include "docker/dial.h"
#include "docker/engine_address.h"

namespace tenon::docker {
namespace {

constexpr int kDialMs = 10'000;
constexpr size_t kReplyLimit = 64 << 20;

std::string Target(const std::string& api, const Call& call) {
  std::string target = api.empty() ? call.path : "/v" + api + call.path;
  char separator = '?';
  for (const auto& [name, value] : call.query) {
    target += separator;
    target += name + "=" + net::EscapeUrl(value);
    separator = '&';
  }
  return target;
}

Error Lost(Error error) { return std::move(error).Wrap("talking to the container engine"); }

}  // namespace

Result<net::HttpExchange> Send(const std::string& socket, const std::string& api,
                               const Call& call) {
  auto connection = DialEngine(socket, kDialMs);
  if (!connection.ok()) {
    Error error = ExplainDial(socket, std::move(connection).error());
    if (!api.empty() && error.kind == ErrorKind::kNotFound) error.kind = ErrorKind::kUnavailable;
    return error;
  }
  net::HttpRequest request;
  request.method = call.method;
  request.target = Target(api, call);
  request.upgrade = call.upgrade;
  if (call.archive) {
    request.headers.emplace_back("Content-Type", "application/x-tar");
    request.body_source = call.archive;
  } else if (call.body) {
    request.headers.emplace_back("Content-Type", "application/json");
    request.body = json::Print(*call.body);
  }
  return net::HttpExchange::Send(*std::move(connection), "docker", std::move(request),
                                 call.idle_ms);
}

Result<Answer> Ask(const std::string& socket, const std::string& api, const Call& call) {
  TENON_TRY(net::HttpExchange exchange, Send(socket, api, call));
  auto head = exchange.ReadHead();
  if (!head.ok()) return Lost(std::move(head).error());
  return Answer{std::move(exchange), *std::move(head)};
}

Result<Reply> ReadReply(Answer answer) {
  auto body = answer.exchange.ReadAll(kReplyLimit);
  if (!body.ok()) return Lost(std::move(body).error());
  return Reply{answer.head.status, *std::move(body)};
}

Result<Reply> AskReply(const std::string& socket, const std::string& api, const Call& call) {
  TENON_TRY(Answer answer, Ask(socket, api, call));
  return ReadReply(std::move(answer));
}

Result<json::Object> ParseObject(std::string_view text) {
  auto value = json::Parse(text);
  if (!value.ok() || !value->is_object()) {
    return Corrupt("the container engine answered with something that is no JSON object");
  }
  return std::move(value->as_object());
}

Result<json::Object> AskObject(const std::string& socket, const std::string& api,
                               const Call& call) {
  TENON_TRY(const Reply reply, AskReply(socket, api, call));
  if (!reply.ok()) return EngineError(reply);
  return ParseObject(reply.body);
}

Result<json::Array> AskArray(const std::string& socket, const std::string& api, const Call& call) {
  TENON_TRY(const Reply reply, AskReply(socket, api, call));
  if (!reply.ok()) return EngineError(reply);
  auto value = json::Parse(reply.body);
  if (!value.ok() || !(value->is_array() || value->is_null())) {
    return Corrupt("the container engine answered with something that is no JSON list");
  }
  return value->is_null() ? json::Array() : std::move(value->as_array());
}

Error EngineError(const Reply& reply) {
  std::string words;
  if (const auto object = ParseObject(reply.body); object.ok()) {
    words = json::GetString(*object, "message");
    if (words.empty()) words = json::GetString(*object, "cause");
  }
  if (words.empty()) words = Trim(std::string_view(reply.body).substr(0, 500));
  if (words.empty()) words = "the container engine answered " + std::to_string(reply.status);
  if (words.find("no space left on device") != std::string::npos) {
    return Unavailable(words).WithHint(
        "free some space on the file system that holds the engine's images and try again");
  }
  switch (reply.status) {
    case 404:
      return NotFound(words);
    case 401:
    case 403:
      return Denied(words);
    case 502:
    case 503:
    case 504:
      return Unavailable(words);
    default:
      return reply.status < 500 ? Invalid(words) : Internal(words);
  }
}

std::string EscapePath(std::string_view name) {
  std::string out;
  for (const std::string& part : Split(name, '/')) {
    if (!out.empty()) out += '/';
    out += net::EscapeUrl(part);
  }
  return out;
}

std::string WholeImageId(const std::string& id) {
  return id.empty() || id.find(':') != std::string::npos ? id : "sha256:" + id;
}

std::vector<std::pair<std::string, std::string>> LabelFilter(const std::string& label) {
  if (label.empty()) return {};
  json::Object filters;
  filters["label"] = json::Array{json::Value(label)};
  return {{"filters", json::Print(filters)}};
}

std::vector<std::pair<std::string, std::string>> Pairs(const json::Object* object) {
  std::vector<std::pair<std::string, std::string>> pairs;
  if (!object) return pairs;
  for (const auto& item : *object) {
    if (item.value().is_string()) pairs.emplace_back(item.key(), item.value().as_string());
  }
  return pairs;
}

std::vector<std::pair<std::string, std::string>> Pairs(const json::Array* assignments) {
  std::vector<std::pair<std::string, std::string>> pairs;
  if (!assignments) return pairs;
  for (const json::Value& item : *assignments) {
    if (!item.is_string()) continue;
    const std::string text(item.as_string());
    const size_t equals = text.find('=');
    pairs.emplace_back(text.substr(0, equals),
                       equals == std::string::npos ? "" : text.substr(equals + 1));
  }
  return pairs;
}

}  // namespace tenon::docker
