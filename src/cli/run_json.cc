// SPDX-License-Identifier: Apache-2.0
#include "cli/run_json.h"

#include <algorithm>
#include <cstdio>
#include <map>

#include "base/clock.h"
#include "base/text.h"
#include "engine/artifacts.h"

namespace tenon::cli {
namespace {

json::Value TimeOrNull(int64_t us) {
  if (us == 0) return nullptr;
  return json::Value(FormatUtc(us));
}

json::Value TextOrNull(const std::string& text) {
  if (text.empty()) return nullptr;
  return json::Value(json::EncodeBytes(text));
}

json::Object Properties(const journal::RunView& run) {
  json::Object properties;
  const run::RunSpec& spec = run.spec;
  std::string arguments;
  for (const std::string& argument : spec.arguments) {
    arguments += (arguments.empty() ? "" : " ") + ShellQuote(argument);
  }
  properties["Arguments"] = json::EncodeBytes(arguments);
  properties["CommitId"] = spec.kept_tree.substr(0, 40);
  if (run.end && run.end->exit_code) properties["ExitCode"] = *run.end->exit_code;
  if (!spec.git_branch.empty()) properties["GitBranch"] = json::EncodeBytes(spec.git_branch);
  if (!spec.git_commit.empty()) properties["GitCommit"] = spec.git_commit;
  if (!spec.git_diff_object.empty()) properties["GitDirty"] = true;
  if (!spec.parameters.empty()) {
    json::Object parameters;
    for (const auto& [name, value] : spec.parameters) {
      parameters[json::EncodeBytes(name)] = json::EncodeBytes(value);
    }
    properties["Parameters"] = std::move(parameters);
  }
  if (!run.reason.empty()) properties["Reason"] = json::EncodeBytes(run.reason);
  if (!spec.rerun_of.empty()) properties["RerunOf"] = spec.rerun_of;
  properties["RunConfiguration"] = json::EncodeBytes(spec.run_configuration);
  if (!run.tags.empty()) {
    json::Object tags;
    for (const auto& [name, value] : run.tags)
      tags[json::EncodeBytes(name)] = json::EncodeBytes(value);
    properties["Tags"] = std::move(tags);
  }
  return properties;
}

}  // namespace

json::Value MetricToJson(const run::MetricValue& value) {
  return std::visit(
      [](const auto& v) -> json::Value {
        using T = std::decay_t<decltype(v)>;
        if constexpr (std::is_same_v<T, std::vector<double>>) {
          json::Array list;
          for (const double number : v) list.emplace_back(number);
          return list;
        } else if constexpr (std::is_same_v<T, std::string>) {
          return json::Value(json::EncodeBytes(v));
        } else {
          return json::Value(v);
        }
      },
      value);
}

std::string ShortMetric(const run::MetricValue& value) {
  if (!std::holds_alternative<double>(value)) return ForTerminal(run::FormatMetric(value));
  char buffer[64];
  std::snprintf(buffer, sizeof buffer, "%.6g", std::get<double>(value));
  return buffer;
}

std::string ShownState(const journal::RunView& run) {
  return std::string(run::StateName(run.state));
}

json::Object RunToJson(const journal::RunView& run) {
  std::vector<std::string> attachments = engine::ArtifactNames(run);
  for (std::string& name : attachments) name = json::EncodeBytes(name);
  std::map<std::string, json::Value> members;  // sorted by code point, as UTF-8 bytes are
  members["attachments"] = Join(attachments, ", ");
  members["created_utc"] = TimeOrNull(run.created_us);
  members["description"] = TextOrNull(run.note);
  members["duration"] =
      run.end_us ? json::Value(FormatDuration(run.duration_us)) : json::Value(nullptr);
  members["end_time_utc"] = TimeOrNull(run.end_us);
  members["experiment_id"] = run.spec.project_id;
  members["heartbeat_enabled"] = true;
  members["hidden"] = run.hidden;
  members["name"] = TextOrNull(run.name);
  members["parent_run_id"] = nullptr;
  members["properties"] = Properties(run);
  members["run_id"] = json::EncodeBytes(run.spec.id);
  members["run_number"] = run.spec.number;
  members["script_name"] = json::EncodeBytes(run.spec.script);
  members["start_time_utc"] = TimeOrNull(run.start_us);
  members["status"] = ShownState(run);
  members["target"] = json::EncodeBytes(run.spec.target);
  members["user_id"] = run.spec.user_id;
  std::map<std::string, json::Value> metrics;
  for (const auto& [series, summary] : run.series) {
    const std::string name = json::EncodeBytes(series);
    metrics[members.count(name) ? "metric." + name : name] = MetricToJson(summary.last);
  }
  members.merge(metrics);
  json::Object object;
  for (auto& [name, value] : members) object[name] = std::move(value);
  return object;
}

}  // namespace tenon::cli
