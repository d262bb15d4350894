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

// Moves points from a run's metric files into its journal while the script runs, and tells
// processes that wait when their points are durable. Runs on the loop's thread; only the sync runs
// on the syncer's.
class MetricPump {
 public:
  // All must outlive the pump.
  static Result<std::unique_ptr<MetricPump>> Open(const std::string& folder, PollLoop& loop,
                                                  Recorder& recorder, Syncer& syncer);
  ~MetricPump();
  MetricPump(const MetricPump&) = delete;
  MetricPump& operator=(const MetricPump&) = delete;

  void Pump();  // once, now; also called when a process asks
  // Called when the script has ended: collects all points that are left. False: the journal did not
  // take all of them.
  bool Finish();

 private:
  MetricPump(MetricFiles files, PollLoop& loop, Recorder& recorder, Syncer& syncer, UniqueFd event);
  void OnSynced();

  MetricFiles files_;
  PollLoop& loop_;
  Recorder& recorder_;
  Syncer& syncer_;
  // Shared with the syncer's callback, so that the descriptor is not closed while it writes to it.
  std::shared_ptr<UniqueFd> synced_event_;
  // Nothing is committed while a sync is under way: MarkSynced covers everything committed so far.
  bool waiting_for_disk_ = false;
};

}  // namespace tenon::runner

#endif  // TENON_RUNNER_METRICS_METRIC_PUMP_H_
