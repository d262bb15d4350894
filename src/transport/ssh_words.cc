// SPDX-License-Identifier: Apache-2.0
// The words ssh takes: addresses, quoting, keys, and what its configuration says.
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
#include "base/hash.h"
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

// A host name, an IP address, an alias: no blanks, nothing a shell or ssh reads otherwise.
bool IsHostWord(std::string_view text) {
  return !text.empty() && text.front() != '-' &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) {
           return c > 0x7f || IsPlain(static_cast<char>(c)) || c == '%';
         });
}

bool IsUserWord(std::string_view text) {
  return !text.empty() && text.front() != '-' &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) {
           return c > 0x7f || (c > ' ' && c != 0x7f &&
                               std::string_view("'`\";&<>|(){}").find(static_cast<char>(c)) ==
                                   std::string_view::npos);
         });
}

Result<int> ParsePort(std::string_view text, const std::string& whole) {
  int port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc() || end != text.data() + text.size() || port < 1 || port > 65535) {
    return Invalid("`" + ForTerminal(whole) + "`: a port is a number from 1 to 65535");
  }
  return port;
}

std::optional<std::string> DecodeBase64(std::string_view text) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  uint32_t bits = 0;
  int count = 0;
  while (!text.empty() && text.back() == '=') text.remove_suffix(1);
  for (const char c : text) {
    const size_t value = kDigits.find(c);
    if (value == std::string_view::npos) return std::nullopt;
    bits = bits << 6 | static_cast<uint32_t>(value);
    count += 6;
    if (count < 8) continue;
    count -= 8;
    out += static_cast<char>(bits >> count & 0xff);
  }
  return out;
}

std::string EncodeBase64(std::string_view bytes) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  uint32_t bits = 0;
  int count = 0;
  for (const unsigned char c : bytes) {
    bits = bits << 8 | c;
    count += 8;
    for (; count >= 6; count -= 6) out += kDigits[bits >> (count - 6) & 63];
  }
  if (count > 0) out += kDigits[bits << (6 - count) & 63];
  return out;
}

// "ssh-ed25519" → ED25519, as ssh says it.
std::string KeyTypeName(std::string_view word) {
  if (word.starts_with("ecdsa-")) return "ECDSA";
  if (word.starts_with("sk-ecdsa-")) return "ECDSA-SK";
  if (word.starts_with("sk-ssh-ed25519")) return "ED25519-SK";
  if (word.starts_with("ssh-")) word.remove_prefix(4);
  std::string name(word);
  for (char& c : name) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return name == "DSS" ? "DSA" : name;
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
      case '\\':  // fish reads it inside quotes
      case '!':   // and tcsh this
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

Result<SshAddress> ParseSshAddress(const std::string& text) {
  SshAddress out;
  std::string_view rest = Trim(text);
  constexpr std::string_view kScheme = "ssh://";
  if (ToLower(rest.substr(0, kScheme.size())) == kScheme) {
    rest.remove_prefix(kScheme.size());
    if (rest.ends_with('/')) rest.remove_suffix(1);
  }
  if (const size_t at = rest.rfind('@'); at != std::string_view::npos) {
    out.user = rest.substr(0, at);
    rest.remove_prefix(at + 1);
    TENON_TRY_VOID(CheckSshUser(out.user));
  }
  std::string_view host = rest, port;
  bool has_port = false;
  if (rest.starts_with('[')) {
    const size_t close = rest.find(']');
    const std::string_view behind = close == std::string_view::npos ? "" : rest.substr(close + 1);
    if (close == std::string_view::npos || !(behind.empty() || behind.starts_with(':'))) {
      return Invalid("`" + ForTerminal(text) + "` is not an address")
          .WithHint("write [2001:db8::1]:2222, or the port with --port");
    }
    host = rest.substr(1, close - 1);
    has_port = !behind.empty();
    if (has_port) port = behind.substr(1);
  } else if (std::count(rest.begin(), rest.end(), ':') == 1) {
    const size_t colon = rest.find(':');
    host = rest.substr(0, colon);
    port = rest.substr(colon + 1);
    has_port = true;
  }
  if (!IsHostWord(host)) {
    return Invalid("`" + ForTerminal(text) + "` is not the address of a machine")
        .WithHint("write an IP address, a host name, or a name of your ~/.ssh/config");
  }
  out.host = host;
  if (has_port) {
    TENON_TRY(out.port, ParsePort(port, text));
  }
  return out;
}

Status CheckSshUser(const std::string& user) {
  if (IsUserWord(user)) return {};
  return Invalid("`" + ForTerminal(user) + "` cannot be the name of a user");
}

std::string KnownHostsLine(const std::string& alias, const HostKey& key) {
  return alias + " " + key.line + "\n";
}

Result<HostKey> ParseHostKey(std::string_view text) {
  const std::vector<std::string> words = Split(Trim(text), ' ');
  const std::optional<std::string> blob =
      words.size() >= 2 ? DecodeBase64(words[1]) : std::optional<std::string>();
  if (!blob || blob->size() < 16) return Invalid("not a host key: " + ForTerminal(text));
  HostKey key;
  key.line = words[0] + " " + words[1];
  key.type = KeyTypeName(words[0]);
  key.fingerprint = "SHA256:" + EncodeBase64(Sha256Of(*blob).raw());
  return key;
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
