// SPDX-License-Identifier: Apache-2.0
#include "engine/host/forward.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <utility>

#include "base/clock.h"
#include "base/file.h"
#include "base/terminal.h"
#include "engine/run/runs.h"
#include "launch/host_services.h"

namespace tenon::engine {
namespace {

constexpr int64_t kLookEveryUs = 3'000'000;
constexpr int kPauseMs = 50;
// kMostLogins applies where each connection is a login of its own.
constexpr size_t kMostConnections = 32, kMostLogins = 4;
constexpr int kNobodyListens = 1, kNotEntered = 125;  // exit codes of HostServices::PortCommand

// Runs between fork() and exec(), so it makes only calls that are safe there.
void EndWithParent(pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(0);  // the parent ended before prctl()
}

// A server in a container seldom listens on the container's own address, and that address can't be
// reached where the container engine runs without root. So the way in is a command inside the
// container.
Result<WayIn> FindWay(const FarPort& far) {
  MachineDoor& door = far.machine->door();
  if (far.container_of.empty()) return door.ToPort(far.port);
  TENON_TRY(const auto words, far.machine->services().PortCommand(far.container_of, far.port));
  return door.Enter(words, /*tty=*/false);
}

}  // namespace

std::string FarPort::Words() const {
  const std::string which = "port " + std::to_string(port) + " of ";
  if (!container_of.empty()) return which + "the container of " + container_of;
  return which + OneLine(machine->known().target);
}

bool FarPort::IsHere() const { return container_of.empty() && machine->door().SharesLoopback(); }

Result<FarPort> PortOfRun(Context& context, const std::string& run_id, int port) {
  TENON_TRY(const journal::RunView run, GetRun(context, run_id, Look::kThere));
  if (run::IsFinal(run.state)) {
    return NotFound("the run " + run_id + " is over, so nothing of it listens any more");
  }
  FarPort far;
  far.port = port;
  TENON_TRY(far.machine, context.At(run.spec.host));
  if (run::TraitsOf(run.spec.executor).own_loopback) {
    if (!run.container) return NotFound("the run " + run_id + " has no container yet");
    far.container_of = run_id;
  }
  return far;
}

// Takes the port by listening: bind() alone may succeed for two sockets.
std::optional<LocalPort> TakeLocalPort(int port) {
  LocalPort local{UniqueFd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)), 0};
  const int on = 1;
  ::setsockopt(local.fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<uint16_t>(port));
  socklen_t size = sizeof address;
  if (::bind(local.fd.get(), reinterpret_cast<sockaddr*>(&address), size) != 0 ||
      ::listen(local.fd.get(), SOMAXCONN) != 0 ||
      ::getsockname(local.fd.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    return std::nullopt;
  }
  local.port = ntohs(address.sin_port);
  return local;
}

Forward::Forward(FarPort far, LocalPort local, News news, SpawnOptions command, UniqueFd nowhere,
                 size_t most)
    : far_(std::move(far)),
      local_(std::move(local)),
      news_(std::move(news)),
      command_(std::move(command)),
      nowhere_(std::move(nowhere)),
      most_(most) {}

Result<Forward> Forward::Open(FarPort far, LocalPort local, const Environment& own, News news) {
  TENON_TRY(const WayIn way, FindWay(far));
  TENON_TRY(UniqueFd nowhere, OpenFile("/dev/null", O_WRONLY));
  SpawnOptions command;
  command.argv = way.argv;
  command.env = way.environment.value_or(own);
  command.stderr_fd = nowhere.get();
  command.new_session = true;
  command.in_child = [parent = ::getpid()] { EndWithParent(parent); };
  return Forward(std::move(far), std::move(local), std::move(news), std::move(command),
                 std::move(nowhere), way.logs_in ? kMostLogins : kMostConnections);
}

Forward::~Forward() {
  for (const pid_t pid : going_) ::kill(pid, SIGTERM);
  for (const pid_t pid : going_) (void)Wait(pid).ok();
}

Status Forward::Turn() {
  pollfd wait{going_.size() < most_ ? local_.fd.get() : -1, POLLIN, 0};
  if (::poll(&wait, 1, kPauseMs) > 0) TENON_TRY_VOID(Accept());
  TENON_TRY_VOID(TakeEnds());
  return LookAtLink();
}

Status Forward::Accept() {
  const UniqueFd peer(::accept4(local_.fd.get(), nullptr, nullptr, SOCK_CLOEXEC));
  if (!peer.valid()) return {};  // the connection is gone again
  command_.stdin_fd = command_.stdout_fd = peer.get();
  TENON_TRY(const pid_t pid, Spawn(command_));
  going_.push_back(pid);
  return {};
}

Status Forward::TakeEnds() {
  std::vector<int> codes;
  std::erase_if(going_, [&](pid_t pid) {
    int status = 0;
    if (::waitpid(pid, &status, WNOHANG) != pid) return false;
    codes.push_back(DecodeWaitStatus(status).AsShell());
    return true;
  });
  for (const int code : codes) {
    if (!far_.container_of.empty() && code == kNotEntered) {
      return NotFound("the container of " + far_.container_of + " is not there any more");
    }
    const bool is_news = std::exchange(said_, code) != code && code != 0;
    if (is_news && code == kNobodyListens) news_.nobody_listens();
    if (is_news && code != kNobodyListens) news_.connection_lost(code);
  }
  return {};
}

// Look() uses the agent's session, which also keeps the shared connection open.
Status Forward::LookAtLink() {
  if (SystemClock().MonotonicUs() < look_again_us_) return {};
  const Status heard = far_.machine->door().Look();
  look_again_us_ = SystemClock().MonotonicUs() + kLookEveryUs;
  if (!heard.ok() && heard.error().kind != ErrorKind::kUnavailable) return heard.error();
  if (!heard.ok() && !link_lost_) news_.link_lost(heard.error().message);
  if (heard.ok() && link_lost_) news_.link_back();
  link_lost_ = !heard.ok();
  return {};
}

}  // namespace tenon::engine
