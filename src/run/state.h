// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_RUN_STATE_H_
#define TENON_RUN_STATE_H_

#include <optional>
#include <string_view>

namespace tenon::run {

// The life of a run, in the words that users of the Workbench and its successor know.
//
//   NotStarted ─► Queued ─► Starting ─► Preparing ─► Running ─► Finalizing ─► Completed
//        │           │          │            │          │            │     └─► Failed
//        │           └──────────┴────────────┴──────────┴────────────┤
//        │                                                           ▼
//        └─► Failed (never started)                 CancelRequested ─► Canceled
//
// A run may skip states (a local run is never Queued) but never goes back. A run that was asked to
// stop may still end Completed or Failed if it was faster. The journal never has NotResponding: a
// listing shows it for an unfinished run that has not been heard from.
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
std::optional<State> StateFromName(std::string_view name);  // exact spelling; nullopt: no state
bool IsFinal(State state);

// Returns the state that tells more about a run, in whatever order the two arrived: a final state
// wins over any other, otherwise the later step wins. Of two final states the first argument wins;
// apart from that the order of the arguments does not matter.
State Further(State a, State b);

}  // namespace tenon::run

#endif  // TENON_RUN_STATE_H_
