// SPDX-License-Identifier: Apache-2.0
#include "base/frames.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/json_limits.h"

namespace tenon {
namespace {

constexpr size_t kLengths = 8;
// Our heads list hashes of objects at most, so a head with more values than this is not ours.
constexpr size_t kMaxHeadValues = 200'000;
constexpr size_t kNoiseKept = 4096;
// How much is read at once, unless it goes straight into a body.
constexpr size_t kRoom = 256u << 10;

void AppendU32(std::string* out, size_t value) {
  for (int shift = 0; shift < 32; shift += 8) out->push_back(static_cast<char>(value >> shift));
}

size_t ReadU32(const char* bytes) {
  size_t value = 0;
  for (int i = 3; i >= 0; --i) value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return value;
}

}  // namespace

std::string EncodeFrameHead(const json::Object& head, size_t body_size) {
  const std::string text = json::Print(head);
  TENON_CHECK(text.size() <= kMaxFrameHead && body_size <= kMaxFrameBody);
  std::string bytes;
  AppendU32(&bytes, text.size());
  AppendU32(&bytes, body_size);
  return bytes += text;
}

std::string EncodeFrame(const json::Object& head, std::string_view body) {
  return EncodeFrameHead(head, body.size()).append(body);
}

std::span<char> FrameReader::Room() {
  if (FillingBody()) return std::span<char>(frame_->body).subspan(body_has_);
  if (begin_ == end_) begin_ = end_ = 0;
  if (buffer_.size() - end_ < kRoom) {
    buffer_.erase(0, begin_);
    end_ -= begin_;
    begin_ = 0;
    buffer_.resize(std::max(2 * end_, end_ + kRoom));
  }
  return std::span<char>(buffer_).subspan(end_);
}

void FrameReader::Took(size_t count) { (FillingBody() ? body_has_ : end_) += count; }

void FrameReader::Feed(std::string_view bytes) {
  while (!bytes.empty()) {
    const std::span<char> room = Room();
    const size_t count = bytes.copy(room.data(), room.size());
    Took(count);
    bytes.remove_prefix(count);
  }
}

bool FrameReader::SkipToGreeting() {
  const std::string_view unread = Unread();
  const size_t found = unread.find(greeting_);
  const bool here = found != std::string_view::npos;
  const size_t noise = here ? found : unread.size() - std::min(unread.size(), greeting_.size() - 1);
  noise_.append(unread.substr(0, noise));
  if (noise_.size() > kNoiseKept) noise_.erase(0, noise_.size() - kNoiseKept);
  begin_ += noise;
  if (!here) return false;
  begin_ += greeting_.size();
  greeting_.clear();
  return true;
}

Result<std::optional<Frame>> FrameReader::Next() {
  if (!greeted() && !SkipToGreeting()) return std::optional<Frame>();
  if (!frame_) {
    const std::string_view unread = Unread();
    if (unread.size() < kLengths) return std::optional<Frame>();
    const size_t head = ReadU32(unread.data()), body = ReadU32(unread.data() + 4);
    if (head > kMaxFrameHead || body > kMaxFrameBody) {
      return Corrupt("a frame of " + std::to_string(head) + " + " + std::to_string(body) +
                     " bytes is none of ours");
    }
    if (unread.size() < kLengths + head) return std::optional<Frame>();
    auto parsed = json::ParseLimited(unread.substr(kLengths, head), 64, kMaxHeadValues);
    if (!parsed.ok() || !parsed->is_object()) return Corrupt("a frame's head is no JSON object");
    frame_.emplace();
    frame_->head = std::move(parsed->get_object());
    frame_->body = unread.substr(kLengths + head, body);
    body_has_ = frame_->body.size();
    frame_->body.resize(body);
    begin_ += kLengths + head + body_has_;
  }
  if (FillingBody()) return std::optional<Frame>();
  return std::exchange(frame_, std::nullopt);
}

}  // namespace tenon
