// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_JOURNAL_READER_H_
#define TENON_JOURNAL_READER_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.h"
#include "base/result.h"

namespace tenon::journal {

// A place in a segment: after record `record`, which ends at byte `offset`. The record number is the
// truth; the offset is a hint that is checked.
struct Cursor {
  uint64_t record = 0;
  uint64_t offset = 0;
};
// A place in a run's journal.
using Place = std::map<std::string, Cursor>;  // by segment name

struct Record {
  uint64_t number = 0;
  int64_t time_us = 0;
  uint8_t type = 0;
  std::string_view payload;  // valid until the next call on the reader or decoder
};

// Bytes that are no records, between two that are (or, when the segment is closed, at its end).
struct Hole {
  uint64_t offset = 0;
  uint64_t bytes = 0;
  uint64_t after_record = 0;
};

// Turns bytes of a segment into records. No I/O: bytes may come from a file or from a wire, in pieces
// of any size. Holds no policy: damage is handed to the caller.
//
// What is incomplete or damaged at the end is "not yet" until Finish() says that no writer is left.
class Decoder {
 public:
  // `at` with record 0: the bytes begin with the file header. Else: with the record after `at.record`.
  explicit Decoder(Cursor at = {});
  void Feed(std::string_view bytes);
  // The next record, or nullopt when more bytes are needed. kCorrupt when this is no segment at all
  // (bad magic, newer version, header damaged); nothing follows.
  Result<std::optional<Record>> Next();
  // No more bytes will come. Returns the bytes at the end that are no record (0: clean); they are
  // recorded as a hole when `report` (a closed segment), else left out (a torn tail).
  uint64_t Finish();
  Cursor cursor() const;                        // after the last record returned
  const std::vector<Hole>& holes() const;       // in order; grows as damage is passed over
  std::optional<std::string> run_key() const;   // from the file header, once seen

 private:
  // implementation's own members follow
  std::string buffer_;
  size_t begin_ = 0;
  Cursor at_;
  bool header_seen_ = false;
  std::string run_key_;
  std::vector<Hole> holes_;
  std::optional<std::pair<uint64_t, uint64_t>> suspect_;  // offset and length scanned of damage in hand
};

// Reads a segment file with pread, in large pieces; may be called again later to go on (follow).
class Reader {
 public:
  static Result<Reader> Open(const std::string& path, Cursor after = {});

  // nullopt: nothing more for now.
  Result<std::optional<Record>> Next();
  Cursor cursor() const { return decoder_.cursor(); }
  const std::vector<Hole>& holes() const { return decoder_.holes(); }
  // True while some writer holds the segment's lock.
  Result<bool> WriterAlive() const;
  // Call when Next() gave nullopt and no writer is alive: bytes at the end that are no record become a
  // hole ("a flipped byte in the last record"). Returns their count.
  uint64_t Close() { return decoder_.Finish(); }
  int fd() const { return fd_.get(); }

 private:
  Reader(UniqueFd fd, std::string path, Cursor after, uint64_t offset);
  UniqueFd fd_;
  std::string path_;
  Decoder decoder_;
  uint64_t read_offset_ = 0;
};

}  // namespace tenon::journal

#endif  // TENON_JOURNAL_READER_H_
