// SPDX-License-Identifier: Apache-2.0
#include "cli/forward.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <charconv>
#include <memory>

#include "base/fd.h"
#include "base/file.h"
#include "base/process.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/host_name.h"
#include "cli/print.h"
#include "cli/run_ssh.h"
#include "cli/terminal_reporter.h"
#include "engine/reach.h"
#include "engine/runs.h"

namespace tenon::cli {
namespace {

constexpr int kCommandMs = 30'000;
constexpr int64_t kLookEveryUs = 3'000'000;
constexpr useconds_t kPauseUs = 50'000;
constexpr int kPauseMs = kPauseUs / 1000;
constexpr const char* kLoopback = "127.0.0.1";
constexpr size_t kMostConnections = 32;               // more of them wait until one ends
constexpr int kNobodyListens = 1, kNotEntered = 125;  // of launch::Launch::PortCommand

struct Options {
  std::string target;
  std::vector<std::string> words;
  bool open = false;
};

// What is to be reached: a port of a machine, or of the container of a run on it.
struct Far {
  engine::Place place;
  std::string container_of;
};

// A port of 127.0.0.1 that is ours; nobody is let in yet.
struct Local {
  UniqueFd fd;
  int port = 0;
};

Result<int> ParsePort(std::string_view text) {
  int port = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), port);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size() || port < 1 || port > 65535) {
    return Invalid("`" + ForTerminal(text) + "` is no port")
        .WithHint("write PORT or PORT:LOCAL, each from 1 to 65535");
  }
  return port;
}

// nullopt: it is taken.
std::optional<Local> TakePort(int wanted) {
  Local local{UniqueFd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)), 0};
  const int on = 1;
  ::setsockopt(local.fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<uint16_t>(wanted));
  socklen_t size = sizeof address;
  if (::bind(local.fd.get(), reinterpret_cast<sockaddr*>(&address), size) != 0 ||
      ::getsockname(local.fd.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    return std::nullopt;
  }
  local.port = ntohs(address.sin_port);
  return local;
}

Result<Local> LocalPort(const Ports& ports) {
  const int wanted = ports.here != 0 ? ports.here : ports.there;
  if (auto local = TakePort(wanted)) return std::move(*local);
  if (ports.here != 0) {
    return Unavailable("port " + std::to_string(wanted) +
                       " of this machine is in use, or not yours")
        .WithHint("leave it out, and a free one is taken");
  }
  auto local = TakePort(0);
  if (!local) return Unavailable("no port of this machine is free");
  PrintErr("port " + std::to_string(wanted) + " is in use here; " + std::to_string(local->port) +
           " is taken\n");
  return std::move(*local);
}

Result<Far> FarOfRun(Session& session, const std::string& name) {
  TENON_TRY(const std::string run_id, session.ResolveRun(name));
  TENON_TRY(engine::Context * context, session.Context());
  TENON_TRY(const journal::RunView run, engine::GetRun(*context, run_id, engine::Look::kThere));
  if (run::IsFinal(run.state)) {
    return NotFound("the run " + run_id + " is over, so nothing of it listens any more");
  }
  Far far;
  TENON_TRY(far.place, context->At(run.spec.host));
  if (run.spec.executor == run::ExecutorKind::kContainer) {
    if (!run.container) return NotFound("the run " + run_id + " has no container yet");
    far.container_of = run_id;
  }
  return far;
}

Result<Far> Understand(Session& session, const Options& options, std::string* port) {
  if (options.words.size() != (options.target.empty() ? 2u : 1u)) {
    return Invalid("a run and a port are needed, or -t TARGET and a port")
        .WithHint("`tenon forward last 6006`, `tenon forward -t my_dsvm 8888`");
  }
  *port = options.words.back();
  if (options.target.empty()) return FarOfRun(session, options.words.front());
  Far far;
  TENON_TRY(far.place, PlaceOfHost(session, options.target));
  return far;
}

void Open(const std::string& url, const Environment& environment) {
  const auto program = FindProgram("xdg-open", GetVariable(environment, "PATH"));
  SpawnOptions spawn;
  spawn.argv = {program.value_or("xdg-open"), url};
  spawn.env = environment;
  spawn.new_session = true;
  if (!program || !Spawn(spawn).ok()) PrintErr("no xdg-open here; open the address by hand\n");
}

void Say(Session& session, const Options& options, int port) {
  const std::string url = "http://" + std::string(kLoopback) + ":" + std::to_string(port) + "/";
  if (session.WantsJson()) {
    PrintValue(session, json::Object{{"url", url}, {"address", kLoopback}, {"port", port}});
  } else {
    PrintOut(url + "\n");
  }
  FlushOut();
  if (options.open) Open(url, session.environment);
}

