// SPDX-License-Identifier: Apache-2.0
// Tests of what every Host promises. A test program gives one HostUnderTest per kind of host.
#ifndef TENON_TRANSPORT_HOST_CONTRACT_H_
#define TENON_TRANSPORT_HOST_CONTRACT_H_

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "transport/host.h"

namespace tenon::transport {

// A host and the means to change its files behind its back.
class HostUnderTest {
 public:
  virtual ~HostUnderTest() = default;
  virtual Host& host() = 0;
  virtual std::string folder() = 0;              // an empty folder on the host
  virtual std::vector<std::string> cat() = 0;    // copies its input to its output
  virtual std::vector<std::string> exit3() = 0;  // writes "bad" to standard error, exits with 3
  virtual void Append(const std::string& path, const std::string& bytes) = 0;
  virtual void Lock(const std::string& path) = 0;  // until the end of the test
  virtual void Remove(const std::string& path) = 0;
  virtual void Replace(const std::string& path, const std::string& bytes) = 0;
};

struct HostParam {
  std::string name;
  std::function<std::unique_ptr<HostUnderTest>()> make;
};

class HostContract : public testing::TestWithParam<HostParam> {
 protected:
  void SetUp() override { under_test_ = GetParam().make(); }
  Host& host() { return under_test_->host(); }
  std::string Path(const std::string& name) { return under_test_->folder() + "/" + name; }

  // Returns how long WaitForGrowth took while `change` ran on another thread.
  int64_t WaitWhile(const std::string& path, uint64_t beyond, const std::function<void()>& change) {
    int64_t begin = SystemClock().MonotonicUs();
    std::thread other(change);
    auto grew = host().WaitForGrowth({{path, beyond}}, 20'000'000);
    other.join();
    EXPECT_TRUE(grew.ok() && *grew);
    return SystemClock().MonotonicUs() - begin;
  }

