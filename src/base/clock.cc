// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>

#include "base/file.h"

namespace tenon {
namespace {

constexpr int64_t kSecond = 1'000'000;
constexpr int64_t kMinute = 60 * kSecond;
constexpr int64_t kHour = 60 * kMinute;

int64_t ReadUs(clockid_t id) {
  timespec now;
  TENON_CHECK(::clock_gettime(id, &now) == 0);
  return static_cast<int64_t>(now.tv_sec) * kSecond + now.tv_nsec / 1000;
}

class RealClock : public Clock {
 public:
  RealClock() {
    if (const char* path = std::getenv("TENON_TEST_CLOCK_OFFSET_FILE")) offset_file_ = path;
  }
  int64_t NowUs() const override { return ReadUs(CLOCK_REALTIME) + Offset(); }
  int64_t MonotonicUs() const override { return ReadUs(CLOCK_MONOTONIC); }

 private:
  int64_t Offset() const {
    if (offset_file_.empty()) return 0;
    auto text = ReadFile(offset_file_);
    return text.ok() ? std::strtoll(text->c_str(), nullptr, 10) : 0;
  }
  std::string offset_file_;
};

template <typename... Args>
std::string Printed(const char* format, Args... args) {
  char buffer[96];
  std::snprintf(buffer, sizeof buffer, format, args...);
  return buffer;
}

// No printf: listings format thousands of times, and printf would be most of their cost.
void PutDigits(std::string& text, size_t at, size_t width, int64_t value) {
  for (size_t i = at + width; i > at; value /= 10) text[--i] = static_cast<char>('0' + value % 10);
}

}  // namespace

const Clock& SystemClock() {
  static const RealClock* clock = new RealClock;  // never destroyed: destructors may use it
  return *clock;
}

std::string FormatUtc(int64_t us) {
  using namespace std::chrono;
  sys_time<microseconds> time{microseconds(us)};
  auto day = floor<days>(time);
  year_month_day date(day);
  hh_mm_ss clock(time - day);
  std::string text = "0000-00-00T00:00:00.000000+00:00";
  PutDigits(text, 0, 4, static_cast<int>(date.year()));
  PutDigits(text, 5, 2, static_cast<unsigned>(date.month()));
  PutDigits(text, 8, 2, static_cast<unsigned>(date.day()));
  PutDigits(text, 11, 2, clock.hours().count());
  PutDigits(text, 14, 2, clock.minutes().count());
  PutDigits(text, 17, 2, clock.seconds().count());
  PutDigits(text, 20, 6, clock.subseconds().count());
  return text;
}

std::string FormatDuration(int64_t us) {
  const uint64_t v = us < 0 ? 0 - static_cast<uint64_t>(us) : static_cast<uint64_t>(us);
  std::string text = (us < 0 ? "-" : "") + std::to_string(v / kHour);
  const size_t at = text.size();
  text += ":00:00.000000";
  PutDigits(text, at + 1, 2, static_cast<int64_t>(v / kMinute % 60));
  PutDigits(text, at + 4, 2, static_cast<int64_t>(v / kSecond % 60));
  PutDigits(text, at + 7, 6, static_cast<int64_t>(v % kSecond));
  return text;
}

std::string HumanDuration(int64_t us) {
  if (us < 0) return "-" + HumanDuration(us == INT64_MIN ? INT64_MAX : -us);
  if (us < kSecond - 500) return Printed("%d ms", static_cast<int>((us + 500) / 1000));
  if (us < kMinute - kSecond / 20) return Printed("%.1f s", static_cast<double>(us) / kSecond);
  // Each unit is rounded as a whole, so "59 min 60 s" cannot come out.
  if (int64_t s = (us + kSecond / 2) / kSecond; s < 3600) {
    return Printed("%d min %d s", static_cast<int>(s / 60), static_cast<int>(s % 60));
  }
  if (int64_t m = (us + kMinute / 2) / kMinute; m < 24 * 60) {
    return Printed("%d h %d min", static_cast<int>(m / 60), static_cast<int>(m % 60));
  }
  int64_t h = us / kHour + (us % kHour >= kHour / 2 ? 1 : 0);
  return Printed("%lld d %d h", static_cast<long long>(h / 24), static_cast<int>(h % 24));
}

}  // namespace tenon
