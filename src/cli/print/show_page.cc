// SPDX-License-Identifier: Apache-2.0
#include "cli/print/show_page.h"

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "base/text.h"
#include "cli/print/facts.h"
#include "cli/print/print.h"
#include "cli/print/run_json.h"
#include "engine/run/git.h"

namespace tenon::cli {
namespace {

constexpr size_t kOutputsShown = 20;
// The most bytes shown of a text that Tenon did not write; --json has all of it.
constexpr size_t kTextShown = 8u << 10;
constexpr size_t kMetricCellBytes = 24;
constexpr int kSparklineWidth = 24;
constexpr int kChartWidth = 100;
constexpr int kChartHeight = 12;

Style StateStyle(run::State state) {
  switch (state) {
    case run::State::kCompleted:
      return Style::kGreen;
    case run::State::kFailed:
    case run::State::kCanceled:
      return Style::kRed;
    default:
      return Style::kYellow;
  }
}

std::string Heading(std::string_view title, const PageOptions& options) {
  return "\n" + Styled(title, Style::kBold, options.color) + "\n";
}

std::string Indented(const std::string& text) {
  std::string out;
  for (const std::string& line : Split(text, '\n')) {
    if (!line.empty()) out += "  " + line + "\n";
  }
  return out;
}

// The beginning of a text that may be too long for the page.
std::string Shown(const std::string& text) {
  if (text.size() <= kTextShown) return ForTerminal(text);
  return ForTerminal(std::string_view(text).substr(0, kTextShown)) + "… [cut, " +
         std::to_string(text.size()) + " bytes]";
}

// Indents all lines but the first, so that they stand below the text of their notice.
std::string Deeper(const std::string& text, size_t blanks) {
  return Join(Split(Shown(text), '\n'), "\n" + std::string(blanks, ' '));
}

std::string TagLine(const journal::RunView& run) {
  std::vector<std::string> tags;
  for (const auto& [name, value] : run.tags) {
    tags.push_back(OneLine(value.empty() ? name : name + "=" + value));
  }
  return Join(tags, ", ");
}

std::string ProofLine(const run::Proof& proof) {
  std::string text = std::to_string(proof.left) + " left, " + std::to_string(proof.ended) +
                     " ended (looked by " + OneLine(proof.method) + ")";
  if (!proof.remark.empty()) text += "; " + OneLine(proof.remark);
  return text;
}

std::string Head(const journal::RunView& run, const PageOptions& options) {
  std::string text = Styled(run.spec.id, Style::kBold, options.color) + "  [" +
                     std::to_string(run.spec.number) + "]  " +
                     Styled(ShownState(run), StateStyle(run.state), options.color) + "\n";
  Facts facts;
  facts.Add("Name", OneLine(run.name));
  facts.Add("Project", OneLine(run.spec.project));
  facts.Add("Script", OneLine(CommandLine(run)));
  facts.Add("Status", ShownState(run) + (run.reason.empty() ? "" : ": " + ForTerminal(run.reason)));
  if (run.end && run.end->exit_code) facts.Add("Exit code", std::to_string(*run.end->exit_code));
  if (run.created_us) facts.Add("Submitted", TimeLine(run.created_us, options.now_us));
  if (run.start_us) facts.Add("Started", TimeLine(run.start_us, options.now_us));
  if (run.end_us) facts.Add("Ended", TimeLine(run.end_us, options.now_us));
  if (run.end_us && run.start_us) facts.Add("Duration", HumanDuration(run.duration_us));
  if (!run::IsFinal(run.state) && run.last_heard_us) {
    facts.Add("Last heard", TimeLine(run.last_heard_us, options.now_us));
  }
  facts.Add("Target", OneLine(run.spec.target));
  facts.Add("Run configuration", OneLine(run.spec.run_configuration));
  facts.Add("Python", OneLine(run.spec.python));
  facts.Add("Git", OneLine(GitLine(run)));
  facts.Add("CommitId", run.spec.kept_tree.substr(0, 40));
  facts.Add("Rerun of", run.spec.rerun_of);
  facts.Add("Secrets", OneLine(Join(run.spec.secret_names, ", ")));
  facts.Add("Tags", TagLine(run));
  facts.Add("Note", Shown(run.note));
  if (run.end && run.end->peak_rss_bytes > 0) {
    facts.Add("Peak memory", HumanBytes(static_cast<uint64_t>(run.end->peak_rss_bytes)));
  }
  if (run.end && run.end->proof) facts.Add("Processes", ProofLine(*run.end->proof));
  return text + facts.ToText();
}

std::string EnvironmentText(const journal::RunView& run, const PageOptions& options) {
  if (!run.environment) return "";
  const run::EnvironmentReady& ready = *run.environment;
  Facts facts;
  facts.Add("Kind", OneLine(ready.kind) + (ready.reused ? "" : ", made for this run"));
  facts.Add("Name", OneLine(ready.name));
  facts.Add("Key", OneLine(ready.key));
  if (ready.base != ready.name) facts.Add("Base", OneLine(ready.base));
  facts.Add("Python", OneLine(ready.python_version));
  if (!ready.key.empty()) {
    facts.Add("Packages",
              std::to_string(ready.packages.size()) + "  (tenon env show " + run.spec.id + ")");
  }
  return Heading("Environment", options) + facts.ToText();
}

std::string ContainerText(const journal::RunView& run, const PageOptions& options) {
  if (!run.container) return "";
  Facts facts;
  facts.Add("Engine", OneLine(run.container->engine));
  facts.Add("Image", OneLine(run.container->image));
  facts.Add("Name", OneLine(run.container->name));
  return Heading("Container", options) + facts.ToText();
}

std::string Parameters(const journal::RunView& run, const PageOptions& options) {
  const auto parameters = journal::ParametersOf(run);
  if (parameters.empty()) return "";
  Facts facts;
  for (const auto& [name, value] : parameters) {
    facts.Add(OneLine(name), value.empty() ? "''" : OneLine(value));
  }
  return Heading("Parameters", options) + facts.ToText();
}

std::string Steps(const journal::RunView& run, const PageOptions& options) {
  if (run.steps.empty()) return "";
  Facts facts;
  for (const run::Step& step : run.steps) {
    facts.Add(OneLine(step.name),
              HumanDuration(step.duration_us) +
                  (step.detail.empty() ? "" : "  (" + OneLine(step.detail) + ")"));
  }
  return Heading("Steps", options) + facts.ToText();
}

std::string Notices(const journal::RunView& run, const PageOptions& options) {
  std::string text;
  for (const run::Notice& notice : run.notices) {
    const bool info = notice.level == run::Level::kInfo;
    text += "  " +
            Styled(info                                   ? "note:"
                   : notice.level == run::Level::kWarning ? "warning:"
                                                          : "error:",
                   info ? Style::kCyan : Style::kYellow, options.color) +
            " " + Deeper(notice.text, 4) + "\n";
    if (!notice.hint.empty()) text += "        " + Deeper(notice.hint, 8) + "\n";
  }
  if (run.gap.stdout_bytes + run.gap.stderr_bytes + run.gap.records > 0) {
    text += "  warning: recording stopped for a while (" + OneLine(run.gap.reason) +
            "): " + HumanBytes(run.gap.stdout_bytes + run.gap.stderr_bytes) + " of output and " +
            Count(run.gap.records, "record", "records") + " are not on record\n";
  }
  if (run.hole_bytes > 0) {
    text +=
        "  warning: " + HumanBytes(run.hole_bytes) + " of the journal are damaged and left out\n";
  }
  return text.empty() ? "" : Heading("Notices", options) + text;
}

std::string Metrics(const journal::RunView& run,
                    const std::map<std::string, std::vector<ChartPoint>>& curves,
                    const PageOptions& options) {
  if (run.series.empty()) return "";
  Table table(
      {{"Name"}, {"Last", true}, {"Min", true}, {"Max", true}, {"Points", true}, {"Curve"}});
  for (const auto& [name, summary] : run.series) {
    const bool numeric = summary.numbers > 0;
    const auto curve = curves.find(name);
    table.Add({OneLine(name), MetricCell(summary.last), numeric ? ShortMetric(summary.min) : "",
               numeric ? ShortMetric(summary.max) : "", std::to_string(summary.count),
               curve == curves.end() ? "" : DrawSparkline(curve->second, kSparklineWidth)});
  }
  return Heading("Metrics", options) + Indented(table.ToText(options.width - 2, options.color));
}

std::string Charts(const std::map<std::string, std::vector<ChartPoint>>& curves,
                   const PageOptions& options) {
  std::string text;
  for (const std::string& name : options.charts) {
    const auto curve = curves.find(name);
    if (curve == curves.end()) continue;
    const std::string chart =
        DrawChart(Styled(OneLine(name), Style::kCyan, options.color), curve->second,
                  std::min(options.width - 2, kChartWidth), kChartHeight);
    if (!chart.empty()) text += "\n" + Indented(chart);
  }
  return text;
}

std::string Outputs(const journal::RunView& run, const PageOptions& options) {
  Facts facts;
  for (size_t i = 0; i < std::min(run.artifacts.size(), kOutputsShown); ++i) {
    facts.Add(OneLine(run.artifacts[i].path), HumanBytes(run.artifacts[i].size));
  }
  std::string text = facts.ToText();
  if (run.artifacts.size() > kOutputsShown) {
    text += "  and " + std::to_string(run.artifacts.size() - kOutputsShown) +
            " more: tenon history download -r " + run.spec.id + " -d DIR\n";
  }
  return text.empty() ? "" : Heading("Outputs", options) + text;
}

std::string Logs(const journal::RunView& run, const PageOptions& options) {
  Facts facts;
  facts.Add("standard output", HumanBytes(run.stdout_bytes));
  facts.Add("standard error", HumanBytes(run.stderr_bytes));
  return Heading("Logs", options) + facts.ToText();
}

std::string WhatNext(const journal::RunView& run, const PageOptions& options) {
  const std::string& id = run.spec.id;
  Facts facts;
  if (run::IsFinal(run.state)) {
    facts.Add("tenon logs " + id, "what the script printed");
    if (!run.series.empty()) facts.Add("tenon metrics " + id + " --csv", "every point");
    if (!run.artifacts.empty())
      facts.Add("tenon history download -r " + id + " -d DIR", "its outputs");
    facts.Add("tenon restore " + id + " DIR", "its files as they were");
    facts.Add("tenon rerun " + id, "run them again");
  } else {
    facts.Add("tenon logs -f " + id, "watch it");
    facts.Add("tenon cancel " + id, "stop it");
  }
  return Heading("Next", options) + facts.ToText();
}

json::Array StepsToJson(const journal::RunView& run) {
  json::Array steps;
  for (const run::Step& step : run.steps) {
    steps.push_back(json::Object{{"name", json::EncodeBytes(step.name)},
                                 {"duration", FormatDuration(step.duration_us)},
                                 {"detail", json::EncodeBytes(step.detail)}});
  }
  return steps;
}

json::Array NoticesToJson(const journal::RunView& run) {
  json::Array notices;
  for (const run::Notice& notice : run.notices) {
    const char* level = notice.level == run::Level::kInfo      ? "info"
                        : notice.level == run::Level::kWarning ? "warning"
                                                               : "error";
    notices.push_back(json::Object{{"level", level},
                                   {"text", json::EncodeBytes(notice.text)},
                                   {"hint", json::EncodeBytes(notice.hint)}});
  }
  return notices;
}

json::Object MetricsToJson(const journal::RunView& run) {
  json::Object metrics;
  for (const auto& [name, summary] : run.series) {
    json::Object metric{{"count", summary.count}, {"last", MetricToJson(summary.last)}};
    metric["last_step"] = summary.last_step;
    metric["last_time_utc"] = FormatUtc(summary.last_time_us);
    metric["min"] = summary.numbers > 0 ? json::Value(summary.min) : json::Value(nullptr);
    metric["max"] = summary.numbers > 0 ? json::Value(summary.max) : json::Value(nullptr);
    metrics[json::EncodeBytes(name)] = std::move(metric);
  }
  return metrics;
}

json::Object DetailsToJson(const journal::RunView& run) {
  json::Object details;
  details["project"] = json::EncodeBytes(run.spec.project);
  details["python"] = json::EncodeBytes(run.spec.python);
  details["tenon_version"] = run.tenon_version;
  if (run.environment) details["environment"] = run::EventToJson(*run.environment);
  if (run.container) details["container"] = run::EventToJson(*run.container);
  details["steps"] = StepsToJson(run);
  details["notices"] = NoticesToJson(run);
  details["metrics"] = MetricsToJson(run);
  json::Array outputs;
  for (const run::Artifact& artifact : run.artifacts) {
    outputs.push_back(json::Object{{"path", json::EncodeBytes(artifact.path)},
                                   {"size", artifact.size},
                                   {"sha256", artifact.hash}});
  }
  details["outputs"] = std::move(outputs);
  details["stdout_bytes"] = run.stdout_bytes;
  details["stderr_bytes"] = run.stderr_bytes;
  details["lost_bytes"] = run.gap.stdout_bytes + run.gap.stderr_bytes;
  details["lost_records"] = run.gap.records;
  details["damaged_bytes"] = run.hole_bytes;
  if (run.end && run.end->peak_rss_bytes > 0) details["peak_rss_bytes"] = run.end->peak_rss_bytes;
  if (run.end && run.end->proof) {
    const run::Proof& proof = *run.end->proof;
    details["proof"] = json::Object{{"method", json::EncodeBytes(proof.method)},
                                    {"ended", proof.ended},
                                    {"left", proof.left},
                                    {"unseen", proof.unseen},
                                    {"remark", json::EncodeBytes(proof.remark)},
                                    {"gpu", json::EncodeBytes(proof.gpu)}};
  }
  return details;
}

}  // namespace

std::string CommandLine(const journal::RunView& run) {
  std::string text = ShellQuote(run.spec.script);
  for (const std::string& argument : run.spec.arguments) text += " " + ShellQuote(argument);
  return text;
}

std::string MetricCell(const run::MetricValue& value) {
  std::string text = ShortMetric(value);
  if (run::IsNumber(value) || text.size() <= kMetricCellBytes) return text;
  size_t end = kMetricCellBytes;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return text.substr(0, end) + "…";
}

std::string GitLine(const journal::RunView& run) {
  std::string text = run.spec.git_commit.substr(0, 12);
  if (!run.spec.git_branch.empty()) text += (text.empty() ? "on " : " on ") + run.spec.git_branch;
  if (text.empty()) return text;
  if (run.spec.git_diff_object == engine::kGitUnknown) return text + ", not all files compared";
  if (!run.spec.git_diff_object.empty()) text += ", with uncommitted changes";
  return text;
}

std::string ShowPage(const journal::RunView& run,
                     const std::map<std::string, std::vector<ChartPoint>>& curves,
                     const PageOptions& options) {
  return Head(run, options) + EnvironmentText(run, options) + ContainerText(run, options) +
         Parameters(run, options) + Steps(run, options) + Notices(run, options) +
         Metrics(run, curves, options) + Charts(curves, options) + Outputs(run, options) +
         Logs(run, options) + WhatNext(run, options);
}

json::Object ShowJson(const journal::RunView& run) {
  std::map<std::string, json::Value> members;  // by code point, as RunToJson has them
  for (const auto& member : RunToJson(run)) {
    std::string name(member.key());
    if (name == "details") name = "metric.details";
    members.emplace(std::move(name), member.value());
  }
  members["details"] = DetailsToJson(run);
  json::Object object;
  for (auto& [name, value] : members) object[name] = std::move(value);
  return object;
}

}  // namespace tenon::cli
