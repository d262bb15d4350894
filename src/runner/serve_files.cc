// SPDX-License-Identifier: Apache-2.0
#include "runner/serve_files.h"

#include <fcntl.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/compress.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/regular_file.h"
#include "base/waiting.h"
#include "journal/segments.h"
#include "run/layout.h"
#include "run/segment.h"

namespace tenon::runner {
namespace {

constexpr int64_t kLookEveryUs = 250'000;
constexpr int64_t kSilenceUs = 5'000'000;
constexpr int64_t kHolderEveryUs = 2'000'000;
constexpr size_t kPiece = 1u << 20;
// A link that takes in less is helped by compression; a faster one would wait for it.
constexpr int64_t kSlowBytesPerUs = 50;
// Pieces that a slow link gets compressed before it is looked at again.
constexpr int kSlowPieces = 64;
constexpr int64_t kMaxMode = 07777;
constexpr int64_t kMaxChecked = 64 << 10;
// A read that brings less than this need not be told of the file's end.
constexpr size_t kMaxFollowed = 1024;

int64_t Now() { return SystemClock().MonotonicUs(); }

Result<std::string> PathOf(const json::Object& object, std::string_view key = "path") {
  std::string path = json::DecodeBytes(json::GetString(object, key));
  if (path.empty() || path[0] != '/' || path.find('\0') != std::string::npos) {
    return Invalid("reading the request: " + std::string(key) + " must be an absolute path");
  }
  return path;
}

struct NamedFile {
  std::string path;
  uint64_t position = 0;
  // CRC-32C of so many bytes before the position, as the client has them. 0: not to be checked.
  uint64_t checked = 0;
  uint32_t crc = 0;
};

Result<std::vector<NamedFile>> FilesOf(const json::Object& request, std::string_view position) {
  std::vector<NamedFile> files;
  const json::Array* list = json::GetArray(request, "files");
  if (list == nullptr || list->empty() || list->size() > kMaxFollowed) {
    return Invalid("reading the request: it names no files, or too many");
  }
  for (const json::Value& value : *list) {
    if (!value.is_object()) return Invalid("reading the request: files has what is no object");
    NamedFile file;
    TENON_TRY(file.path, PathOf(value.get_object()));
    const int64_t at = json::GetInt(value.get_object(), position);
    if (at < 0) return Invalid("reading the request: a length below nothing");
    file.position = static_cast<uint64_t>(at);
    const int64_t checked = json::GetInt(value.get_object(), "checked");
    if (checked < 0 || checked > std::min<int64_t>(at, kMaxChecked)) {
      return Invalid("reading the request: more is to be checked than there is");
    }
    file.checked = static_cast<uint64_t>(checked);
    file.crc = static_cast<uint32_t>(json::GetInt(value.get_object(), "crc"));
    files.push_back(std::move(file));
  }
  return files;
}

Result<bool> HasGrown(const std::vector<NamedFile>& files, std::vector<ino_t>* inodes) {
  size_t missing = 0;
  for (size_t i = 0; i < files.size(); ++i) {
    struct stat now {};
    ino_t& first = (*inodes)[i];
    if (::stat(files[i].path.c_str(), &now) != 0) {
      if (errno != ENOENT) return FromErrno("watching " + files[i].path, errno);
      if (first != 0) return true;
      ++missing;
      continue;
    }
    if (first == 0) first = now.st_ino;
    if (static_cast<uint64_t>(now.st_size) > files[i].position || now.st_ino != first) return true;
  }
  if (missing == files.size()) return FromErrno("watching " + files[0].path, ENOENT);
  return false;
}

// One `follow`, from its beginning to the next request.
class Following {
 public:
  // `run_folder`: whose further segments are followed as they appear; "" = none.
  Following(ServeLink& link, FileWatch& watch, const std::vector<NamedFile>& files,
            std::string lock, std::string run_folder, bool just_begun)
      : link_(link),
        watch_(watch),
        lock_(std::move(lock)),
        run_folder_(std::move(run_folder)),
        holder_us_(just_begun ? Now() : INT64_MIN / 2) {
    for (const NamedFile& file : files) {
      files_.emplace_back().named = file;
      files_.back().sent = file.position;
    }
  }

