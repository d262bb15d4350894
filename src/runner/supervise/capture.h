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

// The two pipes between a script and the journal. Bytes are handed over as they come, in the order
// in which the loop finds them; nothing is kept. A script that writes one small piece after the
// other to one of them is read once a millisecond: waking us for each would cost it more than the
// writing.
class Capture {
 public:
  using Sink = std::function<void(run::Stream stream, std::string_view bytes)>;

  // `loop` must outlive this object; `sink` is called from it.
  static Result<std::unique_ptr<Capture>> Open(PollLoop& loop, Sink sink);
  ~Capture();
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;

  // The script's ends, until CloseChildEnds().
  int stdout_fd() const { return streams_[0].child.get(); }
  int stderr_fd() const { return streams_[1].child.get(); }
  void CloseChildEnds();

  // Takes what is in the pipes now. Does not wait for the ends that daemons may hold open.
  void Drain();

 private:
  struct OneStream {
    run::Stream name;
    UniqueFd ours;
    UniqueFd child;
    int64_t read_us = 0;  // when there was something last
    bool rests = false;
  };
  Capture(PollLoop& loop, Sink sink);
  void OnReady(OneStream& stream);
  OneStream& Other(const OneStream& stream) { return streams_[&stream == &streams_[0] ? 1 : 0]; }
  // One read; false when there was nothing, or the stream has ended.
  bool ReadOnce(OneStream& stream);

  PollLoop& loop_;
  Sink sink_;
  OneStream streams_[2];
  std::unique_ptr<char[]> buffer_;
};

}  // namespace tenon::runner

#endif  // TENON_RUNNER_SUPERVISE_CAPTURE_H_
