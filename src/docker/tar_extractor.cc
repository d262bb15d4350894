// SPDX-License-Identifier: Apache-2.0
// The archive comes from a container whose processes may have written anything. Every name is split
// and walked from the folder's own descriptor, one part at a time, without following links. A file
// or link that exists under a name is removed and made anew, never written through.
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <optional>
#include <vector>

#include "base/file.h"
#include "base/text.h"
#include "docker/tar.h"
#include "docker/tar_format.h"

namespace tenon::docker {
namespace {

constexpr uint64_t kSpecialLimit = 1 << 20;  // long names and pax records
constexpr mode_t kUnfinished = 0700;         // of a folder that is being filled

using Parts = std::vector<std::string>;

bool HasNoData(char type) { return type >= '1' && type <= '6'; }
bool IsSpecial(char type) { return type == 'x' || type == 'g' || type == 'L' || type == 'K'; }

// Splits a name and drops its first `strip` parts. Fails with kDenied when the name leads out of
// the folder.
Result<Parts> SplitName(const std::string& name, int strip) {
  if (name.starts_with('/') || name.find('\0') != std::string::npos) {
    return Denied("the archive holds the name \"" + ForTerminal(name) +
                  "\", which leads out of its folder");
  }
  Parts parts;
  for (std::string& part : Split(name, '/')) {
    if (part.empty() || part == ".") continue;
    if (part == "..") {
      return Denied("the archive holds the name \"" + ForTerminal(name) +
                    "\", which leads out of its folder");
    }
    parts.push_back(std::move(part));
  }
  const auto drop = std::min<size_t>(parts.size(), static_cast<size_t>(std::max(strip, 0)));
  parts.erase(parts.begin(), parts.begin() + static_cast<ptrdiff_t>(drop));
  return parts;
}

Error WayError(const std::string& name, int error) {
  if (error == ELOOP || error == ENOTDIR) {
    return Denied("the archive leads to \"" + ForTerminal(name) +
                  "\" through something that is not a folder of its own");
  }
  return FromErrno("unpacking " + ForTerminal(name), error);
}

Status SetTimes(int fd, int64_t mtime) {
  const timespec times[2] = {{0, UTIME_OMIT}, {static_cast<time_t>(mtime), 0}};
  if (::futimens(fd, times) != 0 && errno != EINVAL) return FromErrno("setting a time", errno);
  return {};
}

}  // namespace

struct TarExtractor::State {
  std::string folder;
  int strip = 0;
  UniqueFd root;
  std::optional<Error> failed;

  std::string head;  // a head that is not complete yet
  TarEntry entry;    // the entry whose data is being read
  uint64_t data_left = 0, pad_left = 0;
  std::string special;  // the data of an entry that describes the next one
  std::string pax, long_name, long_link;
  int zero_blocks = 0;
  bool in_entry = false;

  UniqueFd file;  // none: the data is skipped
  struct Folder {
    uint32_t mode;
    int64_t mtime;
  };
  std::map<Parts, Folder> folders;
  Parts parent_parts;  // of `parent`, the folder used last
  UniqueFd parent;
  uint64_t files = 0, bytes = 0;

