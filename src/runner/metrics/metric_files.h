// SPDX-License-Identifier: Apache-2.0
// Reads the points that the processes of a script write into metric files
// (docs/formats/metric-files.md) and returns them as blocks for the journal.
//
//   Poll ──► blocks ──► journal ──► Commit ──► (fdatasync of the journal ──► MarkSynced)
//
// Poll changes nothing: it returns the same points again until Commit says that the journal has
// them. Only Commit deletes files, so a full disk or a killed runner loses no point.
//
// The script owns these files and may write anything there. They are read with pread into a buffer
// of limited size. Symlinks, FIFOs and folders in place of a file are never read. A file that does
// not parse drops its family with a notice and leaves the other families alone.
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

// Which points a journal already has: the position after the last point, per family and series. A
// crash may fall between two blocks of one round, so each series has its own position.
class MetricPositions {
 public:
  // Call it with every block of the segment, in any order. Ignores blocks of other sources.
  void Add(const run::MetricBlock& block);
  // Whether the journal has the point of `series` that ends at `end` in chunk number `chunk`.
  bool Has(std::string_view family, std::string_view series, uint32_t chunk, uint64_t end) const;

 private:
  struct Place {
    uint32_t chunk = 0;
    uint64_t end = 0;
    auto operator<=>(const Place&) const = default;  // NOLINT(modernize-use-nullptr)
  };
  std::map<std::string, std::map<std::string, Place, std::less<>>, std::less<>> families_;
};

// One object per folder. Not thread-safe.
class MetricFiles {
 public:
  // Creates the folder and its files `wake` (a FIFO) and `lost` where they are missing.
  // `journaled`: the points that the journal of a runner that died already has.
  static Result<MetricFiles> Open(const std::string& folder, MetricPositions journaled = {},
                                  const Clock& clock = SystemClock());
  MetricFiles(MetricFiles&&) = default;
  MetricFiles& operator=(MetricFiles&&) = default;

  // Turns a series' name in the files into its name in the journal (and in `journaled`). Call it
  // before the first Poll.
  void NameSeries(std::function<std::string(std::string_view)> names) { names_ = std::move(names); }

  // Readable when a process waits for its points: call DrainWake, then Poll. Valid as long as this
  // object.
  int wake_fd() const { return wake_.get(); }
  void DrainWake();

  struct Round {
    std::vector<run::MetricBlock> blocks;
    std::vector<std::string> notices;  // for the user: a family that does not parse, a value cut
    uint64_t dropped = 0;              // points for which a writer reports it had no space
    bool more = false;                 // there is more to read: Commit, then Poll again
    bool sync_wanted = false;          // a process waits: make the journal durable, then MarkSynced
  };
  enum class Phase {
    kRunning,  // processes of the script may still write
    kOver,     // they are gone, nothing is added: repeat Poll and Commit until `more` is false
  };
  // Returns what is not committed yet, about one MiB at most. Keeps the order in which a process
  // logged. Fails only when the folder itself cannot be read.
  Result<Round> Poll(Phase phase = Phase::kRunning);

  // Says that the journal has all blocks of the last Poll. Call it also when there were none.
  // Deletes files that are read to their end.
  void Commit();
  // Says that the journal is durable up to the last Commit. Tells the processes that wait for it.
  void MarkSynced();

  // Points that no file has, as the writers count them in the file `lost`; 0 when it cannot be
  // read.
  uint64_t Missing() const;
  // From now on Commit deletes no file, because the journal does not take all points.
  void KeepFiles() { keep_files_ = true; }

  // Number of families that are being read.
  size_t families() const { return families_.size(); }

 private:
  struct Family {
    std::string name;
    uint32_t chunk = 0;    // the one being read, or the lowest that may come next
    bool started = false;  // one of its chunks has been opened
    // About the chunk being read; file_id is empty when there is none.
    UniqueFd fd;
    std::optional<std::pair<uint64_t, uint64_t>> file_id;  // device, inode
    MetricChunkHeader header;
    uint64_t size = 0;
    uint64_t committed = 0;  // the journal has everything before this offset
    uint64_t read = 0;       // the last Poll has returned everything before this offset
    bool ended = false;      // this chunk has nothing after `read`
    bool last = false;       // the family has no further chunk
    bool done = false;       // ended and committed, but a process may wait for the sync
    bool finished = false;   // can be forgotten
    bool over = false;  // the writer is gone or uses another chunk: nothing is added to this one
    bool writer_gone = false;
    int64_t idle_since_us = 0;
    std::map<uint32_t, std::string> names;
    std::map<uint32_t, size_t> block_of;  // series → index in the blocks of this round
    std::optional<uint32_t> lowest;       // lowest chunk from `chunk` on that this scan has seen
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
  std::string next_first_;  // the family to read first in the next round
  std::string buffer_;
  bool said_cut_ = false;
  bool said_too_many_ = false;
  bool keep_files_ = false;
  std::function<std::string(std::string_view)> names_;  // empty: names stay as they are
};

}  // namespace tenon::runner

#endif  // TENON_RUNNER_METRICS_METRIC_FILES_H_
