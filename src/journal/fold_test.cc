// SPDX-License-Identifier: Apache-2.0
#include "journal/fold.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/field_codec.h"
#include "base/file.h"
#include "base/temp_folder.h"
#include "journal/test_segment.h"
#include "journal/writer.h"

namespace tenon::journal {
namespace {

using run::Event;
using run::State;

struct Happening {
  std::string segment;
  int64_t time_us;
  Event event;
};

using Folds = std::map<std::string, SegmentFold>;

void Apply(Folds& folds, const Happening& happening) {
  SegmentFold& fold = folds[happening.segment];
  const std::string payload = run::EncodeEvent(happening.event);
  Record record{fold.records + 1, happening.time_us,
                static_cast<uint8_t>(run::TypeOf(happening.event)), payload};
  ASSERT_TRUE(fold.Apply(record, happening.segment).ok());
}

Folds FoldAll(const std::vector<Happening>& happenings) {
  Folds folds;
  for (const Happening& happening : happenings) Apply(folds, happening);
  return folds;
}

RunView View(const std::vector<Happening>& happenings) {
  auto view = Combine(FoldAll(happenings));
  EXPECT_TRUE(view.ok()) << view.error().message;
  return view.ok() ? std::move(*view) : RunView{};
}

run::Submitted Submission() {
  run::Submitted submitted;
  submitted.spec.key = kTestKey;
  submitted.spec.id = "p_1";
  submitted.client = "a";
  return submitted;
}

run::End EndWith(State state) {
  run::End end;
  end.state = state;
  return end;
}

run::Metrics Points(std::string series, std::vector<run::MetricPoint> points) {
  return {{{std::move(series), "", 0, std::move(points)}}};
}

// Everything a view says, as one text.
std::string Words(const RunView& view) {
  SegmentFold all;
  all.submitted = run::Submitted{view.spec, view.client, view.tenon_version};
  all.submitted_us = view.created_us;
  all.state = view.state;
  all.state_reason = view.reason;
  all.end = view.end;
  all.end_us = view.end_us;
  all.first_us = view.start_us;
  all.last_us = view.last_heard_us;
  all.runner = view.runner;
  all.script = view.script;
  all.steps = view.steps;
  all.notices = view.notices;
  all.artifacts = view.artifacts;
  all.outputs_tree = view.outputs_tree;
  all.series = view.series;
  all.stdout_bytes = view.stdout_bytes;
  all.stderr_bytes = view.stderr_bytes;
  all.gap = view.gap;
  all.hole_bytes = view.hole_bytes;
  all.script_us = view.duration_us;
  std::string words =
      std::string(run::StateName(view.state)) + Pack(all) + view.name + "|" + view.note;
  for (const auto& [tag, value] : view.tags) words += "|" + tag + "=" + value;
  return words + (view.hidden ? "|hidden" : "");
}

std::vector<std::vector<Happening>> ThreeSegments() {
  run::End far_end = EndWith(State::kCompleted);
  far_end.exit_code = 0;
  far_end.duration_us = 5;
  return {{{"near-a", 10, Submission()},
           {"near-a", 11, run::Step{"snapshot", 3, ""}},
           {"near-a", 90, run::Annotation{"best", {}, {}, {{"k", "a"}}, {}}}},
          {{"host", 20, run::RunnerStarted{{1, 2, "b"}, "box", "0.1", 1}},
           {"host", 21, run::StateChange{State::kRunning, ""}},
           {"host", 30, Points("loss", {{0, 25, 0.5}})},
           {"host", 40, far_end}},
          {{"near-b", 50, run::Annotation{"other", {}, {}, {{"k", "b"}, {"z", "1"}}, {}}},
           {"near-b", 91, run::Annotation{{}, {}, {}, {}, {"k"}}}}};
}

// Calls `visit` with every order in which the records can arrive. The order within each segment is
// kept.
template <typename Visit>
void EachInterleaving(const std::vector<std::vector<Happening>>& segments,
                      std::vector<size_t>& taken, std::vector<Happening>& so_far, Visit& visit) {
  bool any = false;
  for (size_t i = 0; i < segments.size(); ++i) {
    if (taken[i] == segments[i].size()) continue;
    any = true;
    so_far.push_back(segments[i][taken[i]++]);
    EachInterleaving(segments, taken, so_far, visit);
    --taken[i];
    so_far.pop_back();
  }
  if (!any) visit(so_far);
}

TEST(Combine, EveryOrderOfArrivalGivesTheSameRun) {
  auto segments = ThreeSegments();
  std::vector<size_t> taken(segments.size());
  std::vector<Happening> so_far;
  std::string expected;
  size_t orders = 0;
  auto visit = [&](const std::vector<Happening>& happenings) {
    ++orders;
    Folds folds;
    bool was_final = false;
    for (const Happening& happening : happenings) {
      Apply(folds, happening);
      auto view = Combine(folds);
      if (!view.ok()) continue;
      ASSERT_FALSE(was_final && !run::IsFinal(view->state)) << "a finished run came back";
      was_final = run::IsFinal(view->state);
    }
    const std::string words = Words(*Combine(folds));
    if (expected.empty()) expected = words;
    ASSERT_EQ(words, expected);
  };
  EachInterleaving(segments, taken, so_far, visit);
  EXPECT_EQ(orders, 1260u);  // 9! / (3! 4! 2!)
  EXPECT_NE(expected.find("Completed"), std::string::npos);
}

TEST(Combine, ARunNobodySubmittedIsNotFound) {
  EXPECT_EQ(Combine({}).error().kind, ErrorKind::kNotFound);
  EXPECT_EQ(Combine(FoldAll({{"host", 1, run::Notice{}}})).error().kind, ErrorKind::kNotFound);
}

TEST(Combine, NeverStartedCountsOnlyWhileNoFarSideHasSpoken) {
  run::End never = EndWith(State::kFailed);
  never.never_started = true;
  never.reason = "no runner";
  RunView alone = View({{"near-a", 1, Submission()}, {"near-a", 2, never}});
  EXPECT_EQ(alone.state, State::kFailed);
  EXPECT_EQ(alone.reason, "no runner");
  EXPECT_EQ(alone.start_us, 0);
  EXPECT_EQ(alone.duration_us, 0);
  RunView both = View({{"near-a", 1, Submission()},
                       {"near-a", 2, never},
                       {"host", 3, run::StateChange{State::kRunning, ""}}});
  EXPECT_EQ(both.state, State::kRunning);
  EXPECT_FALSE(both.end.has_value());
}

TEST(Combine, ANearEndOfAnotherKindIsNotBelieved) {
  RunView view = View({{"near-a", 1, Submission()}, {"near-a", 2, EndWith(State::kCompleted)}});
  EXPECT_EQ(view.state, State::kNotStarted);
}

TEST(Combine, AStateChangeCannotEndARun) {
  RunView view = View({{"near-a", 1, Submission()},
                       {"host", 2, run::StateChange{State::kRunning, ""}},
                       {"host", 3, run::StateChange{State::kCompleted, ""}}});
  EXPECT_EQ(view.state, State::kRunning);
}

TEST(Combine, ARunThatWasFasterThanItsCancelIsCompleted) {
  RunView view = View({{"near-a", 1, Submission()},
                       {"host", 2, run::StateChange{State::kRunning, ""}},
                       {"host", 3, run::StateChange{State::kCancelRequested, "by ada"}},
                       {"host", 4, EndWith(State::kCompleted)}});
  EXPECT_EQ(view.state, State::kCompleted);
  EXPECT_EQ(view.reason, "");
}

TEST(Combine, TheFirstEndCounts) {
  RunView view = View({{"near-a", 1, Submission()},
                       {"host", 2, EndWith(State::kCompleted)},
                       {"host", 3, EndWith(State::kFailed)}});
  EXPECT_EQ(view.state, State::kCompleted);
  EXPECT_EQ(view.end_us, 2);
}

TEST(Combine, AClockThatJumpsBackMakesNoNegativeDuration) {
  run::ScriptStarted script{{7, 7, "b"}, {"python3"}};
  run::End end = EndWith(State::kCompleted);
  RunView unknown =
      View({{"near-a", 1000, Submission()}, {"host", 900, script}, {"host", 100, end}});
  EXPECT_EQ(unknown.start_us, 900);
  EXPECT_EQ(unknown.duration_us, 0);
  EXPECT_EQ(unknown.end_us, 900);
  end.duration_us = 50;
  for (int64_t ended_at : {100, 100'000}) {
    RunView known =
        View({{"near-a", 1, Submission()}, {"host", 900, script}, {"host", ended_at, end}});
    EXPECT_EQ(known.duration_us, 50);
    EXPECT_EQ(known.end_us, 950);
  }
}

TEST(Combine, TheLaterWordOfTwoClientsWinsAndARemovedTagStaysRemoved) {
  auto annotation = [](std::optional<std::string> name, std::optional<bool> hidden) {
    run::Annotation a;
    a.name = std::move(name);
    a.hidden = hidden;
    return a;
  };
  RunView view = View({{"near-a", 1, Submission()},
                       {"near-a", 50, annotation("late", true)},
                       {"near-b", 40, annotation("early", false)},
                       {"near-b", 60, run::Annotation{{}, "", {}, {{"x", "1"}}, {}}},
                       {"near-a", 61, run::Annotation{{}, {}, {}, {}, {"x"}}}});
  EXPECT_EQ(view.name, "late");
  EXPECT_TRUE(view.hidden);
  EXPECT_TRUE(view.tags.empty());
  RunView tie = View({{"near-a", 1, Submission()},
                      {"near-a", 50, annotation("a", {})},
                      {"near-b", 50, annotation("b", {})}});
  EXPECT_EQ(tie.name, "b");
}

TEST(Combine, AMachineNeitherHidesNorNamesNorTagsARun) {
  run::Annotation theirs{"theirs", "theirs", true, {{"best", "no"}, {"x", "1"}}, {"mine"}};
  RunView view = View({{"near-a", 1, Submission()},
                       {"near-a", 50, run::Annotation{"ours", {}, {}, {{"mine", ""}}, {}}},
                       {"host", int64_t{1} << 60, theirs},
                       {"script", int64_t{1} << 61, theirs}});
  EXPECT_EQ(view.name, "ours");
  EXPECT_EQ(view.note, "");
  EXPECT_FALSE(view.hidden);
  EXPECT_EQ(view.tags, (std::map<std::string, std::string>{{"mine", ""}}));
}

TEST(Combine, WithinASegmentTheLaterWordWinsEvenWhenTheClockWentBack) {
  run::Annotation first, second;
  first.name = "first";
  second.name = "second";
  RunView view = View({{"near-a", 1, Submission()}, {"near-a", 90, first}, {"near-a", 10, second}});
  EXPECT_EQ(view.name, "second");
}

TEST(Combine, NamesThatNoRunnerRecordsAreLeftOutAndCounted) {
  RunView view = View({{"near-a", 1, Submission()},
                       {"host", 2,
                        run::Artifacts{{{"aml_config/local.compute", 1, "h", 0644},
                                        {"outputs/a", 1, "h", 0644},
                                        {"../x", 1, "h", 0644},
                                        {"driver_log", 1, "h", 0644}},
                                       "tree"}}});
  ASSERT_EQ(view.artifacts.size(), 1u);
  EXPECT_EQ(view.artifacts[0].path, "outputs/a");
  ASSERT_EQ(view.notices.size(), 1u);
  EXPECT_TRUE(view.notices[0].text.starts_with("3 artifacts")) << view.notices[0].text;
  EXPECT_NE(view.notices[0].text.find("aml_config/local.compute"), std::string::npos);
}

TEST(Combine, AFileCollectedTwiceIsThereOnce) {
  RunView view = View(
      {{"near-a", 1, Submission()},
       {"host", 2, run::Artifacts{{{"outputs/a", 1, "old", 0644}}, ""}},
       {"host", 3,
        run::Artifacts{{{"outputs/a", 2, "new", 0644}, {"outputs/b", 1, "b", 0644}}, "tree"}}});
  ASSERT_EQ(view.artifacts.size(), 2u);
  EXPECT_EQ(view.artifacts[0].hash, "new");
  EXPECT_EQ(view.outputs_tree, "tree");
}

TEST(Combine, OutputsAreLeftUntilACollectionHasTakenThemAll) {
  run::End end;
  end.state = run::State::kCompleted;
  const std::vector<Happening> whole = {
      {"near-a", 1, Submission()},
      {"host", 2, run::Artifacts{{{"outputs/a", 1, "a", 0644}}, "tree"}},
      {"host", 3, end}};
  EXPECT_FALSE(View(whole).outputs_left);
  end.outputs_left = true;
  std::vector<Happening> events = {{"near-a", 1, Submission()}, {"host", 3, end}};
  EXPECT_TRUE(View(events).outputs_left);
  events.push_back({"host", 4, run::Artifacts{{{"outputs/a", 1, "a", 0644}}, "some", 1}});
  EXPECT_TRUE(View(events).outputs_left) << "one could not be read";
  events.push_back({"host", 5, run::Artifacts{{{"outputs/b", 1, "b", 0644}}, "all"}});
  EXPECT_FALSE(View(events).outputs_left);
  EXPECT_EQ(View(events).outputs_tree, "all");
  EXPECT_EQ(View(events).state, run::State::kCompleted);
}

TEST(Fold, LastIsByTimeThenOrderAndTextHasNoExtremes) {
  const double nan = std::nan("");
  RunView view = View({{"near-a", 1, Submission()},
                       {"host", 2, Points("n", {{0, 30, 2.0}, {1, 10, int64_t{-5}}, {2, 30, nan}})},
                       {"rank-1", 2, Points("n", {{9, 20, true}})},
                       {"host", 3, Points("t", {{0, 1, std::string("x")}})},
                       {"host", 4, Points("l", {{0, 1, std::vector<double>{1, 2}}})}});
  const SeriesSummary& n = view.series.at("n");
  EXPECT_EQ(n.count, 4u);
  EXPECT_EQ(n.numbers, 3u);
  EXPECT_EQ(n.min, -5);
  EXPECT_EQ(n.max, 2);
  EXPECT_EQ(n.last_time_us, 30);
  EXPECT_TRUE(std::isnan(std::get<double>(n.last))) << "of two at the same time the later one";
  EXPECT_EQ(view.series.at("t").numbers, 0u);
  EXPECT_EQ(view.series.at("l").numbers, 0u);
}

TEST(Fold, ARecordThatCannotBeUnderstoodCostsOnlyItself) {
  SegmentFold fold;
  EXPECT_TRUE(fold.Apply({1, 1, 8, "no JSON"}, "host").ok());
  EXPECT_TRUE(fold.Apply({2, 2, 250, "from the future"}, "host").ok());
  EXPECT_TRUE(fold.Apply({3, 3, 4,
                          "\x01"
                          "abc"},
                         "host")
                  .ok());
  EXPECT_EQ(fold.records, 3u);
  EXPECT_EQ(fold.stdout_bytes, 3u);
  EXPECT_FALSE(fold.end.has_value());
  ASSERT_EQ(fold.notices.size(), 1u);
  EXPECT_NE(fold.notices[0].text.find("record 1 of segment host"), std::string::npos);
}

TEST(Fold, TheJsonFormLosesNothing) {
  auto segments = ThreeSegments();
  Folds folds;
  for (const auto& segment : segments) {
    for (const Happening& happening : segment) Apply(folds, happening);
  }
  const double inf = std::numeric_limits<double>::infinity();
  std::vector<Happening> more = {
      {"host", 41, run::ScriptStarted{{5, 6, "b"}, {"python3", "\xff"}}},
      {"host", 42, run::Gap{1, 2, 3, "full"}},
      {"host", 43, run::Artifacts{{{"outputs/\xff", 1, "h", 0755}}, "tree"}},
      {"host", 44, run::Output{run::Stream::kStderr, "err"}},
      {"host", 45, Points("inf", {{1, 2, inf}, {2, 3, -inf}, {3, 4, std::nan("")}})},
      {"host", 46, Points("w\xff", {{1, 2, int64_t{1} << 62}})},
      {"host", 47, Points("flag", {{1, 2, true}})},
      {"host", 48, Points("text", {{1, 2, std::string("\xfe\n")}})},
      {"host", 49, Points("list", {{1, 2, std::vector<double>{0.1, inf}}})},
      {"host", 50, run::Notice{run::Level::kWarning, "text", "hint"}},
      {"near-a", 51, run::Annotation{{}, "note", true, {}, {"gone"}}},
  };
  for (const Happening& happening : more) Apply(folds, happening);
  folds["host"].hole_bytes = 77;
  Folds again;
  for (const auto& [name, fold] : folds) {
    const std::string bytes = Pack(fold);
    ASSERT_TRUE(Unpack(bytes, again[name])) << name;
    EXPECT_EQ(Pack(again[name]), bytes);
  }
  EXPECT_EQ(Words(*Combine(again)), Words(*Combine(folds)));
  EXPECT_EQ(again["host"].series.at("inf").max, inf);
  EXPECT_EQ(std::get<int64_t>(again["host"].series.at("w\xff").last), int64_t{1} << 62);
  EXPECT_FALSE(again["near-a"].tags.at("gone").value.has_value());
}

class FoldRunFolderTest : public testing::Test {
 protected:
  void Write(const std::string& segment, const std::vector<Event>& events,
             const std::string& key = kTestKey) {
    auto writer =
        Writer::Open({.path = folder_ / (segment + ".tj"), .run_key = key, .segment = segment});
    ASSERT_TRUE(writer.ok()) << writer.error().message;
    for (const Event& event : events) ASSERT_TRUE(writer->Append(event).ok());
  }

  TempFolder folder_;
};

TEST_F(FoldRunFolderTest, ReadsAllSegmentsAndNothingElse) {
  Write("near-a", {Submission()});
  Write("host", {run::StateChange{State::kRunning, ""}, EndWith(State::kFailed)});
  ASSERT_TRUE(WriteFileAtomically(folder_ / "spec.json", "{}", 0644, Durability::kProcess).ok());
  auto view = FoldRunFolder(folder_.path());
  ASSERT_TRUE(view.ok()) << view.error().message;
  EXPECT_EQ(view->state, State::kFailed);
  EXPECT_EQ(view->hole_bytes, 0u);
}

TEST_F(FoldRunFolderTest, ASegmentOfAnotherRunIsFoundOut) {
  Write("near-a", {Submission()});
  Write("host", {EndWith(State::kCompleted)}, "00000000-9dad-41d1-80b4-00c04fd430c8");
  auto view = FoldRunFolder(folder_.path());
  ASSERT_FALSE(view.ok());
  EXPECT_EQ(view.error().kind, ErrorKind::kCorrupt);
  EXPECT_NE(view.error().message.find("host"), std::string::npos);
}

TEST_F(FoldRunFolderTest, AHostThatClaimsASubmitDoesNotChangeWhatWasAskedFor) {
  run::Submitted claim = Submission();
  claim.spec.script = "theirs.py";
  claim.spec.host = "";
  claim.spec.retries = 9;
  Write("host", {claim, EndWith(State::kFailed)});
  EXPECT_FALSE(FoldRunFolder(folder_.path()).ok()) << "nobody here has asked for it";
  Write("near-a", {Submission()});
  const auto view = FoldRunFolder(folder_.path());
  ASSERT_TRUE(view.ok()) << view.error().message;
  EXPECT_EQ(view->spec.script, Submission().spec.script);
  EXPECT_EQ(view->spec.retries, Submission().spec.retries);
}

TEST_F(FoldRunFolderTest, AnUnreadableSegmentIsANoticeNotTheEndOfTheRun) {
  Write("near-a", {Submission()});
  ASSERT_TRUE(
      WriteFileAtomically(folder_ / "host.tj", std::string(100, 'x'), 0644, Durability::kProcess)
          .ok());
  auto view = FoldRunFolder(folder_.path());
  ASSERT_TRUE(view.ok()) << view.error().message;
  EXPECT_EQ(view->hole_bytes, 100u);
  ASSERT_EQ(view->notices.size(), 1u);
}

TEST_F(FoldRunFolderTest, DamageIsCounted) {
  Write("near-a", {Submission()});
  Write("host", {run::StateChange{State::kRunning, ""}, run::Notice{}, EndWith(State::kFailed)});
  std::string bytes = *ReadFile(folder_ / "host.tj");
  bytes[kFileHeaderSize + 30] ^= 1;
  ASSERT_TRUE(WriteFileAtomically(folder_ / "host.tj", bytes, 0644, Durability::kProcess).ok());
  auto view = FoldRunFolder(folder_.path());
  ASSERT_TRUE(view.ok());
  EXPECT_EQ(view->hole_bytes, 47u);
  EXPECT_EQ(view->state, State::kFailed);
}

TEST(Fold, ParametersOfAScriptStandBesideThoseOfItsCommandLine) {
  run::Submitted submitted = Submission();
  submitted.spec.parameters = {{"rate", "0.1"}, {"epochs", "3"}};
  const RunView view = View({{"near-a", 1, submitted},
                             {"host", 2, run::Parameters{{{"depth", "8"}, {"rate", "0.2"}}}},
                             {"host", 3, run::Parameters{{{"depth", "9"}, {"width", ""}}}}});
  using Pairs = std::vector<std::pair<std::string, std::string>>;
  EXPECT_EQ(ParametersOf(view),
            (Pairs{{"rate", "0.1"}, {"epochs", "3"}, {"depth", "8"}, {"width", ""}}));
  EXPECT_EQ(view.spec.parameters, submitted.spec.parameters) << "what was asked for is as it was";
}

TEST(Fold, ParametersWithoutEndAreCountedAndLeftOut) {
  Folds folds = FoldAll({{"near-a", 1, Submission()}});
  run::Parameters many;
  for (int i = 0; i < 1000; ++i) many.values.emplace_back(std::to_string(i), std::string(900, 'v'));
  for (int round = 0; round < 40; ++round) {
    for (auto& [name, value] : many.values) name += "x";
    Apply(folds, {"host", 2, many});
  }
  EXPECT_LE(folds["host"].held, kMaxHeld);
  EXPECT_EQ(folds["host"].parameters.size() + folds["host"].left_out, 40'000u);
  EXPECT_GT(folds["host"].left_out, 0u);
}

TEST(Fold, SamplesAreCountedAsRecordsAndNothingElse) {
  const RunView with = View({{"near-a", 1, Submission()},
                             {"sampler", 2, run::Samples{{{"GPU-1", {1}, {{"power_mw", {2}}}}}}}});
  EXPECT_EQ(with.state, State::kNotStarted);
  EXPECT_TRUE(with.notices.empty());
  EXPECT_EQ(with.last_heard_us, 2);
}

TEST(Fold, WhatIsListedHasALimitAndTheEndHasRoom) {
  Folds folds = FoldAll({{"near-a", 1, Submission()}});
  run::Artifacts many;
  for (int i = 0; i < 1000; ++i) {
    many.files.push_back(
        {"outputs/" + std::string(200, 'n') + std::to_string(i), 1, std::string(64, 'a'), 0644});
  }
  for (int i = 0; i < 200; ++i) Apply(folds, {"host", 2, many});
  for (int i = 0; i < 500; ++i) {
    Apply(folds, {"host", 3, run::Step{std::string(100'000, 's'), 1, ""}});
  }
  run::End end;
  end.state = State::kCompleted;
  end.reason = std::string(100'000, 'r');
  Apply(folds, {"host", 4, end});
  const SegmentFold& host = folds["host"];
  EXPECT_LE(host.held, kMaxHeld);
  EXPECT_EQ(host.artifacts.size() + host.files_left_out, 200'000u);
  EXPECT_GT(host.files_left_out, 0u);
  EXPECT_GT(host.left_out, 0u);
  const auto view = Combine(folds);
  ASSERT_TRUE(view.ok());
  EXPECT_EQ(view->state, State::kCompleted);
  EXPECT_LT(view->reason.size(), kMaxReason + 100);
  EXPECT_EQ(view->files_left_out, host.files_left_out);
  EXPECT_NE(view->notices.back().text.find("left out"), std::string::npos);
  SegmentFold again;
  ASSERT_TRUE(Unpack(Pack(host), again));
  EXPECT_EQ(again.held, host.held);
}

TEST(Fold, SeriesAndTheirLastValuesHaveALimit) {
  SegmentFold fold;
  for (uint64_t i = 1; i <= 60; ++i) {
    run::MetricBlock block;
    block.series = "series " + std::to_string(i);
    block.points.push_back({0, 0, std::string(1 << 20, 'v')});
    const std::string payload = run::EncodeMetricBlocks({block});
    ASSERT_TRUE(fold.Apply({i, 1, 5, payload}, "host").ok());
  }
  EXPECT_LE(fold.held, kMaxHeld);
  EXPECT_EQ(fold.series.size(), 60u);
  EXPECT_GT(fold.left_out, 0u);
  EXPECT_EQ(fold.series["series 60"].count, 1u);
}

}  // namespace
}  // namespace tenon::journal
