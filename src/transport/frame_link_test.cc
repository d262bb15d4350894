// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <deque>
#include <functional>
#include <utility>

#include "base/clock.h"
#include "transport/host.h"

namespace tenon::transport {
namespace {

constexpr int64_t kLong = 60'000'000;

// Gives the frames in `ready`, then those that `endless` makes.
class FakeLink : public FrameLink {
 public:
  Status Send(const json::Object& head, std::string_view) override {
    sent.push_back(head);
    return {};
  }
  LinkState state() const override { return {stands, true, true}; }

  std::deque<Frame> ready;
  std::function<Frame()> endless;
  std::vector<json::Object> sent;
  bool stands = true, cut = false;
  int hung_up = 0;

 protected:
  Result<std::optional<Frame>> Take(int64_t) override {
    if (cut) return Unavailable("the link was cut");
    if (ready.empty() && endless) return std::optional(endless());
    if (ready.empty()) return std::optional<Frame>();
    Frame frame = std::move(ready.front());
    ready.pop_front();
    return std::optional(std::move(frame));
  }
  void HangUp() override { ++hung_up; }
};

Frame Of(int64_t id, const std::string& body) { return {{{"id", id}}, body}; }
Frame Answer(const std::string& body) { return {{{"ok", true}}, body}; }

TEST(FrameLink, EachGetsItsOwnInOrder) {
  FakeLink link;
  const int64_t a = link.NewStream(), b = link.NewStream();
  ASSERT_NE(a, b);
  link.ready = {Of(a, "a1"), Answer("x"), Of(b, "b1"), Of(a, "a2"), Answer("y"), Of(b, "b2")};
  EXPECT_EQ((*link.NextOf(b, kLong))->body, "b1");
  EXPECT_TRUE(link.HasFrames(a));
  EXPECT_FALSE(link.HasFrames(b));
  EXPECT_EQ(link.Receive(kLong)->body, "x");
  EXPECT_EQ((*link.NextOf(a, kLong))->body, "a1");
  EXPECT_EQ((*link.NextOf(a, kLong))->body, "a2");
  EXPECT_EQ((*link.NextOf(b, kLong))->body, "b2");
  EXPECT_EQ(link.Receive(kLong)->body, "y");
  EXPECT_FALSE((*link.NextOf(a, 0)).has_value());
}

TEST(FrameLink, WhatComesOfAStreamThatHasEndedIsNobodys) {
  FakeLink link;
  const int64_t stream = link.NewStream(), other = link.NewStream();
  link.ready = {Of(stream, "kept"), Of(other, "o")};
  EXPECT_EQ((*link.NextOf(other, kLong))->body, "o");
  link.EndStream(stream);
  ASSERT_EQ(link.sent.size(), 1u);
  EXPECT_EQ(link.sent[0], (json::Object{{"op", "unfollow"}, {"id", stream}}));
  link.ready = {Of(stream, "late"), Of(4711, "of a stream that never was"), Answer("x")};
  EXPECT_EQ(link.Receive(kLong)->body, "x");
  EXPECT_FALSE(link.NextOf(stream, 0).ok());
  link.EndStream(stream);  // a second time: nothing happens
  EXPECT_EQ(link.sent.size(), 1u);
}

TEST(FrameLink, AStreamThatWasNotBegunYetMayBeBegunUnderItsNumber) {
  FakeLink link;
  const int64_t stream = link.NewStream();
  link.ready = {{{{"ok", false}, {"skipped", true}, {"id", stream}}, ""}, Of(stream, "begun")};
  EXPECT_EQ((*link.NextOf(stream, kLong))->body, "begun");
}

TEST(FrameLink, ACutEndsAllStreamsAndANewConversationHasNewOnes) {
  FakeLink link;
  const int64_t stream = link.NewStream();
  link.cut = true;
  EXPECT_EQ(link.Next(0).error().kind, ErrorKind::kUnavailable);
  link.cut = false;
  link.ready = {Of(stream, "of before")};
  EXPECT_EQ(link.NextOf(stream, 0).error().kind, ErrorKind::kUnavailable);
  EXPECT_NE(link.NewStream(), stream);
}

TEST(FrameLink, AStreamThatNobodyTakesFromIsEndedAndTheOthersGoOn) {
  FakeLink link;
  const int64_t lazy = link.NewStream(), busy = link.NewStream();
  const std::string body(1 << 20, 'x');
  int made = 0;
  link.endless = [&] { return ++made % 100 == 0 ? Of(busy, "news") : Of(lazy, body); };
  for (int i = 0; i < 3; ++i) EXPECT_EQ((*link.NextOf(busy, kLong))->body, "news");
  EXPECT_EQ(link.NextOf(lazy, 0).error().kind, ErrorKind::kUnavailable);
  ASSERT_EQ(link.sent.size(), 1u);
  EXPECT_EQ(link.sent[0], (json::Object{{"op", "unfollow"}, {"id", lazy}}));
  EXPECT_EQ(link.hung_up, 0);
}

TEST(FrameLink, AnswersThatNobodyAskedForEndTheConversation) {
  FakeLink link;
  const int64_t stream = link.NewStream();
  link.endless = [] { return Answer(std::string(1 << 20, 'x')); };
  EXPECT_EQ(link.NextOf(stream, kLong).error().kind, ErrorKind::kCorrupt);
  EXPECT_EQ(link.hung_up, 1);
}

TEST(FrameLink, ARefusalThatNobodyWaitsForDoesNotKeepAStreamWaiting) {
  FakeLink link;
  const int64_t stream = link.NewStream();
  const Frame refusal{{{"ok", false}, {"error", {{"kind", "denied"}, {"message", "no"}}}}, ""};
  link.ready = {Of(stream, "before"), refusal};
  EXPECT_EQ((*link.NextOf(stream, kLong))->body, "before");
  const auto next = link.NextOf(stream, kLong);
  ASSERT_FALSE(next.ok());
  EXPECT_EQ(next.error().kind, ErrorKind::kDenied);
  EXPECT_EQ(link.hung_up, 1);
  EXPECT_EQ(link.NextOf(stream, 0).error().kind, ErrorKind::kUnavailable);
}

TEST(FrameLink, FramesWithoutEndForOthersDoNotKeepOneWaiting) {
  FakeLink link;
  link.endless = [] { return Of(4711, ""); };
  EXPECT_FALSE((*link.Next(0)).has_value());
  EXPECT_FALSE(link.Receive(1000).ok());
  EXPECT_EQ(link.hung_up, 1);
}

}  // namespace
}  // namespace tenon::transport
