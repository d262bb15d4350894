// SPDX-License-Identifier: Apache-2.0
#include "docker/dockerfile_changes.h"

#include <algorithm>

#include "docker/call.h"

namespace tenon::docker {
namespace {

// Podman removes one pair of quotes and knows no escapes. A line cannot contain a line break.
std::string Quote(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  std::replace(text.begin(), text.end(), '\r', ' ');
  return "\"" + text + "\"";
}

}  // namespace

std::vector<std::string> DockerfileChanges(const json::Object& config) {
  std::vector<std::string> lines;
  for (const auto& [name, value] : Pairs(json::GetArray(config, "Env"))) {
    lines.push_back("ENV " + name + "=" + Quote(value));
  }
  for (const auto& [name, value] : Pairs(json::GetObject(config, "Labels"))) {
    lines.push_back("LABEL " + name + "=" + Quote(value));
  }
  for (const auto& [member, word] : {std::pair{"User", "USER "}, {"WorkingDir", "WORKDIR "}}) {
    const std::string value = json::GetString(config, member);
    if (!value.empty()) lines.push_back(word + value);
  }
  // Entrypoint must come first: a new entry point makes Podman forget the command.
  for (const auto& [member, word] : {std::pair{"Entrypoint", "ENTRYPOINT "}, {"Cmd", "CMD "}}) {
    const json::Array* value = json::GetArray(config, member);
    if (value) lines.push_back(word + json::Print(*value));
  }
  return lines;
}

}  // namespace tenon::docker
