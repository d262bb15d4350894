// SPDX-License-Identifier: Apache-2.0
#include "runner/agent/serve_follow.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/compress.h"
#include "base/fd.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/regular_file.h"
#include "base/waiting.h"
#include "journal/segments.h"
#include "run/layout.h"
#include "run/segment.h"
#include "runner/agent/named_files.h"

namespace tenon::runner {
namespace {

constexpr int64_t kLookEveryUs = 250'000;
constexpr int64_t kSilenceUs = 5'000'000;
constexpr int64_t kHolderEveryUs = 2'000'000;
constexpr size_t kPiece = 1u << 20;
// Compression helps a link that takes in less than this. A faster link would wait for it.
constexpr int64_t kSlowBytesPerUs = 50;
// How many pieces a slow link gets compressed before its speed is measured again.
constexpr int kSlowPieces = 64;
constexpr size_t kMostStreams = 64;

int64_t Now() { return SystemClock().MonotonicUs(); }

}  // namespace

// One stream. It looks at the files, sends piece by piece what the look has found, tells what may
// only be told after that, and looks again.
class ServeFollows::Stream {
 public:
  // `run_folder`: the run whose further segments are followed as they appear; "": none.
  Stream(ServeLink& link, int64_t id, std::unique_ptr<FileWatch> watch,
         const std::vector<NamedFile>& files, std::string lock, std::string run_folder,
         bool just_begun)
      : link_(link),
        id_(id),
        watch_(std::move(watch)),
        lock_(std::move(lock)),
        run_folder_(std::move(run_folder)),
        holder_us_(just_begun ? Now() : INT64_MIN / 2) {
    for (const NamedFile& file : files) {
      files_.emplace_back().named = file;
      files_.back().sent = file.position;
      watch_->Add(file.path);
    }
    if (!lock_.empty()) watch_->Add(lock_);
    if (!run_folder_.path().empty()) watch_->AddFolder(run_folder_.path());
    last_sent_us_ = Now();
  }

  // Sends one piece of what the last look has found. If all of that is sent, looks first.
  Status Step() {
    if (!std::exchange(sending_, true)) TENON_TRY_VOID(Look());
    TENON_TRY(sending_, SendPiece());
    return sending_ ? Status() : SayAfterwards();
  }
  // When the next step is due even if the watch tells nothing.
  int64_t due_us() const { return sending_ ? 0 : due_us_; }
  int watch_fd() const { return watch_->fd(); }
  // Ends the stream and returns its watch.
  std::unique_ptr<FileWatch> GiveWatch() {
    watch_->Clear();
    return std::move(watch_);
  }

 private:
  struct File {
    NamedFile named;
    uint64_t sent = 0;
    uint64_t size = 0;  // at the last look
    UniqueFd fd;
    ino_t inode = 0;
    bool there = false;
    bool differs = false;  // from what the client has; the client was told
    PieceCompressor compressor;
  };

  // Looks at the lock first: if nobody holds it, the files now have all that they will ever have.
  // Bytes that come after this look are left for the next one. Otherwise a fast writer would keep
  // the stream from ever telling about the lock.
  Status Look() {
    FileWatch::Told told = watch_->TakeEvents();
    if (std::exchange(first_, false)) told = {true, true};
    held_ = LookAtLock(told.closed);
    TENON_TRY_VOID(LookForSegments(told.appeared || held_ == false));
    for (size_t i = 0; i < files_.size(); ++i) TENON_TRY_VOID(LookAt(i));
    return {};
  }

  Status SayAfterwards() {
    if (held_) LookAtHolder(*held_);
    if (held_ && (held_ != told_held_ || stopped_ != told_stopped_)) {
      told_held_ = held_;
      told_stopped_ = stopped_;
      TENON_TRY_VOID(Send({{"locked", *held_}, {"stopped", static_cast<int64_t>(stopped_)}}));
    }
    if (Now() - last_sent_us_ >= kSilenceUs) TENON_TRY_VOID(Send({{"alive", true}}));
    const bool sent_some = std::exchange(sent_some_, false);
    due_us_ = sent_some ? 0 : std::min(Now() + kLookEveryUs, last_sent_us_ + kSilenceUs);
    return {};
  }

