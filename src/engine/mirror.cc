// SPDX-License-Identifier: Apache-2.0
#include "engine/mirror.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "run/layout.h"
#include "transport/agent.h"

namespace tenon::engine {
namespace {

constexpr size_t kPiece = 1u << 20;
// Taken in before the caller may draw it.
constexpr size_t kAtOnce = 8u << 20;
constexpr int64_t kAnswerUs = 60'000'000;

}  // namespace

Mirror::Mirror(Context& context, Place far, const std::string& run_id)
    : context_(context), far_(std::move(far)), heard_us_(context.clock->MonotonicUs()) {
  const run::RunFolder near_folder(context.home, run_id), far_folder(far_.home, run_id);
  copies_[0].near_path = near_folder.host_segment();
  copies_[0].far_path = far_folder.host_segment();
  copies_[1].near_path = near_folder.script_segment();
  copies_[1].far_path = far_folder.script_segment();
}

Mirror::~Mirror() {
  // What is still to come would be taken for an answer.
  if (following_) far_.host->frames()->Close();
}

Result<bool> Mirror::TakeLock() {
  if (lock_) return true;
  auto taken = FileLock::Take(copies_[0].near_path, /*wait=*/false);
  if (!taken.ok()) {
    if (taken.error().kind == ErrorKind::kUnavailable) return false;
    return std::move(taken).error();
  }
  for (Copy& copy : copies_) TENON_TRY_VOID(OpenCopy(&copy));
  lock_ = std::move(*taken);
  return true;
}

// Finds where the copy ends; what a killed client left after its last whole record is cut off.
Status Mirror::OpenCopy(Copy* copy) {
  copy->fd.Reset();
  copy->decoder = journal::Decoder();
  copy->written = 0;
  copy->pending.clear();
  auto opened = OpenFile(copy->near_path, O_RDWR);
  if (!opened.ok()) {
    return opened.error().kind == ErrorKind::kNotFound ? Status() : Status(opened.error());
  }
  copy->fd = std::move(*opened);
  for (uint64_t offset = 0;;) {
    std::span<char> room = copy->decoder.Prepare(kPiece);
    TENON_TRY(const size_t count, ReadAt(copy->fd.get(), room.subspan(0, kPiece), offset));
    copy->decoder.Commit(count);
    offset += count;
    for (bool more = true; more;) {
      TENON_TRY(const auto record, copy->decoder.Next());
      more = record.has_value();
    }
    if (count == 0) break;
  }
  copy->decoder.ForgetHoles();
  copy->decoder.Rewind();
  copy->written = copy->decoder.cursor().offset;
  if (::ftruncate(copy->fd.get(), static_cast<off_t>(copy->written)) != 0) {
    return FromErrno("cutting " + copy->near_path, errno);
  }
  return {};
}

Result<bool> Mirror::Take(Copy* copy, std::string_view bytes) {
  copy->there = true;
  if (bytes.empty()) return false;
  if (!copy->fd.valid()) {
    TENON_TRY(copy->fd, OpenFile(copy->near_path, O_RDWR | O_CREAT, 0600));
  }
  copy->decoder.Feed(bytes);
  copy->pending.append(bytes);
  for (bool more = true; more;) {
    TENON_TRY(const auto record, copy->decoder.Next());
    more = record.has_value();
  }
  copy->decoder.ForgetHoles();
  const uint64_t whole = copy->decoder.cursor().offset - copy->written;
  if (whole == 0) return false;
  TENON_TRY_VOID(
      WriteAllAt(copy->fd.get(), std::string_view(copy->pending).substr(0, whole), copy->written));
  copy->pending.erase(0, whole);
  copy->written += whole;
  return true;
}

Status Mirror::BeginFollowing() {
  json::Array files;
  for (Copy& copy : copies_) {
    // What was pending when the last link broke is asked for again.
    copy.pending.clear();
    copy.decoder.Rewind();
    files.push_back(
        json::Object{{"path", json::EncodeBytes(copy.far_path)}, {"offset", copy.written}});
  }
  writer_alive_.reset();
  TENON_TRY_VOID(far_.host->frames()->Send({{"op", "follow"},
                                            {"files", std::move(files)},
                                            {"lock", json::EncodeBytes(copies_[0].far_path)}},
                                           {}));
  following_ = true;
  heard_us_ = context_.clock->MonotonicUs();
  return {};
}

Result<bool> Mirror::TakeFrame(const Frame& frame) {
  heard_us_ = context_.clock->MonotonicUs();
  if (frame.head.contains("locked")) writer_alive_ = json::GetBool(frame.head, "locked");
  if (!frame.head.contains("file")) {
    if (frame.head.contains("ok") && !json::GetBool(frame.head, "ok")) {
      following_ = false;
      return transport::AnswerError(frame.head);
    }
    return false;
  }
  const auto index = static_cast<size_t>(json::GetInt(frame.head, "file"));
  TENON_EXPECT_PEER(index < copies_.size(), "the host sends a file that nobody asked for");
  Copy& copy = copies_[index];
  const auto offset = static_cast<uint64_t>(json::GetInt(frame.head, "offset"));
  TENON_EXPECT_PEER(offset == copy.written + copy.pending.size(),
                    "the host sends another part of the journal than was asked for");
  return Take(&copy, frame.body);
}

Result<Mirror::Heard> Mirror::Wait(int64_t timeout_us) {
  TENON_TRY(const bool ours, TakeLock());
  if (!ours) {
    // Another process of ours brings the copies; it is enough to watch them.
    std::vector<transport::KnownLength> known;
    for (const Copy& copy : copies_) {
      struct stat st {};
      if (::stat(copy.near_path.c_str(), &st) == 0) {
        known.push_back({copy.near_path, static_cast<uint64_t>(st.st_size)});
      }
    }
    TENON_TRY(const bool grew, context_.host->WaitForGrowth(known, timeout_us));
    heard_us_ = context_.clock->MonotonicUs();
    return grew ? Heard::kMore : Heard::kNothing;
  }
  auto waited = [&]() -> Result<Heard> {
    if (!following_) TENON_TRY_VOID(BeginFollowing());
    const int64_t deadline = context_.clock->MonotonicUs() + timeout_us;
    size_t taken = 0;
    bool grew = false;
    while (taken < kAtOnce) {
      const int64_t left = std::max<int64_t>(deadline - context_.clock->MonotonicUs(), 0);
      TENON_TRY(const auto frame, far_.host->frames()->Next(grew ? 0 : left));
      if (!frame) break;
      taken += frame->body.size();
      TENON_TRY(const bool more, TakeFrame(*frame));
      grew = grew || more;
      if (writer_alive_ == false && !grew) break;
    }
    if (grew) return Heard::kMore;
    if (writer_alive_ == false) {
      return copies_[0].there || copies_[0].written > 0 ? Heard::kEnded : Heard::kUnknown;
    }
    return Heard::kNothing;
  }();
  if (!waited.ok()) following_ = false;
  return waited;
}

Status Mirror::Stop() {
  if (!following_) return {};
  following_ = false;
  transport::FrameLink& link = *far_.host->frames();
  TENON_TRY_VOID(link.Send({{"op", "hello"}}, {}));
  for (;;) {
    TENON_TRY(const Frame frame, link.Receive(kAnswerUs));
    if (json::GetBool(frame.head, "end")) break;
    TENON_TRY_VOID(TakeFrame(frame));
  }
  TENON_TRY_VOID(link.Receive(kAnswerUs));  // what hello says
  return {};
}

Result<Mirror::Heard> Mirror::CatchUp() {
  TENON_TRY_VOID(Stop());
  TENON_TRY(const bool ours, TakeLock());
  if (!ours) return Heard::kMore;
  // Asked before the bytes: what a writer that is gone has written is all there then.
  const auto alive = far_.host->IsLocked(copies_[0].far_path);
  if (!alive.ok() && alive.error().kind == ErrorKind::kNotFound) return Heard::kUnknown;
  if (!alive.ok()) return alive.error();
  for (Copy& copy : copies_) {
    copy.pending.clear();
    copy.decoder.Rewind();
    for (;;) {
      auto bytes = far_.host->ReadFrom(copy.far_path, copy.written + copy.pending.size(), kPiece);
      if (!bytes.ok() && bytes.error().kind == ErrorKind::kNotFound) break;
      if (!bytes.ok()) return std::move(bytes).error();
      if (bytes->empty()) break;
      TENON_TRY_VOID(Take(&copy, *bytes));
    }
  }
  return *alive ? Heard::kMore : Heard::kEnded;
}

int64_t Mirror::SilentUs() const { return lock_ ? context_.clock->MonotonicUs() - heard_us_ : 0; }

}  // namespace tenon::engine
