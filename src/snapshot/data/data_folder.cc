// SPDX-License-Identifier: Apache-2.0
#include "snapshot/data/data_folder.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <set>
#include <span>
#include <unordered_map>

#include "base/durable.h"
#include "base/text.h"
#include "snapshot/data/data_state.h"

namespace tenon::snapshot {
namespace {

constexpr std::string_view kPart = ".part";
constexpr unsigned long kCloneFile = 0x40049409;  // FICLONE, which old headers lack
constexpr size_t kMostBegun = 64;

// Identifies a state of the file: equal words mean that it was not touched in between.
std::string StatWords(int fd) {
  struct stat info {};
  if (::fstat(fd, &info) != 0) return "";
  const auto time = [](const timespec& at) {
    return std::to_string(at.tv_sec) + "." + std::to_string(at.tv_nsec);
  };
  return std::to_string(info.st_ino) + "," + std::to_string(info.st_size) + "," +
         time(info.st_mtim) + "," + time(info.st_ctim);
}

Result<uint64_t> SizeOf(int fd, const std::string& path) {
  struct stat info {};
  if (::fstat(fd, &info) != 0) return FromErrno(path, errno);
  return static_cast<uint64_t>(info.st_size);
}

// Feeds `bytes` of a file into `sha`.
Status HashInto(int fd, uint64_t bytes, Sha256* sha, const DataLooked& looked) {
  std::string buffer(kDataPiece, '\0');
  for (uint64_t at = 0; at < bytes;) {
    const size_t want = static_cast<size_t>(std::min<uint64_t>(buffer.size(), bytes - at));
    TENON_TRY(const size_t count, ReadAt(fd, std::span(buffer.data(), want), at));
    if (count == 0) break;
    sha->Update(std::string_view(buffer.data(), count));
    at += count;
    if (looked) TENON_TRY_VOID(looked(count));
  }
  return {};
}

// Reads the file of stats: entries "stat words <blank> path", each ended by a NUL.
std::unordered_map<std::string, std::string> ReadStats(const std::string& path) {
  std::unordered_map<std::string, std::string> stats;
  const auto text = ReadFile(path, kMaxDataList);
  std::string_view rest = text.ok() ? std::string_view(*text) : std::string_view();
  while (!rest.empty()) {
    const size_t end = std::min(rest.find('\0'), rest.size());
    const std::string_view line = rest.substr(0, end);
    const size_t blank = line.find(' ');
    if (blank != std::string_view::npos) {
      stats.emplace(line.substr(blank + 1), line.substr(0, blank));
    }
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return stats;
}

std::vector<DataFile>::const_iterator AtOrAfter(const DataSet& set, std::string_view path) {
  return std::lower_bound(
      set.files.begin(), set.files.end(), path,
      [](const DataFile& file, std::string_view wanted) { return file.path < wanted; });
}

}  // namespace

Status CopyFile(int from, const std::string& to, Durability durability) {
  TENON_TRY(UniqueFd out, OpenFile(to, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0600));
  if (::ioctl(out.get(), kCloneFile, from) != 0) {
    std::string buffer(kDataPiece, '\0');
    for (uint64_t at = 0;;) {
      TENON_TRY(const size_t count, ReadAt(from, buffer, at));
      if (count == 0) break;
      TENON_TRY_VOID(WriteAllAt(out.get(), std::string_view(buffer).substr(0, count), at));
      at += count;
    }
  }
  if (durability == Durability::kPowerLoss && DurableFdatasync(out.get()) != 0) {
    return FromErrno("writing " + to, errno);
  }
  return {};
}

struct DataReceiver::Incoming {
  size_t file = 0;
  UniqueFd fd;
  uint64_t size = 0;
  Sha256 sha;
};

DataReceiver::DataReceiver(DataPlace place, DataSet set, FileLock lock)
    : place_(std::move(place)),
      set_(std::move(set)),
      lock_(std::move(lock)),
      tree_(place_.folder),
      there_(set_.files.size(), false) {}

DataReceiver::~DataReceiver() = default;

std::string DataReceiver::IncomingPath(const Hash& hash) const {
  return JoinPath(place_.Of(".incoming"), hash.Hex());
}

Status DataReceiver::WriteHeader(const DataHeader& header) {
  return WriteFileAtomically(place_.Of(".json"), json::PrintPretty(header.ToJson()) + "\n", 0666,
                             Durability::kPowerLoss);
}

Result<std::unique_ptr<DataReceiver>> DataReceiver::Begin(const DataPlace& place, DataSet set,
                                                          const DataLooked& looked) {
  TENON_TRY_VOID(MakeDirs(place.Of(".incoming")));
  auto lock = FileLock::Take(place.Of(".lock"), /*wait=*/false);
  if (!lock.ok() && lock.error().kind == ErrorKind::kUnavailable) {
    return Unavailable("the data set " + place.name + " is being changed by somebody else");
  }
  if (!lock.ok()) return std::move(lock).error();
  std::unique_ptr<DataReceiver> receiver(new DataReceiver(place, std::move(set), std::move(*lock)));
  TENON_TRY_VOID(receiver->LookAtOld(looked));
  TENON_TRY_VOID(receiver->FindLacks(looked));
  // Before anything is written: these files may be what fills the disk.
  TENON_TRY_VOID(receiver->DropUnwanted());
  TENON_TRY_VOID(RemoveOtherCopies(place));
  TENON_TRY_VOID(receiver->NoteBegin());
  return receiver;
}

Status DataReceiver::LookAtOld(const DataLooked& looked) {
  const auto stats = ReadStats(place_.Of(".stats"));
  std::vector<DataFile> listed;
  for (const std::string& path : OurPaths(place_, &listed)) old_[path] = {};
  for (const DataFile& file : listed) {
    const auto stat = stats.find(file.path);
    old_[file.path] = {file.hash, stat == stats.end() ? "" : stat->second};
  }
  for (size_t i = 0; i < set_.files.size(); ++i) {
    TENON_TRY(const bool there, IsThere(set_.files[i], looked));
    there_[i] = there;
    if (there) elsewhere_.emplace(set_.files[i].hash, set_.files[i].path);
  }
  return {};
}

Result<bool> DataReceiver::IsThere(const DataFile& file, const DataLooked& looked) {
  auto fd = tree_.Open(file.path);
  if (!fd.ok()) {
    // If something is in the way, the error is reported when the file is moved into place.
    if (fd.error().kind == ErrorKind::kNotFound || fd.error().kind == ErrorKind::kInvalid ||
        fd.error().kind == ErrorKind::kDenied) {
      return false;
    }
    return std::move(fd).error();
  }
  TENON_TRY(const uint64_t size, SizeOf(fd->get(), file.path));
  if (size != file.size) return false;
  const auto known = old_.find(file.path);
  if (known != old_.end() && !known->second.stat.empty() &&
      known->second.stat == StatWords(fd->get())) {
    return known->second.hash == file.hash;
  }
  Sha256 sha;
  TENON_TRY_VOID(HashInto(fd->get(), size, &sha, looked));
  return sha.Finish() == file.hash;
}

Status DataReceiver::FindLacks(const DataLooked& looked) {
  std::map<Hash, size_t> wanted;
  for (size_t i = 0; i < set_.files.size(); ++i) {
    if (!there_[i]) wanted.emplace(set_.files[i].hash, i);
  }
  // A file that was renamed or moved: the old file has the contents.
  for (const auto& [path, known] : old_) {
    const auto want = wanted.find(known.hash);
    if (want == wanted.end() || elsewhere_.contains(known.hash)) continue;
    DataFile file = set_.files[want->second];
    file.path = path;
    TENON_TRY(const bool there, IsThere(file, looked));
    if (there) elsewhere_.emplace(known.hash, path);
  }
  for (const auto& [hash, index] : wanted) {
    if (elsewhere_.contains(hash)) continue;
    TENON_TRY_VOID(LookAtIncoming(set_.files[index], index, looked));
  }
  std::sort(lacks_.begin(), lacks_.end(),
            [](const Lack& a, const Lack& b) { return a.file < b.file; });
  return {};
}

// Removes what earlier puts have received and this one does not need.
Status DataReceiver::DropUnwanted() {
  std::set<std::string> wanted;
  for (const DataFile& file : set_.files) wanted.insert(file.hash.Hex());
  TENON_TRY(const auto names, ListDir(place_.Of(".incoming")));
  for (const std::string& name : names) {
    if (wanted.contains(name.substr(0, name.find('.')))) continue;
    TENON_TRY_VOID(RemoveFile(JoinPath(place_.Of(".incoming"), name)));
  }
  return {};
}

Status DataReceiver::LookAtIncoming(const DataFile& file, size_t index, const DataLooked& looked) {
  const std::string path = IncomingPath(file.hash);
  struct stat info {};
  if (::lstat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) &&
      static_cast<uint64_t>(info.st_size) == file.size) {
    // Larger files were synced to the disk before they got this name, so their bytes are not read
    // again.
    if (file.size > kDataPiece) {
      arrived_[file.hash] = true;
      return {};
    }
    TENON_TRY(const UniqueFd fd, OpenFile(path, O_RDONLY | O_NOFOLLOW));
    Sha256 sha;
    TENON_TRY_VOID(HashInto(fd.get(), file.size, &sha, looked));
    if (sha.Finish() == file.hash) {
      arrived_[file.hash] = true;
      return {};
    }
  }
  Lack lack{index, 0};
  const std::string part = path + std::string(kPart);
  if (::lstat(part.c_str(), &info) == 0 && S_ISREG(info.st_mode) &&
      static_cast<uint64_t>(info.st_size) <= file.size) {
    lack.offset = static_cast<uint64_t>(info.st_size);
  }
  // The last byte is always sent, so that Take() checks the hash of the whole file.
  if (lack.offset == file.size && file.size > 0) --lack.offset;
  if (lack.offset > 0 && begun_.size() < kMostBegun) {
    TENON_TRY(begun_[index], OpenPart(index, lack.offset, looked));
  }
  lacks_.push_back(lack);
  return {};
}

// Opens the part file of a content and hashes the bytes that it already has, up to `offset`.
Result<std::unique_ptr<DataReceiver::Incoming>> DataReceiver::OpenPart(
    size_t index, uint64_t offset, const DataLooked& looked) const {
  const std::string part = IncomingPath(set_.files[index].hash) + std::string(kPart);
  auto incoming = std::make_unique<Incoming>();
  incoming->file = index;
  TENON_TRY(incoming->fd, OpenFile(part, O_RDWR | O_CREAT | O_NOFOLLOW, 0600));
  TENON_TRY(incoming->size, SizeOf(incoming->fd.get(), part));
  if (offset < incoming->size) {
    if (::ftruncate(incoming->fd.get(), static_cast<off_t>(offset)) != 0) {
      return FromErrno("cutting " + part, errno);
    }
    incoming->size = offset;
  }
  TENON_TRY_VOID(HashInto(incoming->fd.get(), incoming->size, &incoming->sha, looked));
  return incoming;
}

Status DataReceiver::NoteBegin() {
  const std::string text = set_.ToText();
  DataHeader header = HeaderOf(place_);
  if (header.placing) {
    std::string ours;
    for (const auto& [path, known] : old_) ours += path + '\0';
    TENON_TRY_VOID(WriteFileAtomically(place_.Of(".ours"), ours, 0666, Durability::kPowerLoss));
  }
  header.next_fingerprint = Sha256Of(text).Hex();
  header.next_files = set_.files.size();
  header.next_bytes = set_.bytes();
  TENON_TRY_VOID(WriteHeader(header));
  return WriteFileAtomically(place_.Of(".next"), text, 0666, Durability::kProcess);
}

Status DataReceiver::Take(size_t file, uint64_t offset, std::string_view bytes) {
  TENON_EXPECT_PEER(file < set_.files.size(), "a piece of a file that is not in the list");
  const DataFile& wanted = set_.files[file];
  if (arrived_.contains(wanted.hash)) return {};
  if (!open_ || open_->file != file) {
    const auto begun = begun_.find(file);
    if (begun != begun_.end() && begun->second->size == offset) {
      open_ = std::move(begun->second);
    } else {
      TENON_TRY(open_, OpenPart(file, offset, {}));
    }
    begun_.erase(file);
  }
  TENON_EXPECT_PEER(offset == open_->size && bytes.size() <= wanted.size - open_->size,
                    "a piece of " + ForTerminal(wanted.path) + " does not follow what is there");
  TENON_TRY_VOID(WriteAllAt(open_->fd.get(), bytes, offset));
  open_->sha.Update(bytes);
  open_->size += bytes.size();
  return open_->size == wanted.size ? WholeOne(wanted) : Status();
}

Status DataReceiver::WholeOne(const DataFile& file) {
  const std::string path = IncomingPath(file.hash), part = path + std::string(kPart);
  const std::unique_ptr<Incoming> incoming = std::move(open_);
  if (incoming->sha.Finish() != file.hash) {
    (void)RemoveFile(part).ok();
    return Corrupt(ForTerminal(file.path) + " is not what its hash says: it was changed meanwhile")
        .WithHint("put it again");
  }
  if (file.size > kDataPiece && DurableFdatasync(incoming->fd.get()) != 0) {
    return FromErrno("writing " + part, errno);
  }
  TENON_TRY_VOID(RenameFile(part, path));
  arrived_[file.hash] = true;
  return {};
}

// Contents that a file of the tree already has are copied to the incoming files first: the file
// they are copied from may be replaced later.
Status DataReceiver::StageCopies() {
  std::map<std::string_view, bool> stays;
  for (const DataFile& file : set_.files) stays[file.path] = true;
  for (size_t i = 0; i < set_.files.size(); ++i) {
    const Hash& hash = set_.files[i].hash;
    if (there_[i] || arrived_.contains(hash)) continue;
    const auto source = elsewhere_.find(hash);
    if (source == elsewhere_.end()) return Internal("a file of the list is nowhere");
    if (!stays.contains(source->second)) {
      TENON_TRY_VOID(tree_.TakeOut(source->second, IncomingPath(hash)));
    } else {
      TENON_TRY(const UniqueFd from, tree_.Open(source->second));
      TENON_TRY_VOID(
          CopyFile(from.get(), IncomingPath(hash) + std::string(kPart), Durability::kPowerLoss));
      TENON_TRY_VOID(RenameFile(IncomingPath(hash) + std::string(kPart), IncomingPath(hash)));
    }
    arrived_[hash] = true;
  }
  return {};
}

Status DataReceiver::PlaceAll(Done* done) {
  std::map<Hash, uint64_t> uses;
  for (size_t i = 0; i < set_.files.size(); ++i) {
    if (!there_[i]) ++uses[set_.files[i].hash];
  }
  std::string stats;
  for (size_t i = 0; i < set_.files.size(); ++i) {
    const DataFile& file = set_.files[i];
    if (!there_[i]) {
      std::string from = IncomingPath(file.hash);
      if (--uses[file.hash] > 0) {
        TENON_TRY(const UniqueFd whole, OpenFile(from, O_RDONLY | O_NOFOLLOW));
        from += ".copy";
        TENON_TRY_VOID(CopyFile(whole.get(), from, Durability::kProcess));
      }
      if (::chmod(from.c_str(), file.mode) != 0) return FromErrno("chmod " + from, errno);
      TENON_TRY_VOID(tree_.Place(from, file.path));
      ++done->placed;
    }
    auto fd = tree_.Open(file.path);
    // A file whose mode denies reading gets no stat. The next put brings it again.
    if (!fd.ok()) continue;
    if (there_[i]) {
      struct stat info {};
      if (::fstat(fd->get(), &info) == 0 && (info.st_mode & 0777) != file.mode) {
        (void)::fchmod(fd->get(), file.mode);
      }
    }
    stats += StatWords(fd->get()) + " " + file.path + '\0';
  }
  return WriteFileAtomically(place_.Of(".stats"), stats, 0666, Durability::kProcess);
}

bool DataReceiver::Wanted(const std::string& path) const {
  const auto at = AtOrAfter(set_, path);
  return at != set_.files.end() && at->path == path;
}

// Whether the old file `path` stands where a new file needs a folder, or lies in a folder that a
// new file replaces.
bool DataReceiver::Blocks(const std::string& path) const {
  for (size_t slash = path.find('/'); slash != std::string::npos;
       slash = path.find('/', slash + 1)) {
    if (Wanted(path.substr(0, slash))) return true;
  }
  const auto below = AtOrAfter(set_, path + "/");
  return below != set_.files.end() && below->path.starts_with(path + "/");
}

Status DataReceiver::RemoveOld(bool in_the_way, Done* done) {
  for (const auto& [path, known] : old_) {
    if (Wanted(path) || Blocks(path) != in_the_way) continue;
    TENON_TRY_VOID(tree_.Remove(path));
    ++done->removed;
  }
  return {};
}

Result<DataReceiver::Done> DataReceiver::Finish(int64_t now_us) {
  open_.reset();
  uint64_t missing = 0;
  for (const Lack& lack : lacks_) missing += arrived_.contains(set_.files[lack.file].hash) ? 0 : 1;
  if (missing > 0) return Unavailable(Count(missing, "file", "files") + " did not come whole");
  DataHeader header = HeaderOf(place_);
  header.complete = false;
  header.placing = true;
  TENON_TRY_VOID(WriteHeader(header));
  // From here on the old set is incomplete. Every single file is whole: either the old or the new.
  Done done;
  TENON_TRY_VOID(StageCopies());
  TENON_TRY_VOID(RemoveOld(/*in_the_way=*/true, &done));
  TENON_TRY_VOID(MakeDirs(place_.folder));
  TENON_TRY_VOID(PlaceAll(&done));
  TENON_TRY_VOID(RemoveOld(/*in_the_way=*/false, &done));
  TENON_TRY(const UniqueFd folder, OpenFile(place_.state, O_RDONLY | O_DIRECTORY));
  (void)DurableSyncfs(folder.get());
  // From here on every file is in its place, even after a power cut.
  TENON_TRY_VOID(RenameFile(place_.Of(".next"), place_.Of(".files")));
  header.complete = true;
  header.placing = false;
  header.fingerprint = set_.Fingerprint().Hex();
  header.files = set_.files.size();
  header.bytes = set_.bytes();
  header.put_us = now_us;
  header.next_fingerprint.clear();
  header.next_files = header.next_bytes = 0;
  TENON_TRY_VOID(WriteHeader(header));
  TENON_TRY_VOID(RemoveFile(place_.Of(".ours")));
  TENON_TRY_VOID(RemoveTree(place_.Of(".incoming")));
  TENON_TRY_VOID(EndCopy(place_));
  return done;
}

}  // namespace tenon::snapshot
