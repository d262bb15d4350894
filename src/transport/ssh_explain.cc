// SPDX-License-Identifier: Apache-2.0
// Explains the failures of ssh in words that a user can act on.
#include <algorithm>
#include <optional>

#include "base/text.h"
#include "transport/ssh_words.h"

namespace tenon::transport {
namespace {

bool Has(const std::string& text, std::string_view words) {
  return text.find(words) != std::string::npos;
}

std::string Place(const SshTarget& target) {
  std::string place = ForTerminal(target.address);
  if (target.port != 0) place += ":" + std::to_string(target.port);
  return place;
}

std::string Login(const SshTarget& target) {
  return (target.user.empty() ? "" : ForTerminal(target.user) + "@") + Place(target);
}

// The first line with these words, made safe for a terminal; "" if there is none.
std::string LineWith(const std::string& text, std::string_view words) {
  for (const std::string& line : Split(text, '\n')) {
    if (Has(line, words)) return ForTerminal(Trim(line));
  }
  return "";
}

// "publickey,password" of "Permission denied (publickey,password)."
std::string Methods(const std::string& text) {
  const size_t open = text.rfind("Permission denied (");
  if (open == std::string::npos) return "";
  const size_t begin = text.find('(', open) + 1;
  return ForTerminal(text.substr(begin, text.find(')', begin) - begin));
}

std::optional<Error> HostKeyTrouble(const SshTarget& target, const std::string& text) {
  const bool about_key = Has(text, "Host key verification failed") ||
                         Has(text, "REMOTE HOST IDENTIFICATION HAS CHANGED") ||
                         Has(text, "host key is known for");
  if (!about_key) return std::nullopt;
  if (!Has(text, target.alias)) {
    return Denied("a machine on the way to " + Place(target) +
                  " shows a host key that ssh does not know")
        .WithHint("connect to it once with `ssh`, then try again")
        .WithReason(kHostKeyRefused);
  }
  return Denied("the machine at " + Place(target) +
                " shows another host key than the one you agreed to; nothing was sent to it")
      .WithHint("if it was reinstalled: `tenon computetarget test " + ShellQuote(target.name) +
                " --accept-host-key`; if not, somebody may be in between")
      .WithReason(kHostKeyRefused);
}

std::optional<Error> KeyFileTrouble(const SshTarget& target, const std::string& text) {
  if (!target.identity_file.empty() && Has(text, "Load key \"")) {
    return Denied("log in to " + Login(target) +
                  ": ssh can't read the key: " + LineWith(text, "Load key \""))
        .WithHint(
            "a key of PuTTY becomes one of OpenSSH with `puttygen KEY.ppk -O "
            "private-openssh -o KEY`");
  }
  if (Has(text, "UNPROTECTED PRIVATE KEY FILE") || Has(text, "bad permissions")) {
    return Denied("log in to " + Login(target) + ": ssh refuses a private key others can read")
        .WithHint("chmod 600 " + (target.identity_file.empty() ? std::string("FILE")
                                                               : ShellQuote(target.identity_file)));
  }
  return std::nullopt;
}

// The last line of the server that has letters; "" if there is none. Lines of ssh itself are
// skipped, since some of the server's words stand among them.
std::string LastWords(const std::string& text) {
  constexpr size_t kMost = 200;
  constexpr const char* kOfSsh[] = {"Warning:",      "Permission denied",  "Load key",
                                    "Authenticated", "Connection",         "Killed by",
                                    "ssh: ",         "Received disconnect"};
  std::string last;
  for (const std::string& line : Split(text, '\n')) {
    const bool words = std::any_of(line.begin(), line.end(), [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    });
    const bool own = std::any_of(std::begin(kOfSsh), std::end(kOfSsh),
                                 [&](const char* begin) { return Has(line, begin); });
    if (words && !own) last = ForTerminal(Trim(line.substr(0, kMost)));
  }
  return last;
}

std::optional<Error> LoginTrouble(const SshTarget& target, const SshOutcome& outcome,
                                  const std::string& text) {
  const std::string doing = "log in to " + Login(target) + ": ";
  const std::string name = ShellQuote(target.name);
  if (outcome.had_password && !outcome.unanswered.empty()) {
    return Denied(doing + "the server asked for more than the password, and nobody answered: \"" +
                  ForTerminal(Trim(outcome.unanswered)) + "\"")
        .WithHint(
            "log in once by hand with `ssh` and answer it; so a password that has expired is "
            "changed");
  }
  if (outcome.password_refused) {
    const std::string said = LastWords(outcome.server_words + "\n" + text);
    return Denied(
               doing + "the password is wrong" +
               (said.empty() ? "" : ", or this account may not log in; the server said: " + said))
        .WithHint("`tenon secrets set " + name + "` stores another one")
        .WithReason(kPasswordWrong);
  }
  if (Has(text, "Too many authentication failures")) {
    return Denied(doing + "the server gave up after too many keys")
        .WithHint(
            "name the right one: --private-key-file, or IdentityFile and IdentitiesOnly in "
            "~/.ssh/config; or --password-stdin");
  }
  if (!Has(text, "Permission denied (")) return std::nullopt;
  const std::string methods = Methods(text);
  Error error = Denied(doing + "permission denied (the server takes " + methods + ")")
                    .WithReason(kLoginRefused);
  const bool passwords = Has(methods, "password") || Has(methods, "keyboard-interactive");
  if (passwords && !outcome.password_asked && !outcome.cannot_ask.empty()) {
    return Denied(doing + outcome.cannot_ask)
        .WithHint(
            "put a copy of tenon where this user may start it, for example into /usr/local/bin, "
            "and use that one");
  }
  if (outcome.had_password && passwords && !outcome.password_asked) {
    error.hint =
        "ssh did not ask for the password: PasswordAuthentication or PreferredAuthentications in "
        "~/.ssh/config keep it from that";
  } else if (outcome.had_password && passwords) {
    error.reason = kPasswordNeeded;
    error.hint = "is it the right password for this user? `tenon secrets set " + name +
                 "` stores another one";
  } else if (outcome.had_password) {
    error.reason = kKeysOnly;
    error.hint = "this server takes keys only: --private-key-file FILE, or -k to make one";
  } else if (!outcome.unanswered.empty()) {
    error.hint = "nobody could answer: " + ForTerminal(Trim(outcome.unanswered));
  } else if (passwords) {
    error.reason = kPasswordNeeded;
    error.hint = "`tenon secrets set " + name + "` stores the password, or use a key";
  } else {
    error.hint = "the server knows none of your keys; `ssh -v` shows which were tried";
  }
  return error;
}

// Tried in this order; the first row that fits counts.
constexpr struct {
  const char* words;
  const char* meaning;
  const char* hint;
} kNetwork[] = {
    {"Could not resolve hostname", "no machine of that name is known",
     "check the address; `tenon computetarget update NAME --address HOST` changes a target's"},
    {"Connection refused", "the machine is there, but no SSH server answers on that port",
     "is sshd running, and the port right?"},
    {"No route to host", "there is no way to that machine",
     "is it switched on, and the network "
     "(VPN) up?"},
    {"Network is unreachable", "there is no way to that machine", "is the network (VPN) up?"},
    {"Connection timed out", "no answer",
     "is the machine switched on, and port open in its "
     "firewall?"},
    {"Operation timed out", "no answer",
     "is the machine switched on, and port open in its "
     "firewall?"},
    {"timed out", "no answer", "is the machine switched on, and port open in its firewall?"},
    {"not responding", "the connection was lost: no answer any more", ""},
    {"Broken pipe", "the connection was lost", ""},
    {"Connection reset", "the connection was cut", ""},
    {"closed by remote host", "the connection was closed by the server", ""},
    {"Connection closed", "the connection was closed by the server",
     "a server under load or a firewall does that; try again"},
    {"administratively prohibited", "a machine on the way does not let connections through",
     "AllowTcpForwarding on the jump host"},
};

}  // namespace

std::string WithoutRemarks(const std::string& text) {
  std::string rest;
  for (const std::string& line : Split(text, '\n')) {
    if (!Has(line, ": Unsupported option \"")) rest += line + "\n";
  }
  return rest;
}

Error ExplainSsh(const SshTarget& target, const SshOutcome& outcome,
                 const std::string& standard_error) {
  const std::string text = WithoutRemarks(standard_error);
  if (auto error = HostKeyTrouble(target, text)) return *std::move(error);
  for (const char* words : {"Bad configuration option", "Bad owner or permissions",
                            "bad configuration options", "keyword "}) {
    if (Has(text, words)) {
      return Invalid("ssh does not take its configuration: " + LineWith(text, words))
          .WithHint("look at ~/.ssh/config; `ssh -G " + ForTerminal(target.address) + "` tries it");
    }
  }
  if (auto error = LoginTrouble(target, outcome, text)) {
    if (auto key = KeyFileTrouble(target, text)) return *std::move(key);
    return *std::move(error);
  }
  if (Has(text, "Unable to negotiate") || Has(text, "no matching")) {
    return Invalid("connect to " + Place(target) + ": " + LineWith(text, "no matching"))
        .WithHint("the server is very old; ~/.ssh/config can allow its methods for this host");
  }
  for (const auto& row : kNetwork) {
    if (Has(text, row.words)) {
      return Unavailable("connect to " + Place(target) + ": " + row.meaning).WithHint(row.hint);
    }
  }
  if (!outcome.unanswered.empty()) {
    return Denied("log in to " + Login(target) + ": nobody answered the question \"" +
                  ForTerminal(Trim(outcome.unanswered)) + "\"");
  }
  const std::string said = ForTerminal(Trim(text.substr(0, 600)));
  return Unavailable("connect to " + Place(target) + ": " +
                     (said.empty() ? "ssh ended without a word" : said));
}

}  // namespace tenon::transport