  std::unique_ptr<HostUnderTest> under_test_;
};

TEST_P(HostContract, InputReachesTheProgramWithEveryByte) {
  std::string input("a\0b\xff\r\n", 6);
  auto result = host().Run(under_test_->cat(), input, 10'000);
  ASSERT_TRUE(result.ok()) << result.error().message;
  EXPECT_EQ(result->out, input);
  EXPECT_EQ(result->status.AsShell(), 0);
}

TEST_P(HostContract, ABadExitIsAResultNotAnError) {
  auto result = host().Run(under_test_->exit3(), "", 10'000);
  ASSERT_TRUE(result.ok()) << result.error().message;
  EXPECT_EQ(result->status.code, 3);
  EXPECT_EQ(result->err, "bad");
}

TEST_P(HostContract, AMissingProgramIsNotFound) {
  auto result = host().Run({Path("no-such-program")}, "", 10'000);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().kind, ErrorKind::kNotFound);
  EXPECT_NE(result.error().message.find("no-such-program"), std::string::npos);
}

TEST_P(HostContract, PutFileMakesFoldersAndReplacesWhole) {
  std::string path = Path("deep/er/file");
  ASSERT_TRUE(host().PutFile(path, "a longer first text", 0700).ok());
  ASSERT_TRUE(host().PutFile(path, "second", 0700).ok());
  auto bytes = host().ReadFrom(path, 0, 100);
  ASSERT_TRUE(bytes.ok());
  EXPECT_EQ(*bytes, "second");
}

TEST_P(HostContract, ReadFromStopsAtMaxAndAtTheEnd) {
  std::string path = Path("file");
  ASSERT_TRUE(host().PutFile(path, "0123456789", 0644).ok());
  EXPECT_EQ(host().ReadFrom(path, 2, 3).value(), "234");
  EXPECT_EQ(host().ReadFrom(path, 8, 100).value(), "89");
  EXPECT_EQ(host().ReadFrom(path, 10, 100).value(), "");
  EXPECT_EQ(host().ReadFrom(path, 1000, 100).value(), "");
  EXPECT_EQ(host().ReadFrom(Path("none"), 0, 1).error().kind, ErrorKind::kNotFound);
}

TEST_P(HostContract, ReadFromFollowsAReplacedFile) {
  std::string path = Path("file");
  ASSERT_TRUE(host().PutFile(path, "old", 0644).ok());
  EXPECT_EQ(host().ReadFrom(path, 0, 10).value(), "old");
  under_test_->Replace(path, "new!");
  EXPECT_EQ(host().ReadFrom(path, 0, 10).value(), "new!");
}

TEST_P(HostContract, GrowthBeforeTheWaitIsNotMissed) {
  std::string path = Path("file");
  ASSERT_TRUE(host().PutFile(path, "12345", 0644).ok());
  EXPECT_LT(WaitWhile(path, 4, [] {}), 10'000'000);
}

TEST_P(HostContract, GrowthDuringTheWaitEndsIt) {
  std::string path = Path("file");
  ASSERT_TRUE(host().PutFile(path, "12345", 0644).ok());
  for (uint64_t size = 5; size < 25; ++size) {
    EXPECT_LT(WaitWhile(path, size, [&] { under_test_->Append(path, "x"); }), 10'000'000);
  }
}

TEST_P(HostContract, ReplacementEndsTheWait) {
  std::string path = Path("file");
  ASSERT_TRUE(host().PutFile(path, "12345", 0644).ok());
  // Let one wait time out first, so that the host has seen the old file before it is replaced.
  ASSERT_TRUE(host().WaitForGrowth({{path, 5}}, 0).ok());
  EXPECT_LT(WaitWhile(path, 5, [&] { under_test_->Replace(path, "longer than before"); }),
            10'000'000);
}

TEST_P(HostContract, NothingHappeningEndsTheWaitInTime) {
  std::string path = Path("file");
  ASSERT_TRUE(host().PutFile(path, "12345", 0644).ok());
  int64_t begin = SystemClock().MonotonicUs();
  EXPECT_FALSE(host().WaitForGrowth({{path, 5}}, 30'000).value());
  EXPECT_GE(SystemClock().MonotonicUs() - begin, 29'000);
}

TEST_P(HostContract, ALockIsSeenAndOnlyOnItsFile) {
  ASSERT_TRUE(host().PutFile(Path("one"), "1", 0644).ok());
  ASSERT_TRUE(host().PutFile(Path("two"), "2", 0644).ok());
  under_test_->Lock(Path("one"));
  EXPECT_TRUE(host().IsLocked(Path("one")).value());
  EXPECT_FALSE(host().IsLocked(Path("two")).value());
  EXPECT_EQ(host().IsLocked(Path("none")).error().kind, ErrorKind::kNotFound);
}

TEST_P(HostContract, GrowthOfAnyOfSeveralFilesEndsTheWait) {
  ASSERT_TRUE(host().PutFile(Path("one"), "1", 0644).ok());
  ASSERT_TRUE(host().PutFile(Path("two"), "2", 0644).ok());
  for (uint64_t size = 1; size < 10; ++size) {
    for (const char* grows : {"one", "two"}) {
      std::thread other([&] { under_test_->Append(Path(grows), "x"); });
      const uint64_t one = size + (std::string(grows) == "two" ? 1 : 0);  // one has grown
      auto grew = host().WaitForGrowth({{Path("one"), one}, {Path("two"), size}}, 20'000'000);
      other.join();
      EXPECT_TRUE(grew.ok() && *grew);
    }
  }
}

TEST_P(HostContract, AFileThatIsNotThereYetDoesNotKeepFromWaitingForTheOthers) {
  ASSERT_TRUE(host().PutFile(Path("one"), "1", 0644).ok());
  EXPECT_FALSE(host().WaitForGrowth({{Path("one"), 1}, {Path("none"), 0}}, 30'000).value());
  std::thread other([&] { under_test_->Append(Path("none"), "x"); });
  auto grew = host().WaitForGrowth({{Path("one"), 1}, {Path("none"), 0}}, 20'000'000);
  other.join();
  EXPECT_TRUE(grew.ok() && *grew);
}

TEST_P(HostContract, WaitingForAMissingFileIsNotFound) {
  EXPECT_EQ(host().WaitForGrowth({{Path("none"), 0}}, 10'000).error().kind, ErrorKind::kNotFound);
}

}  // namespace tenon::transport

#endif  // TENON_TRANSPORT_HOST_CONTRACT_H_
