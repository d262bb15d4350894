// SPDX-License-Identifier: Apache-2.0
// The format is PKWARE's APPNOTE 6.3, as far as archives need it that are written from front to
// back: a local header before each entry, whose sums are filled in when the entry has ended, and
// the directory at the end.
#include "engine/outputs/zip.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <vector>

#include "base/check.h"
#include "base/fd.h"
#include "base/file.h"
#include "base/text.h"

namespace tenon::engine {
namespace {

constexpr uint32_t kMax32 = 0xffffffffu;
constexpr uint64_t kLargeHint = 1u << 31;  // from this size hint on an entry gets the 64-bit form
constexpr uint16_t kDeflated = 8;
constexpr uint16_t kUtf8Names = 1u << 11;
constexpr uint16_t kMadeByUnix = (3u << 8) | 45;
constexpr uint16_t kZip64Extra = 1;

void Put16(std::string* out, uint64_t value) {
  for (int i = 0; i < 2; ++i) *out += static_cast<char>(value >> (8 * i));
}
void Put32(std::string* out, uint64_t value) {
  for (int i = 0; i < 4; ++i) *out += static_cast<char>(value >> (8 * i));
}
void Put64(std::string* out, uint64_t value) {
  for (int i = 0; i < 8; ++i) *out += static_cast<char>(value >> (8 * i));
}

uint64_t Cut32(uint64_t value) { return std::min<uint64_t>(value, kMax32); }

// A time in DOS form: from 1980 to 2107, in steps of two seconds.
uint32_t DosTime(int64_t time_us) {
  const std::time_t seconds = static_cast<std::time_t>(time_us / 1'000'000);
  std::tm tm{};
  if (::gmtime_r(&seconds, &tm) == nullptr || tm.tm_year < 80 || tm.tm_year > 207) {
    return (1u << 21) | (1u << 16);
  }
  return static_cast<uint32_t>(tm.tm_year - 80) << 25 | static_cast<uint32_t>(tm.tm_mon + 1) << 21 |
         static_cast<uint32_t>(tm.tm_mday) << 16 | static_cast<uint32_t>(tm.tm_hour) << 11 |
         static_cast<uint32_t>(tm.tm_min) << 5 | static_cast<uint32_t>(tm.tm_sec / 2);
}

struct Entry {
  std::string name;
  uint32_t attributes = 0;  // st_mode in the upper half
  bool large = false;       // the local header has the 64-bit form
  uint64_t offset = 0;
  uint32_t crc = 0;
  uint64_t packed = 0;
  uint64_t size = 0;
};

void PutCommon(std::string* out, const Entry& entry, uint32_t time) {
  Put16(out, entry.large ? 45 : 20);
  Put16(out, IsUtf8(entry.name) ? kUtf8Names : 0);
  Put16(out, kDeflated);
  Put32(out, time);
  Put32(out, entry.crc);
  Put32(out, entry.large ? kMax32 : entry.packed);
  Put32(out, entry.large ? kMax32 : entry.size);
  Put16(out, entry.name.size());
}

std::string LocalHeader(const Entry& entry, uint32_t time) {
  std::string out;
  Put32(&out, 0x04034b50);
  PutCommon(&out, entry, time);
  Put16(&out, entry.large ? 20 : 0);
  out += entry.name;
  if (entry.large) {
    Put16(&out, kZip64Extra);
    Put16(&out, 16);
    Put64(&out, entry.size);
    Put64(&out, entry.packed);
  }
  return out;
}

std::string DirectoryHeader(const Entry& entry, uint32_t time) {
  std::string extra;
  if (entry.large) {
    Put64(&extra, entry.size);
    Put64(&extra, entry.packed);
  }
  if (entry.offset >= kMax32) Put64(&extra, entry.offset);
  std::string out;
  Put32(&out, 0x02014b50);
  Put16(&out, kMadeByUnix);
  PutCommon(&out, entry, time);
  Put16(&out, extra.empty() ? 0 : extra.size() + 4);
  Put16(&out, 0);  // comment
  Put16(&out, 0);  // disk
  Put16(&out, 0);  // internal attributes
  Put32(&out, entry.attributes);
  Put32(&out, Cut32(entry.offset));
  out += entry.name;
  if (!extra.empty()) {
    Put16(&out, kZip64Extra);
    Put16(&out, extra.size());
    out += extra;
  }
  return out;
}

std::string DirectoryEnd(uint64_t count, uint64_t offset, uint64_t size) {
  std::string out;
  if (count >= 0xffff || offset >= kMax32 || size >= kMax32) {
    Put32(&out, 0x06064b50);
    Put64(&out, 44);
    Put16(&out, kMadeByUnix);
    Put16(&out, 45);
    Put32(&out, 0);
    Put32(&out, 0);
    Put64(&out, count);
    Put64(&out, count);
    Put64(&out, size);
    Put64(&out, offset);
    Put32(&out, 0x07064b50);
    Put32(&out, 0);
    Put64(&out, offset + size);
    Put32(&out, 1);
  }
  Put32(&out, 0x06054b50);
  Put16(&out, 0);
  Put16(&out, 0);
  Put16(&out, std::min<uint64_t>(count, 0xffff));
  Put16(&out, std::min<uint64_t>(count, 0xffff));
  Put32(&out, Cut32(size));
  Put32(&out, Cut32(offset));
  Put16(&out, 0);
  return out;
}

}  // namespace

struct ZipWriter::Impl {
  std::string path, temporary;
  UniqueFd fd;
  uint32_t time = 0;
  uint64_t offset = 0;
  std::vector<Entry> done;
  bool open = false;  // between Begin and End
  bool finished = false;
  Entry entry;
  z_stream stream{};

