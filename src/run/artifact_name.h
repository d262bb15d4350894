// SPDX-License-Identifier: Apache-2.0
// Which names an artifact of a run may have. Names come from the machine that the run was on and
// become paths here, so they are held to what a runner records; the one rule is in this file.
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

// What we make of a run's record ourselves, under the names the Workbench gave it. No machine
// brings these.
std::span<const std::string_view> ArtifactsMadeHere();

// Whether a runner may have recorded a file by this name: "outputs/" and at least one part behind
// it. Each part has 1 to 255 bytes, no NUL, and is neither "." nor ".."; at most 2,048 of them.
bool IsOutputName(std::string_view name);
// That, or one of those made here.
bool IsArtifactName(std::string_view name);

// A part of the name begins with a dot: what a listing hides, and shells, editors and git obey.
bool HasDotPart(std::string_view name);

// Takes out the files that no runner can have recorded. Their number; `first` gets one of their
// names.
size_t DropForeignNames(std::vector<Artifact>* files, std::string* first = nullptr);

}  // namespace tenon::run

#endif  // TENON_RUN_ARTIFACT_NAME_H_
