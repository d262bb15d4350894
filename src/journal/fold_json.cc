// SPDX-License-Identifier: Apache-2.0
// A segment's fold as JSON and back.
#include "journal/fold.h"
#include "run/artifact_name.h"
#include "run/members.h"

namespace tenon::journal {
namespace {

using run::EventType;
using run::Members;
using run::ToJsonNumber;
using run::ToJsonText;

json::Object ValueToJson(const run::MetricValue& value) {
  json::Object o;
  if (const auto* number = std::get_if<double>(&value)) {
    o["number"] = ToJsonNumber(*number);
  } else if (const auto* whole = std::get_if<int64_t>(&value)) {
    o["whole"] = *whole;
  } else if (const auto* flag = std::get_if<bool>(&value)) {
    o["flag"] = *flag;
  } else if (const auto* text = std::get_if<std::string>(&value)) {
    o["text"] = ToJsonText(*text);
  } else {
    json::Array list;
    for (double item : std::get<std::vector<double>>(value)) list.push_back(ToJsonNumber(item));
    o["list"] = std::move(list);
  }
  return o;
}

run::MetricValue ValueFromJson(Members& in, const json::Object& o) {
  Members members(o);
  run::MetricValue value = 0.0;
  if (o.contains("number")) {
    members.Read("number", std::get<double>(value));
  } else if (o.contains("whole")) {
    members.Read("whole", value.emplace<int64_t>());
  } else if (o.contains("flag")) {
    members.Read("flag", value.emplace<bool>());
  } else if (o.contains("text")) {
    members.Read("text", value.emplace<std::string>());
  } else if (const json::Array* list = members.ReadArray("list")) {
    auto& numbers = value.emplace<std::vector<double>>();
    for (const json::Value& item : *list) {
      std::optional<double> number = run::NumberFromJson(item);
      if (!number) members.Fail("list", "an array of numbers");
      numbers.push_back(number.value_or(0));
    }
  } else {
    members.Fail("last", "a metric value");
  }
  if (members.failed()) in.Fail("last", "a metric value");
  return value;
}

json::Object SummaryToJson(const std::string& name, const SeriesSummary& summary) {
  json::Object o;
  o["name"] = ToJsonText(name);
  o["count"] = summary.count;
  o["numbers"] = summary.numbers;
  o["min"] = ToJsonNumber(summary.min);
  o["max"] = ToJsonNumber(summary.max);
  o["last"] = ValueToJson(summary.last);
  o["last_step"] = summary.last_step;
  o["last_time_us"] = summary.last_time_us;
  return o;
}

// Calls `read` for each object of an array member.
template <typename F>
void EachObject(Members& in, std::string_view key, F read) {
  const json::Array* array = in.ReadArray(key);
  if (array == nullptr) return;
  for (const json::Value& item : *array) {
    const json::Object* object = item.if_object();
    if (object == nullptr) return in.Fail(key, "an array of objects");
    read(*object);
  }
}

void ReadSeries(Members& in, SegmentFold& fold) {
  EachObject(in, "series", [&](const json::Object& o) {
    Members members(o);
    std::string name;
    members.Read("name", name);
    SeriesSummary& summary = fold.series[name];
    members.Read("count", summary.count);
    members.Read("numbers", summary.numbers);
    members.Read("min", summary.min);
    members.Read("max", summary.max);
    if (const json::Object* last = members.ReadObject("last")) {
      summary.last = ValueFromJson(members, *last);
    }
    members.Read("last_step", summary.last_step);
    members.Read("last_time_us", summary.last_time_us);
    if (members.failed()) in.Fail("series", "summaries of series");
  });
}

template <typename T>
void PutEvent(json::Object& o, std::string_view key, const std::optional<T>& event) {
  if (event) o[key] = run::EventToJson(*event);
}

template <typename T>
void PutEvents(json::Object& o, std::string_view key, const std::vector<T>& events) {
  if (events.empty()) return;
  json::Array array;
  array.reserve(events.size());
  for (const T& event : events) array.push_back(run::EventToJson(event));
  o[key] = std::move(array);
}

template <typename T>
std::optional<T> EventOf(Members& in, std::string_view key, EventType type,
                         const json::Object& object) {
  Result<run::Event> event = run::EventFromJson(type, object);
  if (event.ok()) return std::move(std::get<T>(*event));
  in.Fail(key, "an event (" + event.error().message + ")");
  return std::nullopt;
}

template <typename T>
void ReadEvent(Members& in, std::string_view key, EventType type, std::optional<T>& out) {
  if (const json::Object* object = in.ReadObject(key)) out = EventOf<T>(in, key, type, *object);
}

template <typename T>
void ReadEvents(Members& in, std::string_view key, EventType type, std::vector<T>& out) {
  EachObject(in, key, [&](const json::Object& object) {
    if (auto event = EventOf<T>(in, key, type, object)) out.push_back(std::move(*event));
  });
}

json::Value SaidValue(const std::string& text) { return ToJsonText(text); }
json::Value SaidValue(bool flag) { return json::Value(flag); }
json::Value SaidValue(const std::optional<std::string>& text) {
  return text ? ToJsonText(*text) : json::Value(nullptr);
}

template <typename T>
json::Object SaidToJson(const Said<T>& said) {
  json::Object o;
  o["value"] = SaidValue(said.value);
  o["time_us"] = said.time_us;
  o["by"] = ToJsonText(said.by);
  return o;
}

template <typename T>
void PutSaid(json::Object& o, std::string_view key, const std::optional<Said<T>>& said) {
  if (said) o[key] = SaidToJson(*said);
}

template <typename T>
Said<T> SaidFromJson(Members& in, std::string_view key, const json::Object& object) {
  Members members(object);
  Said<T> said;
  members.Read("value", said.value);
  members.Read("time_us", said.time_us);
  members.Read("by", said.by);
  if (members.failed()) in.Fail(key, "a value with its time");
  return said;
}

template <typename T>
void ReadSaid(Members& in, std::string_view key, std::optional<Said<T>>& out) {
  if (const json::Object* object = in.ReadObject(key)) out = SaidFromJson<T>(in, key, *object);
}

void ReadState(Members& in, SegmentFold& fold) {
  std::string name;
  in.Read("state", name);
  if (name.empty()) return;
  fold.state = run::StateFromName(name);
  if (!fold.state) in.Fail("state", "a state of a run");
}

}  // namespace

json::Object SegmentFold::ToJson() const {
  json::Object o;
  o["records"] = records;
  o["first_us"] = first_us;
  o["last_us"] = last_us;
  PutEvent(o, "submitted", submitted);
  o["submitted_us"] = submitted_us;
  if (state) o["state"] = run::StateName(*state);
  o["state_reason"] = ToJsonText(state_reason);
  PutEvent(o, "end", end);
  o["end_us"] = end_us;
  PutEvent(o, "runner", runner);
  PutEvent(o, "script", script);
  o["script_us"] = script_us;
  PutEvent(o, "script_ended", script_ended);
  PutEvent(o, "environment", environment);
  PutEvent(o, "container", container);
  PutEvents(o, "steps", steps);
  PutEvents(o, "notices", notices);
  if (!artifacts.empty() || !outputs_tree.empty()) {
    o["artifacts"] = run::EventToJson(run::Artifacts{artifacts, outputs_tree});
  }
  if (outputs_left) o["outputs_left"] = true;
  json::Array summaries;
  for (const auto& [series_name, summary] : series) {
    summaries.push_back(SummaryToJson(series_name, summary));
  }
  o["series"] = std::move(summaries);
  o["stdout_bytes"] = stdout_bytes;
  o["stderr_bytes"] = stderr_bytes;
  o["gap"] = run::EventToJson(gap);
  o["hole_bytes"] = hole_bytes;
  PutSaid(o, "name", name);
  PutSaid(o, "note", note);
  PutSaid(o, "hidden", hidden);
  json::Array said_tags;
  for (const auto& [tag, said] : tags) {
    json::Object entry = SaidToJson(said);
    entry["tag"] = ToJsonText(tag);
    said_tags.push_back(std::move(entry));
  }
  o["tags"] = std::move(said_tags);
  o["held"] = held;
  o["left_out"] = left_out;
  o["files_left_out"] = files_left_out;
  return o;
}

Result<SegmentFold> SegmentFold::FromJson(const json::Object& object) {
  SegmentFold fold;
  Members in(object);
  in.Read("records", fold.records);
  in.Read("first_us", fold.first_us);
  in.Read("last_us", fold.last_us);
  ReadEvent(in, "submitted", EventType::kSubmitted, fold.submitted);
  in.Read("submitted_us", fold.submitted_us);
  ReadState(in, fold);
  in.Read("state_reason", fold.state_reason);
  ReadEvent(in, "end", EventType::kEnd, fold.end);
  in.Read("end_us", fold.end_us);
  ReadEvent(in, "runner", EventType::kRunnerStarted, fold.runner);
  ReadEvent(in, "script", EventType::kScriptStarted, fold.script);
  in.Read("script_us", fold.script_us);
  ReadEvent(in, "script_ended", EventType::kScriptEnded, fold.script_ended);
  ReadEvent(in, "environment", EventType::kEnvironmentReady, fold.environment);
  ReadEvent(in, "container", EventType::kContainerMade, fold.container);
  ReadEvents(in, "steps", EventType::kStep, fold.steps);
  ReadEvents(in, "notices", EventType::kNotice, fold.notices);
  std::optional<run::Artifacts> files;
  ReadEvent(in, "artifacts", EventType::kArtifacts, files);
  if (files) {
    run::DropForeignNames(&files->files);
    fold.artifacts = std::move(files->files);
    fold.outputs_tree = std::move(files->tree);
  }
  in.Read("outputs_left", fold.outputs_left);
  ReadSeries(in, fold);
  in.Read("stdout_bytes", fold.stdout_bytes);
  in.Read("stderr_bytes", fold.stderr_bytes);
  std::optional<run::Gap> gap;
  ReadEvent(in, "gap", EventType::kGap, gap);
  if (gap) fold.gap = std::move(*gap);
  in.Read("hole_bytes", fold.hole_bytes);
  ReadSaid(in, "name", fold.name);
  ReadSaid(in, "note", fold.note);
  ReadSaid(in, "hidden", fold.hidden);
  EachObject(in, "tags", [&](const json::Object& entry) {
    fold.tags[json::DecodeBytes(json::GetString(entry, "tag"))] =
        SaidFromJson<std::optional<std::string>>(in, "tags", entry);
  });
  in.Read("held", fold.held);
  in.Read("left_out", fold.left_out);
  in.Read("files_left_out", fold.files_left_out);
  Status status = in.status();
  if (!status.ok()) return Corrupt("stored fold of a segment: " + status.error().message);
  return fold;
}

}  // namespace tenon::journal
