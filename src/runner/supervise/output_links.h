// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_RUNNER_SUPERVISE_OUTPUT_LINKS_H_
#define TENON_RUNNER_SUPERVISE_OUTPUT_LINKS_H_

#include <string>
#include <vector>

namespace tenon::runner {

// Replaces each symlink in the folder `outputs` that leads to a file or folder below `work` by that
// file or folder, because `work` is removed with the run: `latest -> model_10.bin`, `best.pt ->
// ../checkpoints/best.pt`. Returns the paths, relative to `outputs`, of the symlinks that stay:
// those that lead elsewhere, nowhere, or to a folder that contains them, and those that could not
// be replaced. If `outputs` is itself a symlink, its folder is not ours to change, and all symlinks
// stay.
std::vector<std::string> ResolveLinks(const std::string& work, const std::string& outputs);

// If `outputs` is a symlink to `home` or to a folder that contains it, such as / or the user's
// home, returns that folder: it is too large to collect. "": it may be collected.
std::string LeadsAbove(const std::string& outputs, const std::string& home);

}  // namespace tenon::runner

#endif  // TENON_RUNNER_SUPERVISE_OUTPUT_LINKS_H_
