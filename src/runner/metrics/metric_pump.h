// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_RUNNER_METRICS_METRIC_PUMP_H_
#define TENON_RUNNER_METRICS_METRIC_PUMP_H_

#include <memory>
#include <string>

#include "base/fd.h"
#include "base/poll_loop.h"
#include "base/result.h"
#include "runner/metrics/metric_files.h"
#include "runner/supervise/recorder.h"
#include "runner/supervise/syncer.h"

namespace tenon::runner {

// Moves points from a run's metric files into its journal while the script runs, and wakes the
// processes that wait for theirs to be durable. All on the loop's thread, but for the disk.
class MetricPump {
 public:
  // All must outlive the pump.
  static Result<std::unique_ptr<MetricPump>> Open(const std::string& folder, PollLoop& loop,
                                                  Recorder& recorder, Syncer& syncer);
  ~MetricPump();
  MetricPump(const MetricPump&) = delete;
  MetricPump& operator=(const MetricPump&) = delete;

  void Pump();  // now; also happens by itself when a process asks
  // The script is gone: everything that is left. False: the journal did not take all.
  bool Finish();

 private:
  MetricPump(MetricFiles files, PollLoop& loop, Recorder& recorder, Syncer& syncer, UniqueFd event);
  void OnSynced();

  MetricFiles files_;
  PollLoop& loop_;
  Recorder& recorder_;
  Syncer& syncer_;
  // The syncer's thread holds the event too, so it can't be closed under it.
  std::shared_ptr<UniqueFd> synced_event_;
  // While the disk is waited for nothing new is committed: MarkSynced speaks for all that was.
  bool waiting_for_disk_ = false;
};

}  // namespace tenon::runner

#endif  // TENON_RUNNER_METRICS_METRIC_PUMP_H_
