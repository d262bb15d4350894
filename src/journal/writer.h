// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_JOURNAL_WRITER_H_
#define TENON_JOURNAL_WRITER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "run/event.h"

namespace tenon::journal {

// The only writer of a segment. It holds the segment's lock (flock on the file) as long as it
// lives; Open() of a second writer fails with kUnavailable. Methods are called from one thread,
// except that Sync() may run on another thread at the same time as Append().
//
// Opening an existing segment cuts a torn tail off after the last whole record and goes on there.
// Holes before that stay; readers report them. A file that has no records and whose header is
// incomplete or zeros is begun anew. In the same boot the next record takes the next number; in
// another boot, the first number of a new life (format.h).
class Writer {
 public:
  struct Options {
    std::string path;
    std::string run_key;
    std::string segment;           // if the path ends in .tj, it must end in "<segment>.tj"
    const Clock* clock = nullptr;  // nullptr: SystemClock()
    // Keep kReserve bytes of disk space beyond the end (reservation.h). Set it also to write the
    // end after a writer that was killed: the new writer takes over its reserve.
    bool reserve = false;
    bool allocate_ahead = true;  // false: act as on a file system without fallocate
    // Without fallocate, keep a file beside the segment as the reserve. false: then reserve
    // nothing.
    bool reserve_beside = true;
  };
  static Result<Writer> Open(const Options& options);
  Writer(Writer&&) noexcept;
  Writer& operator=(Writer&&) noexcept;
  ~Writer();  // gives the reserve back; does not sync

  // Appends one record and returns its number. The record survives the death of this process once
  // Append() returns, and a power cut after Sync(). kUnavailable when the disk is full: nothing was
  // written, the file is as before, and a later call may succeed. kInvalid when the payload is
  // larger than kMaxPayload.
  Result<uint64_t> Append(const run::Event& event);
  // The same for output, without a copy. Bytes that do not fit into one payload become several
  // records. On failure some of them may have been written; `*written` says how many bytes. With no
  // bytes it writes no record. Returns the number of the last record.
  Result<uint64_t> AppendOutput(run::Stream stream, std::string_view bytes,
                                size_t* written = nullptr);
  // Like Append(), but may use the reserve. Only for the end and for what must be recorded before
  // it (the gap, the state, notices).
  Result<uint64_t> AppendLast(const run::Event& event);

  // Compares the file with what this writer wrote: its records, its name and its length, and the
  // file header if this writer wrote it. Returns "" when they match. Otherwise returns in words
  // what somebody else changed, and repairs header, length and name as far as possible, so that
  // records appended later can be read. Each change is reported once. Reads back everything this
  // writer wrote.
  std::string CheckAndMend();

  // Returns when everything appended before the call is on disk. Thread-safe. After an EIO it fails
  // for ever.
  Status Sync();

  uint64_t last_record() const;
  uint64_t size() const;        // bytes in the file
  uint64_t torn_bytes() const;  // bytes that Open() cut off

 private:
  struct Impl;
  explicit Writer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// Gives back the disk space that a killed writer had allocated beyond the end of the segment. A
// file beside the segment stays.
void GiveBackReserve(const std::string& path);

// Returns when the segment file is on disk. For a segment without a writer, such as a copy.
Status SyncSegment(const std::string& path);

}  // namespace tenon::journal

#endif  // TENON_JOURNAL_WRITER_H_
