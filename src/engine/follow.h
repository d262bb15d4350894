// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_ENGINE_FOLLOW_H_
#define TENON_ENGINE_FOLLOW_H_

#include <atomic>
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

}  // namespace tenon::engine

#endif  // TENON_ENGINE_FOLLOW_H_
