// SPDX-License-Identifier: Apache-2.0
#include "snapshot/data/data_scan.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <span>
#include <unordered_map>

#include "base/file.h"
#include "base/text.h"
#include "snapshot/freeze/stat_cache.h"

namespace tenon::snapshot {
namespace {

// A file that changed in the clock tick in which it was read may have changed after that too.
constexpr int64_t kTickNs = 2'000'000'000;
constexpr size_t kHexDigits = 64;

std::string LookOf(const struct stat& info) {
  const FileStat now = FileStat::From(info);
  return std::to_string(now.ino) + "," + std::to_string(now.size) + "," +
         std::to_string(now.mtime_ns) + "," + std::to_string(now.ctime_ns);
}

// The file of remembered hashes: entries "hash look path\0".
class Remembered {
 public:
  explicit Remembered(std::string file) : file_(std::move(file)) {
    if (file_.empty()) return;
    const auto text = ReadFile(file_, kMaxDataList);
    for (const std::string& line : text.ok() ? Split(*text, '\0') : std::vector<std::string>()) {
      const size_t blank = line.find(' ', kHexDigits + 1);
      const auto hash = Hash::FromHex(line.substr(0, kHexDigits));
      if (!hash || blank == std::string::npos) continue;
      seen_[line.substr(blank + 1)] = {line.substr(kHexDigits + 1, blank - kHexDigits - 1), *hash};
    }
  }
  const Hash* Find(const std::string& path, const struct stat& info) const {
    const auto at = seen_.find(path);
    return at == seen_.end() || at->second.look != LookOf(info) ? nullptr : &at->second.hash;
  }
  void Note(const std::string& path, const struct stat& info, int64_t now_ns, const Hash& hash) {
    const FileStat when = FileStat::From(info);
    if (file_.empty() || std::max(when.mtime_ns, when.ctime_ns) + kTickNs > now_ns) return;
    text_ += hash.Hex() + " " + LookOf(info) + " " + path + '\0';
  }
  // Failure is ignored: the next scan then only takes longer.
  void Write() {
    if (file_.empty() || !MakeDirs(DirName(file_), 0700).ok()) return;
    (void)WriteFileAtomically(file_, text_, 0600, Durability::kProcess).ok();
  }

 private:
  struct Seen {
    std::string look;
    Hash hash;
  };
  std::string file_, text_;
  std::unordered_map<std::string, Seen> seen_;
};

class Scanner {
 public:
  explicit Scanner(const DataScanOptions& options)
      : options_(options), remembered_(options.cache) {}

  Result<DataScan> Scan(const std::string& path) {
    struct stat info {};
    if (::stat(path.c_str(), &info) != 0) return FromErrno(ForTerminal(path), errno);
    if (S_ISDIR(info.st_mode)) {
      char real[PATH_MAX];
      if (::realpath(path.c_str(), real) == nullptr) return FromErrno(ForTerminal(path), errno);
      scan_.root = real;
      leave_out_keys_ = options_.leave_out_keys && !IsKeyFolder(scan_.root);
      if (IsHome(info)) return OwnFolder(path);
      TENON_TRY_VOID(Walk(""));
    } else if (S_ISREG(info.st_mode)) {
      scan_.is_file = true;
      scan_.root = DirName(path);
      TENON_TRY_VOID(Add(std::string(BaseName(path)), info));
    } else {
      return Invalid(ForTerminal(path) + " is neither a file nor a folder");
    }
    std::sort(scan_.set.files.begin(), scan_.set.files.end(),
              [](const DataFile& a, const DataFile& b) { return a.path < b.path; });
    total_ = scan_.set.bytes();
    std::vector<DataFile> taken;
    taken.reserve(scan_.set.files.size());
    for (DataFile& file : scan_.set.files) {
      TENON_TRY(const bool take, Look(&file));
      if (take) taken.push_back(std::move(file));
    }
    scan_.set.files = std::move(taken);
    remembered_.Write();
    return std::move(scan_);
  }

 private:
  Status Add(std::string path, const struct stat& info) {
    TENON_TRY_VOID(CheckDataPath(path));
    if (scan_.set.files.size() == kMaxDataFiles) {
      return Invalid(ForTerminal(scan_.root) + " has more than " + std::to_string(kMaxDataFiles) +
                     " files")
          .WithHint("pack them into archives, or take it in parts");
    }
    scan_.set.files.push_back({std::move(path), static_cast<uint64_t>(info.st_size), Hash{},
                               static_cast<uint32_t>(info.st_mode & 0777)});
    return {};
  }

  static Error OwnFolder(const std::string& path) {
    return Invalid(ForTerminal(path) + " is Tenon's own folder, which holds keys and passwords");
  }

  bool IsHome(const struct stat& info) const {
    const FolderId id{info.st_dev, info.st_ino};
    return std::find(options_.homes.begin(), options_.homes.end(), id) != options_.homes.end();
  }

  static bool IsKeyFolder(const std::string& path) {
    return LookAtKeyName(path, /*is_folder=*/true).kind == KeyKind::kKey;
  }

