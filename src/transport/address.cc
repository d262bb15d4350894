// SPDX-License-Identifier: Apache-2.0
#include "transport/address.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/hash.h"
#include "base/terminal.h"
#include "base/text.h"

namespace tenon::transport {
namespace {

bool IsPlain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("_./:@+,-").find(c) != std::string_view::npos;
}

// A host name, an IP address or an alias, without blanks or characters that mean something to a
// shell or to ssh.
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

Result<MachineAddress> ParseMachineAddress(const std::string& text) {
  MachineAddress out;
  std::string_view rest = Trim(text);
  constexpr std::string_view kScheme = "ssh://";
  if (ToLower(rest.substr(0, kScheme.size())) == kScheme) {
    rest.remove_prefix(kScheme.size());
    if (rest.ends_with('/')) rest.remove_suffix(1);
  }
  if (const size_t at = rest.rfind('@'); at != std::string_view::npos) {
    out.user = rest.substr(0, at);
    rest.remove_prefix(at + 1);
    TENON_TRY_VOID(CheckLoginName(out.user));
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

Status CheckLoginName(const std::string& user) {
  if (IsUserWord(user)) return {};
  return Invalid("`" + ForTerminal(user) + "` cannot be the name of a user");
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

}  // namespace tenon::transport
