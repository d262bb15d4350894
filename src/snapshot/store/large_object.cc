// SPDX-License-Identifier: Apache-2.0
#include "snapshot/store/large_object.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/fd.h"
#include "base/file.h"

// <linux/fs.h> of old systems lacks it. The kernel returns ENOTTY or EOPNOTSUPP where it can't
// clone.
#ifndef FICLONE
#define FICLONE _IOW(0x94, 9, int)
#endif

namespace tenon::snapshot {
namespace {

constexpr size_t kPiece = 256u << 10;
constexpr size_t kHole = 4096;

// Reads the next bytes; returns 0 at the end.
using Source = std::function<Result<size_t>(std::span<char>)>;

bool Clone(int to, int from) { return ::ioctl(to, FICLONE, from) == 0; }

// Appends to a file and starts writing to the disk early.
class Appender {
 public:
  explicit Appender(int fd) : fd_(fd) {}
  Status operator()(std::string_view bytes) {
    TENON_TRY_VOID(WriteAll(fd_, bytes));
    written_ += bytes.size();
    constexpr uint64_t kWriteback = 8u << 20;
    if (written_ - begun_ >= kWriteback) {
      ::sync_file_range(fd_, static_cast<off64_t>(begun_), static_cast<off64_t>(written_ - begun_),
                        SYNC_FILE_RANGE_WRITE);
      begun_ = written_;
    }
    return {};
  }

 private:
  int fd_;
  uint64_t written_ = 0;
  uint64_t begun_ = 0;
};

// Reads exactly `size` bytes from `source`, hands them to `sink` and returns their hash.
Result<Hash> Pump(const Source& source, uint64_t size, const Sink& sink) {
  Sha256 sha;
  std::vector<char> piece(kPiece);
  uint64_t total = 0;
  for (;;) {
    TENON_TRY(const size_t got, source(piece));
    if (got == 0) break;
    total += got;
    if (total > size) break;
    const std::string_view bytes(piece.data(), got);
    sha.Update(bytes);
    TENON_TRY_VOID(sink(bytes));
  }
  if (total != size) return ChangedWhileRead();
  return sha.Finish();
}

Source FileSource(int fd, const OnBytes& on_bytes) {
  return [fd, &on_bytes, offset = uint64_t{0}](std::span<char> out) mutable -> Result<size_t> {
    TENON_TRY(const size_t got, ReadAt(fd, out, offset));
    offset += got;
    if (on_bytes) on_bytes(got);
    return got;
  };
}

Result<LargeObject> Store(const Source& source, uint64_t size, bool compress, int fd) {
  Appender append(fd);
  if (!compress) {
    TENON_TRY(const Hash hash, Pump(source, size, std::ref(append)));
    return LargeObject{hash, false};
  }
  StreamCompressor compressor(size, std::ref(append));
  TENON_TRY(const Hash hash,
            Pump(source, size, [&](std::string_view bytes) { return compressor.Add(bytes); }));
  TENON_TRY_VOID(compressor.Finish());
  return LargeObject{hash, true};
}

Result<LargeObject> StoreFileInto(int source, uint64_t size, const OnBytes& on_bytes, int fd) {
  if (Clone(fd, source)) {
    // From here on only the clone counts. It can't change any more.
    TENON_TRY(const Hash hash,
              Pump(FileSource(fd, on_bytes), size, [](std::string_view) { return Status(); }));
    return LargeObject{hash, false};
  }
  TENON_TRY(const bool pays, SamplesPay(source, size));
  return Store(FileSource(source, on_bytes), size, pays, fd);
}

template <typename Into>
Result<LargeObject> StoreAt(const std::string& path, Into into) {
  TENON_TRY(UniqueFd fd, OpenFile(path, O_RDWR | O_CREAT | O_EXCL, 0400));
  Result<LargeObject> stored = into(fd.get());
  if (!stored.ok()) ::unlink(path.c_str());
  return stored;
}

// Writes to a file in order and leaves out blocks of zeros.
class HoleWriter {
 public:
  explicit HoleWriter(int fd) : fd_(fd) {}
  Status operator()(std::string_view bytes) {
    while (!bytes.empty()) {
      const size_t to_edge = kHole - offset_ % kHole;
      const bool hole = to_edge == kHole && bytes.size() >= kHole && IsZero(bytes.substr(0, kHole));
      size_t n = std::min(bytes.size(), to_edge);
      while (!hole && n < bytes.size() &&
             (bytes.size() - n < kHole || !IsZero(bytes.substr(n, kHole)))) {
        n = std::min(bytes.size(), n + kHole);
      }
      if (!hole) TENON_TRY_VOID(WriteAllAt(fd_, bytes.substr(0, n), offset_));
      ends_in_hole_ = hole;
      offset_ += n;
      bytes.remove_prefix(n);
    }
    return {};
  }
  Status Finish() {
    if (ends_in_hole_ && ::ftruncate(fd_, static_cast<off_t>(offset_)) != 0) {
      return FromErrno("write", errno);
    }
    return {};
  }

 private:
  static bool IsZero(std::string_view block) {
    return block[0] == 0 && block.substr(1) == block.substr(0, block.size() - 1);
  }
  int fd_;
  uint64_t offset_ = 0;
  bool ends_in_hole_ = false;
};

}  // namespace

Result<LargeObject> StoreLargeFile(int source, uint64_t size, const std::string& path,
                                   const OnBytes& on_bytes) {
  return StoreAt(path, [&](int fd) { return StoreFileInto(source, size, on_bytes, fd); });
}

Result<LargeObject> StoreLargeBytes(std::string_view bytes, const std::string& path) {
  const bool pays = !CompressIfItPays(bytes.substr(bytes.size() / 2, 64u << 10)).empty();
  auto source = [rest = bytes](std::span<char> out) mutable -> Result<size_t> {
    const size_t n = rest.copy(out.data(), out.size());
    rest.remove_prefix(n);
    return n;
  };
  return StoreAt(path, [&](int fd) { return Store(source, bytes.size(), pays, fd); });
}

Status ReadLarge(const std::string& path, bool compressed, const Hash& hash, const Sink& sink) {
  TENON_TRY(const UniqueFd fd, OpenFile(path, O_RDONLY));
  Sha256 sha;
  auto checked = [&](std::string_view bytes) -> Status {
    sha.Update(bytes);
    return sink(bytes);
  };
  if (compressed) {
    Status status = DecompressFile(fd.get(), checked);
    if (!status.ok()) return std::move(status).error().Wrap("read " + path);
  } else {
    std::vector<char> piece(kPiece);
    for (uint64_t offset = 0;;) {
      auto got = ReadAt(fd.get(), piece, offset);
      if (!got.ok()) return std::move(got).error().Wrap("read " + path);
      if (*got == 0) break;
      offset += *got;
      TENON_TRY_VOID(checked({piece.data(), *got}));
    }
  }
  TENON_EXPECT_PEER(sha.Finish() == hash, "read " + path + ": its bytes do not have its hash");
  return {};
}

Result<bool> CopyLarge(const std::string& path, bool compressed, const Hash& hash, int fd) {
  if (!compressed) {
    TENON_TRY(const UniqueFd from, OpenFile(path, O_RDONLY));
    if (Clone(fd, from.get())) return true;
  }
  HoleWriter writer(fd);
  TENON_TRY_VOID(ReadLarge(path, compressed, hash, std::ref(writer)));
  TENON_TRY_VOID(writer.Finish());
  return false;
}

}  // namespace tenon::snapshot
