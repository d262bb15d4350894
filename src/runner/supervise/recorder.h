// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_RUNNER_SUPERVISE_RECORDER_H_
#define TENON_RUNNER_SUPERVISE_RECORDER_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/mask.h"
#include "base/result.h"
#include "journal/writer.h"
#include "run/event.h"

namespace tenon::runner {

// Writes the runner's segment: masks secrets in everything, and keeps going when the disk is full.
// What could not be written is counted, and a Gap record says so once there is space again. One
// thread.
class Recorder {
 public:
  // `log_path`: where words go that the journal does not take; made when there are any.
  Recorder(journal::Writer writer, const std::vector<std::string>& secrets, std::string log_path,
           const Clock& clock = SystemClock());

  // Appends one event. False: the disk is full and the event is lost, which is counted.
  bool Append(run::Event event);
  // For the states: may use the reserved space when there is no other.
  bool AppendState(run::State state, std::string reason = "");
  // Metrics, in as many records as they need. False: not all were written; nothing is counted, the
  // caller still has them. `written`, if given, grows by the number of those written.
  bool AppendMetrics(std::vector<run::MetricBlock> blocks, uint64_t* written = nullptr);
  // So many points will never come: counted as records that are missing, and said in a notice.
  void LosePoints(uint64_t points);
  // Bytes of the script, through the stream's masker. Never fails: what has no space is counted.
  void AppendOutput(run::Stream stream, std::string_view bytes);
  void FlushOutput(run::Stream stream);  // the stream has ended: what the masker held back
  // What must not be missing, after a Gap if one is due, from the reserved space: the run's end,
  // the script's. Nothing is appended after it.
  bool AppendLast(run::Event event);

  // Looks whether the segment is as this recorder has written it. "": it is. Else what is wrong, in
  // words for the end; a notice says it too. Reads the whole segment.
  std::string CheckSegment();

  // Whether everything appended is on disk is the syncer's business.
  journal::Writer& writer() { return writer_; }
  uint64_t last_record() const { return writer_.last_record(); }
  const Masker& masker() const { return masker_; }

  void Log(std::string_view text);  // into the log file, masked

 private:
  // False while the disk is known to be full and it is too early to try again.
  bool Ready();
  void Lost(const Error& error);
  bool AnythingLost() const;  // since the last Gap
  void WriteOutput(run::Stream stream, std::string_view bytes);
  void MaskEvent(run::Event& event) const;

  journal::Writer writer_;
  Masker masker_;
  Masker stream_maskers_[2];
  std::string log_path_;
  const Clock& clock_;
  run::Gap gap_;
  bool gap_due_ = false;
  int64_t retry_at_us_ = 0;
};

}  // namespace tenon::runner

#endif  // TENON_RUNNER_SUPERVISE_RECORDER_H_
