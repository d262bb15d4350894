// SPDX-License-Identifier: Apache-2.0
#include "docker/engine_address.h"

#include <unistd.h>

#include <vector>

#include "base/file.h"
#include "base/hash.h"
#include "base/json.h"
#include "net/http_client.h"

namespace tenon::docker {
namespace {

constexpr std::string_view kHowToGetOne =
    "install Docker 20.10 or later and start it (`sudo systemctl start docker`), or install Podman "
    "and start its socket (`systemctl --user start podman.socket`); DOCKER_HOST=unix:///PATH names "
    "another socket";

// Takes "unix:///run/docker.sock" or a bare path. Anything else is kInvalid.
Result<EngineAddress> FromHost(const std::string& host, const std::string& from) {
  if (host.starts_with("unix://")) {
    const std::string path = host.substr(7);
    if (path.starts_with('/')) return EngineAddress{path, from};
  }
  if (host.starts_with('/')) return EngineAddress{host, from};
  if (host.starts_with("tcp://") || host.starts_with("ssh://") || host.starts_with("http://") ||
      host.starts_with("https://")) {
    return Invalid(from + " names the engine " + host +
                   ", and only engines on Unix sockets of this machine are used from here")
        .WithHint(
            "attach that machine as a target of its own: `tenon computetarget attach "
            "remotedocker`; or unset it to use this machine's engine");
  }
  return Invalid(from + " names the engine \"" + host + "\", which is no address of one")
      .WithHint("write unix:///PATH-OF-THE-SOCKET");
}

std::string ConfigFolder(const Environment& environment) {
  std::string folder = GetVariable(environment, "DOCKER_CONFIG");
  if (!folder.empty()) return folder;
  const std::string home = GetVariable(environment, "HOME");
  return home.empty() ? "" : JoinPath(home, ".docker");
}

// The current context; "" when there is no such file or it names none.
Result<std::string> CurrentContext(const std::string& config_folder) {
  if (config_folder.empty()) return std::string();
  const std::string path = JoinPath(config_folder, "config.json");
  auto bytes = ReadFile(path);
  if (!bytes.ok()) {
    if (bytes.error().kind == ErrorKind::kNotFound) return std::string();
    return std::move(bytes).error();
  }
  auto value = json::Parse(*bytes);
  if (!value.ok()) return std::move(value).error().Wrap("reading " + path);
  if (!value->is_object()) return Invalid("reading " + path + ": not a JSON object");
  return json::GetString(value->as_object(), "currentContext");
}

Result<EngineAddress> FromContext(const std::string& config_folder, const std::string& name) {
  const std::string path =
      JoinPath(config_folder, "contexts/meta/" + Sha256Of(name).Hex() + "/meta.json");
  auto bytes = ReadFile(path);
  if (!bytes.ok()) {
    return std::move(bytes)
        .error()
        .Wrap("reading the Docker context \"" + name + "\"")
        .WithHint(
            "`docker context ls` lists those there are; DOCKER_CONTEXT=default or "
            "DOCKER_HOST=unix:///PATH chooses another engine");
  }
  auto value = json::Parse(*bytes);
  if (!value.ok()) return std::move(value).error().Wrap("reading " + path);
  const json::Object* endpoints =
      value->is_object() ? json::GetObject(value->as_object(), "Endpoints") : nullptr;
  const json::Object* docker = endpoints ? json::GetObject(*endpoints, "docker") : nullptr;
  const std::string host = docker ? json::GetString(*docker, "Host") : "";
  if (host.empty()) return Invalid("reading " + path + ": it names no host of a Docker engine");
  return FromHost(host, "the context " + name);
}

std::vector<std::string> UsualSockets(const Environment& environment) {
  std::string runtime = GetVariable(environment, "XDG_RUNTIME_DIR");
  if (runtime.empty()) runtime = "/run/user/" + std::to_string(::getuid());
  return {"/var/run/docker.sock", JoinPath(runtime, "docker.sock"),
          JoinPath(runtime, "podman/podman.sock"), "/run/podman/podman.sock"};
}

Result<EngineAddress> FromUsualPlaces(const Environment& environment) {
  std::string there;
  for (const std::string& socket : UsualSockets(environment)) {
    if (!Exists(socket)) continue;
    if (net::DialUnix(socket, 1000).ok()) return EngineAddress{socket, "the usual place"};
    if (there.empty()) there = socket;
  }
  if (!there.empty()) return EngineAddress{there, "the usual place"};
  // Name the machine: the user may sit at another one.
  char name[256] = "this machine";
  (void)::gethostname(name, sizeof name - 1);
  return NotFound("there is no container engine on " + std::string(name) +
                  ": no socket of Docker or Podman")
      .WithHint(std::string(kHowToGetOne));
}

}  // namespace

Result<EngineAddress> FindEngine(const Environment& environment) {
  const std::string host = GetVariable(environment, "DOCKER_HOST");
  if (!host.empty()) return FromHost(host, "DOCKER_HOST");
  const std::string config_folder = ConfigFolder(environment);
  std::string context = GetVariable(environment, "DOCKER_CONTEXT");
  if (context.empty()) {
    TENON_TRY(context, CurrentContext(config_folder));
  }
  if (!context.empty() && context != "default") return FromContext(config_folder, context);
  return FromUsualPlaces(environment);
}

Error ExplainDial(const std::string& socket, Error error) {
  const bool podman = socket.find("podman") != std::string::npos;
  switch (error.kind) {
    case ErrorKind::kDenied:
      return Denied("the container engine's socket " + socket + " is not open to this user")
          .WithHint(
              "add yourself to the group docker (`sudo usermod -aG docker $USER`, then log in "
              "again), or use rootless Docker or Podman" +
              (error.hint.empty() ? "" : "; " + error.hint))
          .WithReason(error.reason);
    case ErrorKind::kNotFound:
      return NotFound("there is no container engine at " + socket)
          .WithHint(std::string(kHowToGetOne));
    case ErrorKind::kUnavailable:
      return Unavailable("the container engine at " + socket + " does not answer (" +
                         error.message + ")")
          .WithHint(podman ? "start it: `systemctl --user start podman.socket`"
                           : "start it: `sudo systemctl start docker`");
    default:
      return error;
  }
}

}  // namespace tenon::docker
