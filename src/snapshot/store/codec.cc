// SPDX-License-Identifier: Apache-2.0
#include "snapshot/store/codec.h"

#include <zstd.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/file.h"

namespace tenon::snapshot {
namespace {

constexpr int kLevel = 1;
constexpr size_t kSample = 64u << 10;
// Of larger objects a sample is compressed first, so that no time is lost on incompressible ones.
constexpr size_t kTryWhole = 256u << 10;
constexpr size_t kPiece = 256u << 10;

struct Free {
  void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
  void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
};

ZSTD_CCtx* Compressor() {
  thread_local std::unique_ptr<ZSTD_CCtx, Free> context(ZSTD_createCCtx());
  TENON_CHECK(context != nullptr);
  return context.get();
}

ZSTD_DCtx* Decompressor() {
  thread_local std::unique_ptr<ZSTD_DCtx, Free> context(ZSTD_createDCtx());
  TENON_CHECK(context != nullptr);
  return context.get();
}

bool Pays(size_t compressed, size_t raw) { return compressed + raw / 16 < raw; }

// Compresses into the buffer and returns the size.
size_t CompressInto(std::string_view bytes, std::vector<char>* buffer) {
  const size_t bound = ZSTD_compressBound(bytes.size());
  if (buffer->size() < bound) buffer->resize(bound);
  const size_t size = ZSTD_compressCCtx(Compressor(), buffer->data(), buffer->size(), bytes.data(),
                                        bytes.size(), kLevel);
  TENON_CHECK(!ZSTD_isError(size));
  return size;
}

std::vector<char>& Buffer() {
  thread_local std::vector<char> buffer;
  return buffer;
}

}  // namespace

std::string_view CompressIfItPays(std::string_view bytes) {
  if (bytes.size() < 64) return {};
  std::vector<char>& buffer = Buffer();
  if (bytes.size() > kTryWhole) {
    const std::string_view sample = bytes.substr(bytes.size() / 2, kSample);
    if (!Pays(CompressInto(sample, &buffer), sample.size())) return {};
  }
  const size_t size = CompressInto(bytes, &buffer);
  if (!Pays(size, bytes.size())) return {};
  return {buffer.data(), size};
}

Result<bool> SamplesPay(int fd, uint64_t size) {
  std::vector<char> sample(kSample);
  size_t raw = 0, compressed = 0;
  for (uint64_t part : {uint64_t{0}, size / 2, size - std::min<uint64_t>(size, kSample)}) {
    TENON_TRY(const size_t got, ReadAt(fd, sample, part));
    raw += got;
    compressed += CompressInto({sample.data(), got}, &Buffer());
  }
  return Pays(compressed, raw);
}

Status DecompressExactly(std::string_view frame, std::span<char> out) {
  const size_t got =
      ZSTD_decompressDCtx(Decompressor(), out.data(), out.size(), frame.data(), frame.size());
  TENON_EXPECT_PEER(!ZSTD_isError(got), std::string("zstd: ") + ZSTD_getErrorName(got));
  TENON_EXPECT_PEER(got == out.size(), "zstd: fewer bytes than recorded");
  return {};
}

struct StreamCompressor::State {
  std::unique_ptr<ZSTD_CCtx, Free> context{ZSTD_createCCtx()};
  Sink sink;
  std::vector<char> out = std::vector<char>(ZSTD_CStreamOutSize());
};

StreamCompressor::StreamCompressor(uint64_t size, Sink sink) : state_(std::make_unique<State>()) {
  TENON_CHECK(state_->context != nullptr);
  state_->sink = std::move(sink);
  ZSTD_CCtx_setParameter(state_->context.get(), ZSTD_c_compressionLevel, kLevel);
  ZSTD_CCtx_setPledgedSrcSize(state_->context.get(), size);
}

StreamCompressor::~StreamCompressor() = default;

Status StreamCompressor::Run(std::string_view bytes, bool last) {
  ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
  for (;;) {
    ZSTD_outBuffer out{state_->out.data(), state_->out.size(), 0};
    const size_t left =
        ZSTD_compressStream2(state_->context.get(), &out, &in, last ? ZSTD_e_end : ZSTD_e_continue);
    if (ZSTD_isError(left)) return Internal(std::string("zstd: ") + ZSTD_getErrorName(left));
    if (out.pos) TENON_TRY_VOID(state_->sink({state_->out.data(), out.pos}));
    if (last ? left == 0 : in.pos == in.size) return {};
  }
}

Status StreamCompressor::Add(std::string_view bytes) { return Run(bytes, false); }
Status StreamCompressor::Finish() { return Run({}, true); }

Status DecompressFile(int fd, const Sink& sink) {
  std::unique_ptr<ZSTD_DCtx, Free> context(ZSTD_createDCtx());
  TENON_CHECK(context != nullptr);
  std::vector<char> in_bytes(kPiece), out_bytes(kPiece);
  uint64_t offset = 0;
  size_t left = 1;  // 0: the frame is complete
  for (;;) {
    TENON_TRY(const size_t got, ReadAt(fd, in_bytes, offset));
    if (got == 0) break;
    offset += got;
    TENON_EXPECT_PEER(left != 0, "zstd: bytes after the end of the frame");
    ZSTD_inBuffer in{in_bytes.data(), got, 0};
    bool more = true;
    while (in.pos < in.size || more) {
      TENON_EXPECT_PEER(left != 0, "zstd: bytes after the end of the frame");
      ZSTD_outBuffer out{out_bytes.data(), out_bytes.size(), 0};
      left = ZSTD_decompressStream(context.get(), &out, &in);
      TENON_EXPECT_PEER(!ZSTD_isError(left), std::string("zstd: ") + ZSTD_getErrorName(left));
      if (out.pos) TENON_TRY_VOID(sink({out_bytes.data(), out.pos}));
      more = out.pos == out.size && left != 0;
    }
  }
  TENON_EXPECT_PEER(left == 0, "zstd: the frame is cut short");
  return {};
}

}  // namespace tenon::snapshot
