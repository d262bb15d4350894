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

// The one writer of a segment. Holds the segment's lock (flock on the file) as long as it lives; a
// second writer gets kUnavailable. Methods are called from one thread; Sync may run on another
// thread at the same time as Append.
//
// Opening an existing segment truncates a torn tail to the last whole record and goes on after it;
// a hole before that stays where it is (readers report it). Numbers go on with the next one in the
// same boot, and with the first of a new life (format.h) in another.
class Writer {
 public:
  struct Options {
    std::string path;
    std::string run_key;
    std::string segment;           // a path ending in .tj must end in "<segment>.tj"
    const Clock* clock = nullptr;  // nullptr: SystemClock()
    // Keep kReserve bytes ahead of the end allocated. Also for whoever writes the end after a
    // writer that was killed: takes over what that one had reserved.
    bool reserve = false;
    bool allocate_ahead = true;  // false: reserve as on a file system that has no fallocate
    // Where the file system has none: keep a file beside the segment. false: reserve nothing then.
    bool reserve_beside = true;
  };
  static Result<Writer> Open(const Options& options);
  Writer(Writer&&) noexcept;
  Writer& operator=(Writer&&) noexcept;
  ~Writer();  // gives the reservation back; does not sync

  // Appends one record; survives our death when this returns, a power cut after Sync().
  // kUnavailable on a full disk: nothing was written, the file is as before, later calls may work.
  // kInvalid when the payload is larger than kMaxPayload.
  // Returns the record's number.
  Result<uint64_t> Append(const run::Event& event);
  // The same for output, without a copy: `bytes` longer than kMaxPayload become several records (on
  // failure some of them may have been written; `written` then says how many bytes). No bytes: no
  // record.
  Result<uint64_t> AppendOutput(run::Stream stream, std::string_view bytes,
                                size_t* written = nullptr);
  // Like Append, but may use the reserved space: for the end and what has to be said before it (how
  // much is missing, the state) only.
  Result<uint64_t> AppendLast(const run::Event& event);

  // Compares the file with what this writer has written to it, from its beginning if this writer
  // began it. "": it is as written. Else what somebody else has done to it, in words, once; then
  // the header, the length and the name are put right as far as that goes, so that what is appended
  // after this can be read. Reads the whole file.
  std::string CheckAndMend();

  // Returns when all that was appended before the call is on disk. Thread-safe.
  Status Sync();

  uint64_t last_record() const;
  uint64_t size() const;        // bytes in the file
  uint64_t torn_bytes() const;  // what Open() cut off

 private:
  struct Impl;
  explicit Writer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// Gives back what a writer that was killed had reserved in a segment.
void GiveBackReserve(const std::string& path);

// Returns when a segment that nobody writes, as a copy of one, is on disk.
Status SyncSegment(const std::string& path);

}  // namespace tenon::journal

#endif  // TENON_JOURNAL_WRITER_H_
