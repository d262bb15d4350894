// SPDX-License-Identifier: Apache-2.0
#include "cli/forward.h"

#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <memory>

#include "base/fd.h"
#include "base/process.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/host_name.h"
#include "cli/print.h"
#include "cli/terminal_reporter.h"
#include "engine/reach.h"
#include "engine/runs.h"

namespace tenon::cli {
namespace {

constexpr int kCommandMs = 30'000;
constexpr int64_t kLookEveryUs = 10'000'000;
constexpr useconds_t kPauseUs = 50'000;
constexpr const char* kLoopback = "127.0.0.1";
constexpr size_t kHostNameDigits = 12;

struct Options {
  std::string target;
  std::vector<std::string> words;
  bool open = false;
};

// What is to be reached: a machine, and an address as that machine sees it.
struct Far {
  engine::Place place;
  std::string address = kLoopback;
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

// A port of 127.0.0.1 that nobody has, `wanted` if it can be had; 0: none.
int FreePort(int wanted) {
  const UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int on = 1;
  ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<uint16_t>(wanted));
  socklen_t size = sizeof address;
  if (::bind(fd.get(), reinterpret_cast<sockaddr*>(&address), size) != 0 ||
      ::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    return 0;
  }
  return ntohs(address.sin_port);
}

Result<int> LocalPort(const Ports& ports) {
  const int wanted = ports.here != 0 ? ports.here : ports.there;
  if (const int port = FreePort(wanted); port != 0) return port;
  if (ports.here != 0) {
    return Unavailable("port " + std::to_string(wanted) +
                       " of this machine is in use, or not yours")
        .WithHint("leave it out, and a free one is taken");
  }
  const int port = FreePort(0);
  if (port == 0) return Unavailable("no port of this machine is free");
  PrintErr("port " + std::to_string(wanted) + " is in use here; " + std::to_string(port) +
           " is taken\n");
  return port;
}

// The address of a container as its machine sees it.
Result<std::string> ContainerAddress(const engine::Place& place, const journal::RunView& run) {
  const std::string& network = run.spec.container.network;
  if (network == "host") return std::string(kLoopback);
  if (network == "none") {
    return Invalid("the container of " + run.spec.id + " has no network (network: none)")
        .WithHint("set network: host or leave it out in the target's file");
  }
  if (!run.container) {
    return NotFound("the run " + run.spec.id + " has no container yet");
  }
  TENON_TRY(const auto command,
            place.launch->EnterCommand(run.spec.id, false, {"cat", "/etc/hosts"}));
  TENON_TRY(const CaptureResult told, place.host->Run(command, "", kCommandMs));
  const auto address = AddressIn(told.out, run.container->id);
  const bool rootless = run.container->socket.find("/run/user/") != std::string::npos;
  if (told.status.AsShell() != 0 || !address || rootless) {
    return Unavailable(rootless ? "the engine of that machine runs without root, so nobody outside "
                                  "the container reaches its ports"
                                : "the container's address could not be found out")
        .WithHint("`network: host` in the target's file puts its ports on the machine itself");
  }
  return *address;
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
    TENON_TRY(far.address, ContainerAddress(far.place, run));
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

void Say(Session& session, const Options& options, const std::string& address, int port) {
  const std::string url = "http://" + address + ":" + std::to_string(port) + "/";
  if (session.WantsJson()) {
    PrintValue(session, json::Object{{"url", url}, {"address", address}, {"port", port}});
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

// Until Ctrl-C. The agent's session keeps the connection open and tells when it is lost.
Result<int> HoldOpen(engine::Reached& reached, const InterruptWatch& interrupt) {
  int64_t next_us = 0;
  while (!interrupt.stop()) {
    const int64_t now_us = SystemClock().MonotonicUs();
    if (now_us >= next_us) {
      TENON_TRY_VOID(reached.host->Hello());
      next_us = now_us + kLookEveryUs;
    }
    ::usleep(kPauseUs);
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
  Say(session, options, kLoopback, port);
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

Result<int> Act(Session& session, const Options& options) {
  std::string text;
  TENON_TRY(const Far far, Understand(session, options, &text));
  TENON_TRY(const Ports ports, ParsePorts(text));
  if (far.place.far == nullptr) {
    Say(session, options, far.address, ports.there);
    PrintErr("it is on this machine; nothing has to be forwarded\n");
    return 0;
  }
  TENON_TRY(const int port, LocalPort(ports));
  const InterruptWatch interrupt;
  engine::Reached& reached = *far.place.far;
  TENON_TRY_VOID(reached.host->Hello());
  const std::string spec = std::string(kLoopback) + ":" + std::to_string(port) + ":" + far.address +
                           ":" + std::to_string(ports.there);
  if (!reached.ssh->Shared()) {
    return ForwardAlone(session, options, reached, spec, port, interrupt);
  }
  TENON_TRY_VOID(AskMaster(reached, "forward", spec));
  Say(session, options, kLoopback, port);
  PrintErr("port " + std::to_string(ports.there) + " of " + ForTerminal(reached.record.target) +
           "; Ctrl-C ends it\n");
  auto held = HoldOpen(reached, interrupt);
  (void)AskMaster(reached, "cancel", spec).ok();
  return held;
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

std::optional<std::string> AddressIn(std::string_view hosts, const std::string& id) {
  const std::string name = id.substr(0, kHostNameDigits);
  for (const std::string& line : Split(hosts, '\n')) {
    std::vector<std::string> words;
    for (std::string& word : Split(line.substr(0, line.find('#')), '\t')) {
      for (std::string& part : Split(word, ' ')) {
        if (!part.empty()) words.push_back(std::move(part));
      }
    }
    if (words.size() < 2 || words[0].find(':') != std::string::npos) continue;
    const bool loopback = words[0].starts_with("127.");
    const bool ours = std::find(words.begin() + 1, words.end(), name) != words.end();
    const bool address = words[0].find_first_not_of("0123456789.") == std::string::npos;
    if (ours && address && !loopback) return words[0];
  }
  return std::nullopt;
}

Command ForwardCommand() {
  return {
      {{"forward"}},
      "Reach a port of a run or a machine from here: TensorBoard, notebooks, debuggers",
      "The port opens on 127.0.0.1 of this computer alone, through the SSH connection, until "
      "Ctrl-C. For a run in a container it is the container's port. A run on this machine needs "
      "no forwarding: its address is printed.",
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