// A request to the shared connection.
Status AskMaster(engine::Reached& reached, const char* what, const std::string& spec) {
  TENON_TRY(
      const CaptureResult asked,
      RunAndCapture(reached.ssh->CommandLine({"-O", what, "-L", spec}, ""), "", "", kCommandMs));
  if (asked.status.AsShell() == 0) return {};
  return Unavailable("the port could not be forwarded: " +
                     ForTerminal(Trim(asked.err.empty() ? asked.out : asked.err)))
      .WithHint("the machine may forbid it (AllowTcpForwarding in its sshd_config)");
}

// Until Ctrl-C. The agent's session keeps the connection open and tells when it is lost; the next
// one is asked for the same.
Result<int> HoldOpen(engine::Reached& reached, const std::string& spec,
                     const InterruptWatch& interrupt) {
  bool lost = false;
  for (int64_t next_us = 0; !interrupt.stop(); ::usleep(kPauseUs)) {
    const int64_t now_us = SystemClock().MonotonicUs();
    if (now_us < next_us) continue;
    next_us = now_us + kLookEveryUs;
    const auto heard = reached.host->Hello();
    if (!heard.ok() && heard.error().kind != ErrorKind::kUnavailable) return heard.error();
    if (!heard.ok() && !lost) {
      PrintErr("the link was lost (" + heard.error().message + "); trying again\n");
    }
    if (heard.ok() && lost) {
      TENON_TRY_VOID(AskMaster(reached, "forward", spec));
      PrintErr("the link is back\n");
    }
    lost = !heard.ok();
  }
  return 0;
}

// Where connections cannot be shared: one of its own.
Result<int> ForwardAlone(Session& session, const Options& options, engine::Reached& reached,
                         const std::string& spec, int port, const InterruptWatch& interrupt) {
  SpawnOptions spawn;
  spawn.argv = reached.ssh->CommandLine({"-N", "-o", "ExitOnForwardFailure=yes", "-L", spec}, "");
  spawn.env = reached.ssh->CommandEnvironment();
  spawn.new_session = true;
  TENON_TRY(const pid_t pid, Spawn(spawn));
  Say(session, options, port);
  while (!interrupt.stop() && IdentifyProcess(pid) &&
         CheckProcess(*IdentifyProcess(pid)) == Liveness::kAlive) {
    ::usleep(kPauseUs);
  }
  const bool stopped = interrupt.stop();
  ::kill(pid, SIGTERM);
  TENON_TRY(const ExitStatus status, Wait(pid));
  if (stopped) return 0;
  return Unavailable("the connection ended (ssh: " + std::to_string(status.AsShell()) + ")");
}

Result<int> ForwardOfMachine(Session& session, const Options& options, engine::Reached& reached,
                             const Ports& ports, Local local, const InterruptWatch& interrupt) {
  local.fd.Reset();  // ssh takes it
  TENON_TRY_VOID(reached.host->Hello());
  // Both of its addresses there: many a server listens on one of them alone.
  const std::string spec = std::string(kLoopback) + ":" + std::to_string(local.port) +
                           ":localhost:" + std::to_string(ports.there);
  if (!reached.ssh->Shared()) {
    return ForwardAlone(session, options, reached, spec, local.port, interrupt);
  }
  TENON_TRY_VOID(AskMaster(reached, "forward", spec));
  Say(session, options, local.port);
  PrintErr("port " + std::to_string(ports.there) + " of " + ForTerminal(reached.record.target) +
           "; Ctrl-C ends it\n");
  auto held = HoldOpen(reached, spec, interrupt);
  (void)AskMaster(reached, "cancel", spec).ok();
  return held;
}

// Passes each connection on by a command of its own, whose standard streams are the connection.
class Relay {
 public:
  Relay(SpawnOptions command, int listener) : command_(std::move(command)), listener_(listener) {}
  Relay(const Relay&) = delete;
  Relay& operator=(const Relay&) = delete;
  ~Relay() {
    for (const pid_t pid : going_) ::kill(pid, SIGTERM);
    for (const pid_t pid : going_) (void)Wait(pid).ok();
  }

  // Waits a moment for somebody to come or go. `ended`: exit codes of commands.
  Status Turn(std::vector<int>* ended) {
    pollfd wait = {going_.size() < kMostConnections ? listener_ : -1, POLLIN, 0};
    if (::poll(&wait, 1, kPauseMs) > 0) TENON_TRY_VOID(Accept());
    std::erase_if(going_, [&](pid_t pid) {
      int status = 0;
      if (::waitpid(pid, &status, WNOHANG) != pid) return false;
      ended->push_back(DecodeWaitStatus(status).AsShell());
      return true;
    });
    return {};
  }

