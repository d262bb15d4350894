// SPDX-License-Identifier: Apache-2.0
#include "cli/print/run_json.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "cli/print/members.h"
#include "cli/print/show_page.h"

namespace tenon::cli {
namespace {

journal::RunView SomeRun() {
  journal::RunView run;
  run.spec.id = "iris_1500000000000";
  run.spec.number = 8;
  run.spec.project = "iris";
  run.spec.project_id = "11111111-2222-3333-4444-555555555555";
  run.spec.script = "iris_sklearn.py";
  run.spec.arguments = {"--rate", "0.1", "two words"};
  run.spec.parameters = {{"rate", "0.1"}};
  run.spec.target = "local";
  run.spec.run_configuration = "local";
  run.spec.kept_tree = std::string(64, 'a');
  run.state = run::State::kCompleted;
  run.created_us = 1'504'832'281'611'105;
  run.start_us = run.created_us + 500'000;
  run.end_us = run.start_us + 4'892'389;
  run.duration_us = 4'892'389;
  run.end = run::End{};
  run.end->state = run::State::kCompleted;
  run.end->exit_code = 0;
  return run;
}

journal::SeriesSummary LastValue(run::MetricValue value) {
  journal::SeriesSummary summary;
  summary.count = 1;
  summary.numbers = run::IsNumber(value) ? 1 : 0;
  summary.last = std::move(value);
  return summary;
}

std::vector<std::string> Keys(const json::Object& object) {
  std::vector<std::string> keys;
  for (const auto& member : object) keys.emplace_back(member.key());
  return keys;
}

TEST(RunToJson, MembersOutOfOrder) {
  journal::RunView run = SomeRun();
  run.series["Accuracy"] = LastValue(0.75);
  run.series["zeta"] = LastValue(int64_t{1});
  run.series["Regularization Rate"] = LastValue(0.078125);
  run.series["épaisseur"] = LastValue(true);
  const std::vector<std::string> keys = Keys(RunToJson(run));
  EXPECT_TRUE(std::is_sorted(keys.begin(), keys.end())) << "UTF-8 sorts as its code points do";
  EXPECT_EQ(keys.front(), "Accuracy");
  EXPECT_EQ(keys.back(), "épaisseur");
  for (const char* fixed :
       {"attachments", "created_utc", "description", "duration", "end_time_utc", "experiment_id",
        "heartbeat_enabled", "hidden", "name", "parent_run_id", "properties", "run_id",
        "run_number", "script_name", "start_time_utc", "status", "target", "user_id"}) {
    EXPECT_NE(std::find(keys.begin(), keys.end(), fixed), keys.end()) << fixed;
  }
}

TEST(RunToJson, ValuesOfTheReference) {
  const json::Object object = RunToJson(SomeRun());
  EXPECT_EQ(object.at("created_utc").as_string(), "2017-09-08T00:58:01.611105+00:00");
  EXPECT_EQ(object.at("duration").as_string(), "0:00:04.892389");
  EXPECT_EQ(object.at("run_number").as_int64(), 8);
  EXPECT_EQ(object.at("status").as_string(), "Completed");
  EXPECT_TRUE(object.at("parent_run_id").is_null());
  EXPECT_EQ(object.at("attachments").as_string(),
            "control_log, control_log.txt, driver_log, driver_log.txt, pid.txt");
  const json::Object& properties = object.at("properties").as_object();
  EXPECT_EQ(properties.at("CommitId").as_string(), std::string(40, 'a'));
  EXPECT_EQ(properties.at("Arguments").as_string(), "--rate 0.1 'two words'");
}

TEST(RunToJson, MetricHidesAFixedMember) {
  journal::RunView run = SomeRun();
  run.series["status"] = LastValue(0.5);
  run.series["target"] = LastValue(std::string("x"));
  const json::Object object = RunToJson(run);
  EXPECT_EQ(object.at("status").as_string(), "Completed");
  EXPECT_EQ(object.at("target").as_string(), "local");
  EXPECT_EQ(object.at("metric.status").as_double(), 0.5);
  EXPECT_EQ(object.at("metric.target").as_string(), "x");
}

TEST(RunToJson, BlanksInAMetricsName) {
  journal::RunView run = SomeRun();
  run.series["Regularization Rate"] = LastValue(0.078125);
  EXPECT_EQ(RunToJson(run).at("Regularization Rate").as_double(), 0.078125);
}

TEST(RunToJson, NanMakesInvalidJson) {
  journal::RunView run = SomeRun();
  run.series["a"] = LastValue(std::numeric_limits<double>::quiet_NaN());
  run.series["b"] = LastValue(std::numeric_limits<double>::infinity());
  run.series["c"] = LastValue(std::vector<double>{1, std::nan(""), 3});
  const auto parsed = json::Parse(json::Print(RunToJson(run)));
  ASSERT_TRUE(parsed.ok()) << parsed.error().message;
  EXPECT_TRUE(parsed->as_object().at("a").is_null());
  EXPECT_TRUE(parsed->as_object().at("b").is_null());
  EXPECT_EQ(json::Print(parsed->as_object().at("c")), "[1.0,null,3.0]");
}

TEST(RunToJson, BytesThatAreNotUtf8) {
  journal::RunView run = SomeRun();
  run.spec.script = "caf\xe9.py";
  run.series["m\xff"] = LastValue(1.0);
  run.note = "\xfe";
  const auto parsed = json::Parse(json::Print(RunToJson(run)));
  ASSERT_TRUE(parsed.ok()) << parsed.error().message;
  EXPECT_EQ(json::DecodeBytes(json::GetString(parsed->as_object(), "script_name")), "caf\xe9.py");
}

TEST(RunToJson, RunThatNeverStartedHasNoTimes) {
  journal::RunView run = SomeRun();
  run.start_us = run.end_us = run.duration_us = 0;
  run.end.reset();
  const json::Object object = RunToJson(run);
  EXPECT_TRUE(object.at("start_time_utc").is_null());
  EXPECT_TRUE(object.at("end_time_utc").is_null());
  EXPECT_TRUE(object.at("duration").is_null());
}

TEST(ShortMetric, DigitsNobodyReads) {
  EXPECT_EQ(ShortMetric(0.123456789), "0.123457");
  EXPECT_EQ(ShortMetric(int64_t{1234567890123}), "1234567890123");
  EXPECT_EQ(ShortMetric(1e300), "1e+300");
  EXPECT_EQ(ShortMetric(true), "True");
  EXPECT_EQ(ShortMetric(std::string("a\x1b[31m")), "a\\x1b[31m");
}

TEST(ShowJson, MetricCalledDetails) {
  journal::RunView run = SomeRun();
  run.series["details"] = LastValue(2.0);
  const json::Object object = ShowJson(run);
  EXPECT_EQ(object.at("metric.details").as_double(), 2.0);
  const json::Object& details = object.at("details").as_object();
  EXPECT_EQ(details.at("metrics").as_object().at("details").as_object().at("count").as_uint64(),
            1u);
  const std::vector<std::string> keys = Keys(object);
  EXPECT_TRUE(std::is_sorted(keys.begin(), keys.end()));
}

TEST(ShowPage, ForgetsWhatMatters) {
  journal::RunView run = SomeRun();
  run.state = run::State::kFailed;
  run.reason = "the script ended with 7";
  run.end->exit_code = 7;
  run.spec.git_commit = std::string(40, 'c');
  run.spec.git_branch = "main";
  run.spec.git_diff_object = std::string(64, 'd');
  run.note = "first line\nsecond line";
  run.tags = {{"best", ""}, {"data", "v3"}};
  run.steps = {{"unpack", 1'500'000, "3 files"}};
  run.notices = {{run::Level::kWarning, "no python here", "use python3"}};
  run.artifacts = {{"outputs/model.json", 2048, std::string(64, 'e'), 0644}};
  run.stdout_bytes = 1500;
  run.series["loss"] = LastValue(0.25);
  const std::string page = ShowPage(
      run, {{"loss", {{0, 1}, {1, 0.25}}}},
      {.width = 80, .color = false, .now_us = run.end_us + 60'000'000, .charts = {"loss"}});
  for (const char* part :
       {"iris_1500000000000", "[8]", "iris_sklearn.py --rate 0.1 'two words'",
        "Failed: the script ended with 7", "Exit code",
        "cccccccccccc on main, with uncommitted changes", "best, data=v3", "unpack", "3 files",
        "warning: no python here", "use python3", "outputs/model.json", "2.0 KB", "1.5 KB",
        "tenon rerun iris_1500000000000", "0.25", "│",
        "first line\n                     second line"}) {
    EXPECT_NE(page.find(part), std::string::npos) << part << "\n" << page;
  }
  EXPECT_EQ(page.find('\033'), std::string::npos) << "colours without a terminal";
}

TEST(ShowPage, TerminalEscapesFromAScript) {
  journal::RunView run = SomeRun();
  run.reason = "\033]0;owned\007";
  run.note = "\033[2J";
  run.series["\033[31mred"] = LastValue(std::string("\033[0m"));
  const std::string page = ShowPage(run, {}, {});
  EXPECT_EQ(page.find('\033'), std::string::npos);
  EXPECT_EQ(page.find('\007'), std::string::npos);
}

TEST(MembersTable, InnerObjectsVanish) {
  const std::string text = MembersTable(RunToJson(SomeRun())).ToTsv();
  EXPECT_NE(text.find("properties.CommitId\t" + std::string(40, 'a') + "\n"), std::string::npos);
  EXPECT_NE(text.find("parent_run_id\t\n"), std::string::npos);
  EXPECT_NE(text.find("run_number\t8\n"), std::string::npos);
}

}  // namespace
}  // namespace tenon::cli