  Status Run() {
    for (const File& file : files_) watch_.Add(file.named.path);
    if (!lock_.empty()) watch_.Add(lock_);
    if (!run_folder_.path().empty()) watch_.AddFolder(run_folder_.path());
    last_sent_us_ = Now();
    for (FileWatch::Told told{true, true};;) {
      // The lock is looked at first: if nobody holds it, what is there now is all there will be.
      // What comes after this look is left for the next one, or one who writes fast would keep us
      // from ever telling.
      const std::optional<bool> held = LookAtLock(told.closed);
      TENON_TRY_VOID(LookForSegments(told.appeared || held == false));
      for (size_t i = 0; i < files_.size(); ++i) TENON_TRY_VOID(LookAt(i));
      TENON_TRY(const bool interrupted, SendNews());
      if (interrupted) return {};
      if (held) LookAtHolder(*held);
      if (held && (held != told_held_ || stopped_ != told_stopped_)) {
        told_held_ = held;
        told_stopped_ = stopped_;
        TENON_TRY_VOID(Send({{"locked", *held}, {"stopped", static_cast<int64_t>(stopped_)}}));
      }
      if (Now() - last_sent_us_ >= kSilenceUs) TENON_TRY_VOID(Send({{"alive", true}}));
      const int64_t wait = std::min(kLookEveryUs, last_sent_us_ + kSilenceUs - Now());
      TENON_TRY(const bool request,
                link_.WaitForRequest(std::exchange(sent_some_, false) ? 0 : wait, watch_.fd()));
      if (request) return {};
      told = watch_.TakeEvents();
    }
  }

 private:
  struct File {
    NamedFile named;
    uint64_t sent = 0;
    uint64_t size = 0;  // at the last look
    UniqueFd fd;
    ino_t inode = 0;
    bool there = false;
    bool differs = false;  // from what the client has; it was told, and asks again
    PieceCompressor compressor;
  };

  Status Send(const json::Object& head) {
    last_sent_us_ = Now();
    return link_.Send(head);
  }

  // nullopt: not known, or not the time to look.
  std::optional<bool> LookAtLock(bool closed) {
    if (lock_.empty()) return std::nullopt;
    if (!closed && Now() - looked_us_ < kLookEveryUs) return std::nullopt;
    looked_us_ = Now();
    auto locked = IsLockedByOther(lock_);
    if (locked.ok()) return *locked;
    // Nobody holds what is not there.
    if (locked.error().kind == ErrorKind::kNotFound) return false;
    return std::nullopt;
  }

  // Tells of segments that were not there before.
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

  // A writer that is stopped is told of: nothing comes from it until somebody lets it go on. One
  // that has just begun is not: to tell who holds a lock may take the kernel ten milliseconds.
  void LookAtHolder(bool held) {
    if (!held) stopped_ = 0;
    if (!held || Now() - holder_us_ < kHolderEveryUs) return;
    holder_us_ = Now();
    const auto holder = FindLockHolder(lock_);
    stopped_ = holder && holder->stopped ? holder->pid : 0;
  }

  // Opens what has appeared or was replaced, tells of what has gone or is not what the client has.
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
      watch_.Add(file.named.path);
      if (!IsAsTheClientHasIt(file)) {
        file.differs = true;
        return Send({{"file", index}, {"differs", true}});
      }
    }
    file.size = file.differs ? 0 : static_cast<uint64_t>(now.st_size);
    return {};
  }

  // After a power cut a file may have lost an end that the client got, and have another one now.
  static bool IsAsTheClientHasIt(const File& file) {
    if (file.named.checked == 0) return true;
    std::string before(file.named.checked, '\0');
    const auto got = ReadAt(file.fd.get(), before, file.named.position - file.named.checked);
    if (!got.ok()) return true;  // not known; who reads on will be told
    return *got == before.size() && Crc32c(before) == file.named.crc;
  }

