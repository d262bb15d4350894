// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_CLI_TARGETS_SSH_CONFIG_H_
#define TENON_CLI_TARGETS_SSH_CONFIG_H_

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace tenon::cli {

// A Host entry of ssh's configuration: keywords and values as they are meant; quoting and the
// doubling of percent signs are SshConfigText's affair.
struct SshConfigEntry {
  std::string host;
  std::string remark;  // a comment line above it; "" = none
  std::vector<std::pair<std::string, std::string>> settings;
};
std::string SshConfigText(const std::vector<SshConfigEntry>& entries);

// The user's configuration with `line` as its first one; as it is when it has the line already,
// before any Host or Match. Every other byte stays.
std::string WithIncludeLine(const std::string& config, const std::string& line);

}  // namespace tenon::cli

#endif  // TENON_CLI_TARGETS_SSH_CONFIG_H_
