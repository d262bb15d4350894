// SPDX-License-Identifier: Apache-2.0
#include "docker/frames.h"

#include <algorithm>

namespace tenon::docker {
namespace {

constexpr size_t kHeadSize = 8;
constexpr int kStderr = 2;
constexpr int kEngineError = 3;  // the engine's own words about the stream

}  // namespace

Status FrameDecoder::Feed(std::string_view bytes) {
  while (!bytes.empty()) {
    if (left_ > 0) {
      const size_t n = std::min<size_t>(left_, bytes.size());
      sink_(stream_, bytes.substr(0, n));
      bytes.remove_prefix(n);
      left_ -= static_cast<uint32_t>(n);
      continue;
    }
    const size_t n = std::min(kHeadSize - head_.size(), bytes.size());
    head_.append(bytes.substr(0, n));
    bytes.remove_prefix(n);
    if (head_.size() < kHeadSize) return {};
    const auto byte = [&](size_t i) { return static_cast<unsigned char>(head_[i]); };
    if (byte(0) > kEngineError || byte(1) != 0 || byte(2) != 0 || byte(3) != 0) {
      head_.clear();
      return Corrupt("the engine's stream of standard output and error has a damaged frame");
    }
    // 0 is an echo of standard input; it counts as standard output.
    stream_ = byte(0) == kEngineError ? kStderr : std::max<int>(byte(0), 1);
    left_ = uint32_t{byte(4)} << 24 | uint32_t{byte(5)} << 16 | uint32_t{byte(6)} << 8 | byte(7);
    head_.clear();
  }
  return {};
}

}  // namespace tenon::docker