  // Whether a file, or the target of a symlink, is a key or lies in a key folder or a home.
  bool IsPrivate(const std::string& path, bool is_link) const {
    char real[PATH_MAX];
    if (is_link && ::realpath(path.c_str(), real) == nullptr) return false;
    const std::string where = is_link ? real : path;
    if (leave_out_keys_) {
      const KeyKind kind = LookAtKeyName(where, /*is_folder=*/false).kind;
      if (kind == KeyKind::kKey) return true;
      if (kind == KeyKind::kLook && HoldsKeyAt(AT_FDCWD, where.c_str())) return true;
    }
    if (!is_link) return false;
    for (std::string above = DirName(where); above.size() > 1; above = DirName(above)) {
      struct stat info {};
      if (leave_out_keys_ && IsKeyFolder(above)) return true;
      if (::stat(above.c_str(), &info) == 0 && IsHome(info)) return true;
    }
    return false;
  }

  Status Walk(const std::string& folder) {
    TENON_TRY(const auto names,
              ListDir(folder.empty() ? scan_.root : JoinPath(scan_.root, folder)));
    if (!options_.homes.empty() && (BaseName(folder) == kHomeName || IsTenonHome(names))) {
      if (folder.empty()) return OwnFolder(scan_.root);
      scan_.left_out.push_back(folder);
      return {};
    }
    for (const std::string& name : names) {
      const std::string path = folder.empty() ? name : folder + "/" + name;
      const std::string whole = JoinPath(scan_.root, path);
      struct stat link {
      }, info{};
      if (::lstat(whole.c_str(), &link) != 0) {
        if (errno == ENOENT) continue;  // vanished since it was listed
        return FromErrno(ForTerminal(whole), errno);
      }
      if (S_ISDIR(link.st_mode) && name.starts_with(kCopyState)) {
        continue;  // state of an interrupted copy
      }
      if (S_ISDIR(link.st_mode)) {
        if (IsHome(link) || (leave_out_keys_ && IsKeyFolder(path))) {
          scan_.left_out.push_back(path);
        } else {
          TENON_TRY_VOID(Walk(path));
        }
      } else if (::stat(whole.c_str(), &info) == 0 && S_ISREG(info.st_mode)) {
        if (IsPrivate(whole, S_ISLNK(link.st_mode))) {
          scan_.left_out.push_back(path);
        } else {
          TENON_TRY_VOID(Add(path, info));
        }
      } else {
        scan_.skipped.push_back(path);
      }
    }
    return {};
  }

  // Hashes the file. False: it is left out because its contents are a private key.
  Result<bool> Look(DataFile* file) {
    const std::string whole = JoinPath(scan_.root, file->path);
    TENON_TRY(const UniqueFd fd, OpenFile(whole, O_RDONLY | O_NONBLOCK));
    struct stat info {};
    if (::fstat(fd.get(), &info) != 0) return FromErrno(ForTerminal(whole), errno);
    file->size = static_cast<uint64_t>(info.st_size);
    if (const Hash* known = remembered_.Find(file->path, info)) {
      file->hash = *known;
      done_ += file->size;
    } else {
      if (leave_out_keys_ && !scan_.is_file && IsKeyItselfAt(fd.get())) {
        scan_.left_out.push_back(file->path);
        return false;
      }
      TENON_TRY_VOID(Read(fd.get(), file));
    }
    remembered_.Note(file->path, info, options_.now_us * 1000, file->hash);
    return true;
  }

  Status Read(int fd, DataFile* file) {
    Sha256 sha;
    uint64_t at = 0;
    while (at < file->size) {
      const size_t want = static_cast<size_t>(std::min<uint64_t>(buffer_.size(), file->size - at));
      TENON_TRY(const size_t count, ReadAt(fd, std::span(buffer_.data(), want), at));
      if (count == 0) break;
      sha.Update(std::string_view(buffer_).substr(0, count));
      at += count;
      done_ += count;
      if (options_.progress) TENON_TRY_VOID(options_.progress(done_, total_));
    }
    file->size = at;
    file->hash = sha.Finish();
    return {};
  }

  const DataScanOptions& options_;
  bool leave_out_keys_ = false;
  Remembered remembered_;
  DataScan scan_;
  std::string buffer_ = std::string(kDataPiece, '\0');
  uint64_t done_ = 0, total_ = 0;
};

}  // namespace

DataScan DataScan::As(const std::string& name) const {
  DataScan other = *this;
  other.opened_as.clear();
  for (size_t i = 0; i < set.files.size(); ++i) {
    other.opened_as.push_back(opened_as.empty() ? set.files[i].path : opened_as[i]);
    other.set.files[i].path = is_file ? name : name + "/" + set.files[i].path;
  }
  return other;
}

Result<UniqueFd> DataScan::Open(size_t index) const {
  const std::string& path = opened_as.empty() ? set.files[index].path : opened_as[index];
  return OpenFile(JoinPath(root, path), O_RDONLY | O_NONBLOCK);
}

Result<DataScan> ScanData(const std::string& path, const DataScanOptions& options) {
  return Scanner(options).Scan(path);
}

}  // namespace tenon::snapshot
