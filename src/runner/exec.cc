// SPDX-License-Identifier: Apache-2.0
#include "runner/exec.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <termios.h>
#include <unistd.h>

#include <cerrno>

#include "base/file.h"
#include "base/poll_loop.h"
#include "base/text.h"
#include "docker/engine.h"
#include "docker/frames.h"
#include "executor/container_config.h"
#include "run/env_vars.h"
#include "run/verbs.h"
#include "runner/container_run.h"
#include "runner/environment_image.h"
#include "runner/facts.h"
#include "runner/request.h"
#include "runner/small_verbs.h"

namespace tenon::runner {
namespace {

constexpr int kNotStartedCode = 125;

// The terminal passes every key on while this lives.
class RawTerminal {
 public:
  explicit RawTerminal(bool wanted) {
    if (!wanted || ::tcgetattr(STDIN_FILENO, &before_) != 0) return;
    termios raw = before_;
    ::cfmakeraw(&raw);
    changed_ = ::tcsetattr(STDIN_FILENO, TCSADRAIN, &raw) == 0;
  }
  ~RawTerminal() {
    if (changed_) ::tcsetattr(STDIN_FILENO, TCSADRAIN, &before_);
  }
  RawTerminal(const RawTerminal&) = delete;
  RawTerminal& operator=(const RawTerminal&) = delete;

 private:
  termios before_{};
  bool changed_ = false;
};

// Bytes between our streams and those of a command in a container, until it ends.
class Conversation {
 public:
  Conversation(docker::Engine& engine, std::string exec, docker::Stream stream, bool tty)
      : engine_(engine),
        exec_(std::move(exec)),
        stream_(std::move(stream)),
        tty_(tty),
        frames_([](int which, std::string_view bytes) {
          (void)WriteAll(which == 2 ? STDERR_FILENO : STDOUT_FILENO, bytes).ok();
        }) {}

  Status Run() {
    RawTerminal raw(tty_);
    if (tty_) {
      TENON_TRY_VOID(loop_.HandleSignals({SIGWINCH}, [this](int) { TellSize(); }));
      TellSize();
    }
    if (!Show(stream_.buffered)) return {};
    loop_.AddFd(stream_.fd.get(), [this] { OnOutput(); });
    loop_.AddFd(STDIN_FILENO, [this] { OnInput(); });
    loop_.Run();
    return {};
  }

