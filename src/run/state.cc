// SPDX-License-Identifier: Apache-2.0
#include "run/state.h"

#include <array>
#include <utility>

namespace tenon::run {
namespace {

constexpr std::array<std::pair<State, std::string_view>, 11> kNames{{
    {State::kNotStarted, "NotStarted"},
    {State::kQueued, "Queued"},
    {State::kStarting, "Starting"},
    {State::kPreparing, "Preparing"},
    {State::kRunning, "Running"},
    {State::kFinalizing, "Finalizing"},
    {State::kCancelRequested, "CancelRequested"},
    {State::kCompleted, "Completed"},
    {State::kFailed, "Failed"},
    {State::kCanceled, "Canceled"},
    {State::kNotResponding, "NotResponding"},
}};

}  // namespace

std::string_view StateName(State state) {
  for (const auto& [value, name] : kNames) {
    if (value == state) return name;
  }
  return "NotStarted";
}

std::optional<State> StateFromName(std::string_view name) {
  for (const auto& [value, text] : kNames) {
    if (text == name) return value;
  }
  return std::nullopt;
}

bool IsFinal(State state) {
  return state == State::kCompleted || state == State::kFailed || state == State::kCanceled;
}

State Further(State a, State b) {
  if (IsFinal(a)) return a;
  if (IsFinal(b)) return b;
  return static_cast<int>(a) >= static_cast<int>(b) ? a : b;
}

}  // namespace tenon::run
