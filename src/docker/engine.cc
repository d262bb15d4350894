// SPDX-License-Identifier: Apache-2.0
// The engine itself and its images; containers are in engine_containers.cc, streams in
// engine_streams.cc, the pull in pull.cc.
#include "docker/engine.h"

#include <algorithm>
#include <cstdlib>

#include "docker/call.h"
#include "docker/dockerfile_changes.h"
#include "docker/time.h"

namespace tenon::docker {
namespace {

constexpr std::string_view kOldest = "1.41";
constexpr std::string_view kNewest = "1.52";

// "1.41" → {1, 41}; anything else → {0, 0}.
std::pair<int, int> ApiNumber(const std::string& text) {
  const size_t dot = text.find('.');
  if (dot == std::string::npos) return {0, 0};
  return {std::atoi(text.c_str()), std::atoi(text.c_str() + dot + 1)};
}

bool IsPodman(const json::Object& version) {
  const json::Array* components = json::GetArray(version, "Components");
  if (!components) return false;
  return std::any_of(components->begin(), components->end(), [](const json::Value& item) {
    return item.is_object() && json::GetString(item.as_object(), "Name").starts_with("Podman");
  });
}

Result<std::string> SettleApi(const EngineVersion& engine, const json::Object& version) {
  const std::string theirs = json::GetString(version, "ApiVersion");
  const std::string least = json::GetString(version, "MinAPIVersion");
  const std::string who = engine.name + " " + engine.version;
  if (ApiNumber(theirs) < ApiNumber(std::string(kOldest))) {
    return Invalid(who + " speaks version " + (theirs.empty() ? "(none)" : theirs) +
                   " of the Docker API; " + std::string(kOldest) + " is the least that is needed")
        .WithHint("install Docker 20.10 or later, or Podman 4 or later");
  }
  if (ApiNumber(least) > ApiNumber(std::string(kNewest))) {
    return Invalid(who + " speaks no version of the Docker API before " + least + "; " +
                   std::string(kNewest) + " is the newest known here")
        .WithHint("install a newer Tenon");
  }
  const std::string newest(kNewest);
  return ApiNumber(theirs) < ApiNumber(newest) ? theirs : newest;
}

std::vector<std::string> Strings(const json::Array* items) {
  std::vector<std::string> strings;
  if (!items) return strings;
  for (const json::Value& item : *items) {
    if (item.is_string()) strings.emplace_back(item.as_string());
  }
  return strings;
}

std::vector<std::string> CdiDevices(const json::Object& info) {
  std::vector<std::string> devices;
  const json::Array* items = json::GetArray(info, "DiscoveredDevices");
  if (!items) return devices;
  for (const json::Value& item : *items) {
    if (!item.is_object() || json::GetString(item.as_object(), "Source") != "cdi") continue;
    devices.push_back(json::GetString(item.as_object(), "ID"));
  }
  return devices;
}

std::vector<std::string> Tags(const json::Object& image) {
  std::vector<std::string> tags = Strings(json::GetArray(image, "RepoTags"));
  std::erase(tags, "<none>:<none>");
  // Podman writes the full names. Remove the prefixes that users do not type.
  for (std::string& tag : tags) {
    for (const std::string_view prefix : {"localhost/", "docker.io/library/", "docker.io/"}) {
      if (!tag.starts_with(prefix)) continue;
      tag.erase(0, prefix.size());
      break;
    }
  }
  return tags;
}

Image ImageFromInspect(const json::Object& object) {
  Image image;
  image.id = WholeImageId(json::GetString(object, "Id"));
  image.tags = Tags(object);
  image.size = static_cast<uint64_t>(std::max<int64_t>(json::GetInt(object, "Size"), 0));
  image.architecture = json::GetString(object, "Architecture");
  image.os = json::GetString(object, "Os");
  image.created_us = ParseTime(json::GetString(object, "Created")).value_or(0);
  if (const json::Object* config = json::GetObject(object, "Config")) {
    image.user = json::GetString(*config, "User");
    image.working_dir = json::GetString(*config, "WorkingDir");
    image.entrypoint = Strings(json::GetArray(*config, "Entrypoint"));
    image.command = Strings(json::GetArray(*config, "Cmd"));
    image.env = Pairs(json::GetArray(*config, "Env"));
    image.labels = Pairs(json::GetObject(*config, "Labels"));
  }
  return image;
}

Image ImageFromList(const json::Object& object) {
  Image image;
  image.id = WholeImageId(json::GetString(object, "Id"));
  image.tags = Tags(object);
  image.size = static_cast<uint64_t>(std::max<int64_t>(json::GetInt(object, "Size"), 0));
  image.labels = Pairs(json::GetObject(object, "Labels"));
  image.created_us = std::clamp<int64_t>(json::GetInt(object, "Created"), 0, 1LL << 40) * 1'000'000;
  return image;
}

// Podman before 5 tells this only in its own API.
bool IsRootlessPodman(const std::string& socket) {
  auto answer = AskObject(socket, "", {.path = "/v4.0.0/libpod/info"});
  if (!answer.ok()) return false;
  const json::Object* host = json::GetObject(*answer, "host");
  const json::Object* security = host ? json::GetObject(*host, "security") : nullptr;
  return security != nullptr && json::GetBool(*security, "rootless");
}

}  // namespace

Result<Engine> Engine::Connect(std::string socket) {
  TENON_TRY(const json::Object answer, AskObject(socket, "", {.path = "/version"}));
  EngineVersion version;
  version.name = IsPodman(answer) ? "Podman" : "Docker";
  version.version = json::GetString(answer, "Version");
  TENON_TRY(version.api, SettleApi(version, answer));
  return Engine(std::move(socket), std::move(version));
}

std::string LabelOf(const std::vector<std::pair<std::string, std::string>>& labels,
                    std::string_view name) {
  for (const auto& [label, value] : labels) {
    if (label == name) return value;
  }
  return "";
}

Result<EngineInfo> Engine::Info() {
  auto answer = AskObject(socket_, version_.api, {.path = "/info"});
  if (!answer.ok())
    return std::move(answer).error().Wrap("asking the container engine about itself");
  EngineInfo info;
  for (const std::string& option : Strings(json::GetArray(*answer, "SecurityOptions"))) {
    info.rootless =
        info.rootless || option == "name=rootless" || option.starts_with("name=rootless,");
  }
  info.rootless = info.rootless || json::GetBool(*answer, "Rootless");
  if (!info.rootless && version_.name == "Podman") info.rootless = IsRootlessPodman(socket_);
  info.cgroup_version = json::GetString(*answer, "CgroupVersion");
  info.architecture = json::GetString(*answer, "Architecture");
  // Podman has Go's names for architectures.
  if (info.architecture == "amd64") info.architecture = "x86_64";
  if (info.architecture == "arm64") info.architecture = "aarch64";
  info.data_root = json::GetString(*answer, "DockerRootDir");
  info.memory_bytes = json::GetInt(*answer, "MemTotal");
  info.cdi_devices = CdiDevices(*answer);
  if (const json::Object* runtimes = json::GetObject(*answer, "Runtimes")) {
    for (const auto& item : *runtimes) info.runtimes.emplace_back(item.key());
  }
  return info;
}

Result<std::optional<Image>> Engine::FindImage(const std::string& name) {
  const std::string path = "/images/" + EscapePath(name) + "/json";
  auto answer = AskObject(socket_, version_.api, {.path = path});
  if (answer.ok()) return std::optional(ImageFromInspect(*answer));
  if (answer.error().kind == ErrorKind::kNotFound) return std::optional<Image>();
  return std::move(answer).error().Wrap("looking for the image " + name);
}

Result<std::vector<Image>> Engine::ListImages(const std::string& label) {
  Call call{.path = "/images/json", .query = LabelFilter(label)};
  auto answer = AskArray(socket_, version_.api, call);
  if (!answer.ok()) return std::move(answer).error().Wrap("listing images");
  std::vector<Image> images;
  for (const json::Value& item : *answer) {
    if (item.is_object()) images.push_back(ImageFromList(item.as_object()));
  }
  return images;
}

Status Engine::RemoveImage(const std::string& name) {
  const Call call{.method = "DELETE", .path = "/images/" + EscapePath(name)};
  auto reply = AskReply(socket_, version_.api, call);
  if (!reply.ok()) return std::move(reply).error().Wrap("removing the image " + name);
  if (reply->ok() || reply->status == 404) return {};
  return EngineError(*reply).Wrap("removing the image " + name);
}

Status Engine::Tag(const std::string& image, const std::string& repository,
                   const std::string& tag) {
  Call call{.method = "POST", .path = "/images/" + EscapePath(image) + "/tag"};
  call.query = {{"repo", repository}, {"tag", tag}};
  auto reply = AskReply(socket_, version_.api, call);
  if (reply.ok() && reply->ok()) return {};
  Error error = reply.ok() ? EngineError(*reply) : std::move(reply).error();
  return std::move(error).Wrap("naming the image " + repository + ":" + tag);
}

Result<std::string> Engine::Commit(const std::string& container, const std::string& repository,
                                   const std::string& tag, const std::string& comment,
                                   const json::Object& config) {
  Call call{.method = "POST", .path = "/commit", .body = &config, .idle_ms = kSlowCallIdleMs};
  call.query = {{"container", container}, {"comment", comment}, {"pause", "0"}};
  if (!repository.empty()) {
    call.query.emplace_back("repo", repository);
    call.query.emplace_back("tag", tag);
  }
  // Podman does not read the body.
  if (version_.name == "Podman") {
    for (std::string& line : DockerfileChanges(config)) {
      call.query.emplace_back("changes", std::move(line));
    }
  }
  auto answer = AskObject(socket_, version_.api, call);
  if (!answer.ok()) {
    return std::move(answer).error().Wrap(
        repository.empty() ? "making an image" : "making the image " + repository + ":" + tag);
  }
  const std::string id = WholeImageId(json::GetString(*answer, "Id"));
  if (id.empty()) return Corrupt("making an image: the container engine gave no id");
  return id;
}

}  // namespace tenon::docker
