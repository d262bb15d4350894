// SPDX-License-Identifier: Apache-2.0
// From records to the state of a run. Each segment is folded on its own, in its own order. The run
// is a pure function of these folds, so the order in which segments arrive does not matter.
#ifndef TENON_JOURNAL_FOLD_H_
#define TENON_JOURNAL_FOLD_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/fields.h"
#include "base/result.h"
#include "journal/reader.h"
#include "run/event.h"
#include "run/segment.h"

namespace tenon::journal {

// What listings show of one metric series.
struct SeriesSummary {
  uint64_t count = 0;       // points
  uint64_t numbers = 0;     // points that are numeric and not NaN
  double min = 0, max = 0;  // over `numbers`
  run::MetricValue last;    // value of the latest point (by time, then order)
  int64_t last_step = 0;
  int64_t last_time_us = 0;

  static constexpr auto Fields() {
    return std::tuple(
        Field(1, "count", &SeriesSummary::count), Field(2, "numbers", &SeriesSummary::numbers),
        Field(3, "min", &SeriesSummary::min), Field(4, "max", &SeriesSummary::max),
        Field(5, "last", &SeriesSummary::last), Field(6, "last_step", &SeriesSummary::last_step),
        Field(7, "last_time_us", &SeriesSummary::last_time_us));
  }
};

// A value, the time and the segment (`by`) that set it. Between clients the latest value wins; at
// equal times the larger `by` wins.
template <typename T>
struct Said {
  T value{};
  int64_t time_us = 0;
  std::string by;

  static constexpr auto Fields() {
    return std::tuple(Field(1, "value", &Said::value), Field(2, "time_us", &Said::time_us),
                      Field(3, "by", &Said::by));
  }
};

// Limit on the memory, in bytes, that the folds of all segments of a run may take together: some
// 100,000 outputs. What is over the limit stays in the journal; the fold counts it and does not
// list it. States and the end always fit: their texts are cut at kMaxReason.
inline constexpr uint64_t kMaxHeld = 24u << 20;
inline constexpr size_t kMaxReason = 4096;
// How many segments of a run are read: one per client that submitted or annotated the run, and
// those of its machine (run/segment.h).
inline constexpr size_t kMaxSegments = 512 + run::kMostFarSegments;

// What one segment says. A described value (base/fields.h): an index can store it and later apply
// the next records to it.
struct SegmentFold {
  uint64_t records = 0;
  int64_t first_us = 0, last_us = 0;
  std::optional<run::Submitted> submitted;
  int64_t submitted_us = 0;
  std::optional<run::State> state;  // the furthest non-final state in this segment
  std::string state_reason;
  std::optional<run::End> end;  // the first one in this segment
  int64_t end_us = 0;
  std::optional<run::LaunchHandle> handle;  // set in near segments only
  std::optional<run::RunnerStarted> runner;
  std::optional<run::ScriptStarted> script;
  int64_t script_us = 0;
  std::optional<run::ScriptEnded> script_ended;
  std::optional<run::EnvironmentReady> environment;
  std::optional<run::ContainerMade> container;
  std::vector<run::Step> steps;
  std::vector<run::Notice> notices;  // the first 1,000; later ones are dropped
  std::vector<run::Artifact> artifacts;
  std::string outputs_tree;
  bool outputs_left = false;  // some outputs are not collected; only the run's folder has them
  std::map<std::string, SeriesSummary> series;
  std::map<std::string, std::string> parameters;  // named by the script
  uint64_t stdout_bytes = 0, stderr_bytes = 0;
  run::Gap gap;  // sums over all gaps
  uint64_t hole_bytes = 0;
  // Annotations: for each member the value set last.
  std::optional<Said<std::string>> name, note;
  std::optional<Said<bool>> hidden;
  std::map<std::string, Said<std::optional<std::string>>> tags;  // nullopt: tag removed
  uint64_t held = 0;  // approximate memory of the members above, in bytes
  // What did not fit into `most` of Apply(): records, single parameters and series; artifacts.
  uint64_t left_out = 0, files_left_out = 0;

  static constexpr auto Fields() {
    return std::tuple(
        Field(1, "records", &SegmentFold::records), Field(2, "first_us", &SegmentFold::first_us),
        Field(3, "last_us", &SegmentFold::last_us), Field(4, "submitted", &SegmentFold::submitted),
        Field(5, "submitted_us", &SegmentFold::submitted_us),
        Field(6, "state", &SegmentFold::state),
        Field(7, "state_reason", &SegmentFold::state_reason), Field(8, "end", &SegmentFold::end),
        Field(9, "end_us", &SegmentFold::end_us), Field(10, "runner", &SegmentFold::runner),
        Field(11, "script", &SegmentFold::script), Field(12, "script_us", &SegmentFold::script_us),
        Field(13, "script_ended", &SegmentFold::script_ended),
        Field(14, "environment", &SegmentFold::environment),
        Field(15, "container", &SegmentFold::container), Field(16, "steps", &SegmentFold::steps),
        Field(17, "notices", &SegmentFold::notices),
        Field(18, "artifacts", &SegmentFold::artifacts),
        Field(19, "outputs_tree", &SegmentFold::outputs_tree),
        Field(20, "outputs_left", &SegmentFold::outputs_left),
        Field(21, "series", &SegmentFold::series),
        Field(22, "stdout_bytes", &SegmentFold::stdout_bytes),
        Field(23, "stderr_bytes", &SegmentFold::stderr_bytes), Field(24, "gap", &SegmentFold::gap),
        Field(25, "hole_bytes", &SegmentFold::hole_bytes), Field(26, "name", &SegmentFold::name),
        Field(27, "note", &SegmentFold::note), Field(28, "hidden", &SegmentFold::hidden),
        Field(29, "tags", &SegmentFold::tags), Field(30, "held", &SegmentFold::held),
        Field(31, "left_out", &SegmentFold::left_out),
        Field(32, "files_left_out", &SegmentFold::files_left_out),
        Field(33, "parameters", &SegmentFold::parameters),
        Field(34, "handle", &SegmentFold::handle));
  }

