// SPDX-License-Identifier: Apache-2.0
#include "base/compress.h"

#include <gtest/gtest.h>

namespace tenon {
namespace {

std::string Sample() {
  std::string text;
  for (int i = 0; i < 5000; ++i) text += "line " + std::to_string(i * i) + "\n";
  return text;
}

TEST(CompressTest, ComesBackAsItWas) {
  for (const std::string& bytes : {std::string(), std::string("x"), Sample()}) {
    auto back = Decompress(Compress(bytes), bytes.size());
    ASSERT_TRUE(back.ok()) << back.error().message;
    EXPECT_EQ(*back, bytes);
  }
  EXPECT_LT(Compress(Sample()).size(), Sample().size() / 2);
}

TEST(CompressTest, AFrameThatClaimsTooMuchIsRefusedBeforeAllocating) {
  auto refused = Decompress(Compress(Sample()), Sample().size() - 1);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().kind, ErrorKind::kCorrupt);
  // A header that claims 2^62 bytes.
  std::string_view bomb("\x28\xb5\x2f\xfd\xe0\0\0\0\0\0\0\0\x40\x01\0\0", 16);
  EXPECT_EQ(Decompress(bomb, 1 << 30).error().kind, ErrorKind::kCorrupt);
}

TEST(CompressTest, CutAtEveryLengthIsCorrupt) {
  std::string frame = Compress(Sample().substr(0, 2000));
  for (size_t n = 0; n < frame.size(); ++n) {
    auto result = Decompress(std::string_view(frame).substr(0, n), 1 << 20);
    ASSERT_FALSE(result.ok()) << n;
    ASSERT_EQ(result.error().kind, ErrorKind::kCorrupt) << n;
  }
}

TEST(CompressTest, JunkBehindTheFrameIsCorrupt) {
  std::string frame = Compress("hello hello hello") + "x";
  ASSERT_FALSE(Decompress(frame, 1 << 20).ok());
  EXPECT_EQ(Decompress(frame, 1 << 20).error().kind, ErrorKind::kCorrupt);
}

TEST(PieceCompressorTest, WhatDoesNotBecomeSmallerGoesAsItIs) {
  PieceCompressor compressor;
  EXPECT_FALSE(compressor.Try("too small"));
  EXPECT_FALSE(compressor.Try(Compress(Sample())));
  const auto text = compressor.Try(Sample());
  ASSERT_TRUE(text.has_value());
  EXPECT_EQ(*Decompress(*text, 1 << 20), Sample());
}

TEST(PieceCompressorTest, AStreamThatBecomesTextIsNoticed) {
  PieceCompressor compressor;
  const std::string dense = Compress(Sample());
  for (int i = 0; i < 1000; ++i) EXPECT_FALSE(compressor.Try(dense));
  int pieces = 1;
  while (!compressor.Try(Sample())) ++pieces;
  EXPECT_GT(pieces, 1);  // not every piece is tried any more
  EXPECT_LE(pieces, 33);
  EXPECT_TRUE(compressor.Try(Sample()));
}

}  // namespace
}  // namespace tenon
