// SPDX-License-Identifier: Apache-2.0
// The program `az`. Tenon carries out the `az ml …` commands of Azure ML Workbench and prints JSON.
// It passes everything else on to the next `az` on the PATH that is not Tenon's.
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

// In every `az` script of install-az; marks the script as Tenon's.
inline constexpr std::string_view kAzMark = "tenon install-az";

// Carries out `az WORDS`. Returns the exit code, or replaces this process by the other az.
int AzMain(const std::vector<std::string>& words, engine::OtherMachines* others);

// Whether the file was written by install-az or is this program.
bool IsOurAz(const std::string& path);

// The first `az` on the PATH that is not Tenon's.
std::optional<std::string> FindOtherAz(const Environment& environment);

// The script that install-az writes. It starts the `tenon` at this path.
std::string AzScript(const std::string& tenon);

}  // namespace tenon::cli

#endif  // TENON_CLI_PROGRAM_AZ_H_
