// SPDX-License-Identifier: Apache-2.0
#include "cli/space/env_name.h"

#include <utility>

#include "base/terminal.h"
#include "base/text.h"
#include "engine/run/runs.h"
#include "engine/space/environments.h"

namespace tenon::cli {
namespace {

constexpr size_t kShortestKey = 4;
constexpr size_t kLongestNumber = 9;  // of a run number

// A short number names a run, not a key.
bool LooksLikeKey(const std::string& name) {
  const bool number = name.find_first_not_of("0123456789") == std::string::npos;
  return name.size() >= kShortestKey && run::IsEnvironmentKey(name) &&
         !(number && name.size() <= kLongestNumber);
}

Result<NamedEnvironment> OfRun(Session& session, const std::string& run_id,
                               const std::vector<run::ListedEnvironment>& environments) {
  TENON_TRY(engine::Context * context, session.Context());
  TENON_TRY(journal::RunView run, engine::GetRun(*context, run_id));
  if (!run.environment) {
    if (!run::IsFinal(run.state)) {
      return Unavailable("the run " + run_id + " has no environment yet")
          .WithHint("`tenon logs -f " + run_id + "` shows how far it is");
    }
    return NotFound("no environment is recorded with the run " + run_id)
        .WithHint(run.spec.UsesOwnPython()
                      ? "it used your own Python; `userManagedEnvironment: false` in the target's "
                        "file has one made"
                      : "it ended before there was one; `tenon show " + run_id + "` tells why");
  }
  NamedEnvironment found;
  found.name = run_id;
  found.ready = *run.environment;
  for (const run::ListedEnvironment& one : environments) {
    if (!found.ready.key.empty() && one.record.ready.key == found.ready.key) found.listed = one;
  }
  found.run = std::move(run);
  return found;
}

}  // namespace

Result<NamedEnvironment> FindNamedEnvironment(Session& session, const std::string& name) {
  TENON_TRY(engine::Context * context, session.Context());
  TENON_TRY(const auto environments, engine::ListEnvironments(*context));
  Result<const run::ListedEnvironment*> by_key = NotFound("");
  if (LooksLikeKey(name)) {
    by_key = engine::FindEnvironment(environments, name);
    if (by_key.ok()) {
      const run::ListedEnvironment& one = **by_key;
      return NamedEnvironment{one.record.ready.key.substr(0, kKeyDigits), one.record.ready, one,
                              std::nullopt};
    }
    if (by_key.error().kind != ErrorKind::kNotFound) return std::move(by_key).error();
  }
  auto run_id = session.ResolveRun(name);
  if (run_id.ok()) return OfRun(session, *run_id, environments);
  if (run_id.error().kind != ErrorKind::kNotFound) return std::move(run_id).error();
  if (LooksLikeKey(name)) return std::move(by_key).error();
  if (name == "last") return std::move(run_id).error();
  return NotFound("no run and no environment is called " + OneLine(name))
      .WithHint("`tenon env list` shows the keys of environments, `tenon runs` the runs");
}

}  // namespace tenon::cli
