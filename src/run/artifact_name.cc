// SPDX-License-Identifier: Apache-2.0
#include "run/artifact_name.h"

#include <algorithm>
#include <array>

namespace tenon::run {
namespace {

constexpr std::array<std::string_view, 5> kMadeHere = {"control_log", "control_log.txt",
                                                       "driver_log", "driver_log.txt", "pid.txt"};
// The limits of a snapshot's tree (docs/formats/snapshot.md): collected outputs become such a tree.
constexpr size_t kMaxPart = 255;
constexpr size_t kMaxParts = 2048;

bool IsPart(std::string_view part) {
  return !part.empty() && part.size() <= kMaxPart && part != "." && part != ".." &&
         part.find('\0') == std::string_view::npos;
}

}  // namespace

std::span<const std::string_view> ArtifactsMadeHere() { return kMadeHere; }

bool IsOutputName(std::string_view name) {
  if (!name.starts_with(kOutputsPrefix)) return false;
  for (size_t parts = 0; parts <= kMaxParts; ++parts) {
    const size_t slash = name.find('/');
    if (!IsPart(name.substr(0, slash))) return false;
    if (slash == std::string_view::npos) return true;
    name.remove_prefix(slash + 1);
  }
  return false;
}

bool IsArtifactName(std::string_view name) {
  return std::ranges::find(kMadeHere, name) != kMadeHere.end() || IsOutputName(name);
}

bool HasDotPart(std::string_view name) {
  return name.starts_with('.') || name.find("/.") != std::string_view::npos;
}

size_t DropForeignNames(std::vector<Artifact>* files, std::string* first) {
  return std::erase_if(*files, [&](const Artifact& file) {
    if (IsOutputName(file.path)) return false;
    if (first != nullptr && first->empty()) *first = file.path;
    return true;
  });
}

}  // namespace tenon::run
