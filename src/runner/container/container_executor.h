// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_RUNNER_CONTAINER_CONTAINER_EXECUTOR_H_
#define TENON_RUNNER_CONTAINER_CONTAINER_EXECUTOR_H_

#include <optional>
#include <string>
#include <vector>

#include "executor/container_script.h"
#include "runner/container/container_maker.h"
#include "runner/supervise/executor.h"

namespace tenon::runner {

// The init of a run's container, seen through the segment that it writes on this disk.
class SegmentInit : public executor::Init {
 public:
  explicit SegmentInit(std::string segment) : segment_(std::move(segment)) {}
  bool IsGone() const override;
  Word Read() const override;
  // Everything that the init has recorded so far.
  Result<Facts> ReadAll() const;

 private:
  struct Last {
    int64_t size = 0;
    Facts facts;
  };

  const std::string segment_;
  // What was read while no process held the segment's lock, and its size then: a segment may hold
  // gigabytes of output. The init may not have begun at that time, so another size means read
  // again.
  mutable std::optional<Last> last_;
};

// Runs the script in a container of the image that the run configuration names, with the project's
// environment. The container outlives this runner: its init (init.h) records what the script does.
class ContainerExecutor : public Executor {
 public:
  ContainerExecutor(StartRequest request, Facts facts);

  Status PrepareEnvironment(Handover& handover, const std::atomic<bool>& stop) override;
  Status Prepare(Handover& handover, const std::atomic<bool>& stop) override;
  Result<std::optional<run::ScriptStarted>> Start(const OpenStreams& open,
                                                  const Tell& tell) override;
  bool OutlivesRunner() const override { return made_.has_value(); }
  int64_t Adopt() override;
  executor::Script& script() override { return script_; }
  Result<int> Enter(Door door, std::vector<std::string> command) override;
  bool FetchMetrics(Recorder& recorder, SafeNames& names) override;
  std::optional<KeptOutputs> FetchOutputs(Recorder& recorder) override;
  bool Release(const Tell& tell) override;

 private:
  // The engine, the base image, and how the engine gives the container a GPU.
  struct Ground {
    EngineContext engine;
    gpu::Access access;
    docker::Image base;
  };
  Result<Ground> FindGround(Handover& handover, const std::atomic<bool>& stop);
  Result<run::ContainerMade> MakeFromEnvironment(Ground& ground, Handover& handover,
                                                 const std::atomic<bool>& stop);
  Status CopyOutputs(Recorder& recorder);
  bool StaysToBeLookedAt() const;

  const StartRequest request_;
  const Facts facts_;
  const run::RunFolder folder_;
  const SegmentInit init_;
  std::optional<ContainerMaker> maker_;
  std::optional<run::ContainerMade> made_;
  bool outputs_inside_ = false;  // the container has the only copy of the outputs
  executor::ContainerScript script_;
};

}  // namespace tenon::runner

#endif  // TENON_RUNNER_CONTAINER_CONTAINER_EXECUTOR_H_
