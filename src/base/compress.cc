// SPDX-License-Identifier: Apache-2.0
#include "base/compress.h"

#include <zstd.h>

#include <memory>

namespace tenon {
namespace {

struct ContextFree {
  void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
  void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
};

constexpr size_t kTooSmallToTry = 128;
constexpr unsigned kGiveUpAfter = 4, kThenTryEvery = 32;

}  // namespace

std::string Compress(std::string_view bytes, int level) {
  // Making a context costs more than compressing a small text with it.
  thread_local std::unique_ptr<ZSTD_CCtx, ContextFree> context(ZSTD_createCCtx());
  TENON_CHECK(context != nullptr);
  std::string frame(ZSTD_compressBound(bytes.size()), '\0');
  size_t size = ZSTD_compressCCtx(context.get(), frame.data(), frame.size(), bytes.data(),
                                  bytes.size(), level);
  TENON_CHECK(!ZSTD_isError(size));
  frame.resize(size);
  return frame;
}

Result<std::string> Decompress(std::string_view frame, size_t limit) {
  thread_local std::unique_ptr<ZSTD_DCtx, ContextFree> context(ZSTD_createDCtx());
  TENON_CHECK(context != nullptr);
  unsigned long long size = ZSTD_getFrameContentSize(frame.data(), frame.size());
  TENON_EXPECT_PEER(size != ZSTD_CONTENTSIZE_ERROR, "decompress: not a zstd frame");
  TENON_EXPECT_PEER(size != ZSTD_CONTENTSIZE_UNKNOWN,
                    "decompress: the frame does not say its size");
  TENON_EXPECT_PEER(size <= limit, "decompress: the frame claims " + std::to_string(size) +
                                       " bytes, more than the " + std::to_string(limit) +
                                       " allowed here");
  size_t length = ZSTD_findFrameCompressedSize(frame.data(), frame.size());
  TENON_EXPECT_PEER(!ZSTD_isError(length), "decompress: the frame is cut short or damaged");
  TENON_EXPECT_PEER(length == frame.size(), "decompress: bytes after the end of the frame");
  std::string bytes(size, '\0');
  size_t got =
      ZSTD_decompressDCtx(context.get(), bytes.data(), bytes.size(), frame.data(), frame.size());
  TENON_EXPECT_PEER(!ZSTD_isError(got),
                    std::string("decompress: the frame is damaged: ") + ZSTD_getErrorName(got));
  TENON_EXPECT_PEER(got == size, "decompress: the frame holds fewer bytes than it claims");
  return bytes;
}

std::optional<std::string> PieceCompressor::Try(std::string_view piece) {
  if (piece.size() < kTooSmallToTry) return std::nullopt;
  if (not_paid_ >= kGiveUpAfter && ++not_paid_ % kThenTryEvery != 0) return std::nullopt;
  std::string frame = Compress(piece, level_);
  if (frame.size() + piece.size() / 10 < piece.size()) {
    not_paid_ = 0;
    return frame;
  }
  ++not_paid_;
  return std::nullopt;
}

}  // namespace tenon
