// SPDX-License-Identifier: Apache-2.0
#include "run/damage.h"

#include <algorithm>
#include <utility>

#include "base/text.h"

namespace tenon::run {
namespace {

constexpr size_t kShown = 5;
constexpr int kNotStartedCode = 125;
constexpr std::string_view kUnreadableHere = "unreadable-here";

}  // namespace

std::string DamagedSnapshotText(const std::vector<std::string>& paths) {
  std::vector<std::string> some;
  for (size_t i = 0; i < std::min(paths.size(), kShown); ++i) {
    some.push_back(paths[i] == "." ? "the list of files" : ForTerminal(paths[i]));
  }
  std::string text = Join(some, ", ");
  if (paths.size() > kShown) text += " and " + std::to_string(paths.size() - kShown) + " more";
  return text + (paths.size() == 1 ? " is" : " are") + " damaged in the object store";
}

bool IsDamagedSnapshot(const End& end) {
  return end.exit_code == kNotStartedCode && end.cause == kDamagedSnapshot;
}

Error UnreadableHere(Error error) {
  return std::move(error)
      .Wrap("reading the project's files from the object store here")
      .WithReason(kUnreadableHere);
}

bool IsUnreadableHere(const Error& error) { return error.reason == kUnreadableHere; }

}  // namespace tenon::run
