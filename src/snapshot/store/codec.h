// SPDX-License-Identifier: Apache-2.0
// zstd as the object store uses it. Contexts belong to the thread, so nothing here is shared.
#ifndef TENON_SNAPSHOT_STORE_CODEC_H_
#define TENON_SNAPSHOT_STORE_CODEC_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace tenon::snapshot {

// Compresses `bytes` into a buffer of the thread, valid until its next call. Empty when that saves
// less than a sixteenth: then the bytes are better stored as they are.
std::string_view CompressIfItPays(std::string_view bytes);

// Whether three samples of the open file (size known) promise to save a sixteenth.
Result<bool> SamplesPay(int fd, uint64_t size);

// Decompresses one frame that must yield exactly out.size() bytes; kCorrupt otherwise.
Status DecompressExactly(std::string_view frame, std::span<char> out);

using Sink = std::function<Status(std::string_view)>;

// One zstd frame from pieces; the compressed bytes go to `sink` as they come.
class StreamCompressor {
 public:
  // `size`: of the whole, written into the frame; Finish() fails if it was another.
  StreamCompressor(uint64_t size, Sink sink);
  ~StreamCompressor();
  Status Add(std::string_view bytes);
  Status Finish();

 private:
  Status Run(std::string_view bytes, bool last);
  struct State;
  std::unique_ptr<State> state_;
};

// The other way round, from an open file that holds one frame. Never whole in memory.
Status DecompressFile(int fd, const Sink& sink);

}  // namespace tenon::snapshot

#endif  // TENON_SNAPSHOT_STORE_CODEC_H_
