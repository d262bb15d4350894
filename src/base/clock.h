// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_BASE_CLOCK_H_
#define TENON_BASE_CLOCK_H_

#include <cstdint>
#include <string>

namespace tenon {

// Where the program gets the time, so that tests can replace it. Wall time may jump both ways; only
// differences of monotonic time are durations.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual int64_t NowUs() const = 0;        // microseconds since 1970, UTC
  virtual int64_t MonotonicUs() const = 0;  // never goes back within one boot
};

// The machine's clocks; lives as long as the program. With TENON_TEST_CLOCK_OFFSET_FILE set, the
// microseconds written in that file are added to NowUs(): tests move the wall clock with it.
const Clock& SystemClock();

// A clock that stands still until a test moves it.
class FakeClock : public Clock {
 public:
  int64_t NowUs() const override { return now_us; }
  int64_t MonotonicUs() const override { return monotonic_us; }
  void Advance(int64_t us) {
    now_us += us;
    monotonic_us += us;
  }
  int64_t now_us = 1'500'000'000'000'000;
  int64_t monotonic_us = 0;
};

// "2017-09-08T00:58:01.611105+00:00"
std::string FormatUtc(int64_t us);
// "0:00:04.892389"; hours are not padded and do not roll over into days.
std::string FormatDuration(int64_t us);
// For people: "4.9 s", "3 min 12 s", "2 h 5 min", "3 d 4 h".
std::string HumanDuration(int64_t us);

}  // namespace tenon

#endif  // TENON_BASE_CLOCK_H_
