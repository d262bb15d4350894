// SPDX-License-Identifier: Apache-2.0
#include "run/event.h"

#include <gtest/gtest.h>

#include "base/compress.h"
#include "run/event_cost.h"

namespace tenon::run {
namespace {

RunSpec FullSpec() {
  RunSpec spec;
  spec.key = "6ba7b810-9dad-41d1-80b4-00c04fd430c8";
  spec.id = "digits_1500000000000";
  spec.number = 7;
  spec.project = "digits";
  spec.project_id = "p-id";
  spec.user = "ada";
  spec.user_id = "u-id";
  spec.script = "train \xff.py";
  spec.arguments = {"--rate", "0.1", "", "caf\xc3\xa9", std::string("nul\0byte", 8), "\xfe\xff"};
  spec.parameters = {{"rate", "0.1"}, {"rate", "again"}};
  spec.tree = std::string(64, 'a');
  spec.kept_tree = std::string(64, 'b');
  spec.target = "local";
  spec.target_type = "local";
  spec.run_configuration = "local";
  spec.executor = ExecutorKind::kContainer;
  spec.python = "python3";
  spec.environment = {{"B", "2"}, {"A", "\n\x01\xff"}};
  spec.secret_names = {"TOKEN"};
  spec.shared_directory = "~/share";
  spec.tracked = false;
  spec.grace_us = 1;
  spec.timeout_us = 2;
  spec.keep = true;
  spec.git_commit = "c";
  spec.git_branch = "main";
  spec.git_diff_object = "d";
  spec.rerun_of = "digits_1";
  spec.host = std::string(32, 'a');
  spec.setup = {"module load cuda", "export A='b c'"};
  spec.retries = 3;
  return spec;
}

template <typename T>
T Again(const T& event) {
  Event wrapped(event);
  std::string payload = EncodeEvent(wrapped);
  auto decoded = DecodeEvent(static_cast<uint8_t>(TypeOf(wrapped)), payload);
  EXPECT_TRUE(decoded.ok()) << decoded.error().message;
  EXPECT_TRUE(decoded->has_value());
  EXPECT_EQ(EncodeEvent(**decoded), payload);
  return std::get<T>(**decoded);
}

TEST(Event, ASpecComesBackByteForByte) {
  RunSpec spec = FullSpec();
  Submitted again = Again(Submitted{spec, "client-1", "0.1.0"});
  EXPECT_EQ(again.client, "client-1");
  EXPECT_EQ(again.tenon_version, "0.1.0");
  const RunSpec& s = again.spec;
  EXPECT_EQ(s.arguments, spec.arguments);
  EXPECT_EQ(s.parameters, spec.parameters);
  EXPECT_EQ(s.environment, spec.environment);
  EXPECT_EQ(s.script, spec.script);
  EXPECT_EQ(s.executor, ExecutorKind::kContainer);
  EXPECT_EQ(s.number, 7);
  EXPECT_FALSE(s.tracked);
  EXPECT_TRUE(s.keep);
  EXPECT_EQ(s.grace_us, 1);
  EXPECT_EQ(s.timeout_us, 2);
  EXPECT_EQ(s.secret_names, spec.secret_names);
  EXPECT_EQ(s.rerun_of, "digits_1");
  EXPECT_EQ(s.host, spec.host);
  EXPECT_EQ(s.setup, spec.setup);
  EXPECT_EQ(s.retries, 3);
  EXPECT_EQ(s.git_diff_object, "d");
  EXPECT_EQ(s.kept_tree, spec.kept_tree);
}

TEST(Event, AnEndKeepsTheDifferenceBetweenNoCodeAndZero) {
  End end;
  end.state = State::kCompleted;
  EXPECT_FALSE(Again(end).exit_code.has_value());
  end.exit_code = 0;
  end.signal = 9;
  end.reason = "killed";
  end.recovered = true;
  end.peak_rss_bytes = 5'000'000'000;
  end.start_us = 1;
  end.duration_us = 2;
  end.proof = Proof{"scan", 3, 1, 2, "hidden", "no GPU"};
  End again = Again(end);
  EXPECT_EQ(again.state, State::kCompleted);
  EXPECT_EQ(again.exit_code, 0);
  EXPECT_EQ(again.signal, 9);
  EXPECT_EQ(again.reason, "killed");
  EXPECT_TRUE(again.recovered);
  EXPECT_FALSE(again.never_started);
  EXPECT_EQ(again.peak_rss_bytes, 5'000'000'000);
  EXPECT_EQ(again.duration_us, 2);
  ASSERT_TRUE(again.proof);
  EXPECT_EQ(again.proof->ended, 3);
  EXPECT_EQ(again.proof->left, 1);
  EXPECT_EQ(again.proof->unseen, 2);
  EXPECT_EQ(again.proof->remark, "hidden");
}

TEST(Event, EveryOtherKindComesBack) {
  EXPECT_EQ(Again(StateChange{State::kCancelRequested, "why"}).state, State::kCancelRequested);
  EXPECT_EQ(Again(Step{"unpack", 12, "3 files"}).duration_us, 12);
  EXPECT_EQ(Again(Notice{Level::kError, "text", "hint"}).level, Level::kError);
  Gap gap = Again(Gap{1, 2, UINT64_MAX, "full"});
  EXPECT_EQ(gap.stderr_bytes, 2u);
  EXPECT_EQ(gap.records, UINT64_MAX);
  RunnerStarted runner = Again(RunnerStarted{{42, 1ull << 60, "boot"}, "box", "0.1", 1});
  EXPECT_EQ(runner.process, (ProcessId{42, 1ull << 60, "boot"}));
  EXPECT_EQ(runner.protocol, 1);
  ScriptStarted script = Again(ScriptStarted{{43, 5, "boot"}, {"python3", "a\xff.py"}});
  EXPECT_EQ(script.argv[1], "a\xff.py");
  Artifacts files = Again(Artifacts{{{"outputs/a\n", 9, "ff", 0755}}, "root"});
  EXPECT_EQ(files.files[0].path, "outputs/a\n");
  EXPECT_EQ(files.files[0].mode, 0755u);
  EXPECT_EQ(files.tree, "root");
  Parameters parameters = Again(Parameters{{{"rate", "0.1"}, {"caf\xe9", ""}}});
  EXPECT_EQ(parameters.values[1].first, "caf\xe9");
  Samples samples = Again(Samples{{{"GPU-1", {5, 6}, {{"power_mw", {700'000, kNotMeasured}}}}}});
  EXPECT_EQ(samples.blocks[0].columns[0].values[1], kNotMeasured);
}

TEST(Event, AnAnnotationTellsAbsentFromEmpty) {
  Annotation again = Again(Annotation{std::nullopt, "", false, {{"k", "v"}}, {"old"}});
  EXPECT_FALSE(again.name.has_value());
  EXPECT_EQ(again.note, "");
  EXPECT_EQ(again.hidden, false);
  EXPECT_EQ(again.set_tags.size(), 1u);
  EXPECT_EQ(again.remove_tags, std::vector<std::string>{"old"});
  EXPECT_FALSE(Again(Annotation{}).note.has_value());
}

TEST(Event, OutputIsTheBytesThemselves) {
  std::string bytes("\0\xff\r\n\x1b[0m", 8);
  Event event(Output{Stream::kStderr, bytes});
  std::string payload = EncodeEvent(event);
  EXPECT_EQ(payload, "\x02" + bytes);
  auto decoded = DecodeEvent(4, payload);
  ASSERT_TRUE(decoded.ok() && *decoded);
  const Output& output = std::get<Output>(**decoded);
  EXPECT_EQ(output.stream, Stream::kStderr);
  EXPECT_EQ(output.bytes, bytes);
  EXPECT_EQ(output.bytes.data(), payload.data() + 1) << "a copy was made";
}

TEST(Event, AHugeListOfFilesStillFitsARecord) {
  Artifacts files;
  for (int i = 0; i < 20'000; ++i) {
    files.files.push_back(
        {"outputs/" + std::string(200, 'x') + std::to_string(i), 1, std::string(64, 'a'), 0644});
  }
  EXPECT_LT(EncodeEvent(files).size(), 1u << 20);
  EXPECT_EQ(Again(files).files.size(), files.files.size());
}

TEST(Event, UnknownTypesAndMembersAreNoError) {
  auto unknown = DecodeEvent(200, "\xff\xff");
  ASSERT_TRUE(unknown.ok());
  EXPECT_FALSE(unknown->has_value());
  auto more = DecodeEvent(2, R"({"state":"Running","later":{"x":1}})");
  ASSERT_TRUE(more.ok() && *more);
  EXPECT_EQ(std::get<StateChange>(**more).state, State::kRunning);
}

TEST(Event, APayloadOfTheWrongShapeIsCorrupt) {
  auto expect_corrupt = [](uint8_t type, std::string_view payload) {
    auto decoded = DecodeEvent(type, payload);
    ASSERT_FALSE(decoded.ok()) << int{type} << " " << payload;
    EXPECT_EQ(decoded.error().kind, ErrorKind::kCorrupt) << payload;
  };
  expect_corrupt(2, "");
  expect_corrupt(2, "[]");
  expect_corrupt(2, "{\"state\":\"Running\"");
  expect_corrupt(2, R"({"state":"Sleeping"})");
  expect_corrupt(2, R"({"state":7})");
  expect_corrupt(8, R"({"state":"Running"})");
  expect_corrupt(8, R"({"state":"Failed","exit_code":"1"})");
  expect_corrupt(8, R"({"state":"Failed","proof":{"ended":"x"}})");
  expect_corrupt(1, R"({"client":"x"})");
  expect_corrupt(1, R"({"spec":{"arguments":"not a list"}})");
  expect_corrupt(6, R"({"files":[1]})");
  expect_corrupt(10, R"({})");
  expect_corrupt(10, R"({"process":{"pid":99999999999}})");
  expect_corrupt(11, R"({"set_tags":[["one"]]})");
  expect_corrupt(4, "");
  expect_corrupt(4, "\x03text");
  expect_corrupt(3, "\x28not zstd");
  expect_corrupt(5, "");
  expect_corrupt(17, R"({"values":[["one"]]})");
  expect_corrupt(18, "");
  expect_corrupt(18, "\x02");
}

TEST(Spec, ARunnerRefusesASpecItCannotRun) {
  json::Object object = FullSpec().ToJson();
  EXPECT_TRUE(RunSpec::FromJson(object).ok());
  for (const char* key : {"key", "id", "script", "tree"}) {
    json::Object without = object;
    without.erase(key);
    auto spec = RunSpec::FromJson(without);
    ASSERT_FALSE(spec.ok()) << key;
    EXPECT_EQ(spec.error().kind, ErrorKind::kInvalid);
    EXPECT_NE(spec.error().message.find(std::string("\"") + key + "\""), std::string::npos);
    EXPECT_TRUE(RunSpec::FromRecord(without).ok()) << key;
  }
  object["executor"] = "teleport";
  EXPECT_FALSE(RunSpec::FromJson(object).ok());
}

TEST(Spec, ARunIdThatLeavesTheFolderIsRefused) {
  json::Object object = FullSpec().ToJson();
  object["id"] = "../../etc";
  EXPECT_FALSE(RunSpec::FromJson(object).ok());
}

TEST(Event, FewBytesThatUnpackToMuchAreRefused) {
  std::string files = R"({"files":[)";
  for (size_t i = 0; i < kMaxEventValues; ++i) files += "{},";
  files += "{}]}";
  const auto many = DecodeEvent(6, Compress(files));
  ASSERT_FALSE(many.ok());
  EXPECT_EQ(many.error().kind, ErrorKind::kCorrupt);
  const std::string long_text =
      R"({"level":"info","text":")" + std::string(kMaxEventJson, 't') + R"("})";
  EXPECT_FALSE(DecodeEvent(7, Compress(long_text)).ok());
}

TEST(Event, PointsAndBlocksBeyondThoseOfAnyChunkAreRefused) {
  MetricBlock block{"s", "", 0, {}};
  block.points.resize((1u << 20) + 1, {0, 0, true});
  EXPECT_FALSE(DecodeMetricBlocks(EncodeMetricBlocks({block})).ok());
  block.points.resize(1u << 20);
  EXPECT_TRUE(DecodeMetricBlocks(EncodeMetricBlocks({block})).ok());
  std::vector<MetricBlock> blocks((1u << 16) + 1);
  EXPECT_FALSE(DecodeMetricBlocks(EncodeMetricBlocks(blocks)).ok());
}

}  // namespace
}  // namespace tenon::run
