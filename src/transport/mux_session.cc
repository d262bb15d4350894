// SPDX-License-Identifier: Apache-2.0
#include "transport/mux_session.h"

#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace tenon::transport {
namespace {

constexpr uint32_t kHello = 0x00000001, kNewSession = 0x10000002;
constexpr uint32_t kDenied = 0x80000002, kFailure = 0x80000003, kExit = 0x80000004,
                   kOpened = 0x80000006;
constexpr uint32_t kVersion = 4;
constexpr uint32_t kNoEscape = 0xffffffff;
// ssh sends no longer message.
constexpr uint32_t kLongest = 1u << 18;
constexpr int kRefused = 255;

void Put(std::string* out, uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) out->push_back(static_cast<char>(value >> shift));
}

void Put(std::string* out, std::string_view text) {
  Put(out, static_cast<uint32_t>(text.size()));
  out->append(text);
}

uint32_t NumberAt(std::string_view bytes, size_t at) {
  uint32_t value = 0;
  for (size_t i = 0; i < 4; ++i) {
    value = value << 8 | (at + i < bytes.size() ? static_cast<unsigned char>(bytes[at + i]) : 0);
  }
  return value;
}

std::string Packet(std::string_view body) {
  std::string packet;
  Put(&packet, body);
  return packet;
}

std::string Greeting() {
  std::string body;
  Put(&body, kHello);
  Put(&body, kVersion);
  return Packet(body);
}

std::string NewSession(const std::string& command) {
  std::string body;
  Put(&body, kNewSession);
  Put(&body, 1u);  // the request's number
  Put(&body, "");
  for (int flag = 0; flag < 4; ++flag) Put(&body, 0u);  // terminal, X11, agent, subsystem
  Put(&body, kNoEscape);
  const char* terminal = std::getenv("TERM");
  Put(&body, terminal == nullptr ? "" : std::string_view(terminal));
  Put(&body, std::string_view(command));
  return Packet(body);
}

bool SendText(int socket, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = ::send(socket, text.data(), text.size(), MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return false;
    text.remove_prefix(static_cast<size_t>(count));
  }
  return true;
}

// One byte, with the descriptor beside it.
bool SendDescriptor(int socket, int fd) {
  char byte = 0;
  iovec piece{&byte, 1};
  alignas(cmsghdr) char beside[CMSG_SPACE(sizeof fd)] = {};
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  message.msg_control = beside;
  message.msg_controllen = sizeof beside;
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof fd);
  std::memcpy(CMSG_DATA(header), &fd, sizeof fd);
  ssize_t count;
  do {
    count = ::sendmsg(socket, &message, MSG_NOSIGNAL);
  } while (count < 0 && errno == EINTR);
  return count == 1;
}

}  // namespace

Result<MuxSession> MuxSession::Open(const std::string& control_path, const std::string& command,
                                    std::span<const int, 3> standard) {
  const std::string doing = "ask for a session at " + control_path;
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  if (control_path.size() >= sizeof address.sun_path) return Invalid(doing + ": too long a path");
  control_path.copy(address.sun_path, control_path.size());
  UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket.valid() ||
      ::connect(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
    return FromErrno(doing, errno);
  }
  bool sent = SendText(socket.get(), Greeting() + NewSession(command));
  for (const int fd : standard) sent = sent && SendDescriptor(socket.get(), fd);
  if (!sent) return FromErrno(doing, errno);
  return MuxSession(std::move(socket));
}

std::optional<ExitStatus> MuxSession::Ended(std::string* words) {
  const auto refused = [&](std::string_view why) {
    words->append(why);
    words->append("\n");
    return ExitStatus{kRefused, 0};
  };
  bool over = false;
  char buffer[1024];
  for (;;) {
    const ssize_t count = ::recv(socket_.get(), buffer, sizeof buffer, MSG_DONTWAIT);
    if (count < 0 && errno == EINTR) continue;
    over = count == 0 || (count < 0 && errno != EAGAIN);
    if (count <= 0) break;
    heard_.append(buffer, static_cast<size_t>(count));
  }
  while (heard_.size() >= 4) {
    const uint32_t length = NumberAt(heard_, 0);
    if (length < 4 || length > kLongest) return refused("the shared connection is no ssh's");
    if (heard_.size() - 4 < length) break;
    const std::string message = heard_.substr(4, length);
    heard_.erase(0, 4 + size_t{length});
    const uint32_t kind = NumberAt(message, 0);
    opened_ = opened_ || kind == kOpened;
    if (kind == kExit) return ExitStatus{static_cast<int>(NumberAt(message, 8) & 0xff), 0};
    if (kind == kDenied || kind == kFailure) {
      // The request's number, then a text.
      return refused(message.size() > 12 ? std::string_view(message).substr(12) : "refused");
    }
  }
  untold_ = over;
  if (over) return refused("Shared connection closed.");
  return std::nullopt;
}

}  // namespace tenon::transport
