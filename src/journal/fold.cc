// SPDX-License-Identifier: Apache-2.0
#include "journal/fold.h"

#include <algorithm>
#include <cmath>

namespace tenon::journal {
namespace {

constexpr size_t kMaxNotices = 1000;

void AddPoint(SeriesSummary& summary, const run::MetricPoint& point) {
  if (summary.count == 0 || point.time_us >= summary.last_time_us) {
    summary.last = point.value;
    summary.last_step = point.step;
    summary.last_time_us = point.time_us;
  }
  ++summary.count;
  if (!run::IsNumber(point.value)) return;
  const double number = run::AsDouble(point.value);
  if (std::isnan(number)) return;
  summary.min = summary.numbers == 0 ? number : std::min(summary.min, number);
  summary.max = summary.numbers == 0 ? number : std::max(summary.max, number);
  ++summary.numbers;
}

// Within a segment the later word counts, even when the clock went back in between.
template <typename T>
void Say(std::optional<Said<T>>& said, const T& value, int64_t time_us, std::string_view by) {
  const int64_t before = said ? said->time_us : time_us;
  said = Said<T>{value, std::max(before, time_us), std::string(by)};
}

// Puts one event into the fold.
class Folder {
 public:
  Folder(SegmentFold& fold, int64_t time_us, std::string_view segment)
      : fold_(fold), time_us_(time_us), segment_(segment) {}

  void operator()(run::Submitted& e) {
    if (fold_.submitted) return;
    fold_.submitted = std::move(e);
    fold_.submitted_us = time_us_;
  }
  void operator()(run::StateChange& e) {
    // Only an end ends a run.
    if (run::IsFinal(e.state) || e.state == run::State::kNotResponding) return;
    if (fold_.state && run::Further(*fold_.state, e.state) == *fold_.state) return;
    fold_.state = e.state;
    fold_.state_reason = std::move(e.reason);
  }
  void operator()(run::Step& e) { fold_.steps.push_back(std::move(e)); }
  void operator()(run::Output& e) {
    (e.stream == run::Stream::kStdout ? fold_.stdout_bytes : fold_.stderr_bytes) += e.bytes.size();
  }
  void operator()(run::Metrics& e) {
    for (const run::MetricBlock& block : e.blocks) {
      SeriesSummary& summary = fold_.series[block.series];
      for (const run::MetricPoint& point : block.points) AddPoint(summary, point);
    }
  }
  void operator()(run::Artifacts& e) {
    std::move(e.files.begin(), e.files.end(), std::back_inserter(fold_.artifacts));
    if (!e.tree.empty()) fold_.outputs_tree = std::move(e.tree);
  }
  void operator()(run::Notice& e) {
    if (fold_.notices.size() < kMaxNotices) fold_.notices.push_back(std::move(e));
  }
  void operator()(run::End& e) {
    if (fold_.end) return;
    fold_.end = std::move(e);
    fold_.end_us = time_us_;
  }
  void operator()(run::Gap& e) {
    fold_.gap.stdout_bytes += e.stdout_bytes;
    fold_.gap.stderr_bytes += e.stderr_bytes;
    fold_.gap.records += e.records;
    if (!e.reason.empty()) fold_.gap.reason = std::move(e.reason);
  }
  void operator()(run::RunnerStarted& e) {
    fold_.runner = std::move(e);  // the last one supervises
  }
  void operator()(run::ScriptStarted& e) {
    if (fold_.script) return;
    fold_.script = std::move(e);
    fold_.script_us = time_us_;
  }
  void operator()(run::ScriptEnded& e) {
    if (!fold_.script_ended) fold_.script_ended = e;
  }
  void operator()(run::EnvironmentReady& e) { fold_.environment = std::move(e); }
  void operator()(run::ContainerMade& e) { fold_.container = std::move(e); }
  void operator()(run::Progress&) {}  // of interest while it lasts
  void operator()(run::Annotation& e) {
    if (e.name) Say(fold_.name, *e.name, time_us_, segment_);
    if (e.note) Say(fold_.note, *e.note, time_us_, segment_);
    if (e.hidden) Say(fold_.hidden, *e.hidden, time_us_, segment_);
    for (auto& [tag, value] : e.set_tags) SayTag(tag, std::move(value));
    for (const std::string& tag : e.remove_tags) SayTag(tag, std::nullopt);
  }

 private:
  void SayTag(const std::string& tag, std::optional<std::string> value) {
    auto& said = fold_.tags[tag];
    said = {std::move(value), std::max(said.time_us, time_us_), std::string(segment_)};
  }

  SegmentFold& fold_;
  int64_t time_us_;
  std::string_view segment_;
};

}  // namespace

Status SegmentFold::Apply(const Record& record, std::string_view segment) {
  if (records == 0) first_us = record.time_us;
  ++records;
  last_us = std::max(last_us, record.time_us);
  Result<std::optional<run::Event>> event = run::DecodeEvent(record.type, record.payload);
  if (!event.ok()) {
    run::Notice notice{run::Level::kWarning,
                       "record " + std::to_string(record.number) + " of segment " +
                           std::string(segment) + " cannot be understood: " + event.error().message,
                       ""};
    Folder(*this, record.time_us, segment)(notice);
    return {};
  }
  if (*event) std::visit(Folder(*this, record.time_us, segment), **event);
  return {};
}

}  // namespace tenon::journal
