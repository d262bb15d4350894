// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_CLI_TARGETS_SSH_CONFIG_H_
#define TENON_CLI_TARGETS_SSH_CONFIG_H_

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace tenon::cli {

// A Host entry of an ssh configuration, with plain values: SshConfigText() quotes them and doubles
// percent signs.
struct SshConfigEntry {
  std::string host;
  std::string remark;  // a comment line above it; "": none
  std::vector<std::pair<std::string, std::string>> settings;
};
std::string SshConfigText(const std::vector<SshConfigEntry>& entries);

// Returns the user's configuration with `line` added as the first line; unchanged if the line
// already stands before any Host or Match. All other bytes stay.
std::string WithIncludeLine(const std::string& config, const std::string& line);

}  // namespace tenon::cli

#endif  // TENON_CLI_TARGETS_SSH_CONFIG_H_