 private:
  Status Accept() {
    const UniqueFd peer(::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC));
    if (!peer.valid()) return {};  // gone again
    command_.stdin_fd = command_.stdout_fd = peer.get();
    TENON_TRY(const pid_t pid, Spawn(command_));
    going_.push_back(pid);
    return {};
  }

  SpawnOptions command_;
  int listener_;
  std::vector<pid_t> going_;
};

// What a server in a container listens on is seldom the container's own address, and that one is
// out of reach where the engine runs without root: the way in is a command inside.
Result<int> ForwardOfContainer(Session& session, const Options& options, const Far& far,
                               const Ports& ports, const Local& local,
                               const InterruptWatch& interrupt) {
  TENON_TRY(const auto words, far.place.launch->PortCommand(far.container_of, ports.there));
  TENON_TRY(const UniqueFd nowhere, OpenFile("/dev/null", O_WRONLY));
  SpawnOptions command;
  command.stderr_fd = nowhere.get();
  command.new_session = true;
  if (far.place.far != nullptr) {
    engine::Reached& reached = *far.place.far;
    TENON_TRY_VOID(reached.ssh->Connect());
    command.argv = reached.ssh->CommandLine({"-T"}, QuotedCommand(words));
    command.env = reached.ssh->CommandEnvironment();
  } else {
    command.argv = words;
    command.env = session.environment;
  }
  if (::listen(local.fd.get(), SOMAXCONN) != 0) return FromErrno("listening", errno);
  Relay relay(std::move(command), local.fd.get());
  Say(session, options, local.port);
  const std::string port = "port " + std::to_string(ports.there) + " of the container of ";
  PrintErr(port + far.container_of + "; Ctrl-C ends it\n");
  for (int said = 0; !interrupt.stop();) {
    std::vector<int> ended;
    TENON_TRY_VOID(relay.Turn(&ended));
    for (const int code : ended) {
      if (code == kNotEntered) {
        return NotFound("the container of " + far.container_of + " is not there any more");
      }
      if (code != 0 && code != said) {
        PrintErr(code == kNobodyListens ? "nothing listens on " + port + far.container_of + " yet\n"
                                        : "a connection was lost (" + std::to_string(code) + ")\n");
      }
      said = code;
    }
  }
  return 0;
}

Result<int> Act(Session& session, const Options& options) {
  std::string text;
  TENON_TRY(const Far far, Understand(session, options, &text));
  TENON_TRY(const Ports ports, ParsePorts(text));
  const bool machine = far.container_of.empty();
  if (machine && far.place.far == nullptr) {
    Say(session, options, ports.there);
    PrintErr("it is on this machine; nothing has to be forwarded\n");
    return 0;
  }
  TENON_TRY(Local local, LocalPort(ports));
  const InterruptWatch interrupt;
  if (!machine) return ForwardOfContainer(session, options, far, ports, local, interrupt);
  return ForwardOfMachine(session, options, *far.place.far, ports, std::move(local), interrupt);
}

}  // namespace

Result<Ports> ParsePorts(const std::string& text) {
  Ports ports;
  const size_t colon = text.find(':');
  TENON_TRY(ports.there, ParsePort(std::string_view(text).substr(0, colon)));
  if (colon != std::string::npos) {
    TENON_TRY(ports.here, ParsePort(std::string_view(text).substr(colon + 1)));
  }
  return ports;
}

Command ForwardCommand() {
  return {
      {{"forward"}},
      "Reach a port of a run or a machine from here: TensorBoard, notebooks, debuggers",
      "The port opens on 127.0.0.1 of this computer alone, through the SSH connection, until "
      "Ctrl-C. For a run in a container it is the container's port, also of a server that listens "
      "on its localhost alone. A process on this machine needs no forwarding: its address is "
      "printed.",
      {"tenon forward last 6006", "tenon forward 12 6006:8080 --open",
       "tenon forward -t my_dsvm 8888"},
      [](CLI::App& app, const std::vector<std::string>&) -> Action {
        auto options = std::make_shared<Options>();
        SetUsage(app, "tenon forward [OPTIONS] RUN PORT[:LOCAL]");
        app.add_option("RUN", options->words, "The run (left out with -t), then PORT or PORT:LOCAL")
            ->required();
        app.add_option("-t,--target", options->target, "A machine instead of a run")
            ->type_name("NAME");
        app.add_flag("--open", options->open, "Open the address in the browser");
        return [options](Session& session) { return Act(session, *options); };
      }};
}

}  // namespace tenon::cli
