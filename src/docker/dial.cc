// SPDX-License-Identifier: Apache-2.0
#include "docker/dial.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include "base/file.h"
#include "base/process.h"
#include "base/text.h"
#include "net/http_client.h"

namespace tenon::docker {
namespace {

constexpr int kTryMs = 15'000;

using Command = std::vector<std::string>;

struct Helpers {
  std::vector<Command> commands;

  std::mutex mutex;                          // guards what follows
  std::map<std::string, Command> works;      // by socket
  std::map<std::string, std::string> fails;  // what was tried, by socket
};

Helpers& TheHelpers() {
  static Helpers helpers;
  return helpers;
}

Command ForSocket(Command command, const std::string& socket) {
  for (std::string& word : command) {
    if (const size_t at = word.find("{}"); at != std::string::npos) word.replace(at, 2, socket);
  }
  return command;
}

std::string LastLine(std::string_view text) {
  text = Trim(text);
  return std::string(text.substr(text.rfind('\n') + 1));
}

// Runs the helper with empty input: the engine then hangs up at once, and the helper exits with 0.
// Returns nullopt when it works, else what went wrong.
std::optional<std::string> TryHelper(const Command& command) {
  auto ran = RunAndCapture(command, "/", "", kTryMs, 64u << 10);
  if (!ran.ok()) return ran.error().message;
  if (ran->timed_out) return "no answer";
  if (ran->status.AsShell() == 0) return std::nullopt;
  const std::string words = LastLine(ran->err);
  return words.empty() ? "exit code " + std::to_string(ran->status.AsShell()) : words;
}

std::string InWords(const Command& command) {
  std::string text;
  for (const std::string& word : command) text += (text.empty() ? "" : " ") + word;
  return text;
}

// Returns the helper that reaches the socket. nullopt: none does, and `tried` says what was tried.
std::optional<Command> FindHelper(const std::string& socket, std::string* tried) {
  Helpers& helpers = TheHelpers();
  const std::lock_guard<std::mutex> lock(helpers.mutex);
  if (auto found = helpers.works.find(socket); found != helpers.works.end()) return found->second;
  if (auto found = helpers.fails.find(socket); found != helpers.fails.end()) {
    *tried = found->second;
    return std::nullopt;
  }
  for (const Command& helper : helpers.commands) {
    const Command command = ForSocket(helper, socket);
    const auto problem = TryHelper(command);
    if (!problem) {
      helpers.works.emplace(socket, command);
      return command;
    }
    *tried += (tried->empty() ? "" : "; ") + ("`" + InWords(command) + "`: " + *problem);
  }
  helpers.fails.emplace(socket, *tried);
  return std::nullopt;
}

// Starts the helper through a second fork, so that we need not wait for its end. It ends with the
// connection.
Result<UniqueFd> StartHelper(const Command& command) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    return FromErrno("starting " + command[0], errno);
  }
  UniqueFd ours(ends[0]), theirs(ends[1]);
  TENON_TRY(const UniqueFd null, OpenFile("/dev/null", O_WRONLY));
  SpawnOptions options;
  options.argv = command;
  options.env = CurrentEnvironment();
  options.cwd = "/";
  options.stdin_fd = options.stdout_fd = theirs.get();
  options.stderr_fd = null.get();
  options.new_session = true;
  pid_t between = -1;
  options.fork = [&between]() -> pid_t {
    between = ::fork();
    if (between != 0) return between;
    const pid_t child = ::fork();
    if (child != 0) ::_exit(child < 0 ? 1 : 0);
    return 0;
  };
  auto started = Spawn(options);
  while (between > 0 && ::waitpid(between, nullptr, 0) < 0 && errno == EINTR) {
  }
  if (!started.ok()) return std::move(started).error();
  return ours;
}

}  // namespace

void SetDialHelpers(std::vector<Command> commands) {
  Helpers& helpers = TheHelpers();
  const std::lock_guard<std::mutex> lock(helpers.mutex);
  helpers.commands = std::move(commands);
  helpers.works.clear();
  helpers.fails.clear();
}

Result<UniqueFd> DialSocket(const std::string& socket, int timeout_ms) {
  return net::DialUnix(socket, timeout_ms);
}

Result<UniqueFd> DialEngine(const std::string& socket, int timeout_ms) {
  auto direct = DialSocket(socket, timeout_ms);
  if (direct.ok() || direct.error().kind != ErrorKind::kDenied) return direct;
  std::string tried;
  if (const auto helper = FindHelper(socket, &tried)) return StartHelper(*helper);
  if (tried.empty()) return direct;
  return std::move(direct).error().WithHint("tried as well: " + tried).WithReason(kHelpersFailed);
}

bool NeedsHelper(const std::string& socket) {
  Helpers& helpers = TheHelpers();
  const std::lock_guard<std::mutex> lock(helpers.mutex);
  return helpers.works.contains(socket);
}

}  // namespace tenon::docker
