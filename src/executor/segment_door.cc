// SPDX-License-Identifier: Apache-2.0
#include "executor/segment_door.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/clock.h"
#include "base/file.h"
#include "executor/sized_text.h"

namespace tenon::executor {
namespace {

constexpr const char* kSocketName = "segment";
constexpr const char* kGiving = "handing the journal to the container";
constexpr const char* kTaking = "asking for the journal";

// The address of the socket in a folder, through /proc/self/fd: an address has room for 107 bytes,
// and the path of a folder may be longer.
struct Address {
  UniqueFd folder;
  sockaddr_un name{};
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&name); }
};

Result<Address> AddressIn(const std::string& folder) {
  Address address;
  TENON_TRY(address.folder, OpenFile(folder, O_PATH | O_DIRECTORY));
  const std::string path =
      "/proc/self/fd/" + std::to_string(address.folder.get()) + "/" + kSocketName;
  address.name.sun_family = AF_UNIX;
  std::memcpy(address.name.sun_path, path.c_str(), path.size() + 1);
  return address;
}

// A message of one byte, with room for one descriptor beside it.
struct Parcel {
  char byte = 'x';
  iovec part{&byte, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  Parcel() {
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
  }
};

Status SendFd(int socket, int fd) {
  Parcel parcel;
  cmsghdr* header = CMSG_FIRSTHDR(&parcel.message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof fd);
  std::memcpy(CMSG_DATA(header), &fd, sizeof fd);
  while (::sendmsg(socket, &parcel.message, MSG_NOSIGNAL) < 0) {
    if (errno != EINTR) return FromErrno(kGiving, errno);
  }
  return {};
}

Result<UniqueFd> ReceiveFd(int socket) {
  Parcel parcel;
  ssize_t count = 0;
  do {
    count = ::recvmsg(socket, &parcel.message, MSG_CMSG_CLOEXEC);
  } while (count < 0 && errno == EINTR);
  if (count < 0) return FromErrno(kTaking, errno);
  const cmsghdr* header = CMSG_FIRSTHDR(&parcel.message);
  if (count == 0 || header == nullptr || header->cmsg_level != SOL_SOCKET ||
      header->cmsg_type != SCM_RIGHTS || header->cmsg_len != CMSG_LEN(sizeof(int))) {
    return Unavailable(std::string(kTaking) + ": nothing was given");
  }
  int fd = -1;
  std::memcpy(&fd, CMSG_DATA(header), sizeof fd);
  return UniqueFd(fd);
}

}  // namespace

Result<SegmentDoor> SegmentDoor::Open(const std::string& folder) {
  const std::string path = JoinPath(folder, kSocketName);
  if (Exists(path)) TENON_TRY_VOID(RemoveFile(path));
  TENON_TRY(Address address, AddressIn(folder));
  UniqueFd listener(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!listener.valid()) return FromErrno(kGiving, errno);
  if (::bind(listener.get(), address.get(), sizeof address.name) != 0 ||
      ::listen(listener.get(), SOMAXCONN) != 0) {
    return FromErrno(std::string(kGiving) + ", listening at " + path, errno);
  }
  return SegmentDoor(path, std::move(listener));
}

SegmentDoor::~SegmentDoor() {
  if (listener_.valid()) (void)RemoveFile(path_).ok();
}

Result<bool> SegmentDoor::Give(const std::string& segment, int other_end, int limit_ms) {
  TENON_TRY(UniqueFd file, OpenFile(segment, O_RDWR));
  const int64_t deadline = SystemClock().MonotonicUs() + int64_t{limit_ms} * 1000;
  for (;;) {
    const int64_t left_us = deadline - SystemClock().MonotonicUs();
    if (left_us <= 0) return Unavailable(std::string(kGiving) + ": it has not asked for it");
    pollfd ready[] = {{listener_.get(), POLLIN, 0}, {other_end, POLLIN, 0}};
    if (::poll(ready, 2, static_cast<int>(left_us / 1000) + 1) <= 0) continue;
    UniqueFd asking(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (asking.valid()) {
      TENON_TRY_VOID(SendFd(asking.get(), file.get()));
      return true;
    }
    if (ready[1].revents != 0) return false;
  }
}

void SegmentDoor::Serve(const std::function<Result<Given>(const std::string& name)>& find) {
  for (;;) {
    const UniqueFd asking(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!asking.valid()) return;
    const timeval limit{1, 0};
    (void)::setsockopt(asking.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    (void)::setsockopt(asking.get(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    const auto name = ReadSized(asking.get());
    if (!name.ok()) continue;
    const auto given = find(*name);
    if (!given.ok()) continue;
    const auto file = OpenFile(given->segment, O_RDWR | O_CREAT, 0600);
    if (!file.ok() || !SendFd(asking.get(), file->get()).ok()) continue;
    (void)WriteSized(asking.get(), given->job).ok();
  }
}

namespace {

Result<UniqueFd> Knock(const std::string& folder) {
  TENON_TRY(Address address, AddressIn(folder));
  UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket.valid()) return FromErrno(kTaking, errno);
  while (::connect(socket.get(), address.get(), sizeof address.name) != 0) {
    if (errno != EINTR) return FromErrno(kTaking, errno);
  }
  return socket;
}

}  // namespace

Result<UniqueFd> TakeSegment(const std::string& folder) {
  TENON_TRY(const UniqueFd socket, Knock(folder));
  return ReceiveFd(socket.get());
}

Result<Taken> TakeNamed(const std::string& folder, const std::string& name) {
  TENON_TRY(const UniqueFd socket, Knock(folder));
  TENON_TRY_VOID(WriteSized(socket.get(), name));
  Taken taken;
  TENON_TRY(taken.segment, ReceiveFd(socket.get()));
  TENON_TRY(taken.job, ReadSized(socket.get()));
  return taken;
}

}  // namespace tenon::executor
