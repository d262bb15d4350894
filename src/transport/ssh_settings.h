// SPDX-License-Identifier: Apache-2.0
// The command lines of ssh: what every connection of ours is told.
#ifndef TENON_TRANSPORT_SSH_SETTINGS_H_
#define TENON_TRANSPORT_SSH_SETTINGS_H_

#include <string>
#include <vector>

#include "base/result.h"
#include "transport/ssh.h"

namespace tenon::transport {

// Quotes a path as the value of a setting: ssh splits values into words and expands % in them.
std::string AsValue(const std::string& path);
// Whether ssh would expand the path: it replaces ${NAME}, and that cannot be escaped.
bool IsExpanded(const std::string& path);

// The part of the command line that names the machine.
std::vector<std::string> Destination(const SshTarget& target);
// "-o SETTING" for each.
std::vector<std::string> AsOptions(const std::vector<std::string>& settings);
// The settings of every connection of ours, whatever the user's configuration says. `version`: of
// the ssh program, as SshVersion() returns it.
std::vector<std::string> CommonSettings(const SshTarget& target, int version);
std::string KnownHostsSetting(const std::string& path);

// Fails with kInvalid if ssh can't be told of this target.
Status CheckTarget(const SshTarget& target);
// The same; also fails with kDenied while no key is pinned.
Status CheckPinned(const SshTarget& target);

}  // namespace tenon::transport

#endif  // TENON_TRANSPORT_SSH_SETTINGS_H_
