// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/clock.h"
#include "net/http_client.h"

namespace tenon::net {
namespace {

Error DialError(const std::string& path, int error) {
  const std::string doing = "connecting to " + path;
  switch (error) {
    case ECONNREFUSED:
      return Unavailable(doing + ": nobody listens there");
    case EPROTOTYPE:
    case ENOTSOCK:
      return Invalid(doing + ": not a stream socket");
    default:
      return FromErrno(doing, error);
  }
}

}  // namespace

Result<UniqueFd> DialUnix(const std::string& path, int timeout_ms) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof address.sun_path ||
      path.find('\0') != std::string::npos) {
    return Invalid("connecting to " + path + ": the path of a socket has 1 to " +
                   std::to_string(sizeof address.sun_path - 1) + " bytes");
  }
  std::memcpy(address.sun_path, path.data(), path.size());

  UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd.valid()) return FromErrno("making a socket", errno);
  const int64_t deadline_us = SystemClock().MonotonicUs() + int64_t{timeout_ms} * 1000;
  // When the backlog is full, connect(2) fails with EAGAIN. poll(2) does not tell when it empties,
  // so we try again and again.
  for (int wait_ms = 1;; wait_ms = std::min(wait_ms * 2, 50)) {
    if (::connect(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) break;
    if (errno == EISCONN) break;
    if (errno != EAGAIN && errno != EINTR) return DialError(path, errno);
    if (timeout_ms > 0 && SystemClock().MonotonicUs() >= deadline_us) {
      return Unavailable("connecting to " + path + ": no answer within " +
                         std::to_string(timeout_ms) + " ms");
    }
    ::poll(nullptr, 0, wait_ms);
  }
  const int flags = ::fcntl(fd.get(), F_GETFL);
  if (flags < 0 || ::fcntl(fd.get(), F_SETFL, flags & ~O_NONBLOCK) != 0) {
    return FromErrno("connecting to " + path, errno);
  }
  return fd;
}

}  // namespace tenon::net
