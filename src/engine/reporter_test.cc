// SPDX-License-Identifier: Apache-2.0
#include "engine/reporter.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace tenon::engine {
namespace {

// Writes down what it is told.
class Noting : public Reporter {
 public:
  void OnRunId(const std::string& run_id) override { said += "id " + run_id + "\n"; }
  void OnStep(const run::Step& step) override { said += "step " + step.name + "\n"; }
  void OnNotice(const run::Notice& notice) override { said += "notice " + notice.text + "\n"; }
  void OnStuck(const run::Notice& notice) override { said += "stuck " + notice.text + "\n"; }
  void OnState(run::State, const std::string& reason) override { said += "state " + reason + "\n"; }
  void OnOutput(run::Stream, std::string_view bytes, int64_t) override {
    said += "output " + std::string(bytes) + "\n";
  }
  void OnEnvironment(const run::EnvironmentReady& ready) override {
    said += "environment " + ready.key + "\n";
  }
  void OnFarProgress(const run::Progress& progress) override {
    said += "far " + progress.step + "\n";
  }
  void OnGap(const run::Gap& gap) override { said += "gap " + gap.reason + "\n"; }
  void OnHole(uint64_t bytes) override { said += "hole " + std::to_string(bytes) + "\n"; }
  void OnEnd(const run::End& end) override { said += "end " + end.reason + "\n"; }
  void OnLink(int64_t, const std::string& why) override { said += "link " + why + "\n"; }
  void OnProgress(std::string_view what, uint64_t, uint64_t) override {
    said += "progress " + std::string(what) + "\n";
  }

  std::string said;
};

void TellEverything(Reporter& reporter) {
  reporter.OnRunId("r");
  reporter.OnStep({"unpack", 1, ""});
  reporter.OnNotice({run::Level::kInfo, "n", ""});
  reporter.OnStuck({run::Level::kWarning, "s", ""});
  reporter.OnState(run::State::kRunning, "why");
  reporter.OnOutput(run::Stream::kStdout, "o", 1);
  run::EnvironmentReady ready;
  ready.key = "k";
  reporter.OnEnvironment(ready);
  reporter.OnFarProgress({"p", "", 1, 2});
  reporter.OnGap({1, 2, 3, "full"});
  reporter.OnHole(7);
  run::End end;
  end.reason = "over";
  reporter.OnEnd(end);
  reporter.OnLink(5, "cut");
  reporter.OnProgress("copying", 1, 2);
}

TEST(PassingReporter, LeavesNothingOut) {
  Noting told, passed;
  TellEverything(told);
  PassingReporter passing(passed);
  TellEverything(passing);
  EXPECT_EQ(passed.said, told.said);
  EXPECT_EQ(std::count(told.said.begin(), told.said.end(), '\n'), 13);
}

}  // namespace
}  // namespace tenon::engine
