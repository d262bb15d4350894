// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "base/hash.h"
#include "launch/direct_launch.h"
#include "launch/fake_launch.h"
#include "launch/runner_of_host.h"
#include "transport/fake_host.h"

namespace tenon::launch {
namespace {

class HostedRunner : public testing::Test {
 protected:
  HostedRunner() : hash_(Sha256Of(bytes_).Hex()) {}
  // Sets the answer of the runner. Asked() returns the request.
  void Answer(const std::string& json) {
    host_.SetProgram(
        "/far/bin/tenon-runner-" + hash_.substr(0, 16), [=](const transport::FakeHost::Call&) {
          return CaptureResult{{0, 0}, "tenon-runner 1 0.1.0\n" + json + "\n", "", false};
        });
  }
  RunnerOfHost Make() { return RunnerOfHost(host_, "/far", {bytes_, hash_, ""}); }
  std::string Verb() { return host_.calls().back().argv.back(); }
  json::Object Asked() { return json::Parse(host_.calls().back().input)->get_object(); }

  std::string bytes_ = "the bytes of a runner";
  std::string hash_;
  transport::FakeHost host_;
};

TEST_F(HostedRunner, ProbeIsPassedOnAsItIs) {
  Answer(R"({"os": "Debian", "engines": [{"kind": "docker"}]})");
  auto told = Make().Probe();
  ASSERT_TRUE(told.ok());
  EXPECT_EQ(json::GetString(*told, "os"), "Debian");
  EXPECT_EQ(Verb(), "probe");
}

TEST_F(HostedRunner, HostedIsReadInFull) {
  run::HostedRequest request;
  request.remove = {"x"};
  request.clean = true;
  request.keep_us = 77;
  Answer(
      R"({"runs": [{"run_id": "r", "bytes": 5, "work_bytes": 4, "alive": true}], "bytes_freed": 13,)"
      R"( "objects_bytes": 6, "idle_since_us": 12, "removed": ["x"],)"
      R"( "kept": [{"name": "n", "why": "w"}]})");
  auto told = Make().Hosted(request);
  ASSERT_TRUE(told.ok()) << told.error().message;
  EXPECT_EQ(Verb(), "hosted");
  EXPECT_EQ(json::GetInt(Asked(), "keep_us"), 77);
  EXPECT_TRUE(json::GetBool(Asked(), "clean"));
  ASSERT_EQ(told->runs.size(), 1u);
  EXPECT_EQ(told->runs[0].run_id, "r");
  EXPECT_TRUE(told->runs[0].alive);
  EXPECT_EQ(told->runs[0].work_bytes, 4u);
  EXPECT_EQ(told->objects_bytes, 6u);
  EXPECT_EQ(told->idle_since_us, 12);
  EXPECT_EQ(told->removed, std::vector<std::string>{"x"});
  ASSERT_EQ(told->kept.size(), 1u);
  EXPECT_EQ(told->kept[0].why, "w");
  EXPECT_EQ(told->bytes_freed, 13u);
}

TEST_F(HostedRunner, NonsenseIsAnErrorNotAnAbort) {
  for (const char* answer : {R"({"runs": 7})", R"({"runs": [7]})", R"({"runs": [{"bytes": "x"}]})",
                             R"({"kept": [7]})", R"({"removed": {}})"}) {
    Answer(answer);
    EXPECT_FALSE(Make().Hosted({}).ok()) << answer;
  }
}

TEST_F(HostedRunner, TheWatcherIsAskedForAndEnded) {
  Answer(R"({"watching": true, "idle_since_us": 5})");
  run::WatchIdleRequest request;
  request.after_us = 9;
  request.command = "poweroff";
  auto told = Make().WatchIdle(request);
  ASSERT_TRUE(told.ok());
  EXPECT_TRUE(told->watching);
  EXPECT_EQ(told->idle_since_us, 5);
  EXPECT_EQ(Verb(), "watch-idle");
  EXPECT_EQ(json::GetString(Asked(), "command"), "poweroff");
  EXPECT_FALSE(json::GetBool(Asked(), "stop"));
}

TEST(FakeHosted, KeepsWhatGoesOn) {
  FakeLaunch launch;
  FakeServices services(launch);
  run::HostedRun over, going;
  over.run_id = "over";
  over.bytes = 10;
  going.run_id = "going";
  going.alive = true;
  services.hosted.runs = {over, going};
  run::HostedRequest request;
  request.remove = {"over", "going"};
  auto told = services.Hosted(request);
  ASSERT_TRUE(told.ok());
  EXPECT_EQ(told->removed, std::vector<std::string>{"over"});
  EXPECT_EQ(told->kept.size(), 1u);
  EXPECT_EQ(told->bytes_freed, 10u);
  EXPECT_EQ(services.hosted.runs.size(), 1u);
  launch.FailNext(Unavailable("cut"));
  EXPECT_FALSE(services.Probe().ok());
}

}  // namespace
}  // namespace tenon::launch
