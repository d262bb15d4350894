// SPDX-License-Identifier: Apache-2.0
#include "journal/fold.h"

#include <algorithm>
#include <cmath>

#include "base/shown_bytes.h"
#include "base/text.h"
#include "run/artifact_name.h"
#include "run/event_cost.h"

namespace tenon::journal {
namespace {

constexpr size_t kMaxNotices = 1000;
constexpr size_t kMaxHashText = 128;
constexpr uint64_t kSeriesCost = 256;     // a summary in a map, without its name and value
constexpr uint64_t kParameterCost = 128;  // a pair in a map, without its texts
constexpr uint64_t kHeapCost = 16;        // a block on the heap, without its bytes

void Shorten(std::string& text) {
  if (text.size() <= kMaxReason) return;
  const std::string whole = std::to_string(text.size());
  text.resize(kMaxReason);
  text += "… [cut, " + whole + " bytes]";
}

// Programs build everything they show of a run in memory at once, so a text counts with the bytes
// it takes when shown.
uint64_t CostOf(const std::string& text) {
  return text.size() < 16 ? 0 : ShownBytes(text) + kHeapCost;
}

uint64_t CostOf(const run::MetricValue& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return CostOf(*text);
  if (const auto* list = std::get_if<std::vector<double>>(&value)) {
    return list->size() * sizeof(double) + kHeapCost;
  }
  return 0;
}

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

// Within a segment the later record counts, even when the clock went back in between.
template <typename T>
void Say(std::optional<Said<T>>& said, const T& value, int64_t time_us, std::string_view by) {
  const int64_t before = said ? said->time_us : time_us;
  said = Said<T>{value, std::max(before, time_us), std::string(by)};
}

// Adds one event to the fold.
class Folder {
 public:
  // `cost`: the bytes that the event takes in memory. `most`: the limit for fold.held.
  Folder(SegmentFold& fold, int64_t time_us, std::string_view segment, uint64_t cost, uint64_t most)
      : fold_(fold), time_us_(time_us), segment_(segment), cost_(cost), most_(most) {}

  void operator()(run::Submitted& e) {
    if (fold_.submitted || !HasRoom()) return;
    fold_.submitted = std::move(e);
    fold_.submitted_us = time_us_;
  }
  void operator()(run::StateChange& e) {
    // Only an end record ends a run.
    if (run::IsFinal(e.state) || e.state == run::State::kNotResponding) return;
    if (fold_.state && run::Further(*fold_.state, e.state) == *fold_.state) return;
    fold_.state = e.state;
    fold_.state_reason = std::move(e.reason);
    Shorten(fold_.state_reason);
  }
  void operator()(run::Step& e) {
    if (HasRoom()) fold_.steps.push_back(std::move(e));
  }
  void operator()(run::Output& e) {
    (e.stream == run::Stream::kStdout ? fold_.stdout_bytes : fold_.stderr_bytes) += e.bytes.size();
  }
  void operator()(run::Metrics& e) {
    for (const run::MetricBlock& block : e.blocks) AddBlock(block);
  }
  void operator()(run::Parameters& e) {
    for (auto& [name, value] : e.values) {
      if (fold_.parameters.contains(name)) continue;
      const uint64_t cost = kParameterCost + CostOf(name) + CostOf(value);
      if (fold_.held + cost > most_) {
        ++fold_.left_out;
        continue;
      }
      fold_.held += cost;
      fold_.parameters.emplace(std::move(name), std::move(value));
    }
  }
  void operator()(run::Samples&) {}  // whoever shows samples reads them from the journal
  void operator()(run::Artifacts& e) {
    std::string foreign;
    if (const size_t dropped = run::DropForeignNames(&e.files, &foreign); dropped > 0) {
      run::Notice notice{run::Level::kWarning,
                         Count(dropped, "artifact", "artifacts") +
                             " of a name that no runner records, left out: " + ForTerminal(foreign),
                         ""};
      (*this)(notice);
    }
    for (run::Artifact& file : e.files) {
      const uint64_t cost = sizeof file + CostOf(file.path) + CostOf(file.hash);
      if (fold_.held + cost > most_) {
        ++fold_.files_left_out;
        continue;
      }
      fold_.held += cost;
      fold_.artifacts.push_back(std::move(file));
    }
    if (e.tree.empty() || e.tree.size() > kMaxHashText) return;
    fold_.outputs_tree = std::move(e.tree);
    fold_.outputs_left = e.left > 0;  // a later collection may be complete
  }
  void operator()(run::Notice& e) {
    if (fold_.notices.size() < kMaxNotices && HasRoom()) fold_.notices.push_back(std::move(e));
  }
  void operator()(run::End& e) {
    if (fold_.end) return;
    fold_.outputs_left = fold_.outputs_left || e.outputs_left;
    Shorten(e.reason);
    if (e.proof) {
      for (std::string* text : {&e.proof->method, &e.proof->remark, &e.proof->gpu}) Shorten(*text);
    }
    fold_.end = std::move(e);
    fold_.end_us = time_us_;
  }
  void operator()(run::Gap& e) {
    fold_.gap.stdout_bytes += e.stdout_bytes;
    fold_.gap.stderr_bytes += e.stderr_bytes;
    fold_.gap.records += e.records;
    Shorten(e.reason);
    if (!e.reason.empty()) fold_.gap.reason = std::move(e.reason);
  }
  void operator()(run::RunnerStarted& e) {
    if (HasRoom()) fold_.runner = std::move(e);  // the last runner supervises the run
  }
  void operator()(run::HandedOver& e) {
    // The handle is later given back to the machine, so the machine must not choose it.
    if (IsNearSegment(segment_) && HasRoom()) fold_.handle = std::move(e.handle);
  }
  void operator()(run::ScriptStarted& e) {
    if (fold_.script) return;
    if (!HasRoom()) e = {{e.process.pid, e.process.start_ticks, ""}, {}};
    fold_.script = std::move(e);
    fold_.script_us = time_us_;
  }
  void operator()(run::ScriptEnded& e) {
    if (fold_.script_ended) return;
    Shorten(e.problem);
    fold_.script_ended = std::move(e);
  }
  void operator()(run::EnvironmentReady& e) {
    if (HasRoom()) fold_.environment = std::move(e);
  }
  void operator()(run::ContainerMade& e) {
    if (HasRoom()) fold_.container = std::move(e);
  }
  void operator()(run::Progress&) {}  // of interest only while the step runs
  void operator()(run::Annotation& e) {
    if (!HasRoom()) return;
    if (e.name) Say(fold_.name, *e.name, time_us_, segment_);
    if (e.note) Say(fold_.note, *e.note, time_us_, segment_);
    if (e.hidden) Say(fold_.hidden, *e.hidden, time_us_, segment_);
    for (auto& [tag, value] : e.set_tags) SayTag(tag, std::move(value));
    for (const std::string& tag : e.remove_tags) SayTag(tag, std::nullopt);
  }