  // True: a request came meanwhile.
  Result<bool> SendNews() {
    for (size_t i = 0; i < files_.size(); ++i) {
      while (files_[i].there && files_[i].sent < files_[i].size) {
        TENON_TRY_VOID(SendPiece(i, files_[i]));
        TENON_TRY(const bool request, link_.WaitForRequest(0));
        if (request) return true;
      }
    }
    return false;
  }

  Status SendPiece(size_t index, File& file) {
    const size_t length = std::min<uint64_t>(file.size - file.sent, kPiece);
    json::Object head{{"file", index}, {"offset", file.sent}};
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

  // nullopt: better as it is.
  Result<std::optional<std::string>> Compressed(File& file, size_t length) {
    if (slow_pieces_ == 0) return std::optional<std::string>();
    --slow_pieces_;
    piece_.resize(length);
    TENON_TRY(const size_t got, ReadAt(file.fd.get(), piece_, file.sent));
    if (got < length) return std::optional<std::string>();
    return file.compressor.Try(piece_);
  }

  ServeLink& link_;
  FileWatch& watch_;
  const std::string lock_;
  const run::RunFolder run_folder_;
  std::vector<File> files_;
  std::string piece_;
  int slow_pieces_ = 0;
  bool sent_some_ = false;  // since the last look
  std::optional<bool> told_held_;
  pid_t stopped_ = 0, told_stopped_ = 0;
  int64_t holder_us_;  // when LookAtHolder() last looked
  int64_t last_sent_us_ = 0, looked_us_ = 0, listed_us_ = 0;
};

}  // namespace

// --- FileWatch ---

void FileWatch::Add(const std::string& path) {
  if (!AddWatch(path, IN_MODIFY | IN_CLOSE_WRITE | IN_MOVE_SELF | IN_DELETE_SELF)) {
    AddFolder(DirName(path));
  }
}

void FileWatch::AddFolder(const std::string& path) {
  (void)AddWatch(path, IN_CREATE | IN_MOVED_TO);
}

