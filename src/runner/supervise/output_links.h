// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_RUNNER_SUPERVISE_OUTPUT_LINKS_H_
#define TENON_RUNNER_SUPERVISE_OUTPUT_LINKS_H_

#include <string>
#include <vector>

namespace tenon::runner {

// Makes of every symlink in the folder `outputs` that leads to a file or folder below `work` that
// file or folder, for `work` goes away with the run: `latest -> model_10.bin`, `best.pt ->
// ../checkpoints/best.pt`. Returns the paths, below `outputs`, of those that stay: they lead
// elsewhere, nowhere, or to a folder they lie in. An `outputs` that is a symlink itself is not ours
// to change: then all stay.
std::vector<std::string> ResolveLinks(const std::string& work, const std::string& outputs);

// Where a symlink in place of the folder `outputs` leads, if that is a folder in which `home` lies,
// such as / or the user's home: what to collect has no end there. "": it may be collected.
std::string LeadsAbove(const std::string& outputs, const std::string& home);

}  // namespace tenon::runner

#endif  // TENON_RUNNER_SUPERVISE_OUTPUT_LINKS_H_
