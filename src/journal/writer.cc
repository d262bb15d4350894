// SPDX-License-Identifier: Apache-2.0
#include "journal/writer.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <ctime>
#include <optional>

#include "base/durable.h"
#include "base/fd.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/process.h"
#include "base/regular_file.h"
#include "base/text.h"
#include "journal/format.h"
#include "journal/reader.h"
#include "journal/reservation.h"
#include "run/layout.h"

namespace tenon::journal {
namespace {

// A reader that asks whether a writer is alive holds the lock for an instant. That can be long when
// the machine is busy and the reader waits for its turn. So Lock() pauses 1 + 2 + … + 512 ms.
constexpr int kLockTries = 10;

Status Lock(int fd, const std::string& path) {
  for (int tried = 0;;) {
    if (::flock(fd, LOCK_EX | LOCK_NB) == 0) return {};
    if (errno == EINTR) continue;
    if (errno != EWOULDBLOCK) return FromErrno("lock " + path, errno);
    if (tried == kLockTries) return Unavailable("lock " + path + ": another writer holds it");
    timespec pause{0, 1'000'000L << tried++};
    ::nanosleep(&pause, nullptr);
  }
}

Status CheckName(const Writer::Options& options) {
  std::string_view name = BaseName(options.path);
  if (!name.ends_with(run::kSegmentSuffix)) return {};
  name.remove_suffix(run::kSegmentSuffix.size());
  if (name == options.segment) return {};
  return Internal("segment \"" + options.segment + "\" cannot be written to " + options.path);
}

// Where an existing segment ends.
struct End {
  Cursor last;
  uint64_t size = 0;
  std::optional<StoredHeader> header;
};

Result<End> FindEnd(int fd, const std::string& path) {
  Decoder decoder;
  End end;
  for (;;) {
    auto record = decoder.Next();
    if (!record.ok()) return std::move(record).error().Wrap("open " + path);
    if (*record) continue;
    if (decoder.settled()) break;
    Result<size_t> got = ReadAt(fd, decoder.Prepare(1u << 20), end.size);
    if (!got.ok()) return std::move(got).error().Wrap("open " + path);
    decoder.Commit(*got);
    end.size += *got;
    if (*got == 0) decoder.Settle();
  }
  end.last = decoder.cursor();
  end.header = decoder.header();
  return end;
}

bool IsFull(int error) { return error == ENOSPC || error == EDQUOT || error == EFBIG; }

// Writes all pieces with pwritev. Returns 0 or the error number.
int WriteAllPieces(int fd, std::array<iovec, 3>& pieces, uint64_t offset) {
  size_t first = 0;
  while (first < pieces.size()) {
    ssize_t n = ::pwritev(fd, &pieces[first], static_cast<int>(pieces.size() - first),
                          static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno;
    offset += static_cast<uint64_t>(n);
    auto left = static_cast<size_t>(n);
    while (first < pieces.size() && left >= pieces[first].iov_len) left -= pieces[first++].iov_len;
    if (first == pieces.size()) break;
    if (n == 0) return ENOSPC;
    pieces[first].iov_base = static_cast<char*>(pieces[first].iov_base) + left;
    pieces[first].iov_len -= left;
  }
  return 0;
}

// Syncs the name of the segment and that of the run's folder, which may be new.
Status SyncNames(int fd, const std::string& path) {
  if (NamesFollowFsync(fd)) return {};
  const std::string folder = DirName(path);
  TENON_TRY_VOID(FsyncDir(folder));
  return FsyncDir(DirName(folder));
}

iovec Piece(std::string_view bytes) {
  return {const_cast<char*>(bytes.data()), bytes.size()};  // pwritev only reads the bytes
}

}  // namespace

struct Writer::Impl {
  Options options;
  UniqueFd fd;
  const Clock* clock = nullptr;
  std::optional<Reservation> reservation;
  uint64_t next = 1;
  uint64_t torn = 0;
  std::string file_header;  // as this writer wrote it; "" = another writer wrote it
  uint64_t ours_from = 0;   // offset of this writer's first record
  // Checksum over the headers of this writer's records. Each header holds the checksum of its
  // payload.
  uint32_t headers_crc = 0;

