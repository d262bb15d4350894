// SPDX-License-Identifier: Apache-2.0
#include "engine/feed/mirror.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/compress.h"
#include "base/hash.h"
#include "base/regular_file.h"
#include "base/waiting.h"
#include "journal/segments.h"
#include "run/layout.h"
#include "run/segment.h"
#include "transport/agent.h"

namespace tenon::engine {
namespace {

constexpr size_t kPiece = 1u << 20;
// Limit for bytes that are not a whole record yet. Two records need no more.
constexpr size_t kMostPending = 2 * (journal::kMaxPayload + journal::kRecordHeaderSize);
// Wait() returns after this many bytes, so that the caller can report them.
constexpr size_t kAtOnce = 8u << 20;
// What a frame counts at least, so that empty frames reach the limit, too.
constexpr size_t kFrameCost = 1u << 10;
constexpr int64_t kAnswerUs = 60'000'000;
// How long to wait for a runner to exit after it has written the end; saves another request.
constexpr int64_t kGoingUs = 100'000;
constexpr int64_t kCopierEveryUs = 2'000'000;
// How many bytes before the end of a copy the host compares.
constexpr uint64_t kChecked = 4096;
// The first cut takes this much from a copy, each further cut 16 times more.
constexpr uint64_t kFirstCut = 64u << 10;

// A full disk on this machine must not look like a link that may come back.
Error OurDisk(Error error, const std::string& path) {
  error.kind = ErrorKind::kDenied;
  return std::move(error)
      .Wrap("keeping " + path)
      .WithHint(
          "the run goes on; make room on this machine, then watch again with `tenon logs -f`");
}

json::Object FollowRequest(json::Array files, const run::RunFolder& there) {
  return {{"op", "follow"},
          {"files", std::move(files)},
          {"lock", json::EncodeBytes(there.host_segment())},
          {"run_folder", json::EncodeBytes(there.path())}};
}

}  // namespace

Mirror::Mirror(Context& context, Machine& far, const std::string& run_id, OnRecords on_records,
               std::function<void()> on_cut, Ahead* ahead)
    : context_(context),
      run_id_(run_id),
      far_(far),
      on_records_(std::move(on_records)),
      on_cut_(std::move(on_cut)),
      ahead_(ahead),
      heard_us_(context.clock->MonotonicUs()) {
  AddCopy(std::string(run::kHostSegment));
}

Mirror::~Mirror() { EndStream(); }

Mirror::Copy& Mirror::AddCopy(std::string segment) {
  Copy& copy = copies_.emplace_back();
  copy.near_path = run::RunFolder(context_.home, run_id_).segment(segment);
  copy.far_path = run::RunFolder(far_.home(), run_id_).segment(segment);
  copy.segment = std::move(segment);
  return copy;
}

void Mirror::AddKnownCopies() {
  for (std::string& name : journal::FarSegments(run::RunFolder(context_.home, run_id_))) {
    if (std::ranges::find(copies_, name, &Copy::segment) == copies_.end()) AddCopy(std::move(name));
  }
}

Result<bool> Mirror::TakeLock() {
  if (lock_) return true;
  auto taken = FileLock::Take(hosts().near_path, /*wait=*/false);
  if (!taken.ok()) {
    if (taken.error().kind == ErrorKind::kUnavailable) return false;
    return std::move(taken).error();
  }
  AddKnownCopies();
  for (Copy& copy : copies_) TENON_TRY_VOID(OpenCopy(&copy));
  lock_ = std::move(*taken);
  return true;
}

void Mirror::LookAtCopier() {
  const int64_t now = context_.clock->MonotonicUs();
  if (copier_us_ != 0 && now - copier_us_ < kCopierEveryUs) return;
  copier_us_ = now;
  stopped_.reset();
  const auto holder = FindLockHolder(hosts().near_path);
  if (holder && holder->stopped) stopped_ = Stopped{holder->pid, true, ""};
}

// Finds the end of the copy. Cuts off what a killed client left after the last whole record.
Status Mirror::OpenCopy(Copy* copy) {
  copy->fd.Reset();
  copy->decoder = journal::Decoder();
  copy->length = 0;
  copy->pending.clear();
  auto opened = OpenRegular(copy->near_path, O_RDWR | O_NOFOLLOW);
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
  copy->length = copy->decoder.cursor().offset;
  const bool cut = copy->decoder.pending() > 0;
  DropPending(copy);
  // Cuts only if needed: after a cut to length 0 some file systems write the file out when it is
  // closed.
  if (cut && ::ftruncate(copy->fd.get(), static_cast<off_t>(copy->length)) != 0) {
    return FromErrno("cutting " + copy->near_path, errno);
  }
  return {};
}

void Mirror::DropPending(Copy* copy) {
  copy->pending.clear();
  copy->decoder.Rewind();
  copy->length = copy->decoder.cursor().offset;
}

Result<bool> Mirror::Take(Copy* copy, std::string_view bytes) {
  copy->there = true;
  if (bytes.empty()) return false;
  if (!copy->fd.valid()) {
    TENON_TRY(copy->fd, OpenRegular(copy->near_path, O_RDWR | O_CREAT | O_NOFOLLOW, 0600));
  }
  const journal::Cursor before = copy->decoder.cursor();
  copy->decoder.Feed(bytes);
  records_.clear();
  for (;;) {
    TENON_TRY(const auto record, copy->decoder.Next());
    if (!record) break;
    records_.push_back(*record);
  }
  const bool damaged = !copy->decoder.holes().empty();
  copy->decoder.ForgetHoles();
  // Damage that is longer than any record is written as it comes, so that it does not fill memory.
  const bool piles_up = copy->pending.size() + bytes.size() > kMostPending;
  const uint64_t end = piles_up ? copy->length + copy->pending.size() + bytes.size()
                                : std::max(copy->decoder.cursor().offset, copy->length);
  const uint64_t whole = end - copy->length;
  const uint64_t of_pending = std::min<uint64_t>(whole, copy->pending.size());
  const std::string_view first = std::string_view(copy->pending).substr(0, of_pending);
  const std::string_view rest = bytes.substr(0, whole - of_pending);
  auto kept = WriteAllAt(copy->fd.get(), first, copy->length);
  if (kept.ok()) kept = WriteAllAt(copy->fd.get(), rest, copy->length + of_pending);
  if (!kept.ok()) return OurDisk(std::move(kept).error(), copy->near_path);
  copy->length += whole;
  copy->pending.erase(0, of_pending);
  copy->pending.append(bytes.substr(rest.size()));
  if (on_records_ && !damaged && !records_.empty()) {
    TENON_TRY_VOID(on_records_(copy->segment, before, records_, copy->decoder.cursor()));
  }
  return whole > 0;
}

// A frame may hold millions of records; this looks at a piece at a time.
Result<bool> Mirror::TakeInPieces(Copy* copy, std::string_view bytes) {
  bool grew = false;
  do {
    TENON_TRY(const bool more, Take(copy, bytes.substr(0, kPiece)));
    grew = grew || more;
    bytes.remove_prefix(std::min(kPiece, bytes.size()));
  } while (!bytes.empty());
  return grew;
}

json::Object Mirror::AheadRequest(const run::Home& far_home, const Ahead& ahead) {
  const run::RunFolder folder(far_home, ahead.run_id);
  json::Array files;
  files.push_back(json::Object{{"path", json::EncodeBytes(folder.host_segment())}, {"offset", 0}});
  json::Object request = FollowRequest(std::move(files), folder);
  request["id"] = ahead.stream;
  request["just_begun"] = true;
  return request;
}

// A stream that was requested together with the start begins at the run's beginning, so it fits
// only if nothing is copied yet.
bool Mirror::TakeAhead() {
  if (ahead_ == nullptr || ahead_->run_id != run_id_) return false;
  const int64_t stream = std::exchange(*ahead_, Ahead()).stream;
  const bool fresh = lock_ && copies_.size() == 1 && hosts().length == 0;
  if (fresh) {
    stream_ = stream;
  } else {
    link().EndStream(stream);
  }
  return fresh;
}

Status Mirror::BeginFollowing() {
  writer_alive_.reset();
  if (TakeAhead()) return {};
  json::Array files;
  for (Copy& copy : copies_) {
    // A record that was half here when the link broke is requested again.
    DropPending(&copy);
    json::Object file{{"path", json::EncodeBytes(copy.far_path)}, {"offset", copy.length}};
    if (copy.length > 0) {
      std::string last(std::min(copy.length, kChecked), '\0');
      TENON_TRY(const size_t got, ReadAt(copy.fd.get(), last, copy.length - last.size()));
      file["checked"] = got;
      file["crc"] = Crc32c(std::string_view(last).substr(0, got));
    }
    files.push_back(std::move(file));
  }
  json::Object request = FollowRequest(std::move(files), run::RunFolder(far_.home(), run_id_));
  stream_ = link().NewStream();
  request["id"] = stream_;
  auto sent = link().Send(request, {});
  if (!sent.ok()) EndStream();
  return sent;
}

Status Mirror::CutBack(Copy* copy) {
  TENON_EXPECT_PEER(copy->length > 0, "the host says of a copy without a byte that it differs");
  const uint64_t back = kFirstCut << std::min(4 * copy->cuts++, 32);
  const uint64_t keep = copy->length - std::min(copy->length, back);
  if (::ftruncate(copy->fd.get(), static_cast<off_t>(keep)) != 0) {
    return FromErrno("cutting " + copy->near_path, errno);
  }
  TENON_TRY_VOID(OpenCopy(copy));
  if (on_cut_) on_cut_();
  begin_anew_ = true;
  return {};
}

// Adds a segment that has appeared on the host.
Status Mirror::AddTold(const Frame& frame) {
  const std::string name = json::GetString(frame.head, "segment");
  const auto index = static_cast<size_t>(json::GetInt(frame.head, "file"));
  TENON_EXPECT_PEER(run::IsFarSegment(name) && index == copies_.size() &&
                        index < run::kMostFarSegments &&
                        std::ranges::find(copies_, name, &Copy::segment) == copies_.end(),
                    "the host names a segment that it can't have");
  return OpenCopy(&AddCopy(name));
}

Result<bool> Mirror::TakeFrame(const Frame& frame) {
  heard_us_ = context_.clock->MonotonicUs();
  if (frame.head.contains("locked")) {
    writer_alive_ = json::GetBool(frame.head, "locked");
    const int64_t pid = json::GetInt(frame.head, "stopped");
    stopped_.reset();
    if (pid > 0 && pid <= INT32_MAX) {
      stopped_ = Stopped{static_cast<pid_t>(pid), false, far_.host().Describe()};
    }
  }
  if (!frame.head.contains("file")) {
    if (frame.head.contains("ok") && !json::GetBool(frame.head, "ok")) {
      return transport::AnswerError(frame.head);
    }
    return false;
  }
  if (frame.head.contains("segment")) {
    TENON_TRY_VOID(AddTold(frame));
    return false;
  }
  const auto index = static_cast<size_t>(json::GetInt(frame.head, "file"));
  TENON_EXPECT_PEER(index < copies_.size(), "the host sends a file that nobody asked for");
  Copy& copy = copies_[index];
  if (json::GetBool(frame.head, "differs")) {
    TENON_TRY_VOID(CutBack(&copy));
    return false;
  }
  const auto offset = static_cast<uint64_t>(json::GetInt(frame.head, "offset"));
  TENON_EXPECT_PEER(offset == copy.length + copy.pending.size(),
                    "the host sends another part of the journal than was asked for");
  if (!json::GetBool(frame.head, "zstd")) return TakeInPieces(&copy, frame.body);
  TENON_TRY(const std::string bytes, Decompress(frame.body, kMaxFrameBody));
  return TakeInPieces(&copy, bytes);
}

Result<Mirror::Heard> Mirror::Wait(int64_t timeout_us) {
  TENON_TRY(const bool ours, TakeLock());
  waited_ = true;
  if (!ours) {
    // Another process of ours copies, so this one only watches the copies.
    (void)TakeAhead();
    std::vector<transport::KnownLength> known;
    AddKnownCopies();
    for (const Copy& copy : copies_) {
      struct stat st {};
      if (::stat(copy.near_path.c_str(), &st) == 0) {
        known.push_back({copy.near_path, static_cast<uint64_t>(st.st_size)});
      }
    }
    TENON_TRY(const bool grew, context_.host->WaitForGrowth(known, timeout_us));
    LookAtCopier();
    heard_us_ = context_.clock->MonotonicUs();
    return grew ? Heard::kMore : Heard::kNothing;
  }
  auto waited = [&]() -> Result<Heard> {
    if (stream_ == 0) TENON_TRY_VOID(BeginFollowing());
    const int64_t deadline = context_.clock->MonotonicUs() + timeout_us;
    size_t taken = 0;
    bool grew = false;
    while (taken < kAtOnce) {
      const int64_t left = std::max<int64_t>(deadline - context_.clock->MonotonicUs(), 0);
      TENON_TRY(const auto frame, link().NextOf(stream_, grew ? 0 : left));
      if (!frame) break;
      taken += frame->body.size() + kFrameCost;
      TENON_TRY(const bool more, TakeFrame(*frame));
      grew = grew || more;
      if (begin_anew_ || (writer_alive_ && !grew)) break;
    }
    if (begin_anew_) {
      EndStream();
      begin_anew_ = false;
      writer_alive_.reset();  // it belonged to the stream that has ended
      return Heard::kMore;
    }
    if (grew) return Heard::kMore;
    if (writer_alive_ == false) {
      return Known() ? Heard::kEnded : Heard::kUnknown;
    }
    return Heard::kNothing;
  }();
  // After any error, also one of our own disk.
  if (!waited.ok()) EndStream();
  return waited;
}

void Mirror::EndStream() {
  if (stream_ != 0) link().EndStream(std::exchange(stream_, 0));
}

int Mirror::fd() const { return lock_ ? link().fd() : context_.host->growth_fd(); }

Result<Mirror::Heard> Mirror::CatchUp() {
  EndStream();
  TENON_TRY(const bool ours, TakeLock());
  if (!ours) {
    LookAtCopier();
    return Heard::kMore;
  }
  writer_alive_.reset();
  // The host reports the lock's state after the bytes that existed when it looked at the lock.
  Heard heard = Heard::kNothing;
  while (!writer_alive_) {
    TENON_TRY(heard, Wait(kAnswerUs));
    if (heard == Heard::kNothing && !writer_alive_) {
      return Unavailable(far_.host().Describe() + " does not answer");
    }
  }
  EndStream();
  if (*writer_alive_) return Heard::kMore;
  return Known() ? Heard::kEnded : Heard::kUnknown;
}

Result<bool> Mirror::TakeRest() {
  TENON_TRY(const bool ours, TakeLock());
  if (!ours) return IsWhole();
  // The host reports that a writer has ended after the writer's last bytes.
  const int64_t deadline = context_.clock->MonotonicUs() + kGoingUs;
  while (stream_ != 0 && writer_alive_ != false) {
    const int64_t left = deadline - context_.clock->MonotonicUs();
    if (left <= 0) break;
    TENON_TRY_VOID(Wait(left));
  }
  // CatchUp() is enough, too: the end was written last, so everything else existed when the host
  // was asked.
  if (stream_ == 0 || writer_alive_ != false) TENON_TRY_VOID(CatchUp());
  return true;
}

Result<bool> Mirror::IsWhole() {
  if (lock_) return true;
  AddKnownCopies();
  const run::RunFolder folder(far_.home(), run_id_);
  TENON_TRY_VOID(
      link().Send({{"op", "segments"}, {"run_folder", json::EncodeBytes(folder.path())}}, {}));
  TENON_TRY(const Frame told, link().Receive(kAnswerUs));
  if (!json::GetBool(told.head, "ok")) return transport::AnswerError(told.head);
  if (json::GetInt(told.head, "count") > static_cast<int64_t>(copies_.size())) return false;
  for (const Copy& copy : copies_) {
    struct stat st {};
    const bool there = ::stat(copy.near_path.c_str(), &st) == 0;
    const auto more = far_.host().ReadFrom(copy.far_path, there ? st.st_size : 0, 1);
    if (!more.ok() && more.error().kind != ErrorKind::kNotFound) return more.error();
    if (more.ok() && !more->empty()) return false;
  }
  return true;
}

int64_t Mirror::SilentUs() const { return lock_ ? context_.clock->MonotonicUs() - heard_us_ : 0; }

}  // namespace tenon::engine
