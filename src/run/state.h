// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_RUN_STATE_H_
#define TENON_RUN_STATE_H_

#include <optional>
#include <string_view>

namespace tenon::run {

// The life of a run. Words as users of the Workbench and its successor know them.
//
//   NotStarted ─► Queued ─► Starting ─► Preparing ─► Running ─► Finalizing ─► Completed
//        │           │          │            │          │            │     └─► Failed
//        │           └──────────┴────────────┴──────────┴────────────┤
//        │                                                           ▼
//        └─► Failed (never started)                 CancelRequested ─► Canceled
//
// Steps may be left out (a local run is never Queued), never taken back; a run that is asked to
// stop may still end Completed or Failed when it was faster. NotResponding is not a state of the
// journal: a listing shows it for a run that is not finished and has not been heard of.
enum class State {
  kNotStarted,
  kQueued,
  kStarting,
  kPreparing,
  kRunning,
  kFinalizing,
  kCancelRequested,
  kCompleted,
  kFailed,
  kCanceled,
  kNotResponding,
};
constexpr int LastOf(State) { return static_cast<int>(State::kNotResponding); }

std::string_view StateName(State state);
std::optional<State> StateFromName(std::string_view name);  // exact spelling
bool IsFinal(State state);

// The state that tells more about a run, whatever order the two were heard in: a final one wins
// over any other, else the later step. Of two final ones the first argument wins. Commutative
// otherwise.
State Further(State a, State b);

}  // namespace tenon::run

#endif  // TENON_RUN_STATE_H_
