// SPDX-License-Identifier: Apache-2.0
#include "cli/forward.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <memory>

#include "base/fd.h"
#include "base/file.h"
#include "base/process.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/host_name.h"
#include "cli/options.h"
#include "cli/print.h"
#include "cli/terminal_reporter.h"
#include "engine/machine.h"
#include "engine/runs.h"

namespace tenon::cli {
namespace {

constexpr int64_t kLookEveryUs = 3'000'000;
constexpr int kPauseMs = 50;
constexpr const char* kLoopback = "127.0.0.1";
// More of them wait until one ends; the second where each is a login of its own.
constexpr size_t kMostConnections = 32, kMostLogins = 4;
constexpr int kNobodyListens = 1, kNotEntered = 125;  // of launch::Launch::PortCommand

struct Options {
  std::string target;
  std::vector<std::string> words;
  bool open = false;
};

// What is to be reached: a port of a machine, or of the container of a run on it.
struct Far {
  engine::Machine* machine = nullptr;
  std::string container_of;
};

// A port of 127.0.0.1 that is ours; whoever comes waits to be let in.
struct Local {
  UniqueFd fd;
  int port = 0;
};

Result<int> ParsePort(std::string_view text) {
  int port = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), port);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size() || port < 1 || port > 65535) {
    return Invalid("`" + OneLine(text) + "` is no port")
        .WithHint("write PORT or PORT:LOCAL, each from 1 to 65535");
  }
  return port;
}

// nullopt: it is taken. Only who listens has it: two may be bound to it before.
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
      ::listen(local.fd.get(), SOMAXCONN) != 0 ||
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
  TENON_TRY(far.machine, context->At(run.spec.host));
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
  TENON_TRY(far.machine, MachineNamed(session, options.target));
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

// How a connection gets there: a command on whose standard streams the other end is. It ends with
// us, however we end, so that nothing of a forward is left.
struct Way {
  SpawnOptions command;
  std::string what;  // "port 6006 of my_dsvm"
  bool container = false;
  size_t most = kMostConnections;
};

// Only calls that are safe after fork().
void EndWithParent(pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(0);  // it was faster
}

// Whether closing the terminal is to end us; nohup says no.
bool BelongsToTerminal() {
  struct sigaction hang_up {};
  ::sigaction(SIGHUP, nullptr, &hang_up);
  return ::isatty(STDERR_FILENO) == 1 && hang_up.sa_handler != SIG_IGN;
}

// Passes each connection on by a command of its own.
class Relay {
 public:
  Relay(Way way, int listener)
      : way_(std::move(way)), listener_(listener), terminal_(BelongsToTerminal()) {}
  Relay(const Relay&) = delete;
  Relay& operator=(const Relay&) = delete;
  ~Relay() {
    for (const pid_t pid : going_) ::kill(pid, SIGTERM);
    for (const pid_t pid : going_) (void)Wait(pid).ok();
  }

  // Waits a moment for somebody to come or go. `ended`: exit codes of commands. False: the terminal
  // was closed.
  Result<bool> Turn(std::vector<int>* ended) {
    pollfd wait[2] = {{going_.size() < way_.most ? listener_ : -1, POLLIN, 0},
                      {terminal_ ? STDERR_FILENO : -1, 0, 0}};
    if (::poll(wait, 2, kPauseMs) > 0) {
      if (wait[1].revents != 0) return false;
      if (wait[0].revents != 0) TENON_TRY_VOID(Accept());
    }
    std::erase_if(going_, [&](pid_t pid) {
      int status = 0;
      if (::waitpid(pid, &status, WNOHANG) != pid) return false;
      ended->push_back(DecodeWaitStatus(status).AsShell());
      return true;
    });
    return true;
  }

 private:
  Status Accept() {
    const UniqueFd peer(::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC));
    if (!peer.valid()) return {};  // gone again
    way_.command.stdin_fd = way_.command.stdout_fd = peer.get();
    TENON_TRY(const pid_t pid, Spawn(way_.command));
    going_.push_back(pid);
    return {};
  }

  Way way_;
  int listener_;
  bool terminal_;
  std::vector<pid_t> going_;
};

// Says when the link to a machine is lost and when it is back. The agent's session, which tells,
// also keeps the shared connection open.
class LinkWatch {
 public:
  explicit LinkWatch(engine::MachineDoor& door) : door_(door) {}