 private:
  // Adds the cost of the event to `held`. When it does not fit, counts the event as left out and
  // returns false.
  bool HasRoom() {
    if (fold_.held + cost_ > most_) {
      ++fold_.left_out;
      return false;
    }
    fold_.held += cost_;
    return true;
  }

  void AddBlock(const run::MetricBlock& block) {
    auto known = fold_.series.find(block.series);
    if (known == fold_.series.end()) {
      const uint64_t cost = kSeriesCost + CostOf(block.series);
      if (fold_.held + cost > most_) {
        ++fold_.left_out;
        return;
      }
      fold_.held += cost;
      known = fold_.series.try_emplace(block.series).first;
    }
    SeriesSummary& summary = known->second;
    const uint64_t others = fold_.held - CostOf(summary.last);
    for (const run::MetricPoint& point : block.points) AddPoint(summary, point);
    if (others + CostOf(summary.last) > most_) {
      ++fold_.left_out;
      summary.last = "[too large to list]";
    }
    fold_.held = others + CostOf(summary.last);
  }

  void SayTag(const std::string& tag, std::optional<std::string> value) {
    auto& said = fold_.tags[tag];
    said = {std::move(value), std::max(said.time_us, time_us_), std::string(segment_)};
  }

  SegmentFold& fold_;
  int64_t time_us_;
  std::string_view segment_;
  uint64_t cost_, most_;
};

}  // namespace

Status SegmentFold::Apply(const Record& record, std::string_view segment, uint64_t most) {
  if (records == 0) first_us = record.time_us;
  ++records;
  last_us = std::max(last_us, record.time_us);
  size_t cost = 0;
  Result<std::optional<run::Event>> event =
      run::DecodeEventWithCost(record.type, record.payload, &cost);
  if (!event.ok()) {
    run::Notice notice{run::Level::kWarning,
                       "record " + std::to_string(record.number) + " of segment " +
                           std::string(segment) + " cannot be understood: " + event.error().message,
                       ""};
    Shorten(notice.text);
    Folder(*this, record.time_us, segment, sizeof notice + CostOf(notice.text), most)(notice);
    return {};
  }
  if (*event) std::visit(Folder(*this, record.time_us, segment, cost, most), **event);
  return {};
}

}  // namespace tenon::journal
