// SPDX-License-Identifier: Apache-2.0
#include "runner/metrics/metric_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <memory>

#include "base/file.h"
#include "base/process.h"
#include "base/text.h"

namespace tenon::runner {
namespace {

constexpr uint64_t kRoundBytes = 512u << 10;
constexpr size_t kMaxFamilies = 4096;
constexpr size_t kMaxEntries = 65536;    // looked at per scan
constexpr size_t kMaxOpenFamilies = 64;  // with more families, files are closed after each read
constexpr int64_t kIdleUs = 2'000'000;   // then check whether the writer is alive
constexpr size_t kMissingSlots = 1024;
constexpr size_t kSlotSize = 16;
// A larger count cannot be true for a process.
constexpr uint64_t kMostMissing = uint64_t{1} << 40;

uint64_t OwnPidNamespace() {
  struct stat info;
  return ::stat("/proc/self/ns/pid", &info) == 0 ? info.st_ino : 0;
}

bool IsWriterGone(const MetricChunkHeader& header) {
  static const uint64_t own_namespace = OwnPidNamespace();
  if (header.pid_namespace == 0 || header.pid_namespace != own_namespace) return false;
  if (header.pid == 0 || header.pid > INT32_MAX) return false;
  pid_t pid = static_cast<pid_t>(header.pid);
  if (header.start_ticks == 0) return ::kill(pid, 0) != 0 && errno == ESRCH;
  return CheckProcess({pid, header.start_ticks, BootId()}) == Liveness::kGone;
}

Result<UniqueFd> OpenWake(const std::string& folder) {
  std::string path = JoinPath(folder, "wake");
  struct stat info;
  if (::lstat(path.c_str(), &info) == 0 && !S_ISFIFO(info.st_mode)) {
    TENON_TRY_VOID(RemoveFile(path));
  }
  if (::mkfifo(path.c_str(), 0600) != 0 && errno != EEXIST) {
    return FromErrno("making the FIFO " + path, errno);
  }
  // Opened for reading and writing, so that it never reports a hang-up when writers come and go.
  return OpenFile(path, O_RDWR | O_NONBLOCK | O_NOFOLLOW);
}

// Reserves the space for the counts of lost points: when the disk is full, it is too late.
Status MakeMissingFile(const std::string& folder) {
  std::string path = JoinPath(folder, "lost");
  if (Exists(path)) return {};
  return WriteFileAtomically(path, std::string(kMissingSlots * kSlotSize, '\0'), 0600,
                             Durability::kProcess);
}

// The blocks' source, which keeps those of different families apart.
std::string SourceName(std::string_view family, uint32_t chunk) {
  return std::string(family) + "." + std::to_string(chunk);
}

}  // namespace

void MetricPositions::Add(const run::MetricBlock& block) {
  auto name = ParseMetricChunkName(block.source + ".tm");
  if (!name) return;
  Place& place = families_[name->family][block.series];
  place = std::max(place, Place{name->number, block.position});
}

bool MetricPositions::Has(std::string_view family, std::string_view series, uint32_t chunk,
                          uint64_t end) const {
  auto known = families_.find(family);
  if (known == families_.end()) return false;
  auto place = known->second.find(series);
  return place != known->second.end() && Place{chunk, end} <= place->second;
}

MetricFiles::MetricFiles(std::string folder, UniqueFd wake, MetricPositions journaled,
                         const Clock& clock)
    : folder_(std::move(folder)),
      wake_(std::move(wake)),
      journaled_(std::move(journaled)),
      clock_(&clock) {}

Result<MetricFiles> MetricFiles::Open(const std::string& folder, MetricPositions journaled,
                                      const Clock& clock) {
  TENON_TRY_VOID(MakeDirs(folder, 0700));
  TENON_TRY_VOID(MakeMissingFile(folder));
  TENON_TRY(UniqueFd wake, OpenWake(folder));
  return MetricFiles(folder, std::move(wake), std::move(journaled), clock);
}

void MetricFiles::DrainWake() {
  char bytes[512];
  while (::read(wake_.get(), bytes, sizeof bytes) > 0) {
  }
}

uint64_t MetricFiles::Missing() const {
  auto file = OpenFile(JoinPath(folder_, "lost"), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  if (!file.ok()) return 0;
  std::string bytes(kMissingSlots * kSlotSize, '\0');
  auto count = ReadAt(file->get(), bytes, 0);
  if (!count.ok()) return 0;
  uint64_t missing = 0;
  for (size_t place = 0; place + kSlotSize <= *count; place += kSlotSize) {
    uint64_t one = 0;
    memcpy(&one, bytes.data() + place + kSlotSize / 2, sizeof one);
    missing += std::min(one, kMostMissing);
  }
  return missing;
}

std::string MetricFiles::PathOf(const Family& family, uint32_t chunk) const {
  return JoinPath(folder_, SourceName(family.name, chunk) + ".tm");
}

Result<MetricFiles::Round> MetricFiles::Poll(Phase phase) {
  Round round;
  for (auto& [name, family] : families_) {
    family.read = family.committed;
    if (!family.done) family.ended = family.last = false;
    family.block_of.clear();
  }
  TENON_TRY_VOID(Scan(round));
  uint64_t budget = kRoundBytes;
  // Each family once, beginning with the one at which the last round ran out of budget.
  auto first = families_.lower_bound(next_first_);
  std::vector<Family*> order;
  for (auto it = first; it != families_.end(); ++it) order.push_back(&it->second);
  for (auto it = families_.begin(); it != first; ++it) order.push_back(&it->second);
  for (Family* family : order) {
    if (budget == 0) {
      round.more = true;
      next_first_ = family->name;
      break;
    }
    PollFamily(*family, phase, budget, round);
  }
  std::erase_if(families_, [this](const auto& entry) { return dropped_.contains(entry.first); });
  if (phase == Phase::kOver) {
    round.more = std::any_of(families_.begin(), families_.end(), [](const auto& entry) {
      return !(entry.second.ended && entry.second.last);
    });
  }
  return round;
}

// Finds the lowest chunk of each family. Keeps nothing else of the listing, however long it is.
Status MetricFiles::Scan(Round& round) {
  std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir(folder_.c_str()), ::closedir);
  if (!folder) return FromErrno("reading the metric files in " + folder_, errno);
  for (auto& [name, family] : families_) family.lowest.reset();
  size_t entries = 0;
  while (dirent* entry = ::readdir(folder.get())) {
    if (++entries > kMaxEntries) break;
    auto name = ParseMetricChunkName(entry->d_name);
    if (!name || dropped_.contains(name->family)) continue;
    auto found = families_.find(name->family);
    if (found == families_.end()) {
      if (families_.size() + dropped_.size() >= kMaxFamilies) {
        if (!said_too_many_) {
          round.notices.push_back("more than " + std::to_string(kMaxFamilies) +
                                  " processes log metrics at once; some wait for their turn");
        }
        said_too_many_ = true;
        continue;
      }
      found = families_.emplace(name->family, Family{}).first;
      found->second.name = name->family;
    }
    Family& family = found->second;
    if (name->number < family.chunk) continue;
    family.lowest = family.lowest ? std::min(*family.lowest, name->number) : name->number;
  }
  return {};
}

void MetricFiles::PollFamily(Family& family, Phase phase, uint64_t& budget, Round& round) {
  if (phase == Phase::kOver) family.writer_gone = true;
  if (family.done) {
    round.sync_wanted = true;
    return;
  }
  auto open = family.file_id ? EnsureOpen(family) : OpenChunk(family, round);
  if (!open.ok()) return Drop(family, open.error(), round);
  if (!*open) {
    if (phase == Phase::kOver && !family.ended)
      Drop(family, Unavailable("cannot be opened"), round);
    return;
  }
  uint64_t before = family.read;
  if (Status status = ReadChunk(family, budget, round); !status.ok()) {
    return Drop(family, status.error(), round);
  }
  ReadWant(family);
  if (WantsSync(family)) round.sync_wanted = true;
  LookWhetherOver(family, family.read != before, phase);
  if (family.ended) round.more = true;
  CloseSurplus(family);
}

// False: there is no next chunk yet, or it cannot be opened at the moment.
Result<bool> MetricFiles::OpenChunk(Family& family, Round& round) {
  if (!family.lowest) {
    if (!family.started || family.writer_gone) family.last = family.ended = true;
    return false;
  }
  if (family.started && *family.lowest != family.chunk) {
    round.notices.push_back("metric file " + SourceName(family.name, family.chunk) +
                            ".tm was deleted by somebody else; its points are lost");
  }
  family.chunk = *family.lowest;
  TENON_TRY(bool open, EnsureOpen(family));
  if (!open) return false;
  char bytes[kMetricHeaderSize];
  TENON_TRY(size_t count, ReadAt(family.fd.get(), bytes, 0));
  TENON_TRY(family.header, ParseMetricChunkHeader(std::string_view(bytes, count)));
  TENON_EXPECT_PEER(family.header.size == family.size && family.header.number == family.chunk,
                    "the header does not fit the file");
  family.started = true;
  family.committed = family.read = kMetricHeaderSize;
  family.names.clear();
  family.over = false;
  family.idle_since_us = clock_->MonotonicUs();
  return true;
}

// False: it cannot be opened at the moment. kCorrupt: the file was exchanged, or is not a metric
// file.
Result<bool> MetricFiles::EnsureOpen(Family& family) {
  if (family.fd.valid()) return true;
  // Non-blocking, so that a FIFO under this name does not stop us.
  auto opened = OpenFile(PathOf(family, family.chunk), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
  if (!opened.ok()) {
    TENON_EXPECT_PEER(opened.error().kind == ErrorKind::kUnavailable, opened.error().message);
    return false;
  }
  struct stat info;
  if (::fstat(opened->get(), &info) != 0) return FromErrno("fstat", errno);
  TENON_EXPECT_PEER(S_ISREG(info.st_mode) && info.st_nlink <= 1, "not a plain file");
  auto size = static_cast<uint64_t>(info.st_size);
  TENON_EXPECT_PEER(size >= kMetricHeaderSize && size <= kMaxMetricChunk, "a file of wrong size");
  auto id = std::pair<uint64_t, uint64_t>(info.st_dev, info.st_ino);
  TENON_EXPECT_PEER(!family.file_id || *family.file_id == id, "the file was exchanged");
  family.file_id = id;
  family.size = size;
  family.fd = *std::move(opened);
  return true;
}

// Keeps the number of open files small when a thousand processes log.
void MetricFiles::CloseSurplus(Family& family) {
  if (families_.size() > kMaxOpenFamilies) family.fd.Reset();
}

Status MetricFiles::ReadChunk(Family& family, uint64_t& budget, Round& round) {
  TENON_TRY(uint64_t length, CommittedLength(family, budget, round));
  if (length == 0) return {};
  // Read again and use only this second read: a record whose tag was visible in the first read is
  // complete in the second.
  TENON_TRY(size_t count, ReadAt(family.fd.get(), std::span(buffer_.data(), length), family.read));
  TENON_EXPECT_PEER(count == length, "the file was truncated");
  TENON_TRY_VOID(TakeRecords(family, std::string_view(buffer_.data(), length), round));
  budget -= std::min(budget, length);
  if (budget < kMetricRecordHead) {
    budget = 0;
    round.more = true;
  }
  return {};
}

// Number of bytes from family.read on that are whole committed records, about `budget` at most.
// Makes buffer_ at least that long.
Result<uint64_t> MetricFiles::CommittedLength(Family& family, uint64_t budget, Round& round) {
  uint64_t room = family.size - std::min(family.read, family.size);
  uint64_t piece = std::min(room, std::max(budget, kMetricRecordHead));
  if (buffer_.size() < piece) buffer_.resize(piece);
  TENON_TRY(size_t count, ReadAt(family.fd.get(), std::span(buffer_.data(), piece), family.read));
  TENON_EXPECT_PEER(count == piece, "the file was truncated");
  uint64_t length = 0;
  while (length + kMetricRecordHead <= count) {
    TENON_TRY(uint64_t size,
              MetricRecordSize(std::string_view(&buffer_[length], kMetricRecordHead)));
    if (size == 0) break;
    TENON_EXPECT_PEER(family.read + length + size <= family.size, "a record beyond the end");
    if (length + size > count && length > 0) {
      round.more = true;
      break;
    }
    length += size;
    // A single record may be larger than the budget.
    if (buffer_.size() < length) buffer_.resize(length);
  }
  return length;
}

Status MetricFiles::TakeRecords(Family& family, std::string_view bytes, Round& round) {
  while (!bytes.empty()) {
    TENON_EXPECT_PEER(bytes.size() >= kMetricRecordHead, "a record that shrank");
    TENON_TRY(MetricRecord record, ParseMetricRecord(bytes));
    bytes.remove_prefix(record.size);
    family.read += record.size;
    if (record.is_point()) {
      TENON_TRY_VOID(TakePoint(family, record, family.read, round));
    } else if (record.tag == MetricTag::kName) {
      const std::string name = names_ ? names_(record.payload) : std::string(record.payload);
      auto [known, fresh] = family.names.emplace(record.series, name);
      TENON_EXPECT_PEER(fresh || known->second == name, "one number for two series");
    } else if (record.tag == MetricTag::kDropped) {
      round.dropped += std::min(record.raw, kMostMissing);
    } else {
      family.ended = true;
      family.last = record.tag == MetricTag::kEndOfFamily;
      return {};
    }
  }
  return {};
}

Status MetricFiles::TakePoint(Family& family, const MetricRecord& record, uint64_t end,
                              Round& round) {
  auto name = family.names.find(record.series);
  TENON_EXPECT_PEER(name != family.names.end(), "a point of a series that has no name");
  if (journaled_.Has(family.name, name->second, family.chunk, end)) return {};
  if (record.cut && !said_cut_) {
    said_cut_ = true;
    round.notices.push_back("a value of '" + name->second +
                            "' was too long and has been cut (1 MiB of text, 131072 numbers)");
  }
  auto [place, fresh] = family.block_of.emplace(record.series, round.blocks.size());
  if (fresh) {
    round.blocks.push_back({name->second, SourceName(family.name, family.chunk), 0, {}});
  }
  run::MetricBlock& block = round.blocks[place->second];
  block.position = end;
  block.points.push_back({record.step, record.time_us, MetricRecordValue(record)});
  return {};
}

void MetricFiles::LookWhetherOver(Family& family, bool progress, Phase phase) {
  if (family.ended) return;
  if (phase == Phase::kOver) family.over = true;
  // `over` was set before this read, so this read has seen the last record.
  if (family.over && !progress) {
    family.ended = true;
    family.last = false;  // there may be a next chunk; OpenChunk finds out
    return;
  }
  int64_t now = clock_->MonotonicUs();
  if (progress) family.idle_since_us = now;
  if (family.over || now - family.idle_since_us < kIdleUs) return;
  family.idle_since_us = now;
  family.writer_gone = IsWriterGone(family.header);
  family.over = family.writer_gone || NextChunkBegun(family);
}

// Whether the next chunk has a record: a writer that was interrupted between two chunks may not
// have ended the first.
bool MetricFiles::NextChunkBegun(const Family& family) const {
  auto next = OpenFile(PathOf(family, family.chunk + 1), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  char tag = 0;
  return next.ok() && ::pread(next->get(), &tag, 1, kMetricHeaderSize) == 1 && tag != 0;
}

// False when the header cannot be read.
bool MetricFiles::ReadWant(Family& family) {
  char bytes[kMetricHeaderSize];
  auto count = ReadAt(family.fd.get(), bytes, 0);
  if (!count.ok() || *count != sizeof bytes) return false;
  memcpy(&family.header.want, bytes + kMetricWantOffset, sizeof family.header.want);
  return true;
}

// Whether a process waits for bytes that have been read and are not durable yet. An absurdly large
// `want` asks only once.
bool MetricFiles::WantsSync(const Family& family) const {
  return std::min(family.header.want, family.read) > family.header.synced;
}

void MetricFiles::Commit() {
  for (auto& [name, family] : families_) {
    family.committed = family.read;
    if (!family.ended) continue;
    family.done = true;
    // A process that waits for this chunk has set `want` before the chunk ended, so read it once
    // more now.
    if (family.file_id && !family.writer_gone) {
      auto open = EnsureOpen(family);
      if (open.ok() && *open && ReadWant(family) && WantsSync(family)) continue;
    }
    FinishChunk(family);
  }
  ForgetFinished();
}

void MetricFiles::FinishChunk(Family& family) {
  // A file that could not be deleted must not be read as a new one later.
  if (family.file_id && !keep_files_ && ::unlink(PathOf(family, family.chunk).c_str()) != 0 &&
      errno != ENOENT) {
    if (family.last || family.writer_gone) dropped_.insert(family.name);
  }
  family.fd.Reset();
  family.file_id.reset();
  family.names.clear();
  family.finished = family.last || family.chunk == UINT32_MAX;
  if (family.finished && keep_files_) dropped_.insert(family.name);
  family.ended = family.done = false;
  ++family.chunk;
}

void MetricFiles::ForgetFinished() {
  std::erase_if(families_, [](const auto& entry) { return entry.second.finished; });
}

void MetricFiles::MarkSynced() {
  for (auto& [name, family] : families_) {
    const MetricChunkHeader& header = family.header;
    if (!family.file_id || header.want <= header.synced || family.committed <= header.synced)
      continue;
    auto open = EnsureOpen(family);
    if (!open.ok() || !*open) continue;
    uint64_t synced = family.committed;
    std::string_view bytes(reinterpret_cast<const char*>(&synced), sizeof synced);
    if (!WriteAllAt(family.fd.get(), bytes, kMetricSyncedOffset).ok()) continue;
    family.header.synced = synced;
    if (family.done) FinishChunk(family);
  }
  ForgetFinished();
}

void MetricFiles::Drop(Family& family, const Error& error, Round& round) {
  round.notices.push_back("metric file " + SourceName(family.name, family.chunk) +
                          ".tm cannot be read; later points of process " +
                          family.name.substr(0, family.name.find('-')) +
                          " are lost: " + error.message);
  dropped_.insert(family.name);
}

}  // namespace tenon::runner
