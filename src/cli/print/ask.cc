// SPDX-License-Identifier: Apache-2.0
#include "cli/print/ask.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <termios.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string_view>

#include "base/fd.h"
#include "base/file.h"
#include "base/text.h"
#include "cli/print/print.h"

namespace tenon::cli {
namespace {

constexpr size_t kLongestSecret = 16 << 10;
constexpr int kLookMs = 100;

UniqueFd OpenTerminal() {
  if (::isatty(STDIN_FILENO) != 1 && ::isatty(STDERR_FILENO) != 1) return UniqueFd();
  return UniqueFd(::open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY));
}

// Turns echo off while it lives. A signal that would end the program first restores the terminal.
class Hidden {
 public:
  Hidden(int fd, bool on) : fd_(on ? fd : -1) {
    if (fd_ < 0 || ::tcgetattr(fd_, &before_) != 0) {
      fd_ = -1;
      return;
    }
    termios quiet = before_;
    quiet.c_lflag &= static_cast<tcflag_t>(~ECHO);
    quiet.c_lflag |= ECHONL;
    struct sigaction action = {};
    action.sa_handler = [](int signal) { got_ = signal; };
    for (size_t i = 0; i < std::size(kSignals); ++i) ::sigaction(kSignals[i], &action, &old_[i]);
    ::tcsetattr(fd_, TCSAFLUSH, &quiet);
  }
  ~Hidden() {
    if (fd_ < 0) return;
    ::tcsetattr(fd_, TCSAFLUSH, &before_);
    for (size_t i = 0; i < std::size(kSignals); ++i) ::sigaction(kSignals[i], &old_[i], nullptr);
    const int signal = got_;
    got_ = 0;
    if (signal != 0) ::kill(::getpid(), signal);
  }
  Hidden(const Hidden&) = delete;
  Hidden& operator=(const Hidden&) = delete;
  static bool Interrupted() { return got_ != 0; }

 private:
  static constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
  static inline volatile sig_atomic_t got_ = 0;
  int fd_;
  termios before_ = {};
  struct sigaction old_[std::size(kSignals)] = {};
};

// Reads a line, without its end. nullopt on a signal or if nothing was entered.
std::optional<std::string> ReadLine(int fd) {
  std::string line;
  for (;;) {
    // Polls, because a signal may be delivered to another thread and then does not interrupt
    // read().
    pollfd wait{fd, POLLIN, 0};
    const int ready = ::poll(&wait, 1, kLookMs);
    if (Hidden::Interrupted()) return std::nullopt;
    if (ready == 0 || (ready < 0 && errno == EINTR)) continue;
    char c = 0;
    const ssize_t n = ::read(fd, &c, 1);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return line.empty() ? std::nullopt : std::optional<std::string>(line);
    if (c == '\n') return line;
    if (line.size() < kLongestSecret) line += c;
  }
}

}  // namespace

bool HasTerminal() { return OpenTerminal().valid(); }

std::optional<std::string> AskLine(const std::string& question, bool hidden) {
  const UniqueFd terminal = OpenTerminal();
  if (!terminal.valid()) return std::nullopt;
  FlushOut();
  // Echo is off before the question appears: some users, and programs, type without waiting for it.
  const Hidden quiet(terminal.get(), hidden);
  (void)WriteAll(terminal.get(), ForTerminal(question)).ok();
  return ReadLine(terminal.get());
}

bool AskYesOnTerminal(const std::string& question) {
  const std::string word = ToLower(Trim(AskLine(question + " [y/N] ", false).value_or("")));
  return word == "y" || word == "yes";
}

std::optional<std::string> AskForSsh(const std::string& prompt) {
  return AskLine(prompt, prompt.find("(yes/no") == std::string::npos);
}

Result<std::string> ReadSecretFromInput(const std::string& option) {
  std::string text;
  char buffer[4096];
  for (;;) {
    const ssize_t n = ::read(STDIN_FILENO, buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return FromErrno(option + ": read standard input", errno);
    text.append(buffer, static_cast<size_t>(n));
    if (n == 0 || text.find('\n') != std::string::npos || text.size() > kLongestSecret) break;
  }
  text.resize(std::min(text.find('\n'), text.size()));
  if (text.ends_with('\r')) text.pop_back();
  if (text.size() > kLongestSecret) return Invalid(option + ": too long for a secret");
  if (text.empty()) return Invalid(option + ": nothing came on standard input");
  return text;
}

bool HideSecretArguments(int argc, char** argv) {
  bool attach = false;
  for (int i = 1; i + 1 < argc && i < 4; ++i) {
    const std::string_view group = argv[i];
    attach |= (group == "computetarget" || group == "computecontext") &&
              std::string_view(argv[i + 1]) == "attach";
  }
  if (!attach) return false;
  bool hidden = false;
  const auto hide = [&](char* text) {
    std::memset(text, '*', std::strlen(text));
    hidden = true;
  };
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    const bool is_short = word.size() > 1 && word[0] == '-' && word[1] != '-';
    // -w SECRET and -wSECRET, also after other flags: -kw, -ykwSECRET.
    const size_t flag = is_short ? word.find_first_not_of("ky", 1) : word.npos;
    size_t after = flag != word.npos && word[flag] == 'w' ? flag + 1 : 0;
    for (const std::string_view option : {"--password", "--private-key-passphrase"}) {
      const std::string_view rest = word.starts_with(option) ? word.substr(option.size()) : "x";
      if (rest.empty() || rest[0] == '=') after = option.size();
    }
    if (after == 0) continue;
    if (after < word.size()) {
      hide(argv[i] + after);
    } else if (i + 1 < argc) {
      hide(argv[++i]);
    }
  }
  return hidden;
}

}  // namespace tenon::cli
