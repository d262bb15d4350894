// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"

#include <fcntl.h>
#include <sys/auxv.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/clock.h"
#include "base/file.h"
#include "base/hash.h"

namespace tenon {
namespace {

constexpr char kHex[] = "0123456789abcdef";

bool FillFromKernel(std::span<char> out) {
  size_t used = 0;
  while (used < out.size()) {
    ssize_t n = ::getrandom(out.data() + used, out.size() - used, 0);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    used += static_cast<size_t>(n);
  }
  return true;
}

bool FillFromDevice(std::span<char> out) {
  auto fd = OpenFile("/dev/urandom", O_RDONLY);
  if (!fd.ok()) return false;
  size_t used = 0;
  while (used < out.size()) {
    ssize_t n = ::read(fd->get(), out.data() + used, out.size() - used);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    used += static_cast<size_t>(n);
  }
  return true;
}

// For a kernel without getrandom(2) in a root without /dev: uses the 16 bytes that every program
// gets at its start, made different for each process, moment and call.
void FillFromStart(std::span<char> out) {
  static std::atomic<uint64_t> calls{0};
  for (size_t used = 0; used < out.size();) {
    uint64_t seed[5] = {0, 0, calls.fetch_add(1), static_cast<uint64_t>(::getpid()),
                        static_cast<uint64_t>(SystemClock().MonotonicUs())};
    if (auto* bytes = reinterpret_cast<const void*>(::getauxval(AT_RANDOM))) {
      std::memcpy(seed, bytes, 16);
    }
    Hash hash = Sha256Of({reinterpret_cast<const char*>(seed), sizeof seed});
    size_t n = std::min<size_t>(out.size() - used, 32);
    std::memcpy(out.data() + used, hash.bytes.data(), n);
    used += n;
  }
}

// How many edits turn a into b: insert, drop, change, or swap two neighbours.
size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
    before.swap(last);
    last.swap(row);
  }
  return last[b.size()];
}

bool IsShellSafe(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::strchr("_-./=:,@%+", c) != nullptr;
}

}  // namespace

std::vector<std::string> Split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (;;) {
    size_t at = text.find(separator);
    parts.emplace_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

std::string Join(std::span<const std::string> parts, std::string_view separator) {
  std::string joined;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) joined += separator;
    joined += parts[i];
  }
  return joined;
}

std::string_view Trim(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

std::string ToLower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

std::string HumanBytes(uint64_t bytes) {
  if (bytes < 1000) return std::to_string(bytes) + " B";
  constexpr const char* kUnits[] = {"KB", "MB", "GB", "TB", "PB", "EB"};
  double value = static_cast<double>(bytes) / 1000;
  size_t unit = 0;
  for (; value >= 999.95 && unit + 1 < std::size(kUnits); ++unit) value /= 1000;
  char text[32];
  std::snprintf(text, sizeof text, "%.1f %s", value, kUnits[unit]);
  return text;
}

std::string Count(uint64_t n, std::string_view singular, std::string_view plural) {
  std::string text = std::to_string(n) + " ";
  text += n == 1 ? singular : plural;
  return text;
}

std::optional<std::string> DidYouMean(std::string_view word,
                                      std::span<const std::string> candidates) {
  if (word.empty()) return std::nullopt;
  std::string lower = ToLower(word);
  size_t allowed = std::max<size_t>(1, lower.size() / 3);
  const std::string* best = nullptr;
  size_t best_distance = 0;
  for (const std::string& candidate : candidates) {
    if (candidate.empty()) continue;
    size_t longer = std::max(candidate.size(), lower.size());
    if (longer - std::min(candidate.size(), lower.size()) > allowed) continue;
    size_t distance = EditDistance(lower, ToLower(candidate));
    // With as many edits as letters, any word would match any other.
    if (distance > allowed || (distance > 0 && distance >= lower.size())) continue;
    if (!best || distance < best_distance) {
      best = &candidate;
      best_distance = distance;
    }
  }
  return best ? std::optional(*best) : std::nullopt;
}

std::string ShellQuote(std::string_view word) {
  if (!word.empty() && std::all_of(word.begin(), word.end(), IsShellSafe)) return std::string(word);
  std::string quoted = "'";
  for (char c : word) {
    if (c == '\'') {
      quoted += "'\\''";
    } else {
      quoted += c;
    }
  }
  return quoted + "'";
}

std::optional<int64_t> ParseDuration(std::string_view text) {
  constexpr std::string_view kUnits = "dhms";
  constexpr int64_t kSeconds[] = {86400, 3600, 60, 1};
  constexpr int64_t kMost = INT64_MAX / 1'000'000;
  int64_t total = 0;
  size_t next_unit = 0;  // units come from large to small, each once
  size_t pos = 0;
  if (text.empty()) return std::nullopt;
  while (pos < text.size()) {
    size_t start = pos;
    int64_t number = 0;
    for (; pos < text.size() && text[pos] >= '0' && text[pos] <= '9'; ++pos) {
      if (__builtin_mul_overflow(number, 10, &number) ||
          __builtin_add_overflow(number, text[pos] - '0', &number)) {
        return std::nullopt;
      }
    }
    if (pos == start) return std::nullopt;
    size_t unit = kUnits.size() - 1;
    if (pos < text.size()) {
      unit = kUnits.find(text[pos++]);
    } else if (start > 0) {
      return std::nullopt;  // "1h30" may mean minutes or seconds
    }
    if (unit == std::string_view::npos || unit < next_unit) return std::nullopt;
    next_unit = unit + 1;
    if (__builtin_mul_overflow(number, kSeconds[unit], &number) ||
        __builtin_add_overflow(total, number, &total) || total > kMost) {
      return std::nullopt;
    }
  }
  return total * 1'000'000;
}

std::string RandomHex(size_t n) {
  std::string raw(n, '\0');
  if (!FillFromKernel(raw) && !FillFromDevice(raw)) FillFromStart(raw);
  std::string hex;
  hex.reserve(2 * n);
  for (char c : raw) {
    hex += kHex[static_cast<unsigned char>(c) >> 4];
    hex += kHex[static_cast<unsigned char>(c) & 15];
  }
  return hex;
}

std::string NewUuid() {
  std::string hex = RandomHex(16);
  hex[12] = '4';                                              // version: random
  hex[16] = "89ab"[(std::strchr(kHex, hex[16]) - kHex) % 4];  // variant of RFC 4122
  for (size_t at : {20, 16, 12, 8}) hex.insert(at, 1, '-');
  return hex;
}

}  // namespace tenon
