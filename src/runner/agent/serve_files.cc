// SPDX-License-Identifier: Apache-2.0
#include "runner/agent/serve_files.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/file.h"
#include "base/waiting.h"
#include "journal/segments.h"
#include "run/layout.h"
#include "runner/agent/named_files.h"

namespace tenon::runner {
namespace {

constexpr int64_t kLookEveryUs = 250'000;
constexpr int64_t kMaxMode = 07777;

int64_t Now() { return SystemClock().MonotonicUs(); }

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

}  // namespace

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
    // The wait ends when the client goes or sends another request.
    TENON_TRY(const bool request_came,
              link_.WaitForRequest(std::min(left, kLookEveryUs), {{watch_.fd()}}));
    if (request_came) {
      watch_.Clear();
      return link_.Send({{"ok", true}, {"grew", false}});
    }
    (void)watch_.TakeEvents();
  }
}

Status ServeFiles::Segments(const json::Object& request) {
  auto path = PathOf(request, "run_folder");
  if (!path.ok()) return link_.Fail(path.error());
  const size_t count = journal::FarSegments(run::RunFolder(std::move(*path))).size();
  return link_.Send({{"ok", true}, {"count", count}});
}

}  // namespace tenon::runner