  Status Send(json::Object head) {
    last_sent_us_ = Now();
    head["id"] = id_;
    return link_.Send(head);
  }

  // Whether somebody holds the lock. nullopt: not known, or not yet the time to look.
  std::optional<bool> LookAtLock(bool closed) {
    if (lock_.empty()) return std::nullopt;
    if (!closed && Now() - looked_us_ < kLookEveryUs) return std::nullopt;
    looked_us_ = Now();
    auto locked = IsLockedByOther(lock_);
    if (locked.ok()) return *locked;
    // Nobody holds a file that does not exist.
    if (locked.error().kind == ErrorKind::kNotFound) return false;
    return std::nullopt;
  }

  // Tells the client of new segments, which the stream follows from now on.
  Status LookForSegments(bool now) {
    if (run_folder_.path().empty()) return {};
    if (!now && Now() - listed_us_ < kLookEveryUs) return {};
    listed_us_ = Now();
    for (const std::string& name : journal::FarSegments(run_folder_)) {
      const std::string path = run_folder_.segment(name);
      const bool known =
          std::ranges::any_of(files_, [&](const File& file) { return file.named.path == path; });
      if (known || files_.size() >= run::kMostFarSegments) continue;
      TENON_TRY_VOID(Send({{"file", files_.size()}, {"segment", name}}));
      files_.emplace_back().named.path = path;
    }
    return {};
  }

  // Looks whether the writer is stopped, because then nothing comes until somebody lets it go on.
  // Does not look at once when the run has just begun: the kernel may take ten milliseconds to say
  // who holds a lock.
  void LookAtHolder(bool held) {
    if (!held) stopped_ = 0;
    if (!held || Now() - holder_us_ < kHolderEveryUs) return;
    holder_us_ = Now();
    const auto holder = FindLockHolder(lock_);
    stopped_ = holder && holder->stopped ? holder->pid : 0;
  }

  // Opens a file that has appeared or was replaced. Tells the client of a file that is gone, or
  // that differs from what the client has.
  Status LookAt(size_t index) {
    File& file = files_[index];
    struct stat now {};
    if (::stat(file.named.path.c_str(), &now) != 0) {
      if (!std::exchange(file.there, false)) return {};
      file.fd.Reset();
      return Send({{"missing", index}});
    }
    if (!file.there || now.st_ino != file.inode) {
      auto opened = OpenRegular(file.named.path, O_RDONLY);
      if (!opened.ok()) return {};
      file.fd = std::move(*opened);
      if (::fstat(file.fd.get(), &now) != 0) return FromErrno("reading " + file.named.path, errno);
      file.inode = now.st_ino;
      file.there = true;
      watch_->Add(file.named.path);
      if (!IsAsTheClientHasIt(file)) {
        file.differs = true;
        return Send({{"file", index}, {"differs", true}});
      }
    }
    file.size = file.differs ? 0 : static_cast<uint64_t>(now.st_size);
    return {};
  }

  // After a power cut a file may have lost an end that the client has, and may have another end
  // now.
  static bool IsAsTheClientHasIt(const File& file) {
    if (file.named.checked == 0) return true;
    std::string before(file.named.checked, '\0');
    const auto got = ReadAt(file.fd.get(), before, file.named.position - file.named.checked);
    if (!got.ok()) return true;  // not known; reading on will fail, too
    return *got == before.size() && Crc32c(before) == file.named.crc;
  }

  // False: everything that the last look has found is sent.
  Result<bool> SendPiece() {
    for (size_t i = 0; i < files_.size(); ++i) {
      if (!files_[i].there || files_[i].sent >= files_[i].size) continue;
      TENON_TRY_VOID(SendPieceOf(i, files_[i]));
      return true;
    }
    return false;
  }

