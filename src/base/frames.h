// SPDX-License-Identifier: Apache-2.0
// A byte stream cut into frames, for two programs that talk over pipes or a connection:
//
//   u32 length of the head │ u32 length of the body │ head: one JSON object │ body: any bytes
//
// Numbers are little-endian. What one side prints before its greeting line (a login shell may) is
// skipped by the other.
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
// All of it but the body, for one of that size that is sent from elsewhere.
std::string EncodeFrameHead(const json::Object& head, size_t body_size);

// Takes bytes as they come. After a kCorrupt nothing more can be read.
class FrameReader {
 public:
  // `greeting`: a line that comes before the first frame; everything up to its end is skipped. ""
  // = none.
  explicit FrameReader(std::string greeting = "") : greeting_(std::move(greeting)) {}

  // Where the next bytes may be read to, never empty; then Took() says how many came. Those of a
  // large body are put where they stay.
  std::span<char> Room();
  void Took(size_t count);
  void Feed(std::string_view bytes);  // the same with a copy
  // nullopt: not yet. kCorrupt: lengths beyond the limits, a head that is no JSON object.
  Result<std::optional<Frame>> Next();
  bool greeted() const { return greeting_.empty(); }
  // What came before the greeting, as far as it is kept (the last 4 KiB): for messages.
  const std::string& noise() const { return noise_; }

 private:
  bool SkipToGreeting();
  std::string_view Unread() const {
    return std::string_view(buffer_).substr(begin_, end_ - begin_);
  }
  bool FillingBody() const { return frame_ && body_has_ < frame_->body.size(); }

  std::string greeting_;  // empty once it was seen
  std::string noise_;
  std::string buffer_;  // what came lies between begin_ and end_; behind it is room
  size_t begin_ = 0, end_ = 0;
  std::optional<Frame> frame_;  // the next one, its head read
  size_t body_has_ = 0;         // bytes of its body; only when it has all are more buffered
};

}  // namespace tenon

#endif  // TENON_BASE_FRAMES_H_
