// SPDX-License-Identifier: Apache-2.0
#include "base/frames.h"

#include <gtest/gtest.h>

#include "base/error_json.h"

namespace tenon {
namespace {

std::string Two() {
  return EncodeFrame({{"op", "put"}}, std::string("a\0b", 3)) + EncodeFrame({{"ok", true}}, "");
}

TEST(Frames, CutAtEveryByteTheyComeOutWhole) {
  const std::string bytes = Two();
  for (size_t cut = 0; cut <= bytes.size(); ++cut) {
    FrameReader reader;
    std::vector<Frame> frames;
    for (const std::string& piece : {bytes.substr(0, cut), bytes.substr(cut)}) {
      reader.Feed(piece);
      for (;;) {
        auto frame = reader.Next();
        ASSERT_TRUE(frame.ok());
        if (!*frame) break;
        frames.push_back(std::move(**frame));
      }
    }
    ASSERT_EQ(frames.size(), 2u) << cut;
    EXPECT_EQ(json::GetString(frames[0].head, "op"), "put");
    EXPECT_EQ(frames[0].body, std::string("a\0b", 3));
    EXPECT_TRUE(json::GetBool(frames[1].head, "ok"));
  }
}

TEST(Frames, WhatALoginShellPrintsIsSkippedAndKeptForMessages) {
  FrameReader reader("hello there\n");
  for (const char c : "Welcome!\nhello\n hello there" + std::string("\n") + Two()) {
    reader.Feed(std::string_view(&c, 1));
    if (!reader.greeted()) {
      auto none = reader.Next();
      ASSERT_TRUE(none.ok());
      EXPECT_FALSE(none->has_value());
    }
  }
  auto frame = reader.Next();
  ASSERT_TRUE(frame.ok() && frame->has_value());
  EXPECT_TRUE(reader.greeted());
  EXPECT_EQ(reader.noise(), "Welcome!\nhello\n ");
}

TEST(Frames, EndlessNoiseDoesNotFillTheMemory) {
  FrameReader reader("greeting\n");
  for (int i = 0; i < 1000; ++i) {
    reader.Feed(std::string(10'000, 'x'));
    ASSERT_TRUE(reader.Next().ok());
  }
  EXPECT_LE(reader.noise().size(), 4096u);
}

TEST(Frames, LengthsBeyondTheLimitsAreRefusedBeforeAnythingIsKept) {
  FrameReader reader;
  reader.Feed(std::string("\xff\xff\xff\x7f\0\0\0\0", 8));
  auto frame = reader.Next();
  ASSERT_FALSE(frame.ok());
  EXPECT_EQ(frame.error().kind, ErrorKind::kCorrupt);
}

TEST(Frames, AHeadThatIsNoObjectIsRefused) {
  FrameReader reader;
  reader.Feed(std::string("\2\0\0\0\0\0\0\0[]", 10));
  auto frame = reader.Next();
  ASSERT_FALSE(frame.ok());
  EXPECT_EQ(frame.error().kind, ErrorKind::kCorrupt);
}

TEST(ErrorJson, AnErrorCrossesTheWire) {
  const Error error = Unavailable("disk full: /data/\xff").WithHint("make room").WithReason("full");
  const Error again = ErrorFromJson(json::Parse(json::Print(ErrorToJson(error)))->get_object());
  EXPECT_EQ(again.kind, ErrorKind::kUnavailable);
  EXPECT_EQ(again.message, error.message);
  EXPECT_EQ(again.hint, "make room");
  EXPECT_EQ(again.reason, "full");
  EXPECT_EQ(ErrorFromJson({}).kind, ErrorKind::kInternal);
}

}  // namespace
}  // namespace tenon
