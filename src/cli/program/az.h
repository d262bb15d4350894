// SPDX-License-Identifier: Apache-2.0
// The program `az`: `az ml …` as Azure ML Workbench had it is ours and prints JSON; everything else
// is passed on to the next `az` on the PATH that is not one of ours.
#ifndef TENON_CLI_PROGRAM_AZ_H_
#define TENON_CLI_PROGRAM_AZ_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/process.h"
#include "base/result.h"

namespace tenon::engine {
class OtherMachines;
}

namespace tenon::cli {

// Stands in every `az` that install-az writes, so that one of ours is known when it is met.
inline constexpr std::string_view kAzMark = "tenon install-az";

// Carries out `az WORDS`; returns the exit code, or becomes the other az.
int AzMain(const std::vector<std::string>& words, engine::OtherMachines* others);

// Whether this file is one of ours: written by install-az, or this very program.
bool IsOurAz(const std::string& path);

// The first `az` on the PATH that is none of ours.
std::optional<std::string> FindOtherAz(const Environment& environment);

// The file install-az writes, which starts the `tenon` at that path.
std::string AzScript(const std::string& tenon);

}  // namespace tenon::cli

#endif  // TENON_CLI_PROGRAM_AZ_H_
