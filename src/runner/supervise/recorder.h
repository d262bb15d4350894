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

// Writes one segment. Masks secrets in everything, and keeps going when the disk is full: counts
// what could not be written, and appends a Gap record once there is space again. For one thread.
class Recorder {
 public:
  // `log_path`: file for messages that the journal does not take. Made when the first one comes.
  Recorder(journal::Writer writer, const std::vector<std::string>& secrets, std::string log_path,
           const Clock& clock = SystemClock());

  // Appends one event. False: the disk is full; the event is lost and counted.
  bool Append(run::Event event);
  // Appends a state. Uses the reserved space when there is no other.
  bool AppendState(run::State state, std::string reason = "");
  // Appends metrics, in as many records as they need. False: not all were written. They are not
  // counted as lost, because the caller still has them. `written`, if given, grows by the number of
  // points written.
  bool AppendMetrics(std::vector<run::MetricBlock> blocks, uint64_t* written = nullptr);
  // Says that `points` points are lost for good: counts them as missing records and appends a
  // notice.
  void LosePoints(uint64_t points);
  // Appends output of the script. The stream's masker may hold the last bytes back. Never fails:
  // counts what has no space.
  void AppendOutput(run::Stream stream, std::string_view bytes);
  void FlushOutput(run::Stream stream);  // at the stream's end: appends what the masker held back
  // Appends the record that must not be missing: the end of the run or of the script. Appends a Gap
  // before it if one is due. Uses the reserved space. Must be the last call that appends.
  bool AppendLast(run::Event event);

  // Checks that the segment is as this recorder wrote it. "": it is. Else repairs what the end
  // needs to be readable, appends a notice, and returns what somebody changed, in words for the
  // run's end. Reads the whole segment.
  std::string CheckSegment();

  // The syncer, not this object, brings what was appended to disk.
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
