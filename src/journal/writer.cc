// SPDX-License-Identifier: Apache-2.0
#include "journal/writer.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <ctime>
#include <optional>

#include "base/fd.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/process.h"
#include "base/text.h"
#include "journal/format.h"
#include "journal/reader.h"
#include "journal/reservation.h"
#include "run/layout.h"

namespace tenon::journal {
namespace {

// A reader that asks whether a writer is alive holds the lock for an instant, which is long when
// the machine is busy and the reader has to wait for its turn; 1 + 2 + … + 512 ms.
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

// The end of what is there already.
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

bool IsFull(int error) { return error == ENOSPC || error == EDQUOT; }

// pwrite of several pieces, all of it. Returns 0 or the error number.
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

iovec Piece(std::string_view bytes) {
  return {const_cast<char*>(bytes.data()), bytes.size()};  // pwritev only reads it
}

}  // namespace

struct Writer::Impl {
  Options options;
  UniqueFd fd;
  const Clock* clock = nullptr;
  std::optional<Reservation> reservation;
  uint64_t next = 1;
  uint64_t torn = 0;

  // Read by Sync() and the accessors on other threads.
  std::atomic<uint64_t> last{0};
  std::atomic<uint64_t> size{0};
  std::atomic<uint64_t> synced{0};
  std::atomic<bool> folder_synced{false};
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
  Status Sync();
};

Status Writer::Impl::Start() {
  TENON_TRY_VOID(CheckName(options));
  TENON_TRY(fd, OpenFile(options.path, O_RDWR | O_CREAT, 0644));
  TENON_TRY_VOID(Lock(fd.get(), options.path));
  if (options.reserve) reservation.emplace(fd.get(), options.path, options.allocate_ahead);
  TENON_TRY(End end, FindEnd(fd.get(), options.path));
  // Nothing but (part of) a header that a power cut or our death took back.
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
  size = header.size();
  return {};
}

Status Writer::Impl::GoOn(const End& end) {
  if (end.header) TENON_TRY_VOID(CheckOwner(*end.header));
  size = end.last.offset;
  last = end.last.record;
  torn = end.size - end.last.offset;
  if (torn > 0) CutBack();
  const std::string boot_id = BootId();
  const bool same_boot =
      end.header && !boot_id.empty() && end.header->boot_hash == ShortHash(boot_id);
  next = same_boot ? end.last.record + 1 : FirstOfNextLife(end.last.record);
  // Whoever goes on is here to write the end; a full disk must not stop that.
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

// Makes the file end after the last whole record. If even this fails, readers pass over the rest as
// over any damage, and the next record is written over it.
void Writer::Impl::CutBack() {
  const uint64_t end = size;
  if (::ftruncate(fd.get(), static_cast<off_t>(end)) != 0 || !reservation) return;
  reservation->Forget(end);
  (void)reservation->Ensure(end, 0);  // full again already: the next Append says so
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
  size = end + total;
  last = next;
  return next++;
}

Status Writer::Impl::Sync() {
  const std::string doing = "sync " + options.path;
  // The kernel reports a lost page once and then forgets; we do not.
  if (sync_broken) return FromErrno(doing + " (failed before)", EIO);
  if (!folder_synced) {
    TENON_TRY_VOID(FsyncDir(DirName(options.path)));
    folder_synced = true;
  }
  const uint64_t until = size;
  if (synced >= until) return {};
  while (::fdatasync(fd.get()) != 0) {
    if (errno == EINTR) continue;
    if (errno == EIO) sync_broken = true;
    return FromErrno(doing, errno);
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

Status Writer::Sync() { return impl_->Sync(); }
uint64_t Writer::last_record() const { return impl_->last; }
uint64_t Writer::size() const { return impl_->size; }
uint64_t Writer::torn_bytes() const { return impl_->torn; }

Status SyncSegment(const std::string& path) {
  TENON_TRY(const UniqueFd fd, OpenFile(path, O_RDONLY));
  if (::fdatasync(fd.get()) != 0) return FromErrno("sync " + path, errno);
  return FsyncDir(DirName(path));
}

}  // namespace tenon::journal
