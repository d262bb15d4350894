// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <span>
#include <vector>

#include "base/file.h"
#include "docker/tar.h"
#include "docker/tar_format.h"

namespace tenon::docker {
namespace {

constexpr size_t kPieceSize = 256 << 10;

}  // namespace

// A walk of the folder that can pause after each piece: folders still to be listed and names still
// to be written.
struct TarWriter::State {
  std::string folder, prefix;
  uid_t uid = 0;
  gid_t gid = 0;
  std::vector<std::string> pending;  // paths below `folder`; the next one is the last
  UniqueFd file;                     // the one whose bytes are being written
  std::string file_path;
  uint64_t file_at = 0, file_size = 0;
  bool begun = false, ended = false;

  Status Begin(std::string* out);
  Status WriteEntry(const std::string& path, std::string* out);
  Status WriteFileBytes(std::string* out);
  Status PushChildren(const std::string& path);
  void WriteHead(char type, const std::string& path, const struct stat& info, std::string link,
                 std::string* out) const;
};

TarWriter::TarWriter(std::string folder, std::string prefix, uid_t uid, gid_t gid)
    : state_(std::make_unique<State>()) {
  state_->folder = std::move(folder);
  state_->prefix = std::move(prefix);
  state_->uid = uid;
  state_->gid = gid;
}
TarWriter::~TarWriter() = default;

void TarWriter::State::WriteHead(char type, const std::string& path, const struct stat& info,
                                 std::string link, std::string* out) const {
  TarEntry entry;
  entry.type = type;
  entry.name = prefix + path;
  if (type == '5' && !entry.name.ends_with('/')) entry.name += '/';
  entry.link = std::move(link);
  entry.mode = info.st_mode & 07777;
  entry.uid = uid;
  entry.gid = gid;
  entry.size = type == '0' ? static_cast<uint64_t>(info.st_size) : 0;
  entry.mtime = info.st_mtime;
  *out += PrintTarHead(entry);
}

// Adds the names in a folder in their order, which is the same every time.
Status TarWriter::State::PushChildren(const std::string& path) {
  TENON_TRY(std::vector<std::string> names,
            ListDir(path.empty() ? folder : JoinPath(folder, path)));
  std::sort(names.begin(), names.end(), std::greater<>());
  for (const std::string& name : names) pending.push_back(path.empty() ? name : path + "/" + name);
  return {};
}

Status TarWriter::State::Begin(std::string* out) {
  begun = true;
  if (!prefix.empty()) {
    struct stat info;
    if (::stat(folder.c_str(), &info) != 0) return FromErrno("reading " + folder, errno);
    WriteHead('5', "", info, "", out);
  }
  return PushChildren("");
}

Status TarWriter::State::WriteEntry(const std::string& path, std::string* out) {
  const std::string full = JoinPath(folder, path);
  struct stat info;
  if (::lstat(full.c_str(), &info) != 0) {
    if (errno == ENOENT) return {};  // gone since its folder was listed
    return FromErrno("reading " + full, errno);
  }
  if (S_ISDIR(info.st_mode)) {
    WriteHead('5', path, info, "", out);
    return PushChildren(path);
  }
  if (S_ISLNK(info.st_mode)) {
    TENON_TRY(std::string link, ReadLink(full));
    WriteHead('2', path, info, std::move(link), out);
    return {};
  }
  if (!S_ISREG(info.st_mode)) return {};
  TENON_TRY(file, OpenFile(full, O_RDONLY | O_NOFOLLOW));
  if (::fstat(file.get(), &info) != 0) return FromErrno("reading " + full, errno);
  file_path = full;
  file_at = 0;
  file_size = static_cast<uint64_t>(info.st_size);
  WriteHead('0', path, info, "", out);
  return {};
}

Status TarWriter::State::WriteFileBytes(std::string* out) {
  const size_t n = static_cast<size_t>(std::min<uint64_t>(file_size - file_at, kPieceSize));
  const size_t before = out->size();
  out->resize(before + n, '\0');
  auto got = ReadAt(file.get(), std::span(out->data() + before, n), file_at);
  if (!got.ok()) return std::move(got).error().Wrap("reading " + file_path);
  std::fill(out->begin() + static_cast<ptrdiff_t>(before + *got), out->end(), '\0');
  file_at += n;
  if (file_at == file_size) {
    out->append(TarPadding(file_size), '\0');
    file.Reset();
  }
  return {};
}

Result<std::string> TarWriter::Next() {
  std::string out;
  if (!state_->begun) TENON_TRY_VOID(state_->Begin(&out));
  while (!state_->ended && out.size() < kPieceSize) {
    if (state_->file.valid()) {
      TENON_TRY_VOID(state_->WriteFileBytes(&out));
    } else if (!state_->pending.empty()) {
      const std::string path = std::move(state_->pending.back());
      state_->pending.pop_back();
      TENON_TRY_VOID(state_->WriteEntry(path, &out));
    } else {
      out.append(2 * kTarBlock, '\0');
      state_->ended = true;
    }
  }
  return out;
}

}  // namespace tenon::docker
