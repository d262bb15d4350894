// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_JOURNAL_READER_H_
#define TENON_JOURNAL_READER_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "journal/format.h"

namespace tenon::journal {

// A place in a segment: just after record `record`, which ends at byte `offset`. The record number
// decides; the offset is a hint that the reader checks.
struct Cursor {
  uint64_t record = 0;
  uint64_t offset = 0;
  bool operator==(const Cursor&) const = default;
};
// A place in a run's journal: one cursor per segment.
using Place = std::map<std::string, Cursor>;  // by segment name

struct Record {
  uint64_t number = 0;
  int64_t time_us = 0;
  uint8_t type = 0;
  // Borrowed. From a Reader: valid until its next call. From a Decoder: valid until it gets more
  // bytes.
  std::string_view payload;
};

inline constexpr size_t kMaxHoles = 4096;

// Bytes between two records that belong to no record. When the segment is closed, also such bytes
// at its end. `bytes` 0: records are missing, of unknown size.
struct Hole {
  uint64_t offset = 0;
  uint64_t bytes = 0;
  uint64_t after_record = 0;
};

// Turns the bytes of a segment into records. No I/O: the bytes may come from a file or from the
// network, in pieces of any size. The decoder reports damage to the caller and does nothing about
// it. It holds at most two records and one piece in memory, whatever the damage.
//
// Incomplete or damaged bytes at the end mean "not yet", until Settle() says that no writer is
// left.
class Decoder {
 public:
  // With at.record 0 the first bytes fed are the file header. Otherwise they are the record after
  // `at.record`.
  explicit Decoder(Cursor at = {});
  // Copies `bytes`.
  void Feed(std::string_view bytes);
  // The same without a copy: Prepare() returns room for `size` bytes, the caller fills it, and
  // Commit() says how many bytes were filled.
  std::span<char> Prepare(size_t size);
  void Commit(size_t used);

  // The next record, or nullopt when it needs more bytes. kCorrupt when this is not a segment
  // (magic and checksum are wrong, or the version is newer); then every later call fails too.
  Result<std::optional<Record>> Next();

  // Call when no more bytes will come. A record that begins but is not complete is then damage, and
  // Next() goes on after it.
  void Settle() { settled_ = true; }
  bool settled() const { return settled_; }
  // Settles. If Next() has no more records, the bytes at the end that are no record become a hole;
  // returns their count (0: none). If Next() has more records, returns 0 and makes no hole.
  uint64_t Finish();
  // Forgets everything after cursor(), including a hole at the end and Settle(). The next bytes fed
  // must be those at cursor().offset. For a tail that a writer may have cut off and written again.
  void Rewind();

  uint64_t pending() const;              // bytes fed after cursor()
  Cursor cursor() const { return at_; }  // after the last record returned
  // In order; grows as damage is passed over. After kMaxHoles the last hole has the bytes of all
  // the rest. A hole that Finish() makes comes on top.
  const std::vector<Hole>& holes() const { return holes_; }
  void ForgetHoles() { holes_.clear(); }
  // From the file header; nullopt until it was read, and when it is damaged.
  const std::optional<StoredHeader>& header() const { return header_; }
  std::optional<std::string> run_key() const;

 private:
  enum class Look { kWhole, kIncomplete, kNone };

  std::string_view Unread() const { return {buffer_.get() + begin_, end_ - begin_}; }
  Look LookAt(size_t position, bool sieve) const;
  bool IsWholeAfterNamedEnd(size_t* position) const;
  bool Scan();
  bool FindRecord();
  Record TakeRecord();
  Result<bool> TakeHeader();
  void Skip(size_t bytes);
  void AddHole(uint64_t bytes);

  std::unique_ptr<char[]> buffer_;
  size_t capacity_ = 0, begin_ = 0, end_ = 0;
  Cursor at_;
  uint64_t skipped_ = 0;          // damaged bytes between at_.offset and the unread bytes
  uint64_t passed_ = 0;           // damaged bytes so far, all together
  mutable uint64_t checked_ = 0;  // bytes checksummed while looking for a record
  bool aligned_ = true;           // a record should begin at begin_: the last one ended there
  bool header_seen_ = false;
  bool settled_ = false;
  bool tail_is_hole_ = false;  // Finish() made the last of holes_
  std::optional<StoredHeader> header_;
  std::vector<Hole> holes_;
};

// Reads a segment file with pread, in large pieces. After nullopt, Next() may be called again later
// to get what was written since (follow). A file X.tj must hold the segment X: otherwise kCorrupt,
// because the file was renamed or swapped.
class Reader {
 public:
  // Reads on after the record `after.record`. If the offset is wrong, the reader starts at the
  // beginning of the file and skips to that record. kCorrupt when the path is not a regular file.
  static Result<Reader> Open(const std::string& path, Cursor after = {});

  // nullopt: no more records for now. At a damaged end, checks whether a writer is alive; if not,
  // also returns the records after the damage.
  Result<std::optional<Record>> Next();
  Cursor cursor() const;
  const std::vector<Hole>& holes() const {
    return decoder_.holes();
  }  // only those after the cursor given to Open()
  // From the file header. nullopt: the header is not written yet, or damaged.
  std::optional<std::string> run_key() const;
  // True while a writer holds the segment's lock.
  Result<bool> WriterAlive() const;
  // Call when Next() returned nullopt and no writer is alive. The bytes at the end that are no
  // record become a hole; returns their count. Next() may be called again later: if a new writer
  // cut the tail off, Next() takes the hole back and reads on.
  uint64_t Close() { return decoder_.Finish(); }
  int fd() const { return fd_.get(); }

 private:
  Reader(UniqueFd fd, std::string path) : fd_(std::move(fd)), path_(std::move(path)) {}
  Status StartAt(Cursor after);
  Status CheckHeader(const StoredHeader& header);
  Result<bool> HintIsRight(Cursor after) const;
  Result<bool> ReadMore();
  void ReadTailAgain();

  UniqueFd fd_;
  std::string path_;
  Decoder decoder_;
  uint64_t read_offset_ = 0;
  size_t piece_ = 0;         // bytes to read at once
  uint64_t skip_until_ = 0;  // records up to this number are not returned
  // The bytes that the decoder holds after its cursor may have changed on disk.
  bool tail_stale_ = false;
  bool header_checked_ = false;
  std::optional<std::string> run_key_;
};

}  // namespace tenon::journal

#endif  // TENON_JOURNAL_READER_H_
