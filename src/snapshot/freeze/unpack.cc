// SPDX-License-Identifier: Apache-2.0
// Writes a tree into a new folder. Nothing can lead out of the folder: every name was checked when
// its node was decoded, a folder has each name only once, and nobody else uses the folder. Files
// are made relative to the descriptor of their folder; only extremely deep folders are reached by
// path.
#include "snapshot/freeze/unpack.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <memory>
#include <utility>

#include "base/fd.h"
#include "base/file.h"
#include "base/text.h"
#include "snapshot/freeze/work_pool.h"
#include "snapshot/store/tree.h"
#include "snapshot/store/tree_read.h"

namespace tenon::snapshot {
namespace {

constexpr size_t kBatch = 256;
constexpr int kDepthWithFd = 100;

struct Folder {
  std::shared_ptr<Folder> above;
  std::string path;  // within the root; empty: the root
  int depth = 0;
  uint32_t mode = 0;
  UniqueFd fd;
  std::unique_ptr<FolderReader> reader;
  std::atomic<size_t> pending{1};  // unfinished batches, folders below, and the listing
};

class Unpacker {
 public:
  Unpacker(const ObjectStore& store, std::string root, int threads)
      : store_(store), root_(std::move(root)), pool_(threads) {}

  Result<Unpacked> Run(const Hash& root);

 private:
  Status Begin(const Hash& root);
  Status FindUmask();
  Status DoFolder(const std::shared_ptr<Folder>& folder, const Hash& hash);
  Status MakeFolder(const std::shared_ptr<Folder>& above, const NodeItem& item);
  Status DoItems(const std::shared_ptr<Folder>& folder, size_t begin, size_t end);
  Status MakeFile(int folder, const NodeItem& item);
  Status Done(std::shared_ptr<Folder> folder);
  // The descriptor and the name for making an entry in a folder.
  std::pair<int, std::string> Place(const Folder& folder, std::string_view name) const;
  Error Failed(const Folder& folder, std::string_view name, Error error) const;

