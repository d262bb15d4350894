// SPDX-License-Identifier: Apache-2.0
#include "runner/verbs/request.h"

#include <unistd.h>

#include <cerrno>

#include "base/mask.h"
#include "run/env_vars.h"
#include "run/verbs.h"

namespace tenon::runner {
namespace {

constexpr size_t kMaxRequest = 64u << 20;

Result<json::Object> ParseWords(std::string_view text) {
  auto value = json::Parse(text);
  if (!value.ok()) return std::move(value).error().Wrap("reading the request");
  if (!value->is_object()) return Invalid("reading the request: it is no JSON object");
  json::Object object = std::move(value->get_object());
  int theirs = static_cast<int>(json::GetInt(object, "protocol"));
  std::string version = json::GetString(object, "version", "unknown");
  if (auto wrong = run::ProtocolMismatch(run::kProtocol, theirs, version)) {
    return std::move(*wrong);
  }
  return object;
}

Result<std::string> HomeOf(const json::Object& object) {
  std::string home = json::DecodeBytes(json::GetString(object, "home"));
  if (home.empty() || home[0] != '/') {
    return Invalid("reading the request: home must be an absolute path");
  }
  return home;
}

Result<RunName> NameOf(const json::Object& object) {
  RunName name;
  TENON_TRY(name.home, HomeOf(object));
  name.run_id = json::DecodeBytes(json::GetString(object, "run_id"));
  if (!run::IsValidRunId(name.run_id)) return Invalid("reading the request: run_id is no run id");
  return name;
}

Result<Environment> EnvironmentOf(const json::Object& object, const char* key) {
  Environment environment;
  const json::Object* members = json::GetObject(object, key);
  if (members == nullptr) return environment;
  for (const auto& member : *members) {
    std::string name = json::DecodeBytes(std::string_view(member.key()));
    if (!member.value().is_string() || name.empty() || name.find('=') != std::string::npos ||
        name.find('\0') != std::string::npos) {
      return Invalid(std::string("reading the request: ") + key +
                     " has a member that is no variable");
    }
    const auto& text = member.value().get_string();
    std::string value = json::DecodeBytes(std::string_view(text.data(), text.size()));
    if (value.find('\0') != std::string::npos) {
      return Invalid("reading the request: the value of " + name + " has a NUL in it");
    }
    environment[name] = std::move(value);
  }
  return environment;
}

}  // namespace

std::vector<std::string> StartRequest::SecretValues() const {
  std::vector<std::string> values;
  for (const auto& [name, value] : secrets) values.push_back(value);
  return values;
}

Environment StartRequest::WithOwn(Environment variables) const {
  for (const auto& [name, value] : secrets) variables[name] = value;
  variables[run::env::kRunKey] = spec.key;
  return variables;
}

Result<std::string> ReadRequest(int fd) {
  std::string text;
  char piece[65536];
  for (;;) {
    ssize_t count = ::read(fd, piece, sizeof piece);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return FromErrno("reading the request", errno);
    if (count == 0) return text;
    text.append(piece, static_cast<size_t>(count));
    if (text.size() > kMaxRequest) return Invalid("reading the request: it is longer than 64 MiB");
  }
}

Result<StartRequest> ParseStart(std::string_view text) {
  TENON_TRY(json::Object object, ParseWords(text));
  StartRequest request;
  TENON_TRY(request.run, NameOf(object));
  const json::Object* spec = json::GetObject(object, "spec");
  if (spec == nullptr) return Invalid("reading the request: it has no spec");
  TENON_TRY(request.spec, run::RunSpec::FromJson(*spec));
  if (request.spec.id != request.run.run_id) {
    return Invalid("reading the request: run_id and the spec's id differ");
  }
  TENON_TRY(request.environment, EnvironmentOf(object, "environment"));
  TENON_TRY(request.secrets, EnvironmentOf(object, "secrets"));
  for (const auto& [name, value] : request.secrets) {
    if (!IsMaskable(value)) {
      return Invalid("secret " + name + " is shorter than " + std::to_string(kShortestSecret) +
                     " bytes and could not be masked");
    }
  }
  request.client_version = json::GetString(object, "version");
  request.retry_of = json::DecodeBytes(json::GetString(object, "retry_of"));
  if (!request.retry_of.empty() && !run::IsValidRunId(request.retry_of)) {
    return Invalid("reading the request: retry_of is no run");
  }
  return request;
}

Result<RunName> ParseRunName(std::string_view text) {
  TENON_TRY(json::Object object, ParseWords(text));
  return NameOf(object);
}

Result<std::string> ParseHome(std::string_view text) {
  TENON_TRY(json::Object object, ParseWords(text));
  return HomeOf(object);
}

Result<json::Object> ParseObject(std::string_view text, std::string* home) {
  TENON_TRY(json::Object object, ParseWords(text));
  TENON_TRY(*home, HomeOf(object));
  for (const auto& member : object) {
    if (member.value().is_null()) {
      return Invalid("reading the request: " + std::string(std::string_view(member.key())) +
                     " is null");
    }
  }
  return object;
}

Error NotUnderstood(Error why) { return std::move(why).Wrap("reading the request"); }

}  // namespace tenon::runner
