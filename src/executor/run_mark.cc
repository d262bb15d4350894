// SPDX-License-Identifier: Apache-2.0
#include "executor/run_mark.h"

#include <sys/resource.h>

#include <cstdlib>
#include <vector>

#include "base/hash.h"
#include "base/text.h"

namespace tenon::executor {
namespace {

constexpr uint64_t kTag = 0x54;
constexpr uint64_t kTop = 255;
constexpr std::string_view kLimitName = "Max file locks";
constexpr std::string_view kUnlimited = "unlimited";

constexpr uint64_t TagOf(uint64_t value) { return value >> 56; }
constexpr uint64_t LevelOf(uint64_t value) { return value >> 48 & 0xff; }
constexpr uint64_t KeyOf(uint64_t value) { return value & 0xffff'ffff'ffff; }

uint64_t KeyBits(const std::string& run_key) {
  return std::strtoull(Sha256Of(run_key).Hex().substr(0, 12).c_str(), nullptr, 16);
}

std::optional<uint64_t> OwnLimit() {
  struct rlimit limit {};
  if (::getrlimit(RLIMIT_LOCKS, &limit) != 0) return std::nullopt;
  return limit.rlim_max;
}

// The hard limit in a /proc/PID/limits text, which stands after the soft one; "" = the text does
// not say.
std::string HardLimitIn(std::string_view limits) {
  for (const std::string& line : Split(limits, '\n')) {
    if (!line.starts_with(kLimitName)) continue;
    std::vector<std::string> words = Split(line.substr(kLimitName.size()), ' ');
    std::erase(words, "");
    return words.size() < 2 ? "" : words[1];
  }
  return "";
}

RunMark MarkIn(uint64_t value, const std::string& run_key) {
  if (TagOf(value) != kTag) return RunMark::kNone;
  return KeyOf(value) == KeyBits(run_key) ? RunMark::kOurs : RunMark::kForeign;
}

}  // namespace

std::optional<uint64_t> RunMarkBelow(uint64_t inherited, const std::string& run_key) {
  uint64_t level = kTop;
  if (TagOf(inherited) == kTag) {
    if (LevelOf(inherited) == 0) return std::nullopt;
    level = LevelOf(inherited) - 1;
  }
  return kTag << 56 | level << 48 | KeyBits(run_key);
}

bool TakeRunMark(const std::string& run_key) {
  const auto inherited = OwnLimit();
  if (!inherited) return false;
  if (MarkIn(*inherited, run_key) == RunMark::kOurs) return true;
  const auto value = RunMarkBelow(*inherited, run_key);
  if (!value) return false;
  const struct rlimit limit { *value, *value };
  return ::setrlimit(RLIMIT_LOCKS, &limit) == 0;
}

bool HasRunMark(const std::string& run_key) {
  const auto limit = OwnLimit();
  return limit && MarkIn(*limit, run_key) == RunMark::kOurs;
}

RunMark ReadRunMark(std::string_view limits, const std::string& run_key) {
  const std::string hard = HardLimitIn(limits);
  if (hard.empty()) return RunMark::kUnknown;
  // "unlimited" reads as 0, which is no mark.
  return MarkIn(std::strtoull(hard.c_str(), nullptr, 10), run_key);
}

bool CouldHaveGivenUpMark(std::string_view limits) {
  const std::string hard = HardLimitIn(limits);
  return !hard.empty() && hard != kUnlimited &&
         TagOf(std::strtoull(hard.c_str(), nullptr, 10)) < kTag;
}

}  // namespace tenon::executor
