// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include "base/in_child.h"
#include "base/temp_folder.h"

namespace tenon {
namespace {

constexpr int64_t kSecond = 1'000'000;

TEST(ClockTest, UtcIsTheFormOldListingsHave) {
  EXPECT_EQ(FormatUtc(1504832281611105), "2017-09-08T00:58:01.611105+00:00");
  EXPECT_EQ(FormatUtc(0), "1970-01-01T00:00:00.000000+00:00");
  EXPECT_EQ(FormatUtc(951782400LL * kSecond), "2000-02-29T00:00:00.000000+00:00");
  EXPECT_EQ(FormatUtc(-1), "1969-12-31T23:59:59.999999+00:00");
}

TEST(ClockTest, DurationDoesNotRollIntoDays) {
  EXPECT_EQ(FormatDuration(4892389), "0:00:04.892389");
  EXPECT_EQ(FormatDuration(0), "0:00:00.000000");
  EXPECT_EQ(FormatDuration((49 * 3600 + 61) * kSecond + 1), "49:01:01.000001");
  EXPECT_EQ(FormatDuration(-1500000), "-0:00:01.500000");
}

TEST(ClockTest, HumanDurationNeverShowsSixtySeconds) {
  EXPECT_EQ(HumanDuration(0), "0 ms");
  EXPECT_EQ(HumanDuration(120'000), "120 ms");
  EXPECT_EQ(HumanDuration(999'600), "1.0 s");
  EXPECT_EQ(HumanDuration(4'892'389), "4.9 s");
  EXPECT_EQ(HumanDuration(59'940'000), "59.9 s");
  EXPECT_EQ(HumanDuration(59'960'000), "1 min 0 s");
  EXPECT_EQ(HumanDuration(192 * kSecond), "3 min 12 s");
  EXPECT_EQ(HumanDuration(3599'600'000), "1 h 0 min");
  EXPECT_EQ(HumanDuration(7500 * kSecond), "2 h 5 min");
  EXPECT_EQ(HumanDuration((24 * 3600 - 20) * kSecond), "1 d 0 h");
  EXPECT_EQ(HumanDuration(76 * 3600 * kSecond), "3 d 4 h");
}

TEST(ClockTest, MonotonicTimeDoesNotGoBack) {
  int64_t last = SystemClock().MonotonicUs();
  for (int i = 0; i < 10000; ++i) {
    int64_t now = SystemClock().MonotonicUs();
    ASSERT_GE(now, last);
    last = now;
  }
}

// The clock reads the variable only at its first use, so this test runs itself again to make the
// checks.
TEST(ClockTest, OffsetFileMovesWallTimeAndLeavesDurationsAlone) {
  const char* file = ::getenv("TENON_TEST_CLOCK_OFFSET_FILE");
  if (!file) {
    TempFolder folder;
    std::string said = InChild([&]() -> std::string {
      ::setenv("TENON_TEST_CLOCK_OFFSET_FILE", (folder / "offset").c_str(), 1);
      ::execl("/proc/self/exe", "base_test", "--gtest_filter=ClockTest.OffsetFile*",
              "--gtest_brief=1", nullptr);
      return "exec failed";
    });
    EXPECT_EQ(said, "");
    return;
  }
  int64_t real = SystemClock().NowUs();  // no file yet: no offset
  int64_t mono = SystemClock().MonotonicUs();
  ASSERT_TRUE(WriteFileAtomically(file, "-3600000000\n", 0644, Durability::kProcess).ok());
  EXPECT_LT(SystemClock().NowUs(), real - 3000 * kSecond);
  ASSERT_TRUE(WriteFileAtomically(file, "7200000000", 0644, Durability::kProcess).ok());
  EXPECT_GT(SystemClock().NowUs(), real + 7000 * kSecond);
  EXPECT_LT(SystemClock().MonotonicUs() - mono, 3000 * kSecond);
}

TEST(ClockTest, FakeClockStandsStillUntilMoved) {
  FakeClock clock;
  int64_t now = clock.NowUs();
  clock.Advance(5);
  EXPECT_EQ(clock.NowUs(), now + 5);
  EXPECT_EQ(clock.MonotonicUs(), 5);
}

}  // namespace
}  // namespace tenon
