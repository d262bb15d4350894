// SPDX-License-Identifier: Apache-2.0
// A batch system in memory, for tests: runs wait in a queue, begin, and may vanish. No process
// holds a lock for a run; only this object knows whether a run goes on.
#ifndef TENON_LAUNCH_TEST_BATCH_H_
#define TENON_LAUNCH_TEST_BATCH_H_

#include <functional>
#include <map>
#include <string>
#include <utility>

#include "launch/launch.h"

namespace tenon::launch {

class TestBatch : public Launch {
 public:
  static constexpr const char* kName = "test-batch";

  Result<Started> Start(const StartRequest& request) override {
    auto [job, is_new] = jobs_.try_emplace(request.spec.id);
    if (is_new) {
      job->second.number = ++last_number_;
      job->second.spec = request.spec;
    }
    return Started{{}, {kName, 1, "job " + std::to_string(job->second.number)}};
  }

  Result<run::State> Cancel(const run::CancelRequest& request,
                            const run::LaunchHandle& handle) override {
    TENON_TRY(Job * job, Find(request.run_id, handle));
    if (!run::IsFinal(job->state)) TENON_TRY_VOID(End(*job, run::State::kCanceled));
    return job->state;
  }

  Result<run::Recovered> Recover(const std::string& run_id,
                                 const run::LaunchHandle& handle) override {
    TENON_TRY(Job * job, Find(run_id, handle));
    ++asked;
    if (on_asked) on_asked(run_id);
    run::Recovered found;
    if (job->vanished && !run::IsFinal(job->state)) {
      TENON_TRY_VOID(End(*job, run::State::kFailed));
      found.recovered = true;
    }
    found.state = job->state;
    if (job->state == run::State::kQueued) found.waiting = "its turn";
    return found;
  }

  // Lets a waiting run begin.
  Status Begin(const std::string& run_id) {
    Job& job = jobs_.at(run_id);
    job.state = run::State::kRunning;
    return on_begin ? on_begin(job.spec) : Status();
  }
  Status Finish(const std::string& run_id) { return End(jobs_.at(run_id), run::State::kCompleted); }
  void Vanish(const std::string& run_id) { jobs_.at(run_id).vanished = true; }

  // Set by tests: `on_begin` and `on_end` write the records of a run, `on_asked` sees each
  // Recover().
  std::function<Status(const run::RunSpec&)> on_begin;
  std::function<Status(const run::RunSpec&, run::State)> on_end;
  std::function<void(const std::string& run_id)> on_asked;
  int asked = 0;  // how often Recover() was called for a known run

 private:
  struct Job {
    int number = 0;
    run::RunSpec spec;
    run::State state = run::State::kQueued;
    bool vanished = false;
  };

  Result<Job*> Find(const std::string& run_id, const run::LaunchHandle& handle) {
    const auto found = jobs_.find(run_id);
    if (found == jobs_.end()) return NotFound("no job of " + run_id);
    const std::string text = "job " + std::to_string(found->second.number);
    if (!handle.launch.empty() && handle != run::LaunchHandle{kName, 1, text}) {
      return Invalid("the handle is of another launch");
    }
    return &found->second;
  }
  Status End(Job& job, run::State state) {
    job.state = state;
    return on_end ? on_end(job.spec, state) : Status();
  }

  std::map<std::string, Job> jobs_;
  int last_number_ = 16;
};

}  // namespace tenon::launch

#endif  // TENON_LAUNCH_TEST_BATCH_H_
