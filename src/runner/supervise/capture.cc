// SPDX-License-Identifier: Apache-2.0
#include "runner/supervise/capture.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>

#include "base/clock.h"

namespace tenon::runner {
namespace {

// The largest pipe that an ordinary user may have, so that a script that writes in bursts does not
// have to wait.
constexpr int kPipeSize = 1 << 20;
// Small enough to stay in a processor's cache between the read and the write.
constexpr size_t kBuffer = 256u << 10;
// A stream rests for kRestUs after a read of less than kSmall bytes that comes less than 2 *
// kRestUs after the read before it.
constexpr int64_t kRestUs = 1'000;
constexpr size_t kSmall = 64u << 10;
// A stream does not rest if the other one was read within this time: the order between the two
// matters more than the cost.
constexpr int64_t kQuietUs = 10'000;

}  // namespace

Capture::Capture(PollLoop& loop, Sink sink)
    : loop_(loop), sink_(std::move(sink)), buffer_(new char[kBuffer]) {
  streams_[0].name = run::Stream::kStdout;
  streams_[1].name = run::Stream::kStderr;
}

Result<std::unique_ptr<Capture>> Capture::Open(PollLoop& loop, Sink sink) {
  std::unique_ptr<Capture> capture(new Capture(loop, std::move(sink)));
  for (OneStream& stream : capture->streams_) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return FromErrno("make a pipe for the script", errno);
    stream.ours.Reset(ends[0]);
    stream.child.Reset(ends[1]);
    ::fcntl(ends[1], F_SETPIPE_SZ, kPipeSize);  // may fail: a smaller pipe works as well
    // Only our end: the script's end must block as any pipe does.
    if (::fcntl(ends[0], F_SETFL, O_NONBLOCK) != 0) return FromErrno("set up a pipe", errno);
    OneStream* which = &stream;
    Capture* self = capture.get();
    loop.AddFd(ends[0], [self, which] { self->OnReady(*which); });
  }
  return capture;
}

Capture::~Capture() {
  for (OneStream& stream : streams_) {
    if (stream.ours.valid()) loop_.RemoveFd(stream.ours.get());
  }
}

void Capture::CloseChildEnds() {
  for (OneStream& stream : streams_) stream.child.Reset();
}

void Capture::OnReady(OneStream& stream) {
  OneStream& other = Other(stream);
  // What a resting stream holds was written before what is ready now.
  if (other.rests) {
    other.rests = false;
    ReadOnce(other);
  }
  ReadOnce(stream);
}

bool Capture::ReadOnce(OneStream& stream) {
  if (!stream.ours.valid()) return false;
  ssize_t count = ::read(stream.ours.get(), buffer_.get(), kBuffer);
  if (count > 0) {
    const int64_t now = SystemClock().MonotonicUs();
    stream.rests = count < static_cast<ssize_t>(kSmall) && now - stream.read_us < 2 * kRestUs &&
                   now - Other(stream).read_us > kQuietUs;
    stream.read_us = now;
    if (stream.rests) loop_.RestFd(stream.ours.get(), kRestUs);
    sink_(stream.name, {buffer_.get(), static_cast<size_t>(count)});
    return true;
  }
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return errno == EINTR;
  loop_.RemoveFd(stream.ours.get());
  stream.ours.Reset();
  return false;
}

void Capture::Drain() {
  for (OneStream& stream : streams_) {
    if (!stream.ours.valid()) continue;
    // Reads no more than the pipe holds now: a daemon may write for ever.
    int there = 0;
    if (::ioctl(stream.ours.get(), FIONREAD, &there) != 0) there = kPipeSize;
    for (size_t left = static_cast<size_t>(there) + 1; left > 0;) {
      if (!ReadOnce(stream)) break;
      left -= left < kBuffer ? left : kBuffer;
    }
  }
}

}  // namespace tenon::runner
