// SPDX-License-Identifier: Apache-2.0
// A byte stream cut into frames, for two programs that talk over pipes or a connection:
//
//   u32 length of the head │ u32 length of the body │ head: one JSON object │ body: any bytes
//
// Numbers are little-endian. A side may send a greeting line first. The other side skips everything
// before it, such as what a login shell prints.
#ifndef TENON_BASE_FRAMES_H_
#define TENON_BASE_FRAMES_H_

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"

namespace tenon {

struct Frame {
  json::Object head;
  std::string body;
};

inline constexpr size_t kMaxFrameHead = 4u << 20;
inline constexpr size_t kMaxFrameBody = 64u << 20;

std::string EncodeFrame(const json::Object& head, std::string_view body = {});
// A frame without its body. The caller sends the `body_size` bytes of the body itself.
std::string EncodeFrameHead(const json::Object& head, size_t body_size);

// Makes frames of bytes as they come. After a kCorrupt nothing more can be read.
class FrameReader {
 public:
  // `greeting`: a line that comes before the first frame. Everything up to its end is skipped. "":
  // no greeting.
  explicit FrameReader(std::string greeting = "") : greeting_(std::move(greeting)) {}

  // Where the caller puts the next bytes; never empty. It then says with Took() how many it put
  // there. The bytes of a large body go straight to their final place. Valid until the next call.
  std::span<char> Room();
  void Took(size_t count);
  void Feed(std::string_view bytes);  // Room() and Took() in one, with a copy
  // The next frame; nullopt: it is not complete yet. kCorrupt: lengths beyond the limits, or a head
  // that is not a JSON object.
  Result<std::optional<Frame>> Next();
  bool greeted() const { return greeting_.empty(); }
  // The last 4 KiB of what came before the greeting, for messages.
  const std::string& noise() const { return noise_; }

 private:
  bool SkipToGreeting();
  std::string_view Unread() const {
    return std::string_view(buffer_).substr(begin_, end_ - begin_);
  }
  bool FillingBody() const { return frame_ && body_has_ < frame_->body.size(); }

  std::string greeting_;  // empty once it was seen
  std::string noise_;
  std::string buffer_;  // unread bytes are between begin_ and end_; room is behind
  size_t begin_ = 0, end_ = 0;
  std::optional<Frame> frame_;  // the next frame, once its head is read
  size_t body_has_ = 0;  // bytes of its body that have come; until it has all, nothing is buffered
};

}  // namespace tenon

#endif  // TENON_BASE_FRAMES_H_