  Status Take(std::string_view* bytes);
  Status TakeHead(std::string_view* bytes);
  Status TakeData(std::string_view* bytes);
  Status BeginEntry();
  Status EndEntry();
  Status Make();
  Result<int> Parent(const Parts& parts, bool make);
  Result<UniqueFd> OpenFolder(const Parts& parts, bool make);
  Status MakeFolder(const Parts& parts);
  Status MakeFile(const Parts& parts);
  Status MakeSymlink(const Parts& parts);
  Status MakeHardLink(const Parts& parts);
  Status ClearWay(int dir, const std::string& name);
};

TarExtractor::TarExtractor(std::string folder, int strip) : state_(std::make_unique<State>()) {
  state_->folder = std::move(folder);
  state_->strip = strip;
}
TarExtractor::~TarExtractor() = default;
uint64_t TarExtractor::files() const { return state_->files; }
uint64_t TarExtractor::bytes() const { return state_->bytes; }

Result<UniqueFd> TarExtractor::State::OpenFolder(const Parts& parts, bool make) {
  constexpr int kFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  UniqueFd dir(::openat(root.get(), ".", kFlags));
  if (!dir.valid()) return FromErrno("opening " + folder, errno);
  for (const std::string& part : parts) {
    UniqueFd next(::openat(dir.get(), part.c_str(), kFlags));
    if (!next.valid() && errno == ENOENT && make) {
      if (::mkdirat(dir.get(), part.c_str(), 0755) != 0) return WayError(entry.name, errno);
      next.Reset(::openat(dir.get(), part.c_str(), kFlags));
    }
    if (!next.valid()) return WayError(entry.name, errno);
    dir = std::move(next);
  }
  return dir;
}

// The descriptor of the folder that `parts` lies in, valid until the next call.
Result<int> TarExtractor::State::Parent(const Parts& parts, bool make) {
  const Parts above(parts.begin(), parts.end() - 1);
  if (!parent.valid() || parent_parts != above) {
    TENON_TRY(parent, OpenFolder(above, make));
    parent_parts = above;
  }
  return parent.get();
}

Status TarExtractor::State::ClearWay(int dir, const std::string& name) {
  if (::unlinkat(dir, name.c_str(), 0) == 0 || errno == ENOENT) return {};
  if (errno == EISDIR || errno == EPERM) {
    return Invalid("unpacking " + ForTerminal(entry.name) + ": there is a folder of that name");
  }
  return FromErrno("unpacking " + ForTerminal(entry.name), errno);
}

Status TarExtractor::State::MakeFolder(const Parts& parts) {
  TENON_TRY(const int dir, Parent(parts, true));
  if (::mkdirat(dir, parts.back().c_str(), kUnfinished) != 0 && errno != EEXIST) {
    return WayError(entry.name, errno);
  }
  TENON_TRY(const UniqueFd made, OpenFolder(parts, false));
  // The folder must be writable for its contents. Finish() sets the mode in the archive.
  (void)::fchmod(made.get(), kUnfinished);
  folders[parts] = {entry.mode & 0777, entry.mtime};
  return {};
}

Status TarExtractor::State::MakeFile(const Parts& parts) {
  TENON_TRY(const int dir, Parent(parts, true));
  TENON_TRY_VOID(ClearWay(dir, parts.back()));
  file.Reset(::openat(dir, parts.back().c_str(),
                      O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file.valid()) return WayError(entry.name, errno);
  ++files;
  return {};
}

Status TarExtractor::State::MakeSymlink(const Parts& parts) {
  if (entry.link.find('\0') != std::string::npos || entry.link.empty()) {
    return Corrupt("a tar archive has a symbolic link to nothing");
  }
  TENON_TRY(const int dir, Parent(parts, true));
  TENON_TRY_VOID(ClearWay(dir, parts.back()));
  if (::symlinkat(entry.link.c_str(), dir, parts.back().c_str()) != 0) {
    return WayError(entry.name, errno);
  }
  return {};
}

Status TarExtractor::State::MakeHardLink(const Parts& parts) {
  TENON_TRY(const Parts source, SplitName(entry.link, strip));
  TENON_EXPECT_PEER(!source.empty(), "a tar archive has a link to nothing");
  if (source == parts) return {};
  TENON_TRY(const UniqueFd from, OpenFolder(Parts(source.begin(), source.end() - 1), false));
  TENON_TRY(const int dir, Parent(parts, true));
  TENON_TRY_VOID(ClearWay(dir, parts.back()));
  if (::linkat(from.get(), source.back().c_str(), dir, parts.back().c_str(), 0) != 0) {
    return FromErrno(
        "unpacking " + ForTerminal(entry.name) + " as a link to " + ForTerminal(entry.link), errno);
  }
  ++files;
  return {};
}

Status TarExtractor::State::Make() {
  TENON_TRY(const Parts parts, SplitName(entry.name, strip));
  if (parts.empty()) return {};  // the folder itself, or a name that is stripped whole
  switch (entry.type) {
    case '5':
      return MakeFolder(parts);
    case '0':
    case '\0':
    case '7':
      return entry.name.ends_with('/') ? MakeFolder(parts) : MakeFile(parts);
    case '1':
      return MakeHardLink(parts);
    case '2':
      return MakeSymlink(parts);
    case 'S':
      return Invalid("the tar archive holds a sparse file, which can't be unpacked");
    default:  // devices, pipes and unknown types
      return {};
  }
}

Status TarExtractor::State::BeginEntry() {
  TENON_TRY(entry, ParseTarHead(head));
  in_entry = true;
  special.clear();
  if (IsSpecial(entry.type)) {
    TENON_EXPECT_PEER(entry.size <= kSpecialLimit, "a tar archive has a name without an end");
  } else {
    if (!long_name.empty()) entry.name = std::exchange(long_name, {});
    if (!long_link.empty()) entry.link = std::exchange(long_link, {});
    const std::string records = std::exchange(pax, {});
    TENON_TRY_VOID(ApplyPax(records, &entry));
    if (HasNoData(entry.type)) entry.size = 0;
    TENON_TRY_VOID(Make());
  }
  data_left = entry.size;
  pad_left = TarPadding(entry.size);
  return {};
}

Status TarExtractor::State::EndEntry() {
  in_entry = false;
  const auto text = [&] { return special.substr(0, special.find('\0')); };
  if (entry.type == 'x') pax = special;
  if (entry.type == 'L') long_name = text();
  if (entry.type == 'K') long_link = text();
  if (!file.valid()) return {};
  if (::fchmod(file.get(), entry.mode & 0777) != 0) {
    return FromErrno("unpacking " + ForTerminal(entry.name), errno);
  }
  TENON_TRY_VOID(SetTimes(file.get(), entry.mtime));
  file.Reset();
  return {};
}

Status TarExtractor::State::TakeHead(std::string_view* input) {
  const size_t n = std::min(kTarBlock - head.size(), input->size());
  head.append(input->substr(0, n));
  input->remove_prefix(n);
  if (head.size() < kTarBlock) return {};
  if (std::all_of(head.begin(), head.end(), [](char c) { return c == '\0'; })) {
    ++zero_blocks;
  } else {
    zero_blocks = 0;
    TENON_TRY_VOID(BeginEntry());
  }
  head.clear();
  return {};
}

Status TarExtractor::State::TakeData(std::string_view* input) {
  const auto n = static_cast<size_t>(std::min<uint64_t>(data_left, input->size()));
  const std::string_view piece = input->substr(0, n);
  if (IsSpecial(entry.type)) special.append(piece);
  if (file.valid()) {
    auto written = WriteAll(file.get(), piece);
    if (!written.ok()) {
      return std::move(written).error().Wrap("unpacking " + ForTerminal(entry.name));
    }
    bytes += n;
  }
  input->remove_prefix(n);
  data_left -= n;
  const size_t pad = data_left > 0 ? 0 : std::min(pad_left, input->size());
  input->remove_prefix(pad);
  pad_left -= pad;
  return {};
}

Status TarExtractor::State::Take(std::string_view* input) {
  if (!root.valid()) {
    TENON_TRY(root, OpenFile(folder, O_RDONLY | O_DIRECTORY));
  }
  while (!input->empty() && zero_blocks < 2) {
    TENON_TRY_VOID(in_entry ? TakeData(input) : TakeHead(input));
    if (in_entry && data_left == 0 && pad_left == 0) TENON_TRY_VOID(EndEntry());
  }
  return {};  // what follows two empty blocks is padding
}

Status TarExtractor::Feed(std::string_view bytes) {
  if (state_->failed) return *state_->failed;
  auto status = state_->Take(&bytes);
  if (!status.ok()) state_->failed = status.error();
  return status;
}

Status TarExtractor::Finish() {
  if (state_->failed) return *state_->failed;
  // Without an empty block at the end, entries may be missing.
  if (state_->zero_blocks == 0 || state_->in_entry) {
    state_->failed = Corrupt("the tar archive is cut");
    return *state_->failed;
  }
  // From the leaves up: a folder without permissions hides what is in it.
  for (auto it = state_->folders.rbegin(); it != state_->folders.rend(); ++it) {
    const auto& [parts, wanted] = *it;
    TENON_TRY(const UniqueFd dir, state_->OpenFolder(parts, false));
    if (::fchmod(dir.get(), wanted.mode) != 0) return FromErrno("unpacking a folder", errno);
    TENON_TRY_VOID(SetTimes(dir.get(), wanted.mtime));
  }
  state_->folders.clear();
  return {};
}

}  // namespace tenon::docker
