// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_RUNNER_SUPERVISE_CAPTURE_H_
#define TENON_RUNNER_SUPERVISE_CAPTURE_H_

#include <functional>
#include <memory>
#include <string_view>

#include "base/fd.h"
#include "base/poll_loop.h"
#include "base/result.h"
#include "run/event.h"

namespace tenon::runner {

// Reads a script's standard output and standard error through two pipes. Passes the bytes to the
// sink as they come, in the order in which the poll loop finds them, and keeps nothing. While a
// script writes many small pieces to one stream, that stream is read only once per millisecond:
// waking the runner for each piece would cost the script more than the writing.
class Capture {
 public:
  using Sink = std::function<void(run::Stream stream, std::string_view bytes)>;

  // `loop` must outlive this object. `sink` is called from the loop and from Drain().
  static Result<std::unique_ptr<Capture>> Open(PollLoop& loop, Sink sink);
  ~Capture();
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;

  // The script's ends of the pipes. Valid until CloseChildEnds().
  int stdout_fd() const { return streams_[0].child.get(); }
  int stderr_fd() const { return streams_[1].child.get(); }
  void CloseChildEnds();

  // Reads what is in the pipes now. Does not wait for end of file, because a daemon may hold the
  // script's ends open.
  void Drain();

 private:
  struct OneStream {
    run::Stream name;
    UniqueFd ours;
    UniqueFd child;
    int64_t read_us = 0;  // monotonic; when bytes were last read
    bool rests = false;
  };
  Capture(PollLoop& loop, Sink sink);
  void OnReady(OneStream& stream);
  OneStream& Other(const OneStream& stream) { return streams_[&stream == &streams_[0] ? 1 : 0]; }
  // Reads once. False: the pipe is empty, or the stream has ended.
  bool ReadOnce(OneStream& stream);

  PollLoop& loop_;
  Sink sink_;
  OneStream streams_[2];
  std::unique_ptr<char[]> buffer_;
};

}  // namespace tenon::runner

#endif  // TENON_RUNNER_SUPERVISE_CAPTURE_H_
