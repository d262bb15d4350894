// SPDX-License-Identifier: Apache-2.0
#include "transport/host.h"

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "transport/agent.h"

namespace tenon::transport {
namespace {

// How many bytes of frames are kept that nobody has taken yet.
constexpr size_t kMostKept = 96u << 20;
constexpr size_t kFrameCost = 1u << 10;  // counted for each frame besides its body
// Frames that have come already are sorted even when the time is up, for so long at most.
constexpr int64_t kSortUs = 100'000;

int64_t Now() { return SystemClock().MonotonicUs(); }

}  // namespace

std::optional<Frame> FrameLink::PopFrom(std::deque<Frame>* frames) {
  if (frames->empty()) return std::nullopt;
  Frame frame = std::move(frames->front());
  frames->pop_front();
  kept_ -= frame.body.size() + kFrameCost;
  return frame;
}

void FrameLink::Forget() {
  answers_.clear();
  streams_.clear();
  kept_ = 0;
}

void FrameLink::Close() {
  Forget();
  HangUp();
}

Result<bool> FrameLink::Sort(int64_t timeout_us) {
  auto taken = Take(timeout_us);
  if (!taken.ok()) {
    Forget();
    return std::move(taken).error();
  }
  if (!*taken) return false;
  Frame& frame = **taken;
  const int64_t id = json::GetInt(frame.head, "id");
  const auto stream = streams_.find(id);
  // Frames of a stream that has ended here may still come; they are dropped. So is the answer to a
  // skipped request ("if_ok"): that stream begins with a later request.
  if (id != 0 && (stream == streams_.end() || json::GetBool(frame.head, "skipped"))) return true;
  kept_ += frame.body.size() + kFrameCost;
  (id == 0 ? answers_ : stream->second).push_back(std::move(frame));
  if (kept_ <= kMostKept) return true;
  if (id != 0) {
    EndStream(id);
    return true;
  }
  Close();
  return Corrupt("the host answers what nobody has asked");
}

template <typename Find>
Result<std::optional<Frame>> FrameLink::SortUntil(const Find& find, int64_t timeout_us) {
  const int64_t begin = Now();
  for (;;) {
    TENON_TRY(auto frame, find());
    if (frame) return frame;
    const int64_t gone = Now() - begin;
    TENON_TRY(const bool came, Sort(std::max<int64_t>(timeout_us - gone, 0)));
    if (!came || gone > timeout_us + kSortUs) return find();
  }
}

Result<std::optional<Frame>> FrameLink::Next(int64_t timeout_us) {
  const auto find = [this]() -> Result<std::optional<Frame>> { return PopFrom(&answers_); };
  return SortUntil(find, timeout_us);
}

Result<Frame> FrameLink::Receive(int64_t timeout_us) {
  TENON_TRY(auto frame, Next(timeout_us));
  if (frame) return std::move(*frame);
  Close();
  return Unavailable("the host does not answer");
}

Status FrameLink::LookForRefusal() {
  const auto is_refusal = [](const Frame& answer) {
    return answer.head.contains("ok") && !json::GetBool(answer.head, "ok");
  };
  const auto refusal = std::ranges::find_if(answers_, is_refusal);
  if (refusal == answers_.end()) return {};
  Error error = AnswerError(refusal->head);
  Close();
  return error;
}

int64_t FrameLink::NewStream() {
  streams_[++last_stream_];
  return last_stream_;
}

Result<std::optional<Frame>> FrameLink::NextOf(int64_t stream, int64_t timeout_us) {
  const auto find = [this, stream]() -> Result<std::optional<Frame>> {
    const auto found = streams_.find(stream);
    if (found == streams_.end()) return Unavailable("the link was lost");
    auto frame = PopFrom(&found->second);
    if (!frame) TENON_TRY_VOID(LookForRefusal());
    return frame;
  };
  return SortUntil(find, timeout_us);
}

bool FrameLink::HasFrames(int64_t stream) const {
  const auto found = streams_.find(stream);
  return found != streams_.end() && !found->second.empty();
}

void FrameLink::EndStream(int64_t stream) {
  const auto found = streams_.find(stream);
  if (found == streams_.end()) return;
  while (PopFrom(&found->second)) {
  }
  streams_.erase(found);
  if (!state().stands) return;
  // A link that fails here is lost, and the stream with it.
  (void)Send({{"op", "unfollow"}, {"id", stream}}, {}).ok();
}

}  // namespace tenon::transport