  ~Impl() {
    if (open) ::deflateEnd(&stream);
    if (!finished) (void)RemoveFile(temporary).ok();
  }

  Status Append(std::string_view bytes) {
    TENON_TRY_VOID(WriteAll(fd.get(), bytes));
    offset += bytes.size();
    return {};
  }

  // Hands bytes to zlib and writes what comes out.
  Status Deflate(std::string_view bytes, int flush) {
    std::array<char, 64u << 10> out;
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    stream.avail_in = static_cast<uInt>(bytes.size());
    do {
      stream.next_out = reinterpret_cast<Bytef*>(out.data());
      stream.avail_out = static_cast<uInt>(out.size());
      const int code = ::deflate(&stream, flush);
      TENON_CHECK(code != Z_STREAM_ERROR);
      const size_t made = out.size() - stream.avail_out;
      TENON_TRY_VOID(Append({out.data(), made}));
      entry.packed += made;
    } while (stream.avail_out == 0);
    return {};
  }
};

ZipWriter::ZipWriter(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ZipWriter::ZipWriter(ZipWriter&&) noexcept = default;
ZipWriter& ZipWriter::operator=(ZipWriter&&) noexcept = default;
ZipWriter::~ZipWriter() = default;

Result<ZipWriter> ZipWriter::Create(const std::string& path, int64_t time_us) {
  auto impl = std::make_unique<Impl>();
  impl->path = path;
  impl->temporary = JoinPath(DirName(path), ".tenon-tmp-" + RandomHex(8));
  impl->time = DosTime(time_us);
  TENON_TRY(impl->fd, OpenFile(impl->temporary, O_WRONLY | O_CREAT | O_EXCL, 0600));
  return ZipWriter(std::move(impl));
}

Status ZipWriter::Begin(std::string_view name, uint32_t mode, uint64_t size_hint) {
  Impl& zip = *impl_;
  TENON_CHECK(!zip.open && !zip.finished);
  if (name.empty() || name.size() > 0xffff) return Invalid("a name in the archive is too long");
  zip.entry = Entry{};
  zip.entry.name = name;
  zip.entry.attributes =
      (((mode & S_IFMT) == 0 ? mode | static_cast<uint32_t>(S_IFREG) : mode) & 0xffff) << 16;
  zip.entry.large = size_hint >= kLargeHint;
  zip.entry.offset = zip.offset;
  TENON_TRY_VOID(zip.Append(LocalHeader(zip.entry, zip.time)));
  zip.stream = {};
  const int code = ::deflateInit2(&zip.stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, -MAX_WBITS,
                                  /*memLevel=*/8, Z_DEFAULT_STRATEGY);
  if (code != Z_OK) return Unavailable("no memory to compress with");
  zip.open = true;
  return {};
}

Status ZipWriter::Write(std::string_view bytes) {
  Impl& zip = *impl_;
  TENON_CHECK(zip.open);
  while (!bytes.empty()) {
    const std::string_view piece = bytes.substr(0, 1u << 30);
    bytes.remove_prefix(piece.size());
    zip.entry.crc =
        static_cast<uint32_t>(::crc32(zip.entry.crc, reinterpret_cast<const Bytef*>(piece.data()),
                                      static_cast<uInt>(piece.size())));
    zip.entry.size += piece.size();
    TENON_TRY_VOID(zip.Deflate(piece, Z_NO_FLUSH));
  }
  return {};
}

Status ZipWriter::End() {
  Impl& zip = *impl_;
  TENON_CHECK(zip.open);
  TENON_TRY_VOID(zip.Deflate("", Z_FINISH));
  ::deflateEnd(&zip.stream);
  zip.open = false;
  if (!zip.entry.large && (zip.entry.size >= kMax32 || zip.entry.packed >= kMax32)) {
    return Invalid(ForTerminal(zip.entry.name) + " has grown beyond 4 GB while it was read");
  }
  TENON_TRY_VOID(WriteAllAt(zip.fd.get(), LocalHeader(zip.entry, zip.time), zip.entry.offset));
  zip.done.push_back(std::move(zip.entry));
  return {};
}

Status ZipWriter::AddFile(std::string_view name, std::string_view bytes, uint32_t mode) {
  TENON_TRY_VOID(Begin(name, mode, bytes.size()));
  TENON_TRY_VOID(Write(bytes));
  return End();
}

Status ZipWriter::AddFolder(std::string_view name, uint32_t mode) {
  TENON_TRY_VOID(Begin(std::string(name) + "/", static_cast<uint32_t>(S_IFDIR) | mode, 0));
  impl_->entry.attributes |= 0x10;  // DOS attribute of a folder
  return End();
}

Status ZipWriter::AddSymlink(std::string_view name, std::string_view target) {
  return AddFile(name, target, static_cast<uint32_t>(S_IFLNK) | 0777);
}

uint64_t ZipWriter::entries() const { return impl_->done.size(); }

Status ZipWriter::Finish() {
  Impl& zip = *impl_;
  TENON_CHECK(!zip.open && !zip.finished);
  const uint64_t begin = zip.offset;
  for (const Entry& entry : zip.done) TENON_TRY_VOID(zip.Append(DirectoryHeader(entry, zip.time)));
  TENON_TRY_VOID(zip.Append(DirectoryEnd(zip.done.size(), begin, zip.offset - begin)));
  TENON_TRY_VOID(RenameFile(zip.temporary, zip.path));
  zip.finished = true;
  return {};
}

}  // namespace tenon::engine
