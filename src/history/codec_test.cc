// SPDX-License-Identifier: Apache-2.0
#include "history/codec.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "base/field_codec.h"
#include "base/json.h"
#include "history/test_journal.h"

namespace tenon::history {
namespace {

// A fold with something in every member.
journal::SegmentFold FullFold() {
  journal::SegmentFold fold;
  fold.records = 300;
  fold.first_us = -5;
  fold.last_us = 1'500'000'000'000'000;
  fold.submitted = SubmittedOf("digits_1", 7);
  fold.submitted->spec.executor = run::ExecutorKind::kSpark;
  fold.submitted->spec.secret_names = {"TOKEN", ""};
  fold.submitted->spec.tracked = false;
  fold.submitted->spec.keep = true;
  fold.submitted->spec.rerun_of = "digits_0";
  fold.submitted_us = 42;
  fold.state = run::State::kCancelRequested;
  fold.state_reason = "asked";
  fold.end = EndOf(run::State::kCanceled, 143);
  fold.end->signal = 15;
  fold.end->proof->unseen = 3;
  fold.end_us = 77;
  fold.runner = RunnerOf(-1, ~uint64_t{0});
  fold.script = ScriptOf(2, {"python3", std::string("\0\xff", 2)});
  fold.script_us = 9;
  fold.steps = {{"unpack", 1, "d"}, {"", 0, ""}};
  fold.notices = {{run::Level::kError, "t", "h"}};
  fold.artifacts = {{"outputs/x", ~uint64_t{0}, "ff", 0755}};
  fold.outputs_tree = "tree";
  fold.series["loss"] = {3, 2, -1.5, INFINITY, run::MetricValue(std::vector<double>{1, 2}), 2, 5};
  fold.series["note"] = {1, 0, 0, 0, run::MetricValue(std::string("text")), 0, 1};
  fold.series["on"] = {1, 1, 1, 1, run::MetricValue(true), 0, 1};
  fold.series["n"] = {1, 1, 1, 1, run::MetricValue(int64_t{-7}), 0, 1};
  fold.stdout_bytes = 1u << 31;
  fold.stderr_bytes = 128;
  fold.gap = {1, 2, 3, "full"};
  fold.hole_bytes = 12;
  fold.name = {"name", 1, "near-a"};
  fold.note = {"note", 2, "near-b"};
  fold.hidden = {true, 3, "near-c"};
  fold.tags["a"] = {std::optional<std::string>("b"), 4, "near-a"};
  fold.tags["gone"] = {std::nullopt, 5, "near-a"};
  return fold;
}

TEST(Codec, FoldLosesNothing) {
  const journal::SegmentFold fold = FullFold();
  const auto again = Must(DecodeFold(EncodeFold(fold)));
  EXPECT_EQ(Pack(again), Pack(fold));
  EXPECT_EQ(again.series.at("loss").max, INFINITY);
  EXPECT_EQ(again.tags.at("gone").value, std::nullopt);
  EXPECT_EQ(again.runner->process.pid, -1);
  EXPECT_EQ(again.runner->process.start_ticks, ~uint64_t{0});
  EXPECT_EQ(again.submitted->spec.executor, run::ExecutorKind::kSpark);
}

TEST(Codec, EmptyFoldAndHugeFoldLoseNothing) {
  const journal::SegmentFold empty;
  EXPECT_EQ(Pack(Must(DecodeFold(EncodeFold(empty)))), Pack(empty));
  journal::SegmentFold huge = FullFold();
  for (int i = 0; i < 20'000; ++i) {
    huge.artifacts.push_back({"outputs/" + std::to_string(i), 1, std::string(64, 'a'), 0644});
  }
  const std::string bytes = EncodeFold(huge);
  EXPECT_LT(bytes.size(), 20'000u * 20);
  EXPECT_EQ(Must(DecodeFold(bytes)).artifacts.size(), 20'001u);
}

TEST(Codec, ARowReadOverAnotherKeepsNothingOfIt) {
  const journal::RunView full = Must(journal::Combine({{"near-a", FullFold()}}));
  journal::RunView other = full;
  other.end.reset();
  other.runner.reset();
  other.gap = {};
  other.artifacts.clear();
  other.tags.clear();
  other.note.clear();
  other.spec.arguments = {"one"};
  other.series.erase(other.series.begin());
  other.series["accuracy"].last = std::string("text");
  other.series["zeta"].last = std::vector<double>{1, 2};
  const journal::RunView empty;
  const journal::RunView* views[] = {&full, &other, &empty, &full, &empty, &other, &full};
  journal::RunView row;
  for (const journal::RunView* view : views) {
    Must(DecodeRow(EncodeRow(*view), row));
    EXPECT_EQ(EncodeRow(row), EncodeRow(*view));
  }
}

TEST(Codec, ViewComesBackFromItsTwoParts) {
  journal::SegmentFold fold = FullFold();
  const journal::RunView view = Must(journal::Combine({{"near-a", fold}, {"host", fold}}));
  journal::RunView row, whole;
  Must(DecodeRow(EncodeRow(view), row));
  EXPECT_TRUE(row.steps.empty());
  EXPECT_TRUE(row.notices.empty());
  Must(DecodeRow(EncodeRow(view), whole));
  Must(DecodeDetail(EncodeDetail(view), whole));
  EXPECT_EQ(EncodeRow(whole), EncodeRow(view));
  EXPECT_EQ(EncodeDetail(whole), EncodeDetail(view));
  EXPECT_EQ(json::Print(whole.spec.ToJson()), json::Print(view.spec.ToJson()));
  EXPECT_EQ(whole.state, view.state);
  EXPECT_EQ(whole.steps.size(), view.steps.size());
  EXPECT_EQ(whole.notices.size(), view.notices.size());
  EXPECT_EQ(whole.created_us, view.created_us);
  EXPECT_EQ(whole.end_us, view.end_us);
  EXPECT_EQ(whole.tags, view.tags);
  EXPECT_EQ(whole.note, view.note);
  EXPECT_EQ(whole.hole_bytes, view.hole_bytes);
}

TEST(Codec, EveryCutIsCorruptNeverACrash) {
  const std::string bytes = EncodeFold(FullFold());
  for (size_t length = 0; length < bytes.size(); ++length) {
    const auto decoded = DecodeFold(std::string_view(bytes).substr(0, length));
    ASSERT_FALSE(decoded.ok()) << length;
    EXPECT_EQ(decoded.error().kind, ErrorKind::kCorrupt);
    EXPECT_FALSE(decoded.error().hint.empty());
  }
  EXPECT_FALSE(DecodeFold(bytes + "x").ok());
}

TEST(Codec, EveryFlippedByteIsAnAnswerNeverACrash) {
  const std::string bytes = EncodeFold(FullFold());
  for (size_t i = 0; i < bytes.size(); ++i) {
    for (const int flip : {0x01, 0x80, 0xff}) {
      std::string damaged = bytes;
      damaged[i] = static_cast<char>(damaged[i] ^ flip);
      const auto decoded = DecodeFold(damaged);
      EXPECT_TRUE(decoded.ok() || decoded.error().kind == ErrorKind::kCorrupt);
    }
  }
}

}  // namespace
}  // namespace tenon::history
