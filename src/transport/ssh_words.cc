// SPDX-License-Identifier: Apache-2.0
// Quotes words for shells, and reads the version and the configuration of ssh.
#include "transport/ssh_words.h"

#if defined(__aarch64__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif
#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <map>

#include "base/file.h"
#include "base/process.h"
#include "base/text.h"
#include "transport/ssh.h"

namespace tenon::transport {
namespace {

constexpr int kConfigMs = 10'000;

bool ProcessorHasAes() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("aes") && __builtin_cpu_supports("pclmul");
#elif defined(__aarch64__)
  return (::getauxval(AT_HWCAP) & HWCAP_AES) != 0;
#else
  return false;
#endif
}

bool IsPlain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("_./:@+,-").find(c) != std::string_view::npos;
}

}  // namespace

std::string QuoteForAnyShell(std::string_view word) {
  if (!word.empty() && std::all_of(word.begin(), word.end(), IsPlain)) return std::string(word);
  std::string out;
  bool quoted = false;
  const auto quote = [&](bool on) {
    if (quoted != on) out += '\'';
    quoted = on;
  };
  for (const char c : word) {
    switch (c) {
      case '\'':
        quote(false);
        out += "\"'\"";
        break;
      case '\\':  // read inside quotes by fish
      case '!':   // and this one by tcsh
        quote(false);
        out += '\\';
        out += c;
        break;
      default:
        quote(true);
        out += c;
    }
  }
  quote(false);
  return out.empty() ? "''" : out;
}

Result<SshConfiguration> AskSshConfiguration(const std::vector<std::string>& words) {
  std::vector<std::string> argv{"ssh", "-G", "-T"};
  argv.insert(argv.end(), words.begin(), words.end());
  TENON_TRY(const CaptureResult result, RunAndCapture(argv, "", "", kConfigMs, 1 << 20));
  if (result.timed_out) return Unavailable("`ssh -G` did not answer in 10 s");
  if (result.status.AsShell() != 0) {
    std::string said = result.err.substr(0, 500);
    std::erase(said, '\r');
    return Invalid("ssh does not understand its configuration: " + ForTerminal(Trim(said)))
        .WithHint("try `ssh -G " + ForTerminal(words.back()) + "`");
  }
  std::map<std::string, std::string> said;
  for (const std::string& line : Split(result.out, '\n')) {
    const size_t blank = line.find(' ');
    if (blank != std::string::npos) said.emplace(line.substr(0, blank), line.substr(blank + 1));
  }
  SshConfiguration out;
  out.defaults.host_name = said["hostname"];
  out.defaults.user = said["user"];
  const int port = std::atoi(said["port"].c_str());
  if (port > 0) out.defaults.port = port;
  for (const char* key : {"proxyjump", "proxycommand"}) {
    if (!said[key].empty() && said[key] != "none") out.jumps = true;
  }
  out.ciphers = said["ciphers"];
  return out;
}

int SshVersion(const std::string& folder) {
  const char* path = ::getenv("PATH");
  const auto program = FindProgram("ssh", path != nullptr ? path : "/usr/local/bin:/usr/bin:/bin");
  struct stat info;
  if (!program || ::stat(program->c_str(), &info) != 0) return kNewestSsh;
  const std::string which =
      *program + " " + std::to_string(info.st_size) + " " + std::to_string(info.st_mtime) + " ";
  const std::string note = folder.empty() ? "" : JoinPath(folder, "ssh-version");
  if (!note.empty()) {
    const Result<std::string> known = ReadFile(note, 4096);
    const int version =
        known.ok() && known->starts_with(which) ? std::atoi(known->c_str() + which.size()) : 0;
    if (version > 0) return version;
  }
  const Result<CaptureResult> said = RunAndCapture({*program, "-V"}, "", "", 5000, 4096);
  if (!said.ok()) return kNewestSsh;
  const size_t at = said->err.find("OpenSSH_");
  if (at == std::string::npos) return kNewestSsh;
  int major = 0, minor = 0;
  const char* end = said->err.data() + said->err.size();
  const auto [dot, bad] = std::from_chars(said->err.data() + at + 8, end, major);
  if (bad != std::errc()) return kNewestSsh;
  if (dot < end && *dot == '.') std::from_chars(dot + 1, end, minor);
  const int version = 100 * major + minor;
  if (!note.empty()) {
    (void)WriteFileAtomically(note, which + std::to_string(version) + "\n", 0600,
                              Durability::kProcess)
        .ok();
  }
  return version;
}

std::string QuickerCiphers(const std::string& ciphers) {
  const std::string slow = "chacha20-poly1305@openssh.com";
  const std::string quick = "aes128-gcm@openssh.com,aes256-gcm@openssh.com";
  const std::string plain = "aes128-ctr,aes192-ctr,aes256-ctr";
  const bool unchosen = ciphers == slow + "," + plain + "," + quick ||  // before OpenSSH 10
                        ciphers == slow + "," + quick + "," + plain;
  return unchosen && ProcessorHasAes() ? quick + "," + slow + "," + plain : "";
}

Result<SshDefaults> AskSshDefaults(const std::string& address) {
  TENON_TRY(const SshConfiguration found, AskSshConfiguration({"--", address}));
  return found.defaults;
}

}  // namespace tenon::transport