  // Adds the next record of the segment. The caller passes each record once, in order. A payload
  // that cannot be decoded costs only that record: it becomes a notice. Records of types that this
  // program does not know are counted and passed over. `most` is the limit for `held` (kMaxHeld
  // less what the other segments hold). Always succeeds.
  Status Apply(const Record& record, std::string_view segment, uint64_t most = kMaxHeld);
};

// The run as all its segments together describe it.
struct RunView {
  run::RunSpec spec;
  std::string client, tenon_version;
  run::State state = run::State::kNotStarted;
  std::string reason;
  std::optional<run::End> end;
  int64_t created_us = 0, start_us = 0,
          end_us = 0;       // 0: not yet. end_us = start_us + monotonic duration where known
  int64_t duration_us = 0;  // set for a finished run that started; else 0
  int64_t last_heard_us = 0;
  std::optional<run::LaunchHandle> handle;
  std::optional<run::RunnerStarted> runner;
  std::optional<run::ScriptStarted> script;
  std::optional<run::EnvironmentReady> environment;
  std::optional<run::ContainerMade> container;
  std::vector<run::Step> steps;
  std::vector<run::Notice> notices;
  std::vector<run::Artifact> artifacts;
  std::string outputs_tree;
  bool outputs_left = false;  // some outputs are not collected; only the run's folder has them
  std::map<std::string, SeriesSummary> series;
  std::map<std::string, std::string> parameters;  // named by the script; see ParametersOf()
  uint64_t stdout_bytes = 0, stderr_bytes = 0;
  run::Gap gap;
  uint64_t hole_bytes = 0;
  std::string name, note;
  bool hidden = false;
  std::map<std::string, std::string> tags;
  uint64_t files_left_out = 0;  // artifacts in outputs_tree that `artifacts` has no room for
  // The next two come from the history index, not from the segments.
  // Why the run's folder can't be read; "" when it can.
  std::string unreadable;
  bool untold = false;  // no segment says what was submitted; only the folder is known

  // RowFields are what listings need. DetailFields are what only the page of one run needs.
  static constexpr auto RowFields() {
    return std::tuple(
        Field(1, "spec", &RunView::spec), Field(2, "client", &RunView::client),
        Field(3, "tenon_version", &RunView::tenon_version), Field(4, "state", &RunView::state),
        Field(5, "reason", &RunView::reason), Field(6, "end", &RunView::end),
        Field(7, "created_us", &RunView::created_us), Field(8, "start_us", &RunView::start_us),
        Field(9, "end_us", &RunView::end_us), Field(10, "duration_us", &RunView::duration_us),
        Field(11, "last_heard_us", &RunView::last_heard_us), Field(12, "runner", &RunView::runner),
        Field(13, "script", &RunView::script), Field(14, "artifacts", &RunView::artifacts),
        Field(15, "outputs_tree", &RunView::outputs_tree),
        Field(16, "outputs_left", &RunView::outputs_left), Field(17, "series", &RunView::series),
        Field(18, "stdout_bytes", &RunView::stdout_bytes),
        Field(19, "stderr_bytes", &RunView::stderr_bytes), Field(20, "gap", &RunView::gap),
        Field(21, "hole_bytes", &RunView::hole_bytes), Field(22, "name", &RunView::name),
        Field(23, "note", &RunView::note), Field(24, "hidden", &RunView::hidden),
        Field(25, "tags", &RunView::tags), Field(26, "files_left_out", &RunView::files_left_out),
        Field(31, "parameters", &RunView::parameters), Field(32, "handle", &RunView::handle));
  }
  static constexpr auto DetailFields() {
    return std::tuple(Field(27, "steps", &RunView::steps), Field(28, "notices", &RunView::notices),
                      Field(29, "environment", &RunView::environment),
                      Field(30, "container", &RunView::container));
  }
  static constexpr auto Fields() { return std::tuple_cat(RowFields(), DetailFields()); }
  static constexpr size_t kFieldsElsewhere = 2;  // `unreadable` and `untold`
};

// The parameters of the command line, then those that the script named. For a name that is in both,
// the value of the command line counts.
std::vector<std::pair<std::string, std::string>> ParametersOf(const RunView& run);

// The final state comes from a far segment. A "never started" in a near segment counts only while
// no far segment has a record. kNotFound when no near segment has a kSubmitted record.
Result<RunView> Combine(const std::map<std::string, SegmentFold>& segments);

// Near segments are named "near-…"; all others are far.
bool IsNearSegment(std::string_view name);

// Reads and folds all segments of a run folder; needs no index. A segment that is kCorrupt becomes
// a notice and a hole of its size; other read errors are returned. kCorrupt when a segment belongs
// to another run, or when there are more than kMaxSegments. kNotFound when the folder is missing,
// or when no segment says what was submitted and none is corrupt.
Result<RunView> FoldRunFolder(const std::string& run_folder);

}  // namespace tenon::journal

#endif  // TENON_JOURNAL_FOLD_H_