  // Read by Sync() and the accessors on other threads.
  std::atomic<uint64_t> last{0};
  std::atomic<uint64_t> size{0};
  std::atomic<uint64_t> synced{0};
  std::atomic<bool> names_synced{false};
  std::atomic<bool> sync_broken{false};

  ~Impl() {
    if (reservation) reservation->GiveBack(size);
  }

  Status Start();
  Status Begin();
  Status GoOn(const End& end);
  Status CheckOwner(const StoredHeader& header) const;
  Result<uint64_t> Put(run::EventType type, std::string_view prefix, std::string_view payload,
                       bool last_words);
  void CutBack();
  std::string FindChange();
  bool IsAsWritten();
  bool BringBack();
  std::string CheckAndMend();
  Status Sync();
};

Status Writer::Impl::Start() {
  TENON_TRY_VOID(CheckName(options));
  // The init in a container gets an open file and no path: its path here is a symlink made by the
  // kernel.
  const int follow = options.path.starts_with("/proc/self/fd/") ? 0 : O_NOFOLLOW;
  TENON_TRY(fd, OpenRegular(options.path, O_RDWR | O_CREAT | follow, 0600));
  TENON_TRY_VOID(Lock(fd.get(), options.path));
  if (options.reserve) {
    reservation.emplace(fd.get(), options.path, options.allocate_ahead, options.reserve_beside);
  }
  TENON_TRY(End end, FindEnd(fd.get(), options.path));
  // The file has no records and no usable header: a power cut or the death of a writer took the
  // header back.
  if (end.last.offset < kFileHeaderSize) {
    torn = end.size;
    return Begin();
  }
  return GoOn(end);
}

Status Writer::Impl::Begin() {
  TENON_TRY(std::string header,
            EncodeFileHeader({options.run_key, options.segment, clock->NowUs(), BootId()}));
  if (::ftruncate(fd.get(), 0) != 0) return FromErrno("truncate " + options.path, errno);
  if (reservation) TENON_TRY_VOID(reservation->Ensure(0, header.size()));
  Status written = WriteAllAt(fd.get(), header, 0);
  if (!written.ok()) {
    if (::ftruncate(fd.get(), 0) != 0) return FromErrno("truncate " + options.path, errno);
    return std::move(written).error().Wrap("write " + options.path);
  }
  size = ours_from = header.size();
  file_header = std::move(header);
  return {};
}

Status Writer::Impl::GoOn(const End& end) {
  if (end.header) TENON_TRY_VOID(CheckOwner(*end.header));
  size = ours_from = end.last.offset;
  last = end.last.record;
  torn = end.size - end.last.offset;
  if (torn > 0) CutBack();
  const std::string boot_id = BootId();
  const bool same_boot =
      end.header && !boot_id.empty() && end.header->boot_hash == ShortHash(boot_id);
  next = same_boot ? end.last.record + 1 : FirstOfNextLife(end.last.record);
  // A writer that reopens a segment with a reserve does so to write the end. A full disk must not
  // stop that.
  if (reservation && torn == 0) (void)reservation->Ensure(size, 0);
  return {};
}

Status Writer::Impl::CheckOwner(const StoredHeader& header) const {
  if (header.run_key != ToLower(options.run_key)) {
    return Invalid("open " + options.path + ": the segment belongs to run " + header.run_key +
                   ", not to " + options.run_key);
  }
  if (header.segment_hash != ShortHash(options.segment)) {
    return Invalid("open " + options.path + ": this is another segment than \"" + options.segment +
                   "\"");
  }
  return {};
}

// Cuts the file after the last whole record. If even this fails, readers pass over the rest as over
// any damage, and the next record overwrites it.
void Writer::Impl::CutBack() {
  const uint64_t end = size;
  if (::ftruncate(fd.get(), static_cast<off_t>(end)) != 0 || !reservation) return;
  reservation->Forget(end);
  (void)reservation->Ensure(end, 0);  // if the disk is full, the next Append() fails
}

Result<uint64_t> Writer::Impl::Put(run::EventType type, std::string_view prefix,
                                   std::string_view payload, bool last_words) {
  const size_t length = prefix.size() + payload.size();
  if (length > kMaxPayload) {
    return Invalid("append to " + options.path + ": a record of " + std::to_string(length) +
                   " bytes is too large");
  }
  const uint64_t end = size;
  const size_t total = kRecordHeaderSize + length;
  if (reservation && !last_words) TENON_TRY_VOID(reservation->Ensure(end, total));

  char header[kRecordHeaderSize];
  RecordHeader fields{0, static_cast<uint32_t>(length), next, clock->NowUs(),
                      static_cast<uint8_t>(type)};
  EncodeRecordHeader(fields, header);
  fields.crc = RecordCrc(header, prefix);
  fields.crc = Crc32c(payload, fields.crc);
  EncodeRecordHeader(fields, header);

  auto write = [&] {
    std::array<iovec, 3> pieces{Piece({header, sizeof header}), Piece(prefix), Piece(payload)};
    return WriteAllPieces(fd.get(), pieces, end);
  };
  int error = write();
  if (IsFull(error) && last_words && reservation && reservation->Open()) error = write();
  if (error != 0) {
    CutBack();
    return FromErrno("append to " + options.path, error);
  }
  headers_crc = Crc32c({header, sizeof header}, headers_crc);
  size = end + total;
  last = next;
  return next++;
}

// Whether the records of this writer are in the file as it wrote them.
bool Writer::Impl::IsAsWritten() {
  std::string buffer(1u << 20, '\0');
  const uint64_t end = size;
  uint64_t at = ours_from, have_from = 0, have = 0;
  // The next bytes of the file, at most `most`; empty at the end of the file.
  auto next_bytes = [&](uint64_t most) -> std::string_view {
    if (at < have_from || at >= have_from + have) {
      auto got = ReadAt(fd.get(), std::span(buffer.data(), buffer.size()), at);
      have_from = at;
      have = got.ok() ? *got : 0;
    }
    const uint64_t skip = at - have_from;
    const uint64_t count = std::min({most, have - skip, end - at});
    at += count;
    return std::string_view(buffer).substr(skip, count);
  };
  uint32_t crc = 0;
  while (at < end) {
    char header[kRecordHeaderSize];
    for (size_t got = 0; got < sizeof header;) {
      const std::string_view piece = next_bytes(sizeof header - got);
      if (piece.empty()) return false;
      got += piece.copy(header + got, piece.size());
    }
    crc = Crc32c({header, sizeof header}, crc);
    const RecordHeader fields = DecodeRecordHeader(header);
    uint32_t payload_crc = RecordCrc(header, {});
    for (uint64_t left = fields.length; left > 0;) {
      const std::string_view piece = next_bytes(left);
      if (piece.empty()) return false;
      payload_crc = Crc32c(piece, payload_crc);
      left -= piece.size();
    }
    if (payload_crc != fields.crc) return false;
  }
  return crc == headers_crc;
}

std::string Writer::Impl::FindChange() {
  struct stat held {
  }, named{};
  if (::fstat(fd.get(), &held) != 0) return "it cannot be looked at any more";
  if (options.path.ends_with(run::kSegmentSuffix)) {
    if (::lstat(options.path.c_str(), &named) != 0) return "it was removed";
    if (held.st_dev != named.st_dev || held.st_ino != named.st_ino) return "it was replaced";
  }
  const auto length = static_cast<uint64_t>(held.st_size);
  if (length < size) return HumanBytes(size - length) + " were cut off";
  if (length > size) return HumanBytes(length - size) + " were appended to it";
  if (!file_header.empty()) {
    std::string header(file_header.size(), '\0');
    auto got = ReadAt(fd.get(), header, 0);
    if (!got.ok() || header != file_header) return "its beginning was overwritten";
  }
  return IsAsWritten() ? "" : "what is in it is not what was written";
}

// Puts a copy of the file at its path: a file that has lost its name cannot get it back.
bool Writer::Impl::BringBack() {
  const std::string copy = options.path + ".new";
  (void)::unlink(copy.c_str());
  auto made = OpenFile(copy, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
  if (!made.ok()) return false;
  std::string buffer(1u << 20, '\0');
  for (uint64_t at = 0; at < size;) {
    auto got = ReadAt(fd.get(), std::span(buffer.data(), std::min(buffer.size(), size - at)), at);
    if (!got.ok() || *got == 0) break;
    if (!WriteAllAt(made->get(), {buffer.data(), *got}, at).ok()) break;
    at += *got;
  }
  const bool named =
      Lock(made->get(), copy).ok() && ::rename(copy.c_str(), options.path.c_str()) == 0;
  if (!named) {
    (void)::unlink(copy.c_str());
    return false;
  }
  // In one step, because another thread may be in Sync().
  if (::dup3(made->get(), fd.get(), O_CLOEXEC) < 0) return false;
  names_synced = false;
  synced = 0;
  return true;
}

std::string Writer::Impl::CheckAndMend() {
  std::string change = FindChange();
  if (change.empty()) return change;
  struct stat held {
  }, named{};
  const bool away = options.path.ends_with(run::kSegmentSuffix) &&
                    (::fstat(fd.get(), &held) != 0 || ::lstat(options.path.c_str(), &named) != 0 ||
                     held.st_dev != named.st_dev || held.st_ino != named.st_ino);
  if (away) (void)BringBack();
  if (!file_header.empty()) (void)WriteAllAt(fd.get(), file_header, 0).ok();
  CutBack();
  // Each change is reported once: from here on the current state of the file counts.
  ours_from = size;
  headers_crc = 0;
  return change;
}

Status Writer::Impl::Sync() {
  const std::string doing = "sync " + options.path;
  // The kernel reports a lost page only once, so remember it.
  if (sync_broken) return FromErrno(doing + " (failed before)", EIO);
  const uint64_t until = size;
  const bool first = !names_synced;
  if (synced >= until && !first) return {};
  if ((first ? DurableFsync(fd.get()) : DurableFdatasync(fd.get())) != 0) {
    if (errno == EIO) sync_broken = true;
    return FromErrno(doing, errno);
  }
  if (first) {
    TENON_TRY_VOID(SyncNames(fd.get(), options.path));
    names_synced = true;
  }
  uint64_t before = synced;
  while (before < until && !synced.compare_exchange_weak(before, until)) {
  }
  return {};
}

Writer::Writer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Writer::Writer(Writer&&) noexcept = default;
Writer& Writer::operator=(Writer&&) noexcept = default;
Writer::~Writer() = default;

Result<Writer> Writer::Open(const Options& options) {
  auto impl = std::make_unique<Impl>();
  impl->options = options;
  impl->clock = options.clock != nullptr ? options.clock : &SystemClock();
  TENON_TRY_VOID(impl->Start());
  return Writer(std::move(impl));
}

Result<uint64_t> Writer::Append(const run::Event& event) {
  if (const auto* output = std::get_if<run::Output>(&event)) {
    return AppendOutput(output->stream, output->bytes);
  }
  return impl_->Put(run::TypeOf(event), {}, run::EncodeEvent(event), false);
}

Result<uint64_t> Writer::AppendLast(const run::Event& event) {
  return impl_->Put(run::TypeOf(event), {}, run::EncodeEvent(event), true);
}

Result<uint64_t> Writer::AppendOutput(run::Stream stream, std::string_view bytes, size_t* written) {
  const char prefix = static_cast<char>(stream);
  if (written != nullptr) *written = 0;
  while (!bytes.empty()) {
    std::string_view piece = bytes.substr(0, kMaxPayload - 1);
    TENON_TRY(uint64_t number, impl_->Put(run::EventType::kOutput, {&prefix, 1}, piece, false));
    (void)number;
    if (written != nullptr) *written += piece.size();
    bytes.remove_prefix(piece.size());
  }
  return impl_->last.load();
}

std::string Writer::CheckAndMend() { return impl_->CheckAndMend(); }
Status Writer::Sync() { return impl_->Sync(); }
uint64_t Writer::last_record() const { return impl_->last; }
uint64_t Writer::size() const { return impl_->size; }
uint64_t Writer::torn_bytes() const { return impl_->torn; }

void GiveBackReserve(const std::string& path) {
  // Truncating a file to its own size frees what was allocated beyond it.
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return;
  if (::truncate(path.c_str(), info.st_size) != 0) return;  // a failure costs only disk space
}

Status SyncSegment(const std::string& path) {
  TENON_TRY(const UniqueFd fd, OpenRegular(path, O_RDONLY | O_NOFOLLOW));
  if (DurableFsync(fd.get()) != 0) return FromErrno("sync " + path, errno);
  return SyncNames(fd.get(), path);
}

}  // namespace tenon::journal
