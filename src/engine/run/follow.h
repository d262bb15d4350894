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

// Reports a run's far segments from `after` on: the records that exist, and, with `wait`, new ones
// until the end. Records of one segment come in order. What the script printed comes before the
// end. If the runner has died, its true end is written first (Launch::Recover). Returns no End when
// it stopped earlier: without `wait`, or because `stop` was set (checked several times a second).
// Following again from the returned place loses nothing and repeats nothing.
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

// The same step by step, for a loop that has other work or follows several runs. Such a loop polls
// the descriptors of all until the first is due, then steps all. Runs on one machine share its link
// and wake each other. One thread at a time for all objects of one context.
class Following {
 public:
  // Begins to follow. Does not contact a machine that was reached before. `context` and `reporter`
  // must outlive the object.
  static Result<Following> Begin(Context& context, const std::string& run_id,
                                 const FollowOptions& options, Reporter& reporter);
  Following(Following&&) noexcept;
  Following& operator=(Following&&) noexcept;
  ~Following();

  // Does what can be done now. With nothing to do it waits for at most `wait_us`. A step may take
  // as long as a machine takes to answer. Returns false when following is over.
  Result<bool> Step(int64_t wait_us = 0);
  // Readable when Step() may have work; -1: no descriptor can tell.
  int fd() const;
  // When Step() must be called at the latest, by SystemClock().MonotonicUs().
  int64_t due_us() const;
  // What was reached so far; the End once following is over.
  Followed reached() const;

 private:
  class Follower;
  explicit Following(std::unique_ptr<Follower> follower);
  std::unique_ptr<Follower> follower_;
};

}  // namespace tenon::engine

#endif  // TENON_ENGINE_RUN_FOLLOW_H_
