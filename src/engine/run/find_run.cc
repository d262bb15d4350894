// SPDX-License-Identifier: Apache-2.0
// Which run is meant, and what its near segments say of it.
#include <algorithm>
#include <cstdlib>

#include "base/file.h"
#include "base/text.h"
#include "engine/run/run_errors.h"
#include "engine/run/runs.h"
#include "journal/reader.h"
#include "run/layout.h"

namespace tenon::engine {
namespace {

constexpr size_t kCandidatesShown = 5;

bool IsDigits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

Result<std::optional<run::RunSpec>> SubmittedIn(const std::string& segment) {
  TENON_TRY(auto reader, journal::Reader::Open(segment));
  while (true) {
    TENON_TRY(const auto record, reader.Next());
    if (!record) return std::optional<run::RunSpec>();
    if (record->type != static_cast<uint8_t>(run::EventType::kSubmitted)) continue;
    auto event = run::DecodeEvent(record->type, record->payload);
    if (!event.ok()) continue;  // skipped, as by the fold: another record may say it
    if (auto* submitted = *event ? std::get_if<run::Submitted>(&**event) : nullptr) {
      return std::optional<run::RunSpec>(std::move(submitted->spec));
    }
  }
}

}  // namespace

Result<std::string> ResolveRun(Context& context, const std::string& project_id,
                               const std::string& name) {
  TENON_TRY(history::HistoryStore * store, context.History());
  if (name == "last") {
    history::RunQuery query;
    query.project_id = project_id;
    query.limit = 1;
    TENON_TRY(const auto rows, store->List(query));
    if (rows.empty()) {
      return NotFound("there is no run yet").WithHint("`tenon submit train.py` starts one");
    }
    return rows.front().spec.id;
  }
  if (IsDigits(name) && name.size() < 10) {
    TENON_TRY(const auto id,
              store->IdOfNumber(project_id, std::strtoll(name.c_str(), nullptr, 10)));
    if (id) return *id;
  }
  TENON_TRY(auto ids, store->IdsWithPrefix(project_id, name, kCandidatesShown + 1));
  if (ids.empty() && !project_id.empty()) {
    // A full id may name a run of another project.
    TENON_TRY(ids, store->IdsWithPrefix("", name, kCandidatesShown + 1));
    std::erase_if(ids, [&](const std::string& id) { return id != name; });
  }
  if (std::find(ids.begin(), ids.end(), name) != ids.end()) return name;
  if (ids.size() == 1) return ids.front();
  if (ids.empty()) {
    // The index may not have a run folder yet that another client has made.
    if (run::IsValidRunId(name) && IsDirectory(run::RunFolder(context.home, name).path()))
      return name;
    return NoSuchRun(name);
  }
  const bool more = ids.size() > kCandidatesShown;
  if (more) ids.resize(kCandidatesShown);
  return Invalid(name + " could be any of " + Join(ids, ", ") + (more ? ", …" : ""))
      .WithHint("give more of the id, or the run's number");
}

Result<std::optional<run::RunSpec>> SubmittedSpec(const Context& context,
                                                  const std::string& run_id) {
  const run::RunFolder folder(context.home, run_id);
  std::optional<run::RunSpec> none;
  auto names = ListDir(folder.path());
  if (!names.ok()) {
    if (names.error().kind == ErrorKind::kNotFound) return none;
    return std::move(names).error();
  }
  std::optional<Error> problem;
  for (const std::string& name : *names) {
    if (!name.starts_with("near-") || !name.ends_with(run::kSegmentSuffix)) continue;
    auto spec = SubmittedIn(JoinPath(folder.path(), name));
    if (spec.ok() && *spec) return spec;
    // The segment of another client may be in order.
    if (!spec.ok()) problem = std::move(spec).error();
  }
  if (problem) return *std::move(problem);
  return none;
}

run::LaunchHandle HandleOf(const Context& context, const std::string& run_id) {
  const run::RunFolder folder(context.home, run_id);
  run::LaunchHandle handle;
  for (const std::string& name : ListDir(folder.path()).value_or({})) {
    if (!name.starts_with("near-") || !name.ends_with(run::kSegmentSuffix)) continue;
    auto reader = journal::Reader::Open(JoinPath(folder.path(), name));
    for (bool more = reader.ok(); more;) {
      const auto record = reader->Next();
      more = record.ok() && *record;
      if (!more || (*record)->type != static_cast<uint8_t>(run::EventType::kHandedOver)) continue;
      auto event = run::DecodeEvent((*record)->type, (*record)->payload);
      auto* over = event.ok() && *event ? std::get_if<run::HandedOver>(&**event) : nullptr;
      if (over != nullptr) handle = std::move(over->handle);
    }
  }
  return handle;
}

Result<std::string> HostOfRun(const Context& context, const std::string& run_id) {
  TENON_TRY(const auto spec, SubmittedSpec(context, run_id));
  return spec ? spec->host : std::string();
}

}  // namespace tenon::engine
