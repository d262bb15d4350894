// SPDX-License-Identifier: Apache-2.0
// Which names an artifact of a run may have. The machine of the run sends the names, and the client
// makes paths of them. So the client accepts only names that a runner can record. This file has the
// only copy of that rule.
#ifndef TENON_RUN_ARTIFACT_NAME_H_
#define TENON_RUN_ARTIFACT_NAME_H_

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "run/event.h"

namespace tenon::run {

inline constexpr std::string_view kOutputsPrefix = "outputs/";

// Artifacts that the client makes from a run's record, under the names that the Workbench gave
// them. No machine sends them.
std::span<const std::string_view> ArtifactsMadeHere();

// Whether a runner may have recorded a file under this name: "outputs/" and at least one part after
// it. Each part has 1 to 255 bytes, no NUL, and is neither "." nor "..". At most 2,048 parts follow
// "outputs/".
bool IsOutputName(std::string_view name);
// Whether the name is an output name or one of ArtifactsMadeHere().
bool IsArtifactName(std::string_view name);

// Whether a part of the name begins with a dot. Listings hide such files; shells, editors and git
// read some of them as configuration.
bool HasDotPart(std::string_view name);

// Removes the files whose names no runner can have recorded (see IsOutputName). Returns how many it
// removed. `first`, if given and empty, receives the name of the first of them.
size_t DropForeignNames(std::vector<Artifact>* files, std::string* first = nullptr);

}  // namespace tenon::run

#endif  // TENON_RUN_ARTIFACT_NAME_H_
