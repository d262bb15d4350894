// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_RUNNER_SUPERVISE_SAMPLING_H_
#define TENON_RUNNER_SUPERVISE_SAMPLING_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/fd.h"
#include "base/frames.h"
#include "base/poll_loop.h"
#include "base/process.h"
#include "base/result.h"
#include "run/layout.h"
#include "runner/supervise/recorder.h"

namespace tenon::runner {

// A program that measures beside a script. It prints frames (base/frames.h) on its standard output.
// A frame has a body of sample blocks (run/sample.h), or {"notice": TEXT} as its head and no body.
// The program is killed when the script is over or its runner is gone, and needs to know nothing of
// either.
struct Sampler {
  std::string name;  // of its segment, sampler-<name>: lower case, digits, dashes
  std::vector<std::string> argv;
  Environment env;
};

// A running sampler and its segment, which the runner writes. A problem of the sampler is recorded
// in that segment and does no other harm.
class Sampling {
 public:
  // Starts the sampler. If another runner has begun the segment, appends to it, with a Gap for what
  // was not measured in between. `loop` must outlive this object. kInvalid: the sampler's name
  // can't be part of a segment's name.
  static Result<std::unique_ptr<Sampling>> Start(
      const Sampler& sampler, const run::RunFolder& folder, const std::string& run_key,
      const std::vector<std::string>& secrets, PollLoop& loop, const Clock& clock = SystemClock());
  // Kills the sampler, records what it has printed so far and waits for the disk.
  ~Sampling();
  Sampling(const Sampling&) = delete;
  Sampling& operator=(const Sampling&) = delete;

  const ProcessId& process() const { return process_; }

 private:
  Sampling(Recorder recorder, PollLoop& loop) : recorder_(std::move(recorder)), loop_(loop) {}
  void TakeIn();
  Status Record(const Frame& frame);
  // Kills the sampler and takes nothing more from it. Records `why`, in words for people, unless
  // the destructor is ending it.
  void Stop(const std::string& why);

  Recorder recorder_;
  PollLoop& loop_;
  ProcessId process_;
  UniqueFd out_;
  FrameReader reader_;
  bool ending_ = false;  // in the destructor
};

}  // namespace tenon::runner

#endif  // TENON_RUNNER_SUPERVISE_SAMPLING_H_
