// SPDX-License-Identifier: Apache-2.0
#include "cli/targets/ssh_config.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>

#include "base/file.h"
#include "base/process.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/parse/options.h"
#include "cli/print/print.h"
#include "cli/projects/config_files.h"
#include "cli/targets/host_name.h"
#include "cli/targets/known_hosts.h"
#include "cli/targets/target_host.h"

namespace tenon::cli {
namespace {

using engine::HostRecord;

constexpr const char* kInclude = "Include tenon_config";
constexpr int kAskMs = 20'000;

struct Options {
  std::string host;
  bool write = false, yes = false;
};

// Keywords in whose value ssh expands percent signs; literal ones are doubled.
bool TakesTokens(const std::string& keyword) {
  static const std::set<std::string> keywords = {"HostName", "IdentityFile", "UserKnownHostsFile",
                                                 "ControlPath"};
  return keywords.contains(keyword);
}

std::string Value(const std::string& keyword, const std::string& text) {
  std::string value;
  for (const char c : text) {
    if (c == '%' && TakesTokens(keyword)) value += '%';
    value += c;
  }
  const bool plain = value.find_first_of(" \t#=\"'\\") == std::string::npos;
  if (plain || keyword == "ProxyCommand") return value;
  std::string quoted = "\"";
  for (const char c : value) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + '"';
}

// A name for the entry, without blanks or patterns. Machines of the same target name get their id
// appended.
std::string EntryName(const HostRecord& host, const std::map<std::string, int>& counts) {
  std::string name;
  for (const char c : host.target) {
    const bool bad = c <= ' ' || c == '*' || c == '?' || c == '!' || c == '"' || c == '#' ||
                     c == ',' || c == 0x7f;
    name += bad ? '_' : c;
  }
  const bool alone = counts.at(host.target) == 1;
  return alone ? name : name + "-" + host.id.substr(0, kHostDigits);
}

// What the user's own ssh configuration says about an address, which may be an alias or behind a
// jump host.
std::map<std::string, std::string> AskSsh(const std::string& address) {
  std::map<std::string, std::string> found;
  const auto asked = RunAndCapture({"ssh", "-G", "--", address}, "", "", kAskMs);
  if (!asked.ok() || asked->status.AsShell() != 0) return found;
  for (const std::string& line : Split(asked->out, '\n')) {
    const size_t blank = line.find(' ');
    if (blank != std::string::npos) found.emplace(line.substr(0, blank), line.substr(blank + 1));
  }
  return found;
}

Result<SshConfigEntry> EntryFor(const engine::Context& context, const HostRecord& host,
                                const std::string& name) {
  TENON_TRY(const auto ssh, engine::SshTargetOf(context.home, host));
  std::map<std::string, std::string> own = AskSsh(host.address);
  SshConfigEntry entry;
  entry.host = name;
  entry.remark = "target " + OneLine(host.target) + " of " + OneLine(host.project_root);
  // a second line would become settings
  std::replace(entry.remark.begin(), entry.remark.end(), '\n', ' ');
  const auto add = [&](const char* keyword, const std::string& value) {
    if (!value.empty()) entry.settings.emplace_back(keyword, value);
  };
  add("HostName", own["hostname"].empty() ? host.address : own["hostname"]);
  if (host.port != 0) add("Port", std::to_string(host.port));
  if (host.port == 0) add("Port", own["port"]);
  add("User", host.user.empty() ? own["user"] : host.user);
  if (own["proxyjump"] != "none") add("ProxyJump", own["proxyjump"]);
  if (own["proxycommand"] != "none") add("ProxyCommand", own["proxycommand"]);
  add("IdentityFile", host.identity_file);
  if (!host.identity_file.empty()) add("IdentitiesOnly", "yes");
  add("HostKeyAlias", ssh.alias);
  add("UserKnownHostsFile", ssh.known_hosts);
  add("StrictHostKeyChecking", "yes");
  // While Tenon's own connection is open, ssh uses it and needs no password.
  if (!ssh.control_path.empty()) add("ControlPath", ssh.control_path);
  return entry;
}

Status Write(const Options& options, const std::string& text, const Environment& environment) {
  const std::string home = GetVariable(environment, "HOME");
  if (home.empty()) return Invalid("HOME is not set");
  const std::string folder = JoinPath(home, ".ssh"), config = JoinPath(folder, "config");
  auto before = ReadFile(config);
  if (!before.ok() && before.error().kind != ErrorKind::kNotFound) return before.error();
  const std::string old = before.ok() ? *before : "";
  const std::string changed = WithIncludeLine(old, kInclude);
  if (!options.yes && changed != old) {
    TENON_TRY(const bool yes, AskYes("add the line `" + std::string(kInclude) + "` at the top of " +
                                         OneLine(config) + "?",
                                     "--yes"));
    if (!yes) return Invalid("nothing was changed");
  }
  TENON_TRY_VOID(MakeDirs(folder, 0700));
  TENON_TRY_VOID(
      WriteFileAtomically(JoinPath(folder, "tenon_config"), text, 0600, Durability::kPowerLoss));
  if (changed == old) return {};
  // If the configuration is a symlink, replaces the file that it points to.
  struct stat info {};
  std::string target = config;
  char real[4096];
  if (::lstat(config.c_str(), &info) == 0 && S_ISLNK(info.st_mode) &&
      ::realpath(config.c_str(), real) != nullptr) {
    target = real;
  }
  const bool there = ::stat(target.c_str(), &info) == 0;
  return WriteFileAtomically(target, changed, there ? info.st_mode & 0777 : 0600,
                             Durability::kPowerLoss);
}

Result<int> Act(Session& session, const Options& options) {
  TENON_TRY(engine::Context * context, session.Context());
  TENON_TRY(auto all, KnownHosts(context->home));
  std::erase_if(all, [&](const HostRecord& host) { return IsLeftBehind(context->home, host); });
  std::map<std::string, int> counts;
  for (const HostRecord& host : all) ++counts[host.target];
  std::vector<HostRecord> chosen = all;
  if (!options.host.empty()) {
    TENON_TRY(const HostRecord one, FindHost(session, options.host));
    if (!options.write) chosen = {one};
  }
  std::vector<SshConfigEntry> entries;
  for (const HostRecord& host : chosen) {
    if (host.host_key.empty()) continue;
    TENON_TRY(SshConfigEntry entry, EntryFor(*context, host, EntryName(host, counts)));
    if (host.has_password && host.identity_file.empty()) {
      PrintErr(entry.host +
               ": Tenon logs in there with a password, which is not in this file; other programs "
               "ask for it, or use the connection that `tenon host show " +
               ShellQuote(host.target) + "` opens for ten minutes\n");
    }
    entries.push_back(std::move(entry));
  }
  if (entries.empty()) {
    return NotFound("no machine is known yet")
        .WithHint("`tenon computetarget attach remote` makes one known");
  }
  const std::string text = SshConfigText(entries);
  if (!options.write) {
    PrintData(text);
    return 0;
  }
  TENON_TRY_VOID(Write(options, text, session.environment));
  for (const SshConfigEntry& entry : entries) PrintOut("ssh " + entry.host + "\n");
  return 0;
}

}  // namespace

std::string SshConfigText(const std::vector<SshConfigEntry>& entries) {
  std::string text = "# Made by `tenon ssh-config`, which replaces this file.\n";
  for (const SshConfigEntry& entry : entries) {
    text += "\n";
    if (!entry.remark.empty()) text += "# " + entry.remark + "\n";
    text += "Host " + entry.host + "\n";
    for (const auto& [keyword, value] : entry.settings) {
      text += "  " + keyword + " " + Value(keyword, value) + "\n";
    }
  }
  return text;
}

std::string WithIncludeLine(const std::string& config, const std::string& line) {
  for (const std::string& present : Split(config, '\n')) {
    const std::string word = ToLower(Trim(present));
    if (word == ToLower(line)) return config;
    if (word.starts_with("host ") || word.starts_with("match ")) break;
  }
  return line + "\n" + config;
}

Command SshConfigCommand() {
  return {
      {{"ssh-config"}},
      "Print entries for ~/.ssh/config, for editors and other programs",
      "One Host entry for each machine that is known, named after its target, with the host key "
      "that was agreed to. --write puts them into ~/.ssh/tenon_config and one Include line at "
      "the top of ~/.ssh/config; every other byte of it stays. Passwords are never in there.",
      {"tenon ssh-config", "tenon ssh-config my_dsvm", "tenon ssh-config --write"},
      [](OptionTable& table, const std::vector<std::string>&) -> Action {
        auto options = std::make_shared<Options>();
        table.Add("TARGET", &options->host, "One machine only (not with --write)");
        table.Flag("--write", &options->write,
                   "Write all of them into ~/.ssh/tenon_config and have ssh read it");
        table.Flag("-y,--yes", &options->yes, "Don't ask");
        return [options](Session& session) { return Act(session, *options); };
      }};
}

}  // namespace tenon::cli
