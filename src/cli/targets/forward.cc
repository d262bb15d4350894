// SPDX-License-Identifier: Apache-2.0
#include "cli/targets/forward.h"

#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <charconv>
#include <memory>

#include "base/process.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/parse/options.h"
#include "cli/print/print.h"
#include "cli/print/terminal_reporter.h"
#include "cli/targets/host_name.h"
#include "engine/host/forward.h"

namespace tenon::cli {
namespace {

constexpr const char* kLoopback = "127.0.0.1";

struct Options {
  std::string target;
  std::vector<std::string> words;
  bool open = false;
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

Result<engine::LocalPort> LocalPort(const Ports& ports) {
  const int wanted = ports.here != 0 ? ports.here : ports.there;
  if (auto local = engine::TakeLocalPort(wanted)) return std::move(*local);
  if (ports.here != 0) {
    return Unavailable("port " + std::to_string(wanted) +
                       " of this machine is in use, or not yours")
        .WithHint("leave it out, and a free one is taken");
  }
  auto local = engine::TakeLocalPort(0);
  if (!local) return Unavailable("no port of this machine is free");
  PrintErr("port " + std::to_string(wanted) + " is in use here; " + std::to_string(local->port) +
           " is taken\n");
  return std::move(*local);
}

struct What {
  engine::FarPort far;
  Ports ports;
};

Result<What> Understand(Session& session, const Options& options) {
  if (options.words.size() != (options.target.empty() ? 2u : 1u)) {
    return Invalid("a run and a port are needed, or -t TARGET and a port")
        .WithHint("`tenon forward last 6006`, `tenon forward -t my_dsvm 8888`");
  }
  What what;
  if (options.target.empty()) {
    TENON_TRY(const std::string run_id, session.ResolveRun(options.words.front()));
    TENON_TRY(engine::Context * context, session.Context());
    TENON_TRY(what.far, engine::PortOfRun(*context, run_id, 0));
  } else {
    TENON_TRY(what.far.machine, MachineNamed(session, options.target));
  }
  TENON_TRY(what.ports, ParsePorts(options.words.back()));
  what.far.port = what.ports.there;
  return what;
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

// Whether the command ends when the terminal is closed. With nohup it does not.
bool BelongsToTerminal() {
  struct sigaction hang_up {};
  ::sigaction(SIGHUP, nullptr, &hang_up);
  return ::isatty(STDERR_FILENO) == 1 && hang_up.sa_handler != SIG_IGN;
}

bool IsTerminalClosed() {
  pollfd closed{STDERR_FILENO, 0, 0};
  return ::poll(&closed, 1, 0) > 0 && closed.revents != 0;
}

engine::Forward::News PrintedNews(const std::string& what) {
  return {[what] { PrintErr("nothing listens on " + what + " yet\n"); },
          [](int code) { PrintErr("a connection was lost (" + std::to_string(code) + ")\n"); },
          [](const std::string& why) {
            PrintErr("the link was lost (" + OneLine(why) + "); trying again\n");
          },
          [] { PrintErr("the link is back\n"); }};
}

Result<int> Act(Session& session, const Options& options) {
  TENON_TRY(What what, Understand(session, options));
  if (what.far.IsHere()) {
    Say(session, options, what.ports.there);
    PrintErr("it is on this machine; nothing has to be forwarded\n");
    return 0;
  }
  TENON_TRY(engine::LocalPort local, LocalPort(what.ports));
  const InterruptWatch interrupt;
  const int port = local.port;
  const std::string words = what.far.Words();
  TENON_TRY(engine::Forward forward,
            engine::Forward::Open(std::move(what.far), std::move(local), session.environment,
                                  PrintedNews(words)));
  Say(session, options, port);
  PrintErr(words + "; Ctrl-C ends it\n");
  const bool ends_with_terminal = BelongsToTerminal();
  while (!interrupt.stop() && !(ends_with_terminal && IsTerminalClosed())) {
    TENON_TRY_VOID(forward.Turn());
  }
  return 0;
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