bool FileWatch::AddWatch(const std::string& path, uint32_t events) {
  if (!std::exchange(tried_, true)) inotify_.Reset(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
  if (!inotify_.valid()) return true;
  const int watch = ::inotify_add_watch(inotify_.get(), path.c_str(), events);
  if (watch >= 0) watches_.insert(watch);
  return watch >= 0;
}

void FileWatch::Clear() {
  for (const int watch : watches_) ::inotify_rm_watch(inotify_.get(), watch);
  watches_.clear();
  if (inotify_.valid()) (void)TakeEvents();
}

FileWatch::Told FileWatch::TakeEvents() {
  Told told;
  if (!inotify_.valid()) return told;
  alignas(inotify_event) char events[4096];
  for (;;) {
    const ssize_t count = ::read(inotify_.get(), events, sizeof events);
    if (count <= 0) return told;
    for (ssize_t at = 0; at < count;) {
      const auto* event = reinterpret_cast<const inotify_event*>(events + at);
      told.closed |= (event->mask & (IN_CLOSE_WRITE | IN_DELETE_SELF | IN_MOVE_SELF)) != 0;
      told.appeared |= (event->mask & (IN_CREATE | IN_MOVED_TO)) != 0;
      at += static_cast<ssize_t>(sizeof *event + event->len);
    }
  }
}

// --- ServeFiles ---

Status ServeFiles::Put(const json::Object& request, const std::string& body) {
  const auto put = [&]() -> Status {
    TENON_TRY(const std::string path, PathOf(request));
    const int64_t mode = json::GetInt(request, "mode", 0600);
    if (mode < 0 || mode > kMaxMode) return Invalid("reading the request: mode is none");
    TENON_TRY_VOID(MakeDirs(DirName(path)));
    return WriteFileAtomically(path, body, static_cast<mode_t>(mode), Durability::kPowerLoss);
  };
  Status done = put();
  return done.ok() ? link_.Ok() : link_.Fail(done.error());
}

Status ServeFiles::Read(const json::Object& request) {
  const auto read = [&]() -> Result<std::string> {
    TENON_TRY(const std::string path, PathOf(request));
    const int64_t offset = json::GetInt(request, "offset"), max = json::GetInt(request, "max");
    if (offset < 0 || max < 0) return Invalid("reading the request: a length below nothing");
    TENON_TRY(const UniqueFd fd, OpenFile(path, O_RDONLY | O_NONBLOCK | O_NOCTTY));
    struct stat info {};
    if (::fstat(fd.get(), &info) != 0) return FromErrno("reading " + path, errno);
    const int64_t there = std::max<int64_t>(info.st_size - offset, 0);
    std::string bytes(static_cast<size_t>(std::min({max, there, int64_t{kMaxFrameBody}})), '\0');
    TENON_TRY(const size_t count, ReadAt(fd.get(), bytes, static_cast<uint64_t>(offset)));
    bytes.resize(count);
    return bytes;
  };
  auto bytes = read();
  if (!bytes.ok()) return link_.Fail(bytes.error());
  return link_.Send({{"ok", true}}, *bytes);
}

Status ServeFiles::Locked(const json::Object& request) {
  const auto look = [&]() -> Result<bool> {
    TENON_TRY(const std::string path, PathOf(request));
    return IsLockedByOther(path);
  };
  auto locked = look();
  if (!locked.ok()) return link_.Fail(locked.error());
  return link_.Send({{"ok", true}, {"locked", *locked}});
}

Status ServeFiles::Wait(const json::Object& request) {
  auto files = FilesOf(request, "size");
  if (!files.ok()) return link_.Fail(files.error());
  const int64_t deadline_us =
      Now() + std::clamp<int64_t>(json::GetInt(request, "timeout_us"), 0, int64_t{1} << 50);
  std::vector<ino_t> inodes(files->size(), 0);
  for (const NamedFile& file : *files) watch_.Add(file.path);
  for (;;) {
    auto grown = HasGrown(*files, &inodes);
    const int64_t left = deadline_us - Now();
    if (!grown.ok() || *grown || left <= 0) {
      watch_.Clear();
      if (!grown.ok()) return link_.Fail(grown.error());
      return link_.Send({{"ok", true}, {"grew", *grown}});
    }
    // A client that goes, or wants something else, does not wait any longer.
    TENON_TRY(const bool request_came,
              link_.WaitForRequest(std::min(left, kLookEveryUs), watch_.fd()));
    if (request_came) {
      watch_.Clear();
      return link_.Send({{"ok", true}, {"grew", false}});
    }
    (void)watch_.TakeEvents();
  }
}

Status ServeFiles::Follow(const json::Object& request) {
  auto files = FilesOf(request, "offset");
  if (!files.ok()) return link_.Fail(files.error());
  std::string lock, run_folder;
  for (const auto& [key, into] : {std::pair{"lock", &lock}, std::pair{"run_folder", &run_folder}}) {
    if (json::GetString(request, key).empty()) continue;
    auto path = PathOf(request, key);
    if (!path.ok()) return link_.Fail(path.error());
    *into = std::move(*path);
  }
  const bool just_begun = json::GetBool(request, "just_begun");
  Status followed =
      Following(link_, watch_, *files, std::move(lock), std::move(run_folder), just_begun).Run();
  watch_.Clear();
  if (!followed.ok()) return followed;
  return link_.Send({{"ok", true}, {"end", true}});
}

Status ServeFiles::Segments(const json::Object& request) {
  auto path = PathOf(request, "run_folder");
  if (!path.ok()) return link_.Fail(path.error());
  const size_t count = journal::FarSegments(run::RunFolder(std::move(*path))).size();
  return link_.Send({{"ok", true}, {"count", count}});
}

}  // namespace tenon::runner
