// SPDX-License-Identifier: Apache-2.0
// How the object store uses zstd. Each thread has its own contexts, so nothing is shared.
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

// Compresses `bytes` into a buffer of the calling thread, which is valid until the thread's next
// call. Returns an empty view if that saves less than a sixteenth: then store the bytes as they
// are.
std::string_view CompressIfItPays(std::string_view bytes);

// Whether three samples of the open file of `size` bytes suggest that compressing saves a
// sixteenth.
Result<bool> SamplesPay(int fd, uint64_t size);

// Decompresses one frame. kCorrupt: it is damaged or does not yield exactly out.size() bytes.
Status DecompressExactly(std::string_view frame, std::span<char> out);

using Sink = std::function<Status(std::string_view)>;

// Makes one zstd frame from pieces and hands the compressed bytes to `sink` as they come.
class StreamCompressor {
 public:
  // `size` is the total, which is written into the frame. Finish() fails if another number was
  // added.
  StreamCompressor(uint64_t size, Sink sink);
  ~StreamCompressor();
  Status Add(std::string_view bytes);
  Status Finish();

 private:
  Status Run(std::string_view bytes, bool last);
  struct State;
  std::unique_ptr<State> state_;
};

// Decompresses an open file that holds one frame. Never has the whole in memory.
Status DecompressFile(int fd, const Sink& sink);

}  // namespace tenon::snapshot

#endif  // TENON_SNAPSHOT_STORE_CODEC_H_
