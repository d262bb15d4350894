// SPDX-License-Identifier: Apache-2.0
#include "cli/print/run_json.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <vector>

#include "base/clock.h"
#include "base/terminal.h"
#include "base/text.h"
#include "engine/outputs/artifacts.h"
#include "engine/run/git.h"

namespace tenon::cli {
namespace {

// this member exists only if it is not empty
constexpr std::string_view kUnreadable = "unreadable";

// Makes values that use one storage.
class Maker {
 public:
  explicit Maker(const json::Storage& storage) : storage_(storage) {}
  json::Value Text(std::string_view bytes) const { return json::EncodedValue(bytes, storage_); }
  json::Value TextOrNull(std::string_view bytes) const {
    return bytes.empty() ? json::Value(nullptr) : Text(bytes);
  }
  json::Value TimeOrNull(int64_t us) const {
    return us == 0 ? json::Value(nullptr) : json::Value(FormatUtc(us), storage_);
  }
  template <typename List>  // List: pairs of texts
  json::Value Pairs(const List& pairs) const {
    json::Object object(pairs.size(), storage_);
    for (const auto& [name, value] : pairs) object[json::EncodeBytes(name)] = Text(value);
    return object;
  }
  json::Value Attachments(const journal::RunView& run) const;
  json::Value Properties(const journal::RunView& run) const;

 private:
  const json::Storage& storage_;
};

json::Value Maker::Attachments(const journal::RunView& run) const {
  std::string text;
  for (const std::string& name : engine::ArtifactNames(run)) {
    if (!text.empty()) text += ", ";
    text += json::EncodeBytes(name);
  }
  return json::Value(text, storage_);
}

json::Value Maker::Properties(const journal::RunView& run) const {
  json::Object properties(storage_);
  const run::RunSpec& spec = run.spec;
  std::string arguments;
  for (const std::string& argument : spec.arguments) {
    if (!arguments.empty()) arguments += ' ';
    arguments += ShellQuote(argument);
  }
  properties["Arguments"] = Text(arguments);
  properties["CommitId"] = Text(std::string_view(spec.kept_tree).substr(0, 40));
  if (run.environment && !run.environment->key.empty()) {
    properties["EnvironmentKey"] = Text(run.environment->key);
  }
  if (run.environment && run.environment->kind.ends_with("image")) {
    properties["EnvironmentImage"] = Text(run.environment->name);
  }
  if (run.end && run.end->exit_code) properties["ExitCode"] = *run.end->exit_code;
  if (!spec.git_branch.empty()) properties["GitBranch"] = Text(spec.git_branch);
  if (!spec.git_commit.empty()) properties["GitCommit"] = Text(spec.git_commit);
  if (spec.git_diff_object == engine::kGitUnknown) {
    properties["GitDirty"] = "unknown";
  } else if (!spec.git_diff_object.empty()) {
    properties["GitDirty"] = true;
  }
  if (const auto parameters = journal::ParametersOf(run); !parameters.empty()) {
    properties["Parameters"] = Pairs(parameters);
  }
  if (!run.reason.empty()) properties["Reason"] = Text(run.reason);
  if (!spec.rerun_of.empty()) properties["RerunOf"] = Text(spec.rerun_of);
  properties["RunConfiguration"] = Text(spec.run_configuration);
  if (!run.tags.empty()) properties["Tags"] = Pairs(run.tags);
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
  if (!std::holds_alternative<double>(value)) return OneLine(run::FormatMetric(value));
  char buffer[32];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, std::get<double>(value),
                                 std::chars_format::general, 6)
                       .ptr;
  return std::string(buffer, end);
}

std::string ShownState(const journal::RunView& run) {
  if (!run.unreadable.empty()) return "unreadable: " + OneLine(run.unreadable);
  return std::string(run::StateName(run.state));
}

json::Object RunToJson(const journal::RunView& run, const json::Storage& storage) {
  const Maker make(storage);
  // Sorted by code point, which equals the order of UTF-8 bytes.
  std::pair<std::string_view, json::Value> fixed[] = {
      {"attachments", make.Attachments(run)},
      {"created_utc", make.TimeOrNull(run.created_us)},
      {"description", make.TextOrNull(run.note)},
      {"duration", run.end_us ? make.Text(FormatDuration(run.duration_us)) : nullptr},
      {"end_time_utc", make.TimeOrNull(run.end_us)},
      {"experiment_id", make.Text(run.spec.project_id)},
      {"heartbeat_enabled", true},
      {"hidden", run.hidden},
      {"name", make.TextOrNull(run.name)},
      {"parent_run_id", nullptr},
      {"properties", make.Properties(run)},
      {"run_id", make.Text(run.spec.id)},
      {"run_number", run.spec.number},
      {"script_name", make.Text(run.spec.script)},
      {"start_time_utc", make.TimeOrNull(run.start_us)},
      {"status", make.Text(run.unreadable.empty() ? ShownState(run) : "Unreadable")},
      {"target", make.Text(run.spec.target)},
      {kUnreadable, make.Text(run.unreadable)},
      {"user_id", make.Text(run.spec.user_id)},
  };
  auto is_fixed = [&](const std::string& name) {
    return std::any_of(std::begin(fixed), std::end(fixed),
                       [&](const auto& member) { return member.first == name; });
  };
  std::vector<std::pair<std::string, const run::MetricValue*>> metrics;
  metrics.reserve(run.series.size());
  for (const auto& [series, summary] : run.series) {
    std::string name = json::EncodeBytes(series);
    if (is_fixed(name)) name.insert(0, "metric.");
    metrics.emplace_back(std::move(name), &summary.last);
  }
  std::sort(metrics.begin(), metrics.end());
  json::Object object(std::size(fixed) + metrics.size(), storage);
  auto metric = metrics.begin();
  auto add_metrics = [&](auto before) {
    for (; metric != metrics.end() && before(metric->first); ++metric) {
      object.emplace(metric->first, MetricToJson(*metric->second));
    }
  };
  for (auto& member : fixed) {
    add_metrics([&](const std::string& name) { return name < member.first; });
    if (member.first == kUnreadable && run.unreadable.empty()) continue;
    object.emplace(member.first, std::move(member.second));
  }
  add_metrics([](const std::string&) { return true; });
  return object;
}

}  // namespace tenon::cli
