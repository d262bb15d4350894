// SPDX-License-Identifier: Apache-2.0
// Reads the points that the processes of a script have put into metric files
// (docs/formats/metric-files.md) and hands them over as blocks for the journal.
//
//   Poll ──► blocks ──► journal ──► Commit ──► (fdatasync of the journal ──► MarkSynced)
//
// Poll changes nothing: what it returned comes again until Commit says that the journal has it.
// Only Commit deletes files, so a full disk or a killed runner costs no point.
//
// The script owns these files and may put anything there. They are read with pread into a buffer of
// limited size; links, FIFOs and folders are not followed, opened or entered; what does not parse
// drops that family with a notice and leaves the others alone.
#ifndef TENON_RUNNER_METRICS_METRIC_FILES_H_
#define TENON_RUNNER_METRICS_METRIC_FILES_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/fd.h"
#include "base/result.h"
#include "run/metric.h"
#include "runner/metrics/metric_chunk.h"

namespace tenon::runner {

// How far a journal has got in the metric files: the place after the last point, per family and
// series (a crash may fall between two blocks of one round).
class MetricPositions {
 public:
  // To be called with every block of the segment, in any order. Blocks from elsewhere are ignored.
  void Add(const run::MetricBlock& block);
  // Whether the journal has the point of `series` that ends at `end` in that chunk.
  bool Has(std::string_view family, std::string_view series, uint32_t chunk, uint64_t end) const;

 private:
  struct Place {
    uint32_t chunk = 0;
    uint64_t end = 0;
    auto operator<=>(const Place&) const = default;  // NOLINT(modernize-use-nullptr)
  };
  std::map<std::string, std::map<std::string, Place, std::less<>>, std::less<>> families_;
};

// One per folder, one thread.
class MetricFiles {
 public:
  // Creates the folder and its FIFO where they are missing. `journaled`: for whoever takes over
  // from a runner that died.
  static Result<MetricFiles> Open(const std::string& folder, MetricPositions journaled = {},
                                  const Clock& clock = SystemClock());
  MetricFiles(MetricFiles&&) = default;
  MetricFiles& operator=(MetricFiles&&) = default;

  // How the journal calls a series of that name, which `journaled` goes by; before the first Poll.
  void NameSeries(std::function<std::string(std::string_view)> names) { names_ = std::move(names); }

  // Readable when a process waits for its points: call DrainWake, then Poll. Valid as long as this.
  int wake_fd() const { return wake_.get(); }
  void DrainWake();

  struct Round {
    std::vector<run::MetricBlock> blocks;
    std::vector<std::string> notices;  // for the user: a family that does not parse, a value cut
    uint64_t dropped = 0;              // points that a writer says it had no space for
    bool more = false;                 // Commit and call again, there is more to read
    bool sync_wanted = false;          // a process waits: make the journal durable, then MarkSynced
  };
  enum class Phase {
    kRunning,  // processes of the script may still write
    kOver,     // they are gone: what is there is all. Poll and Commit until `more` is false
  };
  // What is there and not committed, at most about a MiB of it; in the order logged within a
  // process. Fails only when the folder itself cannot be read.
  Result<Round> Poll(Phase phase = Phase::kRunning);

  // The journal has all blocks of the last Poll (to be called when there were none, too). Deletes
  // the files that are used up.
  void Commit();
  // The journal is durable up to the last Commit: wakes those who wait for that.
  void MarkSynced();

  // Points that have no place in any file, as the writers say (`lost`); 0 when nobody says so.
  uint64_t Missing() const;
  // From now on Commit deletes nothing: the journal has not got what it is told.
  void KeepFiles() { keep_files_ = true; }

  // Families that are being read.
  size_t families() const { return families_.size(); }

 private:
  struct Family {
    std::string name;
    uint32_t chunk = 0;    // the one being read, or the least that may come next
    bool started = false;  // a chunk of it has been opened
    // Of the chunk being read; file_id empty when there is none.
    UniqueFd fd;
    std::optional<std::pair<uint64_t, uint64_t>> file_id;  // device, inode
    MetricChunkHeader header;
    uint64_t size = 0;
    uint64_t committed = 0;  // the journal has everything before this
    uint64_t read = 0;       // the last Poll has returned everything before this
    bool ended = false;      // nothing follows `read` in this chunk
    bool last = false;       // nor in this family
    bool done = false;       // that is committed too, but somebody waits for the sync
    bool finished = false;   // to be forgotten
    bool over = false;       // its writer is gone or has moved on: what is there now is all
    bool writer_gone = false;
    int64_t idle_since_us = 0;
    std::map<uint32_t, std::string> names;
    std::map<uint32_t, size_t> block_of;  // series → index in the blocks of this round
    std::optional<uint32_t> lowest;       // the next chunk in the folder, by the present scan
  };

  MetricFiles(std::string folder, UniqueFd wake, MetricPositions journaled, const Clock& clock);

  Status Scan(Round& round);
  void PollFamily(Family& family, Phase phase, uint64_t& budget, Round& round);
  Result<bool> OpenChunk(Family& family, Round& round);
  Result<bool> EnsureOpen(Family& family);
  Status ReadChunk(Family& family, uint64_t& budget, Round& round);
  Result<uint64_t> CommittedLength(Family& family, uint64_t budget, Round& round);
  Status TakeRecords(Family& family, std::string_view bytes, Round& round);
  Status TakePoint(Family& family, const MetricRecord& record, uint64_t end, Round& round);
  void LookWhetherOver(Family& family, bool progress, Phase phase);
  bool NextChunkBegun(const Family& family) const;
  bool ReadWant(Family& family);
  bool WantsSync(const Family& family) const;
  void FinishChunk(Family& family);
  void ForgetFinished();
  void Drop(Family& family, const Error& error, Round& round);
  void CloseSurplus(Family& family);
  std::string PathOf(const Family& family, uint32_t chunk) const;

  std::string folder_;
  UniqueFd wake_;
  MetricPositions journaled_;
  const Clock* clock_;
  std::map<std::string, Family, std::less<>> families_;
  std::set<std::string, std::less<>> dropped_;
  std::string next_first_;  // whose turn it is to be read first
  std::string buffer_;
  bool said_cut_ = false;
  bool said_too_many_ = false;
  bool keep_files_ = false;
  std::function<std::string(std::string_view)> names_;  // may be empty: as they are
};

}  // namespace tenon::runner

#endif  // TENON_RUNNER_METRICS_METRIC_FILES_H_
