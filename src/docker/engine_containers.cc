// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "docker/call.h"
#include "docker/engine.h"

namespace tenon::docker {
namespace {

std::string PathOf(const std::string& container, std::string_view verb) {
  return "/containers/" + net::EscapeUrl(container) + std::string(verb);
}

std::string WithoutSlash(const std::string& name) {
  return name.starts_with('/') ? name.substr(1) : name;
}

// A container that is paused or being restarted has not ended.
bool IsAlive(const std::string& status) {
  return status == "running" || status == "paused" || status == "restarting";
}

Container ContainerFromInspect(const json::Object& object) {
  Container container;
  container.id = json::GetString(object, "Id");
  container.name = WithoutSlash(json::GetString(object, "Name"));
  container.image_id = WholeImageId(json::GetString(object, "Image"));
  if (const json::Object* config = json::GetObject(object, "Config")) {
    container.labels = Pairs(json::GetObject(*config, "Labels"));
  }
  if (const json::Object* state = json::GetObject(object, "State")) {
    container.status = json::GetString(*state, "Status");
    container.running = json::GetBool(*state, "Running") || IsAlive(container.status);
    container.pid = static_cast<int>(json::GetInt(*state, "Pid"));
    container.exit_code = static_cast<int>(json::GetInt(*state, "ExitCode"));
    container.out_of_memory = json::GetBool(*state, "OOMKilled");
    container.error = json::GetString(*state, "Error");
  }
  return container;
}

Container ContainerFromList(const json::Object& object) {
  Container container;
  container.id = json::GetString(object, "Id");
  const json::Array* names = json::GetArray(object, "Names");
  if (names && !names->empty() && names->front().is_string()) {
    container.name = WithoutSlash(std::string(names->front().as_string()));
  }
  container.image_id = WholeImageId(json::GetString(object, "ImageID"));
  container.labels = Pairs(json::GetObject(object, "Labels"));
  container.status = json::GetString(object, "State");
  container.running = IsAlive(container.status);
  container.pid = static_cast<int>(json::GetInt(object, "Pid"));  // Podman tells it here too
  return container;
}

bool Says(const Reply& reply, std::string_view words) {
  return reply.body.find(words) != std::string::npos;
}

}  // namespace

Result<std::string> Engine::Create(const std::string& name, const json::Object& config) {
  Call call{.method = "POST", .path = "/containers/create", .body = &config};
  if (!name.empty()) call.query.emplace_back("name", name);
  auto reply = AskReply(socket_, version_.api, call);
  if (!reply.ok()) return std::move(reply).error().Wrap("making the container " + name);
  if (!reply->ok()) {
    Error error = EngineError(*reply);
    // Podman answers a name that is taken with 500.
    if (Says(*reply, "already in use")) error.kind = ErrorKind::kInvalid;
    return std::move(error).Wrap("making the container " + name);
  }
  TENON_TRY(const json::Object answer, ParseObject(reply->body));
  const std::string id = json::GetString(answer, "Id");
  if (id.empty()) return Corrupt("making a container: the container engine gave no id");
  return id;
}

Status Engine::Start(const std::string& container) {
  const Call call{
      .method = "POST", .path = PathOf(container, "/start"), .idle_ms = kSlowCallIdleMs};
  auto reply = AskReply(socket_, version_.api, call);
  if (!reply.ok()) return std::move(reply).error().Wrap("starting the container " + container);
  if (reply->ok()) return {};  // 304: it runs already
  return EngineError(*reply).Wrap("starting the container " + container);
}

Result<std::optional<Container>> Engine::Find(const std::string& container) {
  auto answer = AskObject(socket_, version_.api, {.path = PathOf(container, "/json")});
  if (answer.ok()) return std::optional(ContainerFromInspect(*answer));
  if (answer.error().kind == ErrorKind::kNotFound) return std::optional<Container>();
  return std::move(answer).error().Wrap("looking at the container " + container);
}

Result<std::vector<Container>> Engine::List(const std::string& label) {
  Call call{.path = "/containers/json", .query = LabelFilter(label)};
  call.query.emplace_back("all", "1");
  auto answer = AskArray(socket_, version_.api, call);
  if (!answer.ok()) return std::move(answer).error().Wrap("listing containers");
  std::vector<Container> containers;
  for (const json::Value& item : *answer) {
    if (item.is_object()) containers.push_back(ContainerFromList(item.as_object()));
  }
  return containers;
}

Status Engine::Kill(const std::string& container, int signal) {
  Call call{.method = "POST", .path = PathOf(container, "/kill")};
  call.query.emplace_back("signal", std::to_string(signal));
  auto reply = AskReply(socket_, version_.api, call);
  if (!reply.ok()) return std::move(reply).error().Wrap("signalling the container " + container);
  if (reply->ok() || reply->status == 404 || reply->status == 409) return {};
  // Older engines answer 500 to a container that has ended.
  if (Says(*reply, "is not running") || Says(*reply, "can only kill running containers")) return {};
  return EngineError(*reply).Wrap("signalling the container " + container);
}

Status Engine::Remove(const std::string& container) {
  Call call{.method = "DELETE", .path = PathOf(container, ""), .idle_ms = kSlowCallIdleMs};
  call.query = {{"force", "1"}, {"v", "1"}};
  auto reply = AskReply(socket_, version_.api, call);
  if (!reply.ok()) return std::move(reply).error().Wrap("removing the container " + container);
  if (reply->ok() || reply->status == 404) return {};
  if (Says(*reply, "already in progress") || Says(*reply, "no such container")) return {};
  return EngineError(*reply).Wrap("removing the container " + container);
}

}  // namespace tenon::docker
