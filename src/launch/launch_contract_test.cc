// SPDX-License-Identifier: Apache-2.0
#include "launch/launch_contract.h"

#include <signal.h>

#include "base/file.h"
#include "base/temp_folder.h"
#include "base/text.h"
#include "launch/embedded_runner.h"
#include "launch/fake_launch.h"
#include "launch/runner_of_host.h"
#include "launch/test_batch.h"
#include "run/layout.h"
#include "snapshot/freeze/freeze.h"
#include "transport/local_host.h"

namespace tenon::launch {
namespace {

StartRequest RequestFor(std::string tree) {
  StartRequest request;
  request.spec.key = NewUuid();
  request.spec.id = "proj_1500000000000";
  request.spec.project = "proj";
  request.spec.script = "main.py";
  request.spec.tree = std::move(tree);
  request.environment = CurrentEnvironment();
  request.version = "test";
  return request;
}

class FakeWorld : public LaunchWorld {
 public:
  Launch& launch() override { return launch_; }
  StartRequest Request() override { return RequestFor(std::string(64, '0')); }
  void Vanish(const std::string& run_id) override { launch_.KillRunner(run_id); }
  void GoOn(const std::string& run_id) override {
    if (launch_.StateOf(run_id) == run::State::kCancelRequested) {
      launch_.SetState(run_id, run::State::kCanceled);
    }
  }

 private:
  FakeLaunch launch_;
};

// In a batch system every run begins by waiting.
class BatchWorld : public LaunchWorld {
 public:
  Launch& launch() override { return batch_; }
  StartRequest Request() override { return RequestFor(std::string(64, '0')); }
  void Vanish(const std::string& run_id) override { batch_.Vanish(run_id); }

 private:
  TestBatch batch_;
};

// The embedded runner, on this machine.
class RealWorld : public LaunchWorld {
 public:
  RealWorld() {
    const std::string project = temp_ / "proj";
    TENON_CHECK(MakeDirs(project).ok());
    TENON_CHECK(WriteFileAtomically(JoinPath(project, "main.py"), "import time\ntime.sleep(600)\n",
                                    0644, Durability::kProcess)
                    .ok());
    auto store = snapshot::ObjectStore::Open(run::Home(home_).objects());
    TENON_CHECK(store.ok());
    snapshot::FreezeOptions options;
    options.folder = project;
    options.clock = &SystemClock();
    auto frozen = snapshot::Freeze(*store, options);
    TENON_CHECK(frozen.ok());
    request_ = RequestFor(frozen->root.Hex());
  }
  ~RealWorld() override {
    (void)launch_.Cancel({request_.spec.id, 0, "test"}, {}).ok();
    (void)launch_.Recover(request_.spec.id, {}).ok();
  }
  Launch& launch() override { return launch_; }
  StartRequest Request() override { return request_; }
  void Vanish(const std::string&) override {
    const auto started = launch_.Start(request_);
    ASSERT_TRUE(started.ok());
    ASSERT_EQ(::kill(started->runner.process.pid, SIGKILL), 0);
  }

 private:
  TempFolder temp_;
  std::string home_ = temp_ / "home";
  transport::LocalHost host_;
  RunnerOfHost launch_{host_, home_, {EmbeddedRunner(), EmbeddedRunnerHash(), ""}};
  StartRequest request_;
};

INSTANTIATE_TEST_SUITE_P(
    Launches, LaunchContract,
    testing::Values(LaunchParam{"Fake", [] { return std::make_unique<FakeWorld>(); }},
                    LaunchParam{"Batch", [] { return std::make_unique<BatchWorld>(); }},
                    LaunchParam{"Direct", [] { return std::make_unique<RealWorld>(); }}),
    LaunchName);

}  // namespace
}  // namespace tenon::launch