  Status SendPieceOf(size_t index, File& file) {
    const size_t length = std::min<uint64_t>(file.size - file.sent, kPiece);
    json::Object head{{"id", id_}, {"file", index}, {"offset", file.sent}};
    TENON_TRY(const auto compressed, Compressed(file, length));
    if (compressed) {
      head["zstd"] = true;
      TENON_TRY_VOID(link_.Send(head, *compressed));
    } else {
      const int64_t began_us = Now();
      TENON_TRY_VOID(link_.SendFromFile(head, file.fd.get(), file.sent, length));
      const int64_t took_us = Now() - began_us;
      if (static_cast<int64_t>(length) < took_us * kSlowBytesPerUs) slow_pieces_ = kSlowPieces;
    }
    file.sent += length;
    last_sent_us_ = Now();
    sent_some_ = true;
    return {};
  }

  // nullopt: the piece is better sent as it is.
  Result<std::optional<std::string>> Compressed(File& file, size_t length) {
    if (slow_pieces_ == 0) return std::optional<std::string>();
    --slow_pieces_;
    piece_.resize(length);
    TENON_TRY(const size_t got, ReadAt(file.fd.get(), piece_, file.sent));
    if (got < length) return std::optional<std::string>();
    return file.compressor.Try(piece_);
  }

  ServeLink& link_;
  const int64_t id_;
  std::unique_ptr<FileWatch> watch_;
  const std::string lock_;
  const run::RunFolder run_folder_;
  std::vector<File> files_;
  std::string piece_;
  int slow_pieces_ = 0;
  bool first_ = true;       // no look yet
  bool sending_ = false;    // not all of what the last look found is sent
  bool sent_some_ = false;  // since the last look
  std::optional<bool> held_;
  int64_t due_us_ = 0;
  std::optional<bool> told_held_;
  pid_t stopped_ = 0, told_stopped_ = 0;
  int64_t holder_us_;  // when LookAtHolder() last looked
  int64_t last_sent_us_ = 0, looked_us_ = 0, listed_us_ = 0;
};

ServeFollows::ServeFollows(ServeLink& link) : link_(link) {}
ServeFollows::~ServeFollows() = default;

Status ServeFollows::Begin(const json::Object& request) {
  const int64_t id = json::GetInt(request, "id");
  if (id <= 0 || streams_.contains(id) || streams_.size() >= kMostStreams) {
    return link_.Fail(Invalid(streams_.size() < kMostStreams
                                  ? "reading the request: a stream needs a number of its own"
                                  : "too many files are followed at once"));
  }
  auto files = FilesOf(request, "offset");
  if (!files.ok()) return link_.Fail(files.error());
  std::string lock, run_folder;
  for (const auto& [key, into] : {std::pair{"lock", &lock}, std::pair{"run_folder", &run_folder}}) {
    if (json::GetString(request, key).empty()) continue;
    auto path = PathOf(request, key);
    if (!path.ok()) return link_.Fail(path.error());
    *into = std::move(*path);
  }
  auto watch = std::make_unique<FileWatch>();
  if (!spare_watches_.empty()) {
    watch = std::move(spare_watches_.back());
    spare_watches_.pop_back();
  }
  streams_[id] =
      std::make_unique<Stream>(link_, id, std::move(watch), *files, std::move(lock),
                               std::move(run_folder), json::GetBool(request, "just_begun"));
  return {};
}

void ServeFollows::End(int64_t id) {
  const auto stream = streams_.find(id);
  if (stream == streams_.end()) return;
  spare_watches_.push_back(stream->second->GiveWatch());
  streams_.erase(stream);
}

Status ServeFollows::UntilRequest() {
  std::vector<int> watches;
  while (!streams_.empty()) {
    watches.clear();
    int64_t due_us = INT64_MAX;
    for (const auto& [id, stream] : streams_) {
      TENON_TRY_VOID(stream->Step());
      due_us = std::min(due_us, stream->due_us());
      watches.push_back(stream->watch_fd());
    }
    TENON_TRY(const bool request,
              link_.WaitForRequest(std::max<int64_t>(due_us - Now(), 0), watches));
    if (request) return {};
  }
  return {};
}

}  // namespace tenon::runner