  Status Look() {
    const int64_t now_us = SystemClock().MonotonicUs();
    if (now_us < next_us_) return {};
    const Status heard = door_.Look();
    next_us_ = SystemClock().MonotonicUs() + kLookEveryUs;
    if (!heard.ok() && heard.error().kind != ErrorKind::kUnavailable) return heard.error();
    if (!heard.ok() && !lost_) {
      PrintErr("the link was lost (" + OneLine(heard.error().message) + "); trying again\n");
    }
    if (heard.ok() && lost_) PrintErr("the link is back\n");
    lost_ = !heard.ok();
    return {};
  }

 private:
  engine::MachineDoor& door_;
  int64_t next_us_ = 0;
  bool lost_ = false;
};

// What a server in a container listens on is seldom the container's own address, and that one is
// out of reach where the engine runs without root: the way in is a command inside.
Result<Way> FindWay(Session& session, const Far& far, int port) {
  Way way;
  engine::WayIn in;
  if (far.container_of.empty()) {
    TENON_TRY(in, far.machine->door().ToPort(port));
    way.what = "port " + std::to_string(port) + " of " + OneLine(far.machine->known().target);
  } else {
    TENON_TRY(const auto words, far.machine->services().PortCommand(far.container_of, port));
    TENON_TRY(in, far.machine->door().Enter(words, /*tty=*/false));
    way.what = "port " + std::to_string(port) + " of the container of " + far.container_of;
    way.container = true;
  }
  way.command.argv = in.argv;
  way.command.env = in.environment.value_or(session.environment);
  way.command.new_session = true;
  way.command.in_child = [parent = ::getpid()] { EndWithParent(parent); };
  if (in.logs_in) way.most = kMostLogins;
  return way;
}

Result<int> Forward(Session& session, const Options& options, const Far& far, int port,
                    const Local& local, const InterruptWatch& interrupt) {
  TENON_TRY(Way way, FindWay(session, far, port));
  TENON_TRY(const UniqueFd nowhere, OpenFile("/dev/null", O_WRONLY));
  way.command.stderr_fd = nowhere.get();
  const std::string what = way.what;
  const bool container = way.container;
  Relay relay(std::move(way), local.fd.get());
  LinkWatch link(far.machine->door());
  Say(session, options, local.port);
  PrintErr(what + "; Ctrl-C ends it\n");
  for (int said = 0; !interrupt.stop();) {
    std::vector<int> ended;
    TENON_TRY(const bool on, relay.Turn(&ended));
    if (!on) break;
    for (const int code : ended) {
      if (container && code == kNotEntered) {
        return NotFound("the container of " + far.container_of + " is not there any more");
      }
      if (code != 0 && code != said) {
        PrintErr(code == kNobodyListens ? "nothing listens on " + what + " yet\n"
                                        : "a connection was lost (" + std::to_string(code) + ")\n");
      }
      said = code;
    }
    TENON_TRY_VOID(link.Look());
  }
  return 0;
}

Result<int> Act(Session& session, const Options& options) {
  std::string text;
  TENON_TRY(const Far far, Understand(session, options, &text));
  TENON_TRY(const Ports ports, ParsePorts(text));
  if (far.container_of.empty() && far.machine->door().SharesLoopback()) {
    Say(session, options, ports.there);
    PrintErr("it is on this machine; nothing has to be forwarded\n");
    return 0;
  }
  TENON_TRY(const Local local, LocalPort(ports));
  const InterruptWatch interrupt;
  return Forward(session, options, far, ports.there, local, interrupt);
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
      "Ctrl-C or the end of this command, however it ends. The server need not allow forwarding. "
      "For a run in a container it is the container's port, also of a server that listens "
      "on its localhost alone. A process on this machine needs no forwarding: its address is "
      "printed.",
      {"tenon forward last 6006", "tenon forward 12 6006:8080 --open",
       "tenon forward -t my_dsvm 8888"},
      [](OptionTable& table, const std::vector<std::string>&) -> Action {
        auto options = std::make_shared<Options>();
        table.Usage("tenon forward [OPTIONS] RUN PORT[:LOCAL]");
        table.Add("RUN", &options->words, "The run (left out with -t), then PORT or PORT:LOCAL")
            .Required();
        table.Add("-t,--target", &options->target, "A machine instead of a run").Type("NAME");
        table.Flag("--open", &options->open, "Open the address in the browser");
        return [options](Session& session) { return Act(session, *options); };
      }};
}

}  // namespace tenon::cli
