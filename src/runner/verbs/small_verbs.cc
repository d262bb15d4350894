// SPDX-License-Identifier: Apache-2.0
#include "runner/verbs/small_verbs.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <string_view>

#include "base/durable.h"
#include "base/file.h"
#include "base/hash.h"
#include "docker/dial.h"
#include "run/verbs.h"
#include "runner/verbs/login_shell.h"

extern char** environ;

namespace tenon::runner {
namespace {

constexpr int kDialMs = 10'000;
constexpr size_t kPiece = 64u << 10;
constexpr int kYes = 0, kNo = 1;

int PrintEnvironment(const std::string& mark) {
  std::string text = mark;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    text.append(*entry).push_back('\0');
  }
  text += mark;
  return WriteAll(STDOUT_FILENO, text).ok() ? kYes : kNo;
}

int Check(const std::string& hash) {
  auto file = OpenFile("/proc/self/exe", O_RDONLY);
  if (!file.ok()) return kNo;
  Sha256 sha;
  std::string piece(1u << 20, '\0');
  for (uint64_t offset = 0;;) {
    auto got = ReadAt(file->get(), piece, offset);
    if (!got.ok()) return kNo;
    if (*got == 0) break;
    sha.Update(std::string_view(piece).substr(0, *got));
    offset += *got;
  }
  if (sha.Finish().Hex() != hash) return kNo;
  // The client gives the file its name next. A power cut must not leave the name without the bytes.
  return DurableFsync(file->get()) == 0 ? kYes : kNo;
}

// Many servers listen on only one of the two addresses.
Result<UniqueFd> DialLoopback(uint16_t port) {
  sockaddr_in four{};
  four.sin_family = AF_INET;
  four.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  four.sin_port = htons(port);
  sockaddr_in6 six{};
  six.sin6_family = AF_INET6;
  six.sin6_addr = IN6ADDR_LOOPBACK_INIT;
  six.sin6_port = htons(port);
  const std::pair<const void*, socklen_t> addresses[] = {{&four, sizeof four}, {&six, sizeof six}};
  int refused = 0;
  for (const auto& [bytes, size] : addresses) {
    const auto* address = static_cast<const sockaddr*>(bytes);
    UniqueFd fd(::socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (fd.valid() && ::connect(fd.get(), address, size) == 0) return fd;
    if (refused == 0) refused = errno;
  }
  return FromErrno("port " + std::to_string(port), refused);
}

Result<UniqueFd> DialPlace(const std::string& place) {
  uint16_t port = 0;
  const auto read = std::from_chars(place.data(), place.data() + place.size(), port);
  const bool number = read.ec == std::errc() && read.ptr == place.data() + place.size();
  return number ? DialLoopback(port) : docker::DialSocket(place, kDialMs);
}

int Dial(const std::string& place) {
  ::signal(SIGPIPE, SIG_IGN);
  auto socket = DialPlace(place);
  if (!socket.ok()) {
    (void)WriteAll(STDERR_FILENO, socket.error().message + "\n").ok();
    return kNo;
  }
  Join(STDIN_FILENO, STDOUT_FILENO, socket->get());
  return kYes;
}

// Passes on one piece. False: `from` has ended, or `to` takes nothing more.
bool Pass(int from, int to) {
  char piece[kPiece];
  const ssize_t count = ::read(from, piece, sizeof piece);
  if (count < 0) return errno == EINTR || errno == EAGAIN;
  return count > 0 && WriteAll(to, {piece, static_cast<size_t>(count)}).ok();
}

}  // namespace

void Join(int in, int out, int socket) {
  const int flags = ::fcntl(socket, F_GETFL);
  if (flags >= 0) ::fcntl(socket, F_SETFL, flags & ~O_NONBLOCK);
  for (bool input = true;;) {
    pollfd fds[3] = {{input ? in : -1, POLLIN, 0}, {socket, POLLIN, 0}, {out, 0, 0}};
    if (::poll(fds, 3, -1) < 0 && errno != EINTR) return;
    if (fds[1].revents != 0 && !Pass(socket, out)) return;
    if (fds[0].revents != 0 && !Pass(in, socket)) {
      input = false;
      ::shutdown(socket, SHUT_WR);
    }
    // Nobody reads `out` any more.
    if ((fds[2].revents & (POLLERR | POLLNVAL)) != 0) return;
  }
}

std::optional<int> RunSmallVerb(const std::vector<std::string>& words) {
  const std::string verb = words.empty() ? "" : words[0];
  if (verb == run::kVerbEnvironment && words.size() <= 2) {
    return PrintEnvironment(words.size() == 2 ? words[1] : "");
  }
  if (verb == run::kVerbCheck && words.size() == 2) return Check(words[1]);
  if (verb == run::kVerbDial && words.size() == 2) return Dial(words[1]);
  if (verb == run::kVerbLogin && words.size() == 3) return ExecLoginShell(words[1], words[2]);
  return std::nullopt;
}

}  // namespace tenon::runner
