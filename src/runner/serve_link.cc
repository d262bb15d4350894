// SPDX-License-Identifier: Apache-2.0
#include "runner/serve_link.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/error_json.h"
#include "base/file.h"
#include "base/text.h"

namespace tenon::runner {
namespace {

constexpr int kPipeBytes = 1 << 20;

}  // namespace

ServeLink::ServeLink(int in, int out) : in_(in), out_(out) {
  for (const int fd : {in, out}) {
    const int flags = ::fcntl(fd, F_GETFL);
    if (flags >= 0) ::fcntl(fd, F_SETFL, flags & ~O_NONBLOCK);
    // Fails on anything but a pipe, and where a user has too many large ones: then it is slower.
    (void)::fcntl(fd, F_SETPIPE_SZ, kPipeBytes);
  }
}

Status ServeLink::ReadSome() {
  const std::span<char> room = reader_.Room();
  const ssize_t count = ::read(in_, room.data(), room.size());
  if (count < 0 && (errno == EINTR || errno == EAGAIN)) return {};
  // A reset connection is an end like others.
  if (count <= 0) {
    ended_ = true;
    return {};
  }
  reader_.Took(static_cast<size_t>(count));
  some_ = true;
  return {};
}

Result<std::optional<Frame>> ServeLink::Next() {
  while (!next_) {
    TENON_TRY(next_, reader_.Next());
    if (next_) break;
    if (ended_) return std::optional<Frame>();
    TENON_TRY_VOID(ReadSome());
  }
  some_ = false;
  return std::exchange(next_, std::nullopt);
}

Result<bool> ServeLink::WaitForRequest(int64_t timeout_us, int also) {
  if (!next_) {
    TENON_TRY(next_, reader_.Next());
  }
  if (next_ || some_ || ended_) return true;
  pollfd fds[2] = {{in_, POLLIN, 0}, {also, POLLIN, 0}};
  const int64_t ms = std::clamp<int64_t>((timeout_us + 999) / 1000, 0, 1 << 30);
  if (::poll(fds, 2, static_cast<int>(ms)) <= 0 || fds[0].revents == 0) return false;
  TENON_TRY_VOID(ReadSome());
  return some_ || ended_;
}

Status ServeLink::Send(const json::Object& head, std::string_view body) {
  if (body.size() > kMaxFrameBody) {
    return Fail(Invalid("the answer is " + HumanBytes(body.size()) + ", more than one may be"));
  }
  if (head.contains("ok")) answered_ok_ = json::GetBool(head, "ok");
  return SendEncoded(EncodeFrame(head, body));
}

Status ServeLink::SendEncoded(std::string_view bytes) { return WriteAll(out_, bytes); }

Status ServeLink::Fail(const Error& error) {
  return Send({{"ok", false}, {"error", ErrorToJson(error)}});
}

}  // namespace tenon::runner
