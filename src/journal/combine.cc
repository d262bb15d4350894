// SPDX-License-Identifier: Apache-2.0
// Combines the folds of all segments into one run. A pure function of the set of folds: among
// several segments it chooses by what they say and, where that is equal, by their names.
#include <algorithm>

#include "base/file.h"
#include "base/text.h"
#include "journal/fold.h"
#include "run/layout.h"

namespace tenon::journal {
namespace {

using Segments = std::map<std::string, SegmentFold>;
using Named = std::pair<const std::string, SegmentFold>;

constexpr std::string_view kNearPrefix = "near-";

// Near segments first: what they tell (snapshot, submit) happened before what the hosts tell.
std::vector<const Named*> InOrderOfTelling(const Segments& segments) {
  std::vector<const Named*> order;
  for (const Named& segment : segments) order.push_back(&segment);
  std::stable_partition(order.begin(), order.end(),
                        [](const Named* segment) { return IsNearSegment(segment->first); });
  return order;
}

bool FarHasSpoken(const Segments& segments) {
  return std::any_of(segments.begin(), segments.end(), [](const Named& segment) {
    return !IsNearSegment(segment.first) && segment.second.records > 0;
  });
}

// Only near segments say what was submitted: a machine that runs things for us must not decide what
// is run the next time, or where.
const SegmentFold* FindSubmitted(const Segments& segments) {
  const SegmentFold* first = nullptr;
  for (const auto& [name, fold] : segments) {
    if (!fold.submitted || !IsNearSegment(name)) continue;
    if (first == nullptr || fold.submitted_us < first->submitted_us) first = &fold;
  }
  return first;
}

// The segment whose end is the run's: the host segment, else the first far segment by name. A near
// segment counts only while no far segment has a record.
const SegmentFold* FindEnd(const Segments& segments) {
  auto host = segments.find(std::string(run::kHostSegment));
  if (host != segments.end() && host->second.end) return &host->second;
  const bool far_has_spoken = FarHasSpoken(segments);
  const SegmentFold* near = nullptr;
  for (const auto& [name, fold] : segments) {
    if (!fold.end) continue;
    if (!IsNearSegment(name)) return &fold;
    if (near == nullptr && fold.end->never_started) near = &fold;
  }
  return far_has_spoken ? nullptr : near;
}

void CombineState(const Segments& segments, RunView& view) {
  for (const auto& [name, fold] : segments) {
    if (!fold.state) continue;
    const run::State further = run::Further(view.state, *fold.state);
    if (further == view.state) continue;
    view.state = further;
    view.reason = fold.state_reason;
  }
  const SegmentFold* last = FindEnd(segments);
  if (last == nullptr) return;
  view.end = last->end;
  view.state = last->end->state;
  view.reason = last->end->reason;
  view.end_us = last->end_us;
}

// Wall clocks jump. The duration comes from the monotonic clock if the end has it, and is never
// negative.
void CombineTimes(const Segments& segments, RunView& view) {
  int64_t near_heard = 0, far_heard = 0;
  for (const auto& [name, fold] : segments) {
    int64_t& heard = IsNearSegment(name) ? near_heard : far_heard;
    heard = std::max(heard, fold.last_us);
    if (fold.script && (view.start_us == 0 || fold.script_us < view.start_us)) {
      view.start_us = fold.script_us;
      view.script = fold.script;
    }
  }
  view.last_heard_us = far_heard != 0 ? far_heard : near_heard;
  if (!view.end) return;
  if (view.start_us == 0) view.start_us = view.end->start_us;
  if (view.start_us == 0) return;
  view.duration_us = view.end->duration_us > 0 ? view.end->duration_us
                                               : std::max<int64_t>(0, view.end_us - view.start_us);
  view.end_us = view.start_us + view.duration_us;
}

void MergeSeries(SeriesSummary& into, const SeriesSummary& from) {
  if (from.count == 0) return;
  if (into.count == 0 || from.last_time_us >= into.last_time_us) {
    into.last = from.last;
    into.last_step = from.last_step;
    into.last_time_us = from.last_time_us;
  }
  into.count += from.count;
  if (from.numbers == 0) return;
  into.min = into.numbers == 0 ? from.min : std::min(into.min, from.min);
  into.max = into.numbers == 0 ? from.max : std::max(into.max, from.max);
  into.numbers += from.numbers;
}

// A file that was collected twice (the runner died while collecting) is listed once, as collected
// last.
void MergeArtifacts(const std::vector<const Named*>& order, RunView& view) {
  std::map<std::string_view, size_t> places;
  for (const Named* segment : order) {
    for (const run::Artifact& file : segment->second.artifacts) {
      auto [place, added] = places.emplace(file.path, view.artifacts.size());
      if (added) {
        view.artifacts.push_back(file);
      } else {
        view.artifacts[place->second] = file;
      }
    }
    if (!segment->second.outputs_tree.empty()) view.outputs_tree = segment->second.outputs_tree;
    view.outputs_left = view.outputs_left || segment->second.outputs_left;
  }
}

void MergeContents(const SegmentFold& fold, RunView& view) {
  if (!view.handle) view.handle = fold.handle;
  if (!view.runner) view.runner = fold.runner;
  if (!view.environment) view.environment = fold.environment;
  if (!view.container) view.container = fold.container;
  view.steps.insert(view.steps.end(), fold.steps.begin(), fold.steps.end());
  view.notices.insert(view.notices.end(), fold.notices.begin(), fold.notices.end());
  for (const auto& [name, summary] : fold.series) MergeSeries(view.series[name], summary);
  view.parameters.insert(fold.parameters.begin(), fold.parameters.end());
  view.stdout_bytes += fold.stdout_bytes;
  view.stderr_bytes += fold.stderr_bytes;
  view.gap.stdout_bytes += fold.gap.stdout_bytes;
  view.gap.stderr_bytes += fold.gap.stderr_bytes;
  view.gap.records += fold.gap.records;
  if (!fold.gap.reason.empty()) view.gap.reason = fold.gap.reason;
  view.hole_bytes += fold.hole_bytes;
  view.files_left_out += fold.files_left_out;
}

void TellWhatIsLeftOut(const Segments& segments, RunView& view) {
  uint64_t records = 0;
  for (const auto& [name, fold] : segments) records += fold.left_out;
  if (records == 0 && view.files_left_out == 0) return;
  view.notices.push_back(
      {run::Level::kWarning,
       "the journal says more than is listed: " + Count(records, "record", "records") + " and " +
           Count(view.files_left_out, "output", "outputs") + " are left out (listed are at most " +
           HumanBytes(kMaxHeld) + ")",
       ""});
}

template <typename T>
bool IsLater(const Said<T>& a, const Said<T>& b) {
  return a.time_us != b.time_us ? a.time_us > b.time_us : a.by > b.by;
}

template <typename T>
void TakeLater(std::optional<Said<T>>& into, const std::optional<Said<T>>& from) {
  if (from && (!into || IsLater(*from, *into))) into = from;
}

// Only clients annotate: a machine must not hide or name a run.
void MergeAnnotations(const Segments& segments, RunView& view) {
  SegmentFold latest;
  for (const auto& [segment, fold] : segments) {
    if (!IsNearSegment(segment)) continue;
    TakeLater(latest.name, fold.name);
    TakeLater(latest.note, fold.note);
    TakeLater(latest.hidden, fold.hidden);
    for (const auto& [tag, said] : fold.tags) {
      auto [place, added] = latest.tags.emplace(tag, said);
      if (!added && IsLater(said, place->second)) place->second = said;
    }
  }
  if (latest.name) view.name = latest.name->value;
  if (latest.note) view.note = latest.note->value;
  if (latest.hidden) view.hidden = latest.hidden->value;
  for (const auto& [tag, said] : latest.tags) {
    if (said.value) view.tags[tag] = *said.value;
  }
}

// Reads and folds one segment file. `*run_key` gets the run key of its header, "" when the header
// is damaged.
Result<SegmentFold> FoldSegment(const std::string& path, const std::string& name, uint64_t most,
                                std::string* run_key) {
  TENON_TRY(Reader reader, Reader::Open(path));
  SegmentFold fold;
  for (;;) {
    TENON_TRY(std::optional<Record> record, reader.Next());
    if (!record) break;
    TENON_TRY_VOID(fold.Apply(*record, name, most));
  }
  TENON_TRY(bool alive, reader.WriterAlive());
  if (!alive) reader.Close();
  for (const Hole& hole : reader.holes()) fold.hole_bytes += hole.bytes;
  *run_key = reader.run_key().value_or("");
  return fold;
}

SegmentFold UnreadableSegment(const std::string& path, const Error& error) {
  SegmentFold fold;
  fold.notices.push_back({run::Level::kError, error.message, error.hint});
  struct stat info;
  if (::lstat(path.c_str(), &info) == 0) fold.hole_bytes = static_cast<uint64_t>(info.st_size);
  return fold;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> ParametersOf(const RunView& run) {
  auto all = run.spec.parameters;
  const auto named = [&](const std::string& name) {
    return std::ranges::any_of(run.spec.parameters, [&](const auto& p) { return p.first == name; });
  };
  for (const auto& parameter : run.parameters) {
    if (!named(parameter.first)) all.push_back(parameter);
  }
  return all;
}

bool IsNearSegment(std::string_view name) { return name.starts_with(kNearPrefix); }

Result<RunView> Combine(const Segments& segments) {
  const SegmentFold* submitted = FindSubmitted(segments);
  if (submitted == nullptr) return NotFound("no segment says what was submitted");
  RunView view;
  view.spec = submitted->submitted->spec;
  view.client = submitted->submitted->client;
  view.tenon_version = submitted->submitted->tenon_version;
  view.created_us = submitted->submitted_us;
  CombineState(segments, view);
  CombineTimes(segments, view);
  const std::vector<const Named*> order = InOrderOfTelling(segments);
  for (const Named* segment : order) MergeContents(segment->second, view);
  MergeArtifacts(order, view);
  MergeAnnotations(segments, view);
  TellWhatIsLeftOut(segments, view);
  return view;
}

Result<RunView> FoldRunFolder(const std::string& run_folder) {
  TENON_TRY(std::vector<std::string> names, ListDir(run_folder));
  Segments segments;
  std::map<std::string, std::string> run_keys;
  std::optional<Error> problem;
  std::erase_if(names, [](const auto& file) { return !file.ends_with(run::kSegmentSuffix); });
  if (names.size() > kMaxSegments) {
    return Corrupt("read run " + run_folder + ": it has " + std::to_string(names.size()) +
                   " segments, more than the " + std::to_string(kMaxSegments) + " that are read");
  }
  // Near segments first: they say which run this is.
  std::ranges::sort(names);
  std::stable_partition(names.begin(), names.end(),
                        [](const std::string& name) { return IsNearSegment(name); });
  uint64_t held = 0;
  for (const std::string& file : names) {
    const std::string name = file.substr(0, file.size() - run::kSegmentSuffix.size());
    const std::string path = JoinPath(run_folder, file);
    Result<SegmentFold> fold = FoldSegment(path, name, kMaxHeld - held, &run_keys[name]);
    if (fold.ok()) held += fold->held;
    if (!fold.ok() && fold.error().kind != ErrorKind::kCorrupt) return std::move(fold).error();
    if (!fold.ok()) problem = fold.error();
    segments[name] = fold.ok() ? std::move(*fold) : UnreadableSegment(path, fold.error());
  }
  Result<RunView> view = Combine(segments);
  if (!view.ok()) {
    return std::move(problem ? *problem : view.error()).Wrap("read run " + run_folder);
  }
  for (const auto& [name, key] : run_keys) {
    if (!key.empty() && key != view->spec.key) {
      return Corrupt("read run " + run_folder + ": segment " + name + " belongs to another run, " +
                     key);
    }
  }
  return view;
}

}  // namespace tenon::journal
