// SPDX-License-Identifier: Apache-2.0
#include "runner/agent/serve_link.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/sendfile.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>
#include <vector>

#include "base/error_json.h"
#include "base/file.h"
#include "base/text.h"

namespace tenon::runner {
namespace {

constexpr int kPipeBytes = 1 << 20;
constexpr size_t kCopied = 256u << 10;

}  // namespace

ServeLink::ServeLink(int in, int out) : in_(in), out_(out) {
  for (const int fd : {in, out}) {
    const int flags = ::fcntl(fd, F_GETFL);
    if (flags >= 0) ::fcntl(fd, F_SETFL, flags & ~O_NONBLOCK);
    // Fails if the descriptor is no pipe, or if the user has too many large pipes. Then the link is
    // slower.
    (void)::fcntl(fd, F_SETPIPE_SZ, kPipeBytes);
  }
}

Status ServeLink::ReadSome() {
  const std::span<char> room = reader_.Room();
  const ssize_t count = ::read(in_, room.data(), room.size());
  if (count < 0 && (errno == EINTR || errno == EAGAIN)) return {};
  // A reset connection counts as the end, too.
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

Result<bool> ServeLink::WaitForRequest(int64_t timeout_us, std::span<const int> also) {
  if (!next_) {
    TENON_TRY(next_, reader_.Next());
  }
  if (next_ || some_ || ended_) return true;
  std::vector<pollfd> fds{{in_, POLLIN, 0}};
  for (const int fd : also) fds.push_back({fd, POLLIN, 0});
  const int64_t ms = std::clamp<int64_t>((timeout_us + 999) / 1000, 0, 1 << 30);
  if (::poll(fds.data(), fds.size(), static_cast<int>(ms)) <= 0 || fds[0].revents == 0)
    return false;
  TENON_TRY_VOID(ReadSome());
  return some_ || ended_;
}

Status ServeLink::Send(const json::Object& head, std::string_view body) {
  if (body.size() > kMaxFrameBody) {
    return Fail(Invalid("the answer is " + HumanBytes(body.size()) + ", more than one may be"));
  }
  if (head.contains("ok")) answered_ok_ = json::GetBool(head, "ok");
  if (answering_ == 0 || head.contains("id")) return WriteAll(out_, EncodeFrame(head, body));
  json::Object numbered = head;
  numbered["id"] = answering_;
  return WriteAll(out_, EncodeFrame(numbered, body));
}

Status ServeLink::SendFromFile(const json::Object& head, int fd, uint64_t offset, size_t length) {
  TENON_TRY_VOID(WriteAll(out_, EncodeFrameHead(head, length)));
  auto at = static_cast<off_t>(offset);
  for (size_t left = length; left > 0;) {
    // Sends the file's pages to the pipe without a copy. Some file systems can't do that.
    ssize_t count = ::sendfile(out_, fd, &at, left);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && (errno == EINVAL || errno == ENOSYS)) {
      std::string piece(std::min(left, kCopied), '\0');
      TENON_TRY(const size_t got, ReadAt(fd, piece, static_cast<uint64_t>(at)));
      TENON_TRY_VOID(WriteAll(out_, std::string_view(piece).substr(0, got)));
      at += static_cast<off_t>(got);
      count = static_cast<ssize_t>(got);
    }
    if (count < 0) return FromErrno("sending a file", errno);
    // The head has promised more bytes, so the link ends and the client asks again.
    if (count == 0) return Unavailable("a file became shorter while it was sent");
    left -= static_cast<size_t>(count);
  }
  return {};
}

Status ServeLink::Fail(const Error& error) {
  return Send({{"ok", false}, {"error", ErrorToJson(error)}});
}

}  // namespace tenon::runner
