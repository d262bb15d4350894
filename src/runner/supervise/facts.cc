// SPDX-License-Identifier: Apache-2.0
#include "runner/supervise/facts.h"

#include <variant>

#include "base/file.h"
#include "base/json.h"
#include "journal/reader.h"

namespace tenon::runner {
namespace {

void Apply(Facts& facts, const journal::Record& record, const run::Event& event) {
  if (auto* runner = std::get_if<run::RunnerStarted>(&event)) facts.runner = *runner;
  if (auto* state = std::get_if<run::StateChange>(&event)) {
    facts.state = run::Further(facts.state, state->state);
    if (state->state == run::State::kCancelRequested) facts.state_reason = state->reason;
  }
  if (auto* script = std::get_if<run::ScriptStarted>(&event)) {
    facts.script = *script;
    facts.script_us = record.time_us;
  }
  if (auto* ended = std::get_if<run::ScriptEnded>(&event)) facts.script_ended = *ended;
  if (auto* container = std::get_if<run::ContainerMade>(&event)) facts.container = *container;
  if (auto* metrics = std::get_if<run::Metrics>(&event)) {
    for (const run::MetricBlock& block : metrics->blocks) facts.metrics.Add(block);
  }
  if (auto* artifacts = std::get_if<run::Artifacts>(&event)) {
    if (!artifacts->tree.empty()) facts.outputs_left = artifacts->left > 0;
    facts.has_outputs = facts.has_outputs || !artifacts->tree.empty();
  }
  auto* end = std::get_if<run::End>(&event);
  if (end != nullptr && !facts.end) {
    facts.end = *end;
    facts.outputs_left = facts.outputs_left || end->outputs_left;
    facts.state = end->state;
  }
}

// nullopt for output, and for a record that can't be decoded: it must not keep a run from getting
// its end.
std::optional<run::Event> Decode(const journal::Record& record) {
  if (record.type == static_cast<uint8_t>(run::EventType::kOutput)) return std::nullopt;
  auto event = run::DecodeEvent(record.type, record.payload);
  if (!event.ok()) return std::nullopt;
  return std::move(*event);
}

}  // namespace

Result<Facts> ReadFacts(const std::string& segment) {
  TENON_TRY(auto reader, journal::Reader::Open(segment));
  Facts facts;
  for (;;) {
    TENON_TRY(auto record, reader.Next());
    if (!record) return facts;
    if (auto event = Decode(*record)) Apply(facts, *record, *event);
  }
}

Result<std::optional<run::RunnerStarted>> ReadHandle(const std::string& segment) {
  TENON_TRY(auto reader, journal::Reader::Open(segment));
  std::optional<run::RunnerStarted> last;
  for (;;) {
    TENON_TRY(auto record, reader.Next());
    if (!record) return last;
    // A script that is the runner's own process ends with it, so no other runner follows.
    if (last && record->type == static_cast<uint8_t>(run::EventType::kScriptStarted)) return last;
    auto event = Decode(*record);
    if (!event) continue;
    if (auto* runner = std::get_if<run::RunnerStarted>(&*event)) last = *runner;
  }
}

Result<run::RunSpec> ReadSpec(const std::string& path) {
  const auto text = ReadFile(path);
  // Not kNotFound, which means that the run was never started here.
  if (!text.ok() && text.error().kind == ErrorKind::kNotFound) return Corrupt(path + " is missing");
  if (!text.ok()) return text.error();
  auto value = json::Parse(*text);
  if (!value.ok() || !value->is_object()) return Corrupt(path + " is no JSON object");
  const json::Object* spec = json::GetObject(value->get_object(), "spec");
  if (spec == nullptr) return Corrupt(path + " holds no spec");
  return run::RunSpec::FromJson(*spec);
}

bool IsMarked(const std::string& path) {
  auto text = ReadFile(path);
  if (!text.ok()) return false;
  auto value = json::Parse(*text);
  return value.ok() && value->is_object() && json::GetBool(value->get_object(), "marked");
}

}  // namespace tenon::runner
