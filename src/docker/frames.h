// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_DOCKER_FRAMES_H_
#define TENON_DOCKER_FRAMES_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace tenon::docker {

// Splits the engine's multiplexed stream: frames of {stream, 0, 0, 0, size (big endian)} and bytes.
// Its input may be cut anywhere. Bytes go to the sink as they come, before their frame is complete.
class FrameDecoder {
 public:
  // stream: 1 standard output, 2 standard error.
  using Sink = std::function<void(int stream, std::string_view bytes)>;
  explicit FrameDecoder(Sink sink) : sink_(std::move(sink)) {}

  // Fails with kCorrupt at a frame head that is not valid; the bytes after it are dropped.
  Status Feed(std::string_view bytes);
  // Whether the stream ended between frames.
  bool AtFrameEnd() const { return left_ == 0 && head_.empty(); }

 private:
  Sink sink_;
  std::string head_;
  int stream_ = 0;
  uint32_t left_ = 0;
};

}  // namespace tenon::docker

#endif  // TENON_DOCKER_FRAMES_H_
