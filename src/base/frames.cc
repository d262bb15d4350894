// SPDX-License-Identifier: Apache-2.0
#include "base/frames.h"

#include <algorithm>

#include "base/check.h"

namespace tenon {
namespace {

constexpr size_t kLengths = 8;
constexpr size_t kNoiseKept = 4096;
// Read parts are let go of once they are this long.
constexpr size_t kLetGo = 1u << 20;

void AppendU32(std::string* out, size_t value) {
  for (int shift = 0; shift < 32; shift += 8) out->push_back(static_cast<char>(value >> shift));
}

size_t ReadU32(const char* bytes) {
  size_t value = 0;
  for (int i = 3; i >= 0; --i) value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return value;
}

}  // namespace

std::string EncodeFrame(const json::Object& head, std::string_view body) {
  const std::string text = json::Print(head);
  TENON_CHECK(text.size() <= kMaxFrameHead && body.size() <= kMaxFrameBody);
  std::string bytes;
  bytes.reserve(kLengths + text.size() + body.size());
  AppendU32(&bytes, text.size());
  AppendU32(&bytes, body.size());
  bytes += text;
  bytes += body;
  return bytes;
}

bool FrameReader::SkipToGreeting() {
  const size_t found = buffer_.find(greeting_);
  const size_t noise = found == std::string::npos
                           ? buffer_.size() - std::min(buffer_.size(), greeting_.size() - 1)
                           : found;
  noise_.append(buffer_, 0, noise);
  if (noise_.size() > kNoiseKept) noise_.erase(0, noise_.size() - kNoiseKept);
  if (found == std::string::npos) {
    buffer_.erase(0, noise);
    return false;
  }
  buffer_.erase(0, found + greeting_.size());
  greeting_.clear();
  return true;
}

Result<std::optional<Frame>> FrameReader::Next() {
  if (!greeted() && !SkipToGreeting()) return std::optional<Frame>();
  if (buffer_.size() - at_ < kLengths) return std::optional<Frame>();
  const char* next = buffer_.data() + at_;
  const size_t head = ReadU32(next), body = ReadU32(next + 4);
  if (head > kMaxFrameHead || body > kMaxFrameBody) {
    return Corrupt("a frame of " + std::to_string(head) + " + " + std::to_string(body) +
                   " bytes is none of ours");
  }
  if (buffer_.size() - at_ < kLengths + head + body) return std::optional<Frame>();
  Frame frame;
  auto parsed = json::Parse(std::string_view(next + kLengths, head));
  if (!parsed.ok() || !parsed->is_object()) return Corrupt("a frame's head is no JSON object");
  frame.head = std::move(parsed->get_object());
  frame.body.assign(next + kLengths + head, body);
  at_ += kLengths + head + body;
  if (at_ == buffer_.size() || at_ >= kLetGo) {
    buffer_.erase(0, at_);
    at_ = 0;
  }
  return std::optional<Frame>(std::move(frame));
}

}  // namespace tenon
