// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "base/text.h"
#include "cli/command.h"
#include "cli/parse/options.h"
#include "cli/print/print.h"
#include "cli/space/env_name.h"
#include "engine/space/environments.h"

namespace tenon::cli {
namespace {

struct Options {
  std::string before, after;
};

struct Difference {
  std::vector<engine::PackageChange> settings;  // kind, Python and base, where they differ
  std::vector<engine::PackageChange> packages;
};

Difference Compare(const run::EnvironmentReady& before, const run::EnvironmentReady& after) {
  Difference difference;
  auto setting = [&](const char* name, const std::string& a, const std::string& b) {
    if (a != b) difference.settings.push_back({name, a, b});
  };
  setting("(kind)", before.kind, after.kind);
  setting("(Python)", before.python_version, after.python_version);
  setting("(base)", before.base, after.base);
  if (before.base == after.base) setting("(base's id)", before.base_id, after.base_id);
  difference.packages = engine::DiffPackages(before.packages, after.packages);
  return difference;
}

json::Value OrNull(const std::string& text) {
  return text.empty() ? json::Value(nullptr) : json::Value(json::EncodeBytes(text));
}

json::Object SideToJson(const NamedEnvironment& side) {
  return {{"name", json::EncodeBytes(side.name)},
          {"key", OrNull(side.ready.key)},
          {"kind", side.ready.kind},
          {"base", OrNull(side.ready.base)},
          {"base_id", OrNull(side.ready.base_id)},
          {"python_version", OrNull(side.ready.python_version)}};
}

json::Object ToJson(const NamedEnvironment& before, const NamedEnvironment& after,
                    const Difference& difference) {
  json::Array added, removed, changed;
  for (const engine::PackageChange& change : difference.packages) {
    const std::string name = json::EncodeBytes(change.name);
    if (change.before.empty()) {
      added.push_back(json::Object{{"name", name}, {"version", json::EncodeBytes(change.after)}});
    } else if (change.after.empty()) {
      removed.push_back(
          json::Object{{"name", name}, {"version", json::EncodeBytes(change.before)}});
    } else {
      changed.push_back(json::Object{{"name", name},
                                     {"before", json::EncodeBytes(change.before)},
                                     {"after", json::EncodeBytes(change.after)}});
    }
  }
  return {{"before", SideToJson(before)},
          {"after", SideToJson(after)},
          {"added", std::move(added)},
          {"removed", std::move(removed)},
          {"changed", std::move(changed)}};
}

Result<int> Act(Session& session, const Options& options) {
  TENON_TRY(const NamedEnvironment before, FindNamedEnvironment(session, options.before));
  TENON_TRY(const NamedEnvironment after, FindNamedEnvironment(session, options.after));
  const Difference difference = Compare(before.ready, after.ready);
  Table table({{"Package"}, {before.name}, {after.name}, {"Change"}});
  auto add = [&](const engine::PackageChange& change) {
    table.Add({OneLine(change.name), change.before.empty() ? "–" : OneLine(change.before),
               change.after.empty() ? "–" : OneLine(change.after),
               change.before.empty()  ? "added"
               : change.after.empty() ? "removed"
                                      : "changed"});
  };
  for (const auto& change : difference.settings) add(change);
  for (const auto& change : difference.packages) add(change);
  if (session.WantsJson()) {
    PrintValue(session, ToJson(before, after, difference));
  } else if (!table.empty()) {
    PrintListing(session, nullptr, table);
  } else {
    PrintErr("no difference: the same " +
             Count(after.ready.packages.size(), "package", "packages") + "\n");
  }
  return 0;
}

}  // namespace

Command EnvDiffCommand() {
  return {{{"env", "diff"}},
          "Show which packages differ between two environments",
          "Each is a run (what it really had is recorded with it) or the key of an environment.",
          {"tenon env diff 12 15", "tenon env diff 12 last", "tenon env diff 3f9a1c 77b0e2 --json"},
          [](OptionTable& table, const std::vector<std::string>&) -> Action {
            auto options = std::make_shared<Options>();
            table.Add("BEFORE", &options->before, "Run or key").Required();
            table.Add("AFTER", &options->after, "Run or key").Required();
            return [options](Session& session) { return Act(session, *options); };
          }};
}

}  // namespace tenon::cli