  const ObjectStore& store_;
  const std::string root_;
  WorkPool pool_;
  UniqueFd root_fd_;
  uint32_t cleared_ = 0;  // mode bits that the umask removes here
  std::atomic<uint64_t> files_{0}, bytes_{0}, reflinked_{0};
  std::atomic<uint64_t> entries_{0};
  Hash tree_;
};

Error Unpacker::Failed(const Folder& folder, std::string_view name, Error error) const {
  std::string path = JoinPath(root_, folder.path);
  return std::move(error).Wrap("unpack " + ForTerminal(JoinPath(path, name)));
}

std::pair<int, std::string> Unpacker::Place(const Folder& folder, std::string_view name) const {
  if (folder.fd.valid()) return {folder.fd.get(), std::string(name)};
  return {root_fd_.get(), folder.path + "/" + std::string(name)};
}

// What the umask (or a default ACL) removes is the same for all new files, so it is determined
// once.
Status Unpacker::FindUmask() {
  const std::string probe = ".tenon-probe-" + RandomHex(8);
  UniqueFd fd(
      ::openat(root_fd_.get(), probe.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0777));
  struct stat info;
  const bool ok = fd.valid() && ::fstat(fd.get(), &info) == 0 &&
                  ::unlinkat(root_fd_.get(), probe.c_str(), 0) == 0;
  if (!ok) return FromErrno("write to " + root_, errno);
  cleared_ = 0777 & ~info.st_mode;
  return {};
}

Status Unpacker::Begin(const Hash& root) {
  TENON_TRY_VOID(MakeDirs(root_));
  TENON_TRY(const auto names, ListDir(root_));
  if (!names.empty()) return Invalid(root_ + " is not empty");
  TENON_TRY(root_fd_, OpenFile(root_, O_RDONLY | O_DIRECTORY));
  TENON_TRY_VOID(FindUmask());
  auto top = std::make_shared<Folder>();
  const int fd = ::fcntl(root_fd_.get(), F_DUPFD_CLOEXEC, 0);
  if (fd < 0) return FromErrno("open " + root_, errno);
  top->fd.Reset(fd);
  pool_.Add([this, top, root] { return DoFolder(top, root); }, 1);
  return {};
}

Status Unpacker::MakeFolder(const std::shared_ptr<Folder>& above, const NodeItem& item) {
  auto folder = std::make_shared<Folder>();
  folder->above = above;
  folder->path =
      above->path.empty() ? std::string(item.name) : above->path + "/" + std::string(item.name);
  folder->depth = above->depth + 1;
  folder->mode = item.mode;
  TENON_EXPECT_PEER(folder->depth <= kMaxDepth, "tree nested too deep at " + folder->path);
  const auto [at, name] = Place(*above, item.name);
  if (::mkdirat(at, name.c_str(), (item.mode & 0777) | 0700) != 0) {
    return Failed(*above, item.name, FromErrno("make folder", errno));
  }
  above->pending.fetch_add(1);
  pool_.Add([this, folder, hash = item.hash] { return DoFolder(folder, hash); }, 1);
  return {};
}

Status Unpacker::DoFolder(const std::shared_ptr<Folder>& folder, const Hash& hash) {
  if (folder->above && folder->depth <= kDepthWithFd) {
    const auto [at, name] = Place(*folder->above, BaseName(folder->path));
    folder->fd.Reset(::openat(at, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!folder->fd.valid()) return Failed(*folder, "", FromErrno("open", errno));
  }
  TENON_TRY(FolderReader reader, FolderReader::Read(store_, hash));
  folder->reader = std::make_unique<FolderReader>(std::move(reader));
  const size_t count = folder->reader->items().size();
  const size_t batches = count > 2 * kBatch ? (count + kBatch - 1) / kBatch : 1;
  folder->pending.fetch_add(batches);
  for (size_t batch = 1; batch < batches; ++batch) {
    pool_.Add([this, folder, begin = batch * kBatch,
               end = std::min(count, (batch + 1) * kBatch)] { return DoItems(folder, begin, end); },
              kBatch);
  }
  TENON_TRY_VOID(DoItems(folder, 0, batches == 1 ? count : kBatch));
  return Done(folder);
}

Status Unpacker::DoItems(const std::shared_ptr<Folder>& folder, size_t begin, size_t end) {
  uint64_t bytes = 0, files = 0;
  const uint64_t before = entries_.fetch_add(end - begin);
  if (before < kCountFrom && before + (end - begin) >= kCountFrom) {
    TENON_TRY_VOID(CheckEntryCount(store_, tree_));
  }
  for (size_t i = begin; i < end; ++i) {
    const NodeItem& item = folder->reader->items()[i];
    if (item.type == EntryType::kFolder) {
      TENON_TRY_VOID(MakeFolder(folder, item));
      continue;
    }
    const auto [at, name] = Place(*folder, item.name);
    NodeItem placed = item;
    placed.name = name;
    ++files;
    if (item.type == EntryType::kSymlink) {
      if (::symlinkat(std::string(item.target).c_str(), at, name.c_str()) != 0) {
        return Failed(*folder, item.name, FromErrno("make symlink", errno));
      }
      continue;
    }
    bytes += item.size;
    Status made = MakeFile(at, placed);
    if (!made.ok()) return Failed(*folder, item.name, std::move(made).error());
  }
  files_ += files;
  bytes_ += bytes;
  return Done(folder);
}

Status Unpacker::MakeFile(int folder, const NodeItem& item) {
  const std::string name(item.name);
  UniqueFd fd(::openat(folder, name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                       item.mode & 0777));
  if (!fd.valid()) return FromErrno("make file", errno);
  if ((item.mode & (cleared_ | 01000)) && ::fchmod(fd.get(), item.mode) != 0) {
    return FromErrno("set mode", errno);
  }
  if (item.size == 0) {
    static const Hash kEmpty = Sha256Of("");
    TENON_EXPECT_PEER(item.hash == kEmpty, "object " + item.hash.Hex() + " is said to be empty");
    return {};
  }
  TENON_TRY(const bool cloned, store_.CopyOrClone(item.hash, fd.get()));
  if (cloned || item.size >= (1u << 20)) {
    struct stat info;
    if (::fstat(fd.get(), &info) != 0) return FromErrno("look at file", errno);
    TENON_EXPECT_PEER(static_cast<uint64_t>(info.st_size) == item.size,
                      "object " + item.hash.Hex() + " has another size than the tree says");
  }
  if (cloned) ++reflinked_;
  // A network file system may report a full disk only here.
  if (::close(fd.Release()) != 0 && errno != EINTR) return FromErrno("close", errno);
  return {};
}

Status Unpacker::Done(std::shared_ptr<Folder> folder) {
  while (folder && folder->pending.fetch_sub(1) == 1) {
    const uint32_t made = ((folder->mode & 0777) | 0700) & ~cleared_;
    if (folder->above && made != folder->mode) {
      const auto [at, name] = Place(*folder->above, BaseName(folder->path));
      if (::fchmodat(at, name.c_str(), folder->mode, 0) != 0) {
        return Failed(*folder, "", FromErrno("set mode", errno));
      }
    }
    folder->fd.Reset();
    folder->reader.reset();
    folder = folder->above;
  }
  return {};
}

Result<Unpacked> Unpacker::Run(const Hash& root) {
  tree_ = root;
  TENON_TRY_VOID(Begin(root));
  TENON_TRY_VOID(pool_.Run(nullptr));
  Unpacked result;
  result.files = files_;
  result.bytes = bytes_;
  result.reflinked = reflinked_;
  return result;
}

}  // namespace

Result<Unpacked> Unpack(const ObjectStore& store, const Hash& root, const std::string& folder,
                        int threads) {
  Unpacker unpacker(store, folder, threads);
  return unpacker.Run(root);
}

}  // namespace tenon::snapshot
