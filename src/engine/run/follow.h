// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_ENGINE_RUN_FOLLOW_H_
#define TENON_ENGINE_RUN_FOLLOW_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "engine/context.h"
#include "engine/reporter.h"
#include "journal/reader.h"
#include "run/event.h"

namespace tenon::engine {

// Reports a run's far segments from `after` on: what is there, and, with `wait`, what comes until
// the end. Records of one segment come in order; what the script printed comes before the end. A
// runner that died is noticed and the true end is written (Launch::Recover). Returns the End, or
// nullopt when it stopped before: no `wait`, or `stop` was set (checked several times a second).
// Reading again from the returned place loses nothing and repeats nothing.
struct FollowOptions {
  journal::Place after;
  bool wait = true;
  const std::atomic<bool>* stop = nullptr;
};
struct Followed {
  std::optional<run::End> end;
  journal::Place place;
};
Result<Followed> Follow(Context& context, const std::string& run_id, const FollowOptions& options,
                        Reporter& reporter);

// The same step by step, for a loop that has other things to do, as to follow several runs: wait
// (poll) for the descriptors of all until the first is due, then step all. Those whose runs are on
// one machine share its link, and wake each other. One thread at a time for all of one context.
class Following {
 public:
  // Begins, without contacting a machine that was reached before. `context` and `reporter` must
  // outlive it.
  static Result<Following> Begin(Context& context, const std::string& run_id,
                                 const FollowOptions& options, Reporter& reporter);
  Following(Following&&) noexcept;
  Following& operator=(Following&&) noexcept;
  ~Following();

  // Does what can be done now; with nothing to do it waits for at most `wait_us`. A step may take
  // as long as a machine takes to answer. False: it is over.
  Result<bool> Step(int64_t wait_us = 0);
  // Readable when Step() may have something to do; -1: nothing tells.
  int fd() const;
  // When Step() is to be called at the latest, by SystemClock().MonotonicUs().
  int64_t due_us() const;
  // How far it is.
  Followed reached() const;

 private:
  class Follower;
  explicit Following(std::unique_ptr<Follower> follower);
  std::unique_ptr<Follower> follower_;
};

}  // namespace tenon::engine

#endif  // TENON_ENGINE_RUN_FOLLOW_H_
