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

// A program that measures beside a script. It prints frames (base/frames.h) on its standard output,
// each with a body of sample blocks (run/sample.h), or with {"notice": TEXT} for a head and no
// body. It is killed when the script is over or its runner has gone, and needs to know nothing of
// either.
struct Sampler {
  std::string name;  // of its segment, sampler-<name>: lower case, digits, dashes
  std::vector<std::string> argv;
  Environment env;
};

// A sampler at work, and its segment, which its runner writes. What is wrong with it is told in
// that segment and harms nobody else.
class Sampling {
 public:
  // Starts it. Where another runner has begun the segment this one goes on with it, and what was
  // not measured meanwhile is a gap. `loop` must outlive this object.
  static Result<std::unique_ptr<Sampling>> Start(
      const Sampler& sampler, const run::RunFolder& folder, const std::string& run_key,
      const std::vector<std::string>& secrets, PollLoop& loop, const Clock& clock = SystemClock());
  // Ends it, takes what it has printed so far and waits for the disk.
  ~Sampling();
  Sampling(const Sampling&) = delete;
  Sampling& operator=(const Sampling&) = delete;

  const ProcessId& process() const { return process_; }

 private:
  Sampling(Recorder recorder, PollLoop& loop) : recorder_(std::move(recorder)), loop_(loop) {}
  void TakeIn();
  Status Record(const Frame& frame);
  // Nothing more is taken from it; `why`: for people, where it was not we who ended it.
  void Stop(const std::string& why);

  Recorder recorder_;
  PollLoop& loop_;
  ProcessId process_;
  UniqueFd out_;
  FrameReader reader_;
  bool ending_ = false;  // by us
};

}  // namespace tenon::runner

#endif  // TENON_RUNNER_SUPERVISE_SAMPLING_H_
