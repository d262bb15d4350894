// SPDX-License-Identifier: Apache-2.0
#include "docker/frames.h"

#include <gtest/gtest.h>

#include <vector>

#include "docker/fake_engine.h"

namespace tenon::docker {
namespace {

struct Seen {
  std::string out, err;
  FrameDecoder::Sink Sink() {
    return [this](int stream, std::string_view bytes) {
      EXPECT_TRUE(stream == 1 || stream == 2) << stream;
      EXPECT_FALSE(bytes.empty());
      (stream == 1 ? out : err) += bytes;
    };
  }
};

TEST(FramesTest, StreamsStayApartWhereverThePiecesAreCut) {
  const std::string text = FakeEngine::Frame(1, "hello ") + FakeEngine::Frame(2, "oh no\n") +
                           FakeEngine::Frame(1, "") + FakeEngine::Frame(1, "world");
  for (size_t size = 1; size <= text.size(); ++size) {
    Seen seen;
    FrameDecoder decoder(seen.Sink());
    EXPECT_TRUE(decoder.AtFrameEnd());
    for (size_t at = 0; at < text.size(); at += size) {
      ASSERT_TRUE(decoder.Feed(std::string_view(text).substr(at, size)).ok());
    }
    EXPECT_EQ(seen.out, "hello world");
    EXPECT_EQ(seen.err, "oh no\n");
    EXPECT_TRUE(decoder.AtFrameEnd());
  }
}

TEST(FramesTest, BytesOfAFrameThatIsNotCompleteAreNotHeldBack) {
  Seen seen;
  FrameDecoder decoder(seen.Sink());
  const std::string frame = FakeEngine::Frame(1, "hello");
  ASSERT_TRUE(decoder.Feed(std::string_view(frame).substr(0, 10)).ok());
  EXPECT_EQ(seen.out, "he");
  EXPECT_FALSE(decoder.AtFrameEnd());
  ASSERT_TRUE(decoder.Feed(std::string_view(frame).substr(10)).ok());
  EXPECT_EQ(seen.out, "hello");
  ASSERT_TRUE(decoder.Feed(std::string_view(frame).substr(0, 3)).ok());
  EXPECT_FALSE(decoder.AtFrameEnd());
}

TEST(FramesTest, AHeadThatIsNoneIsDamageAndNothingOfItIsOutput) {
  for (const std::string& bad :
       {std::string("\4\0\0\0\0\0\0\1x", 9), std::string("\1\0\1\0\0\0\0\1x", 9),
        std::string("plain text, as with a terminal")}) {
    Seen seen;
    FrameDecoder decoder(seen.Sink());
    const auto status = decoder.Feed(FakeEngine::Frame(1, "before") + bad);
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(status.error().kind, ErrorKind::kCorrupt);
    EXPECT_EQ(seen.out, "before");
    EXPECT_EQ(seen.err, "");
  }
}

TEST(FramesTest, TheEnginesOwnWordsGoToStandardError) {
  Seen seen;
  FrameDecoder decoder(seen.Sink());
  ASSERT_TRUE(decoder.Feed(FakeEngine::Frame(3, "broken") + FakeEngine::Frame(0, "echo")).ok());
  EXPECT_EQ(seen.err, "broken");
  EXPECT_EQ(seen.out, "echo");
}

}  // namespace
}  // namespace tenon::docker