 private:
  void TellSize() {
    winsize size{};
    if (::ioctl(STDIN_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0) {
      (void)engine_.ResizeExec(exec_, size.ws_row, size.ws_col).ok();
    }
  }
  bool Show(std::string_view bytes) {
    if (!tty_) return frames_.Feed(bytes).ok();
    return WriteAll(STDOUT_FILENO, bytes).ok();
  }
  void OnOutput() {
    char piece[65536];
    ssize_t count = ::read(stream_.fd.get(), piece, sizeof piece);
    if (count < 0 && (errno == EINTR || errno == EAGAIN)) return;
    if (count <= 0 || !Show(std::string_view(piece, static_cast<size_t>(count)))) loop_.Stop();
  }
  void OnInput() {
    char piece[65536];
    ssize_t count = ::read(STDIN_FILENO, piece, sizeof piece);
    if (count < 0 && (errno == EINTR || errno == EAGAIN)) return;
    if (count > 0 && WriteAll(stream_.fd.get(), std::string_view(piece, size_t(count))).ok())
      return;
    loop_.RemoveFd(STDIN_FILENO);
    ::shutdown(stream_.fd.get(), SHUT_WR);
  }

  docker::Engine& engine_;
  std::string exec_;
  docker::Stream stream_;
  bool tty_;
  docker::FrameDecoder frames_;
  PollLoop loop_;
};

enum class Enter { kPlain, kTty, kPort };

json::Object ExecConfig(const StartRequest& request, bool rootless, Enter how,
                        const std::vector<std::string>& command) {
  const bool tty = how == Enter::kTty;
  json::Object config;
  json::Array words;
  for (const std::string& word : command) words.push_back(json::Value(word));
  if (command.empty()) {
    words = {"/bin/sh", "-c", "command -v bash >/dev/null 2>&1 && exec bash || exec sh"};
  }
  config["Cmd"] = std::move(words);
  Environment env = ContainerVariables(request, UserName(request));
  env["PYTHONPATH"] = executor::kShimInside;
  const char* terminal = ::getenv("TERM");
  if (tty && terminal != nullptr) env["TERM"] = terminal;
  json::Array variables;
  for (const auto& [name, value] : env) variables.push_back(json::Value(name + "=" + value));
  config["Env"] = std::move(variables);
  // Our program there is for the container's root alone.
  const Credentials user = rootless || how == Enter::kPort ? Credentials{} : OurCredentials();
  config["User"] = std::to_string(user.uid) + ":" + std::to_string(user.gid);
  config["WorkingDir"] = executor::kWorkInside;
  config["AttachStdin"] = true;
  config["AttachStdout"] = true;
  config["AttachStderr"] = true;
  config["Tty"] = tty;
  return config;
}

Result<int> EnterContainer(const StartRequest& request, const run::ContainerMade& made, Enter how,
                           const std::vector<std::string>& command) {
  const bool tty = how == Enter::kTty;
  TENON_TRY(docker::Engine engine, docker::Engine::Connect(made.socket));
  TENON_TRY(docker::EngineInfo info, engine.Info());
  TENON_TRY(auto container, engine.Find(made.id));
  if (!container || !container->running) {
    return NotFound("the container of " + request.spec.id + " is not there any more")
        .WithHint(
            "only a run that goes on can be entered; `--keep-on-fail` keeps the container of "
            "a script that fails");
  }
  TENON_TRY(std::string exec,
            engine.CreateExec(made.id, ExecConfig(request, info.rootless, how, command)));
  TENON_TRY(docker::Stream stream, engine.StartExec(exec, tty));
  TENON_TRY_VOID(Conversation(engine, exec, std::move(stream), tty).Run());
  return engine.ExecExitCode(exec);
}

// The script's own environment, without its mark: what one starts here is not ended with the run.
Environment EnvironmentOf(const Facts& facts, const run::RunSpec& spec) {
  Environment env = CurrentEnvironment();
  for (const auto& [name, value] : spec.environment) env[name] = value;
  if (facts.script && !facts.end && CheckProcess(facts.script->process) == Liveness::kAlive) {
    auto text = ReadFile("/proc/" + std::to_string(facts.script->process.pid) + "/environ");
    if (text.ok() && !text->empty()) {
      env.clear();
      for (const std::string& entry : Split(*text, '\0')) {
        const size_t equals = entry.find('=');
        if (equals != std::string::npos && equals > 0) {
          env[entry.substr(0, equals)] = entry.substr(equals + 1);
        }
      }
      if (const char* terminal = ::getenv("TERM")) env["TERM"] = terminal;
    }
  }
  env.erase(run::env::kRunKey);
  env.erase(run::env::kMetricsDir);
  return env;
}

Result<int> EnterFolder(const StartRequest& request, const Facts& facts,
                        std::vector<std::string> command) {
  const std::string work = request.run.Folder().work();
  if (!IsDirectory(work)) {
    return NotFound("the working directory of " + request.spec.id + " is not there any more")
        .WithHint("it is removed after success unless --keep is given; `tenon restore " +
                  request.spec.id + " DIR` brings the files back");
  }
  SpawnOptions options;
  options.env = EnvironmentOf(facts, request.spec);
  options.cwd = work;
  options.stdin_fd = STDIN_FILENO;
  if (command.empty()) {
    auto shell = options.env.find("SHELL");
    command = {shell == options.env.end() || shell->second.empty() ? "/bin/sh" : shell->second};
  }
  options.argv = std::move(command);
  // A terminal's Ctrl-C is the command's; we only wait.
  ::signal(SIGINT, SIG_IGN);
  ::signal(SIGQUIT, SIG_IGN);
  TENON_TRY(pid_t pid, Spawn(options));
  TENON_TRY(ExitStatus status, Wait(pid));
  return status.AsShell();
}

Result<int> Exec(const std::vector<std::string>& words) {
  if (words.size() < 4) {
    return Invalid("usage: tenon-runner exec HOME RUN tty|plain [COMMAND...], or port PORT");
  }
  StartRequest request;
  request.run = {words[1], words[2]};
  if (request.run.home.empty() || request.run.home[0] != '/' ||
      !run::IsValidRunId(request.run.run_id)) {
    return Invalid("exec: not a run: " + words[2]);
  }
  const Enter how = words[3] == "tty"    ? Enter::kTty
                    : words[3] == "port" ? Enter::kPort
                                         : Enter::kPlain;
  std::vector<std::string> command(words.begin() + 4, words.end());
  if (how == Enter::kPort) {
    if (command.size() != 1) return Invalid("exec: one port is needed");
    command.insert(command.begin(), {executor::kRunnerInside, run::kVerbDial});
  }
  const run::RunFolder folder = request.run.Folder();
  TENON_TRY(request.spec, ReadSpec(folder.spec()));
  TENON_TRY(Facts facts, ReadFacts(folder.host_segment()));
  if (facts.container) return EnterContainer(request, *facts.container, how, command);
  if (request.spec.executor == run::ExecutorKind::kContainer) {
    if (facts.end) {
      return NotFound("the run " + request.spec.id + " ended before it had a container")
          .WithHint("`tenon show " + request.spec.id + "` tells why");
    }
    return NotFound("the run " + request.spec.id + " has no container yet")
        .WithHint("`tenon logs -f " + request.spec.id + "` shows what it is doing");
  }
  if (how == Enter::kPort) return RunSmallVerb({run::kVerbDial, command.back()}).value_or(1);
  return EnterFolder(request, facts, std::move(command));
}

}  // namespace

int RunExec(const std::vector<std::string>& words) {
  auto code = Exec(words);
  if (code.ok()) return *code;
  std::string text = "error: " + ForTerminal(code.error().message) + "\n";
  if (!code.error().hint.empty()) text += "\nhint: " + ForTerminal(code.error().hint) + "\n";
  (void)WriteAll(STDERR_FILENO, text).ok();
  return kNotStartedCode;
}

}  // namespace tenon::runner
