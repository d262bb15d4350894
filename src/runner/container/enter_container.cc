// SPDX-License-Identifier: Apache-2.0
#include "runner/container/enter_container.h"

#include <signal.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <termios.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "base/file.h"
#include "base/poll_loop.h"
#include "docker/engine.h"
#include "docker/frames.h"
#include "executor/container_config.h"
#include "run/verbs.h"
#include "runner/container/container_maker.h"
#include "runner/environment/environment_image.h"

namespace tenon::runner {
namespace {

// Puts the terminal into raw mode while this object lives, so that every key is passed on.
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

// Copies bytes between our streams and those of a command in a container, until the command ends.
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

json::Object ExecConfig(const StartRequest& request, bool rootless, Door door,
                        const std::vector<std::string>& command) {
  const bool tty = door == Door::kTty;
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
  // Only the container's root may read our program there.
  const Credentials user = rootless || door == Door::kPort ? Credentials{} : OurCredentials();
  config["User"] = std::to_string(user.uid) + ":" + std::to_string(user.gid);
  config["WorkingDir"] = executor::kWorkInside;
  config["AttachStdin"] = true;
  config["AttachStdout"] = true;
  config["AttachStderr"] = true;
  config["Tty"] = tty;
  return config;
}

}  // namespace

Result<int> EnterContainer(const StartRequest& request, const run::ContainerMade& made, Door door,
                           std::vector<std::string> command) {
  const bool tty = door == Door::kTty;
  if (door == Door::kPort) {
    command.insert(command.begin(), {executor::kRunnerInside, run::kVerbDial});
  }
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
            engine.CreateExec(made.id, ExecConfig(request, info.rootless, door, command)));
  TENON_TRY(docker::Stream stream, engine.StartExec(exec, tty));
  TENON_TRY_VOID(Conversation(engine, exec, std::move(stream), tty).Run());
  return engine.ExecExitCode(exec);
}

}  // namespace tenon::runner
