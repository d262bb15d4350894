// SPDX-License-Identifier: Apache-2.0
#include "transport/ssh_settings.h"

#include "base/text.h"
#include "transport/ssh_words.h"

namespace tenon::transport {

std::string AsValue(const std::string& path) {
  std::string out = "\"";
  for (const char c : path) {
    if (c == '%') out += '%';
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

bool IsExpanded(const std::string& path) { return path.find("${") != std::string::npos; }

std::vector<std::string> Destination(const SshTarget& target) {
  std::vector<std::string> words;
  if (!target.user.empty()) words.insert(words.end(), {"-l", target.user});
  if (target.port != 0) words.insert(words.end(), {"-p", std::to_string(target.port)});
  words.insert(words.end(), {"--", target.address});
  return words;
}

std::vector<std::string> AsOptions(const std::vector<std::string>& settings) {
  std::vector<std::string> words;
  for (const std::string& setting : settings) words.insert(words.end(), {"-o", setting});
  return words;
}

std::vector<std::string> CommonSettings(const SshTarget& target, int version) {
  std::vector<std::string> settings = {"HostKeyAlias=" + target.alias,
                                       "GlobalKnownHostsFile=/dev/null",
                                       "UpdateHostKeys=no",
                                       "CheckHostIP=no",
                                       "VerifyHostKeyDNS=no",
                                       "ConnectTimeout=20",
                                       "ServerAliveInterval=10",
                                       "ServerAliveCountMax=4",
                                       "TCPKeepAlive=yes",
                                       "ForwardX11=no",
                                       "ForwardAgent=no",
                                       "PermitLocalCommand=no",
                                       "EscapeChar=none",
                                       "LogLevel=ERROR"};
  // Only the pinned key counts, whatever a command of the user's configuration says.
  if (version >= kKnownHostsCommandSince) settings.emplace_back("KnownHostsCommand=none");
  return settings;
}

std::string KnownHostsSetting(const std::string& path) {
  return "UserKnownHostsFile=" + AsValue(path);
}

Status CheckTarget(const SshTarget& target) {
  if (target.address.empty()) return Invalid("target " + target.name + " has no address");
  TENON_TRY(const MachineAddress parsed, ParseMachineAddress("[" + target.address + "]"));
  if (!target.user.empty()) TENON_TRY_VOID(CheckLoginName(target.user));
  for (const std::string& path : {target.known_hosts, target.identity_file}) {
    if (!IsExpanded(path)) continue;
    return Invalid("ssh takes ${…} in a path for a variable: " + ForTerminal(path))
        .WithHint("choose another TENON_HOME, or rename the key file");
  }
  TENON_EXPECT_PEER(!target.alias.empty() && target.alias[0] != '-',
                    "target " + target.name + ": no alias for its host key");
  return {};
}

Status CheckPinned(const SshTarget& target) {
  TENON_TRY_VOID(CheckTarget(target));
  if (!target.known_hosts.empty()) return {};
  return Denied("the host key of " + ForTerminal(target.address) + " has not been looked at yet")
      .WithHint("`tenon computetarget test " + ShellQuote(target.name) + "` shows it and asks")
      .WithReason(kHostKeyRefused);
}

}  // namespace tenon::transport
