// SPDX-License-Identifier: Apache-2.0
// What every HistoryStore promises, as tests. One test file per set of stores includes this file
// and instantiates StoreContract.
#ifndef TENON_HISTORY_STORE_CONTRACT_H_
#define TENON_HISTORY_STORE_CONTRACT_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "history/store.h"
#include "history/test_journal.h"

namespace tenon::history {

struct StoreMaker {
  std::string name;
  // Makes an empty store. Only this store uses `folder`, which outlives it.
  std::function<std::unique_ptr<HistoryStore>(const std::string& folder)> make;
};

class StoreContract : public testing::TestWithParam<StoreMaker> {
 protected:
  void SetUp() override { store_ = GetParam().make(folder_.path()); }
  HistoryStore& store() { return *store_; }

  // Each point as "series step value".
  std::vector<std::string> Points(const std::string& run_id, const std::string& name) {
    std::vector<std::string> points;
    Must(store().ReadMetrics(run_id, name, [&](const std::string& series, const auto& point) {
      points.push_back(series + " " + std::to_string(point.step) + " " +
                       run::FormatMetric(point.value));
      return Status();
    }));
    return points;
  }

 private:
  TestFolder folder_;
  std::unique_ptr<HistoryStore> store_;
};

TEST_P(StoreContract, UnknownRunHasNoPlaceNoPointsAndIsNotFound) {
  EXPECT_TRUE(Must(store().PlaceOf("nobody_1")).empty());
  EXPECT_TRUE(Points("nobody_1", "").empty());
  const auto got = store().Get("nobody_1");
  ASSERT_FALSE(got.ok());
  EXPECT_EQ(got.error().kind, ErrorKind::kNotFound);
  EXPECT_TRUE(store().Delete("nobody_1").ok());
  EXPECT_TRUE(Must(store().List({})).empty());
}

TEST_P(StoreContract, AnUnreadableRunIsARowForWhoAsksForThem) {
  GiveRun(store(), 1);
  RunQuery all;
  all.project_id = Must(store().Get(IdOf(1))).spec.project_id;
  RunQuery with = all;
  with.include_unreadable = true;
  journal::RunView known;
  known.spec.id = IdOf(2);
  known.created_us = 2'000'000'000'000'000;
  Must(store().SetUnreadable(IdOf(2), "it has no journal", known));
  EXPECT_EQ(Ids(Must(store().List(all))), std::vector<std::string>{IdOf(1)});
  EXPECT_EQ(Ids(Must(store().List(with))), (std::vector<std::string>{IdOf(2), IdOf(1)}));
  EXPECT_EQ(Must(store().CountRuns(all)), 1u);
  const journal::RunView untold = Must(store().Get(IdOf(2)));
  EXPECT_TRUE(untold.untold);
  EXPECT_EQ(untold.unreadable, "it has no journal");
  Must(store().SetUnreadable(IdOf(2), "", known));
  EXPECT_EQ(store().Get(IdOf(2)).error().kind, ErrorKind::kNotFound);

  Must(store().SetUnreadable(IdOf(1), "host.tj is a FIFO", known));
  EXPECT_EQ(Must(store().List(all)).front().unreadable, "host.tj is a FIFO");
  EXPECT_FALSE(Must(store().Get(IdOf(1))).untold);
  Must(store().SetUnreadable(IdOf(1), "", known));
  EXPECT_EQ(Must(store().Get(IdOf(1))).unreadable, "");
}

TEST_P(StoreContract, AnUnreadableRunThatIsToldOfLaterIsARunLikeOthers) {
  journal::RunView known;
  known.spec.id = IdOf(1);
  Must(store().SetUnreadable(IdOf(1), "it has no journal", known));
  GiveRun(store(), 1);
  const journal::RunView view = Must(store().Get(IdOf(1)));
  EXPECT_FALSE(view.untold);
  EXPECT_EQ(view.unreadable, "");
  EXPECT_EQ(Must(store().CountRuns({})), 1u);
}

TEST_P(StoreContract, RunIsWhatItsSegmentsSay) {
  GiveRun(store(), 1);
  const journal::RunView view = Must(store().Get(IdOf(1)));
  EXPECT_EQ(view.spec.id, IdOf(1));
  EXPECT_EQ(view.spec.number, 1);
  EXPECT_EQ(view.spec.arguments, (std::vector<std::string>{"--rate", "0.1"}));
  EXPECT_EQ(view.client, "0011223344556677");
  EXPECT_EQ(view.state, run::State::kCompleted);
  ASSERT_TRUE(view.end);
  EXPECT_EQ(view.end->exit_code, 0);
  ASSERT_TRUE(view.end->proof);
  EXPECT_EQ(view.end->proof->gpu, "no GPU on this machine");
  EXPECT_EQ(view.duration_us, 4'892'389);
  EXPECT_EQ(view.stdout_bytes, 8u);
  EXPECT_EQ(view.stderr_bytes, 8u);
  EXPECT_EQ(view.hole_bytes, 0u);
  ASSERT_EQ(view.artifacts.size(), 1u);
  EXPECT_EQ(view.artifacts[0].path, "outputs/model.json");
  ASSERT_EQ(view.series.count("loss"), 1u);
  EXPECT_EQ(view.series.at("loss").count, 5u);
  EXPECT_EQ(view.series.at("loss").max, 1.0);
  ASSERT_EQ(view.steps.size(), 1u);
  EXPECT_EQ(view.steps[0].detail, "3 files, 2 KB");
  ASSERT_EQ(view.notices.size(), 1u);
  EXPECT_EQ(view.notices[0].level, run::Level::kWarning);
  ASSERT_TRUE(view.script);
  EXPECT_EQ(view.script->process.pid, 4712);
}

TEST_P(StoreContract, RecordsGivenTwiceCountOnce) {
  GiveRun(store(), 1);
  const std::string once = Everything(store(), IdOf(1));
  GiveRun(store(), 1);
  GiveRun(store(), 1);
  EXPECT_EQ(Everything(store(), IdOf(1)), once);
}

TEST_P(StoreContract, EveryCutOfTheRecordsGivesTheSameRun) {
  GiveRun(store(), 1);
  const std::string whole = Everything(store(), IdOf(1));
  const MadeSegment near(NearEvents(IdOf(1), 1), 1'500'000'010'000'000);
  const MadeSegment host(HostEvents(), 1'500'000'011'000'000);
  for (size_t cut = 0; cut <= host.size(); ++cut) {
    Must(store().Delete(IdOf(1)));
    Must(near.GiveAll(store(), IdOf(1), "near-a"));
    EXPECT_EQ(Must(host.Give(store(), IdOf(1), "host", 0, cut)).record, cut);
    // The second batch overlaps the first, as after a lost connection.
    EXPECT_EQ(Must(host.Give(store(), IdOf(1), "host", cut / 2, host.size())).record, host.size());
    EXPECT_EQ(Everything(store(), IdOf(1)), whole) << "cut after " << cut;
  }
}

TEST_P(StoreContract, FarSegmentBeforeNearIsKeptAndAppearsLater) {
  const MadeSegment near(NearEvents(IdOf(1), 1), 1'500'000'010'000'000);
  const MadeSegment host(HostEvents(), 1'500'000'011'000'000);
  Must(host.GiveAll(store(), IdOf(1), "host"));
  EXPECT_EQ(Must(store().PlaceOf(IdOf(1))).at("host").record, host.size());
  EXPECT_EQ(store().Get(IdOf(1)).error().kind, ErrorKind::kNotFound);
  EXPECT_TRUE(Must(store().List({})).empty());
  Must(near.GiveAll(store(), IdOf(1), "near-a"));
  const std::string far_first = Everything(store(), IdOf(1));
  Must(store().Delete(IdOf(1)));
  GiveRun(store(), 1);
  EXPECT_EQ(Everything(store(), IdOf(1)), far_first);
}

TEST_P(StoreContract, FailureWhileReadingLeavesNothingBehind) {
  const MadeSegment near(NearEvents(IdOf(1), 1));
  Must(near.GiveAll(store(), IdOf(1), "near-a"));
  const std::string before = Everything(store(), IdOf(1));
  const std::string payload = run::EncodeEvent(MetricsOf({{"loss", {1.0, 2.0}}}));
  int calls = 0;
  const auto result = store().Ingest(
      IdOf(1), "host",
      [&]() -> Result<std::optional<journal::Record>> {
        if (++calls == 2) return Unavailable("the link is gone");
        return std::optional<journal::Record>(
            {1, 5, static_cast<uint8_t>(run::EventType::kMetrics), payload});
      },
      [&] {
        return journal::Cursor{1, 200};
      },
      0);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().kind, ErrorKind::kUnavailable);
  EXPECT_EQ(Everything(store(), IdOf(1)), before);
  EXPECT_EQ(Must(store().PlaceOf(IdOf(1))).count("host"), 0u);
}

TEST_P(StoreContract, PlaceIsTheLastRecordTaken) {
  const MadeSegment host(HostEvents());
  Must(host.Give(store(), IdOf(1), "host", 0, 4));
  const journal::Cursor at = Must(store().PlaceOf(IdOf(1))).at("host");
  EXPECT_EQ(at.record, 4u);
  EXPECT_EQ(at.offset, host.end_of(4).offset);
}

TEST_P(StoreContract, DamageBetweenRecordsCountsOnceHoweverOftenItIsSeen) {
  MadeSegment host(HostEvents());
  host.Damage(0, 7);  // between the file header and the first record
  host.Damage(5, 100);
  Must(MadeSegment(NearEvents(IdOf(1), 1)).GiveAll(store(), IdOf(1), "near-a"));
  Must(host.Give(store(), IdOf(1), "host", 0, 5));
  EXPECT_EQ(Must(store().Get(IdOf(1))).hole_bytes, 7u);
  Must(host.Give(store(), IdOf(1), "host", 3, host.size()));
  Must(host.Give(store(), IdOf(1), "host", 0, host.size()));
  EXPECT_EQ(Must(store().Get(IdOf(1))).hole_bytes, 107u);
}

TEST_P(StoreContract, DamageAtTheEndIsReplacedNotAdded) {
  const MadeSegment host(HostEvents());
  Must(MadeSegment(NearEvents(IdOf(1), 1)).GiveAll(store(), IdOf(1), "near-a"));
  Must(host.Give(store(), IdOf(1), "host", 0, 5, 30));
  Must(host.Give(store(), IdOf(1), "host", 0, 5, 30));
  EXPECT_EQ(Must(store().Get(IdOf(1))).hole_bytes, 30u);
  // A client that has read less knows nothing about the end.
  Must(host.Give(store(), IdOf(1), "host", 0, 4, 0));
  EXPECT_EQ(Must(store().Get(IdOf(1))).hole_bytes, 30u);
  // A new writer has cut the damage off and gone on.
  Must(host.Give(store(), IdOf(1), "host", 5, host.size(), 0));
  EXPECT_EQ(Must(store().Get(IdOf(1))).hole_bytes, 0u);
}

TEST_P(StoreContract, NewestFirstWithLimitAndOffset) {
  for (int64_t number : {3, 1, 5, 2, 4}) GiveRun(store(), number);
  RunQuery query;
  EXPECT_EQ(Ids(Must(store().List(query))),
            (std::vector<std::string>{IdOf(5), IdOf(4), IdOf(3), IdOf(2), IdOf(1)}));
  query.limit = 2;
  query.offset = 1;
  EXPECT_EQ(Ids(Must(store().List(query))), (std::vector<std::string>{IdOf(4), IdOf(3)}));
  query.offset = 9;
  EXPECT_TRUE(Must(store().List(query)).empty());
  EXPECT_EQ(Must(store().CountRuns(query)), 5u);  // counts all pages
}

TEST_P(StoreContract, ListedRowHasEverythingButStepsAndNotices) {
  GiveRun(store(), 1);
  const auto rows = Must(store().List({}));
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_TRUE(rows[0].steps.empty());
  EXPECT_TRUE(rows[0].notices.empty());
  EXPECT_EQ(EncodeRow(rows[0]), EncodeRow(Must(store().Get(IdOf(1)))));
}

TEST_P(StoreContract, QueriesRestrict) {
  GiveRun(store(), 1);
  Events failed = HostEvents();
  failed.back() = EndOf(run::State::kFailed, 3);
  auto other = SubmittedOf(IdOf(2), 2, "q");
  other.spec.script = "eval.py";
  other.spec.target = "gpu-box";
  Must(MadeSegment({other}, 1'500'000'020'000'000).GiveAll(store(), IdOf(2), "near-a"));
  Must(MadeSegment(failed, 1'500'000'021'000'000).GiveAll(store(), IdOf(2), "host"));
  auto running = SubmittedOf(IdOf(3), 3);
  Must(MadeSegment({running}, 1'500'000'030'000'000).GiveAll(store(), IdOf(3), "near-a"));
  Must(MadeSegment(HostEvents(), 1'500'000'031'000'000).Give(store(), IdOf(3), "host", 0, 5));

  const auto listed = [&](auto change) {
    RunQuery query;
    change(query);
    const auto ids = Ids(Must(store().List(query)));
    EXPECT_EQ(Must(store().CountRuns(query)), ids.size());
    return ids;
  };
  using V = std::vector<std::string>;
  EXPECT_EQ(listed([](RunQuery& q) { q.project_id = "q"; }), V{IdOf(2)});
  EXPECT_EQ(listed([](RunQuery& q) { q.script = "eval.py"; }), V{IdOf(2)});
  EXPECT_EQ(listed([](RunQuery& q) { q.target = "gpu-box"; }), V{IdOf(2)});
  EXPECT_EQ(listed([](RunQuery& q) { q.unfinished_only = true; }), V{IdOf(3)});
  EXPECT_EQ(listed([](RunQuery& q) {
              q.unfinished_only = true;
              q.project_id = "q";
            }),
            V{});
  EXPECT_EQ(listed([](RunQuery& q) {
              q.states = {run::State::kFailed, run::State::kRunning};
            }),
            (V{IdOf(3), IdOf(2)}));
  EXPECT_EQ(listed([](RunQuery& q) {
              q.states = {run::State::kCompleted};
              q.script = "eval.py";
            }),
            V{});
}

TEST_P(StoreContract, HiddenAndUntrackedRunsAreListedOnlyWhenAskedFor) {
  run::Annotation hide;
  hide.hidden = true;
  GiveRun(store(), 1, {hide});
  auto untracked = SubmittedOf(IdOf(2), 2);
  untracked.spec.tracked = false;
  Must(MadeSegment({untracked}, 1'500'000'020'000'000).GiveAll(store(), IdOf(2), "near-a"));
  RunQuery query;
  EXPECT_TRUE(Must(store().List(query)).empty());
  query.include_hidden = true;
  EXPECT_EQ(Ids(Must(store().List(query))), std::vector<std::string>{IdOf(1)});
  query.include_untracked = true;
  EXPECT_EQ(Must(store().CountRuns(query)), 2u);
  EXPECT_TRUE(Must(store().Get(IdOf(1))).hidden);
  EXPECT_EQ(Must(store().IdOfNumber("p", 1)), IdOf(1));  // still found by name
}

TEST_P(StoreContract, TagsAreFoundUntilTheyAreTakenAway) {
  run::Annotation set;
  set.set_tags = {{"stage", "prod"}, {"odd \"name\"", ""}};
  set.note = "keep this one";
  GiveRun(store(), 1, {set});
  GiveRun(store(), 2);
  RunQuery by_value, by_name, wrong;
  by_value.tags = {{"stage", "prod"}};
  by_name.tags = {{"odd \"name\"", ""}, {"stage", ""}};
  wrong.tags = {{"stage", "test"}};
  EXPECT_EQ(Ids(Must(store().List(by_value))), std::vector<std::string>{IdOf(1)});
  EXPECT_EQ(Ids(Must(store().List(by_name))), std::vector<std::string>{IdOf(1)});
  EXPECT_TRUE(Must(store().List(wrong)).empty());
  EXPECT_EQ(Must(store().Get(IdOf(1))).note, "keep this one");

  run::Annotation remove;
  remove.remove_tags = {"stage"};
  Must(MadeSegment({remove}, 1'600'000'000'000'000).GiveAll(store(), IdOf(1), "near-b"));
  EXPECT_TRUE(Must(store().List(by_value)).empty());
  EXPECT_EQ(Must(store().Get(IdOf(1))).tags.size(), 1u);
}

TEST_P(StoreContract, IdsByPrefixAndNumber) {
  for (int64_t number = 1; number <= 12; ++number) GiveRun(store(), number);
  EXPECT_EQ(Must(store().IdsWithPrefix("p", "digits_150000000000", 3)),
            (std::vector<std::string>{IdOf(9), IdOf(8), IdOf(7)}));
  EXPECT_EQ(Must(store().IdsWithPrefix("", IdOf(12), 9)), std::vector<std::string>{IdOf(12)});
  EXPECT_EQ(Must(store().IdsWithPrefix("", "", 100)).size(), 12u);
  EXPECT_TRUE(Must(store().IdsWithPrefix("q", "", 100)).empty());
  EXPECT_TRUE(Must(store().IdsWithPrefix("p", "digits\xff", 100)).empty());
  EXPECT_TRUE(Must(store().IdsWithPrefix("p", "digits_%", 100)).empty());
  EXPECT_EQ(Must(store().IdOfNumber("p", 7)), IdOf(7));
  EXPECT_EQ(Must(store().IdOfNumber("q", 7)), std::nullopt);
  EXPECT_EQ(Must(store().LastNumber("p")), 12);
  EXPECT_EQ(Must(store().LastNumber("q")), 0);
}

TEST_P(StoreContract, PointsComeInTheOrderTheyWereLogged) {
  GiveRun(store(), 1);
  EXPECT_EQ(Points(IdOf(1), "loss").size(), 5u);
  EXPECT_EQ(Points(IdOf(1), "loss")[0], "loss 0 " + run::FormatMetric(1.0));
  EXPECT_EQ(Points(IdOf(1), "loss")[4], "loss 4 " + run::FormatMetric(0.02));
  EXPECT_EQ(Points(IdOf(1), "seen"),
            (std::vector<std::string>{"seen 0 0", "seen 1 1", "seen 2 2"}));
  EXPECT_EQ(Points(IdOf(1), "").size(), 8u);
  EXPECT_TRUE(Points(IdOf(1), "los").empty());
}

TEST_P(StoreContract, PointsOfEveryKindComeBackExactly) {
  const std::vector<run::MetricValue> values = {0.1,
                                                std::numeric_limits<double>::infinity(),
                                                std::nan(""),
                                                -0.0,
                                                int64_t{1} << 62,
                                                true,
                                                std::string("text\0with\xff odd bytes", 20),
                                                std::vector<double>{1, 2.5},
                                                std::string()};
  Must(MadeSegment({SubmittedOf(IdOf(1), 1)}).GiveAll(store(), IdOf(1), "near-a"));
  Must(MadeSegment(
           {MetricsOf({{"odd \xff name", values}, {"b", {1.0}}}), MetricsOf({{"nan", {NAN}}})})
           .GiveAll(store(), IdOf(1), "host"));
  std::vector<run::MetricValue> got;
  Must(store().ReadMetrics(IdOf(1), "odd \xff name", [&](const std::string&, const auto& point) {
    got.push_back(point.value);
    return Status();
  }));
  ASSERT_EQ(got.size(), values.size());
  for (size_t i = 0; i < got.size(); ++i) {
    if (i == 2) {
      EXPECT_TRUE(std::isnan(std::get<double>(got[i])));
    } else {
      EXPECT_EQ(got[i], values[i]) << i;
    }
  }
  const auto series = Must(store().Get(IdOf(1))).series;
  EXPECT_TRUE(std::isnan(std::get<double>(series.at("nan").last)));
}

TEST_P(StoreContract, VisitorsErrorStopsTheReading) {
  GiveRun(store(), 1);
  int seen = 0;
  const Status status = store().ReadMetrics(IdOf(1), "", [&](const auto&, const auto&) -> Status {
    if (++seen == 2) return Unavailable("broken pipe");
    return {};
  });
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().message, "broken pipe");
  EXPECT_EQ(seen, 2);
  EXPECT_EQ(Points(IdOf(1), "").size(), 8u);  // reading again works
}

TEST_P(StoreContract, DeletedRunIsGoneAndMayComeBack) {
  GiveRun(store(), 1);
  GiveRun(store(), 2);
  const std::string first = Everything(store(), IdOf(1));
  Must(store().Delete(IdOf(1)));
  EXPECT_FALSE(store().Get(IdOf(1)).ok());
  EXPECT_TRUE(Must(store().PlaceOf(IdOf(1))).empty());
  EXPECT_TRUE(Points(IdOf(1), "").empty());
  EXPECT_EQ(Ids(Must(store().List({}))), std::vector<std::string>{IdOf(2)});
  GiveRun(store(), 1);
  EXPECT_EQ(Everything(store(), IdOf(1)), first);
}

TEST_P(StoreContract, ClearedStoreIsEmptyAndKnowsItHasToBeFilled) {
  EXPECT_TRUE(Must(store().NeedsRebuild()));
  GiveRun(store(), 1);
  Must(store().MarkRebuilt());
  EXPECT_FALSE(Must(store().NeedsRebuild()));
  Must(store().Clear());
  EXPECT_TRUE(Must(store().NeedsRebuild()));
  EXPECT_EQ(Must(store().CountRuns({})), 0u);
  EXPECT_TRUE(Must(store().PlaceOf(IdOf(1))).empty());
  EXPECT_EQ(Must(store().LastNumber("p")), 0);
}

TEST_P(StoreContract, RunWithManyArtifactsSurvives) {
  run::Artifacts artifacts;
  for (int i = 0; i < 5000; ++i) {
    artifacts.files.push_back({"outputs/" + std::to_string(i), 10, std::string(64, 'e'), 0644});
  }
  Must(MadeSegment({SubmittedOf(IdOf(1), 1)}).GiveAll(store(), IdOf(1), "near-a"));
  Must(MadeSegment({artifacts, EndOf()}).GiveAll(store(), IdOf(1), "host"));
  const auto view = Must(store().Get(IdOf(1)));
  ASSERT_EQ(view.artifacts.size(), 5000u);
  EXPECT_EQ(view.artifacts[4999].path, "outputs/4999");
}

}  // namespace tenon::history

#endif  // TENON_HISTORY_STORE_CONTRACT_H_
