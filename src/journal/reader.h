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

// A place in a segment: after record `record`, which ends at byte `offset`. The record number is
// the truth; the offset is a hint that is checked.
struct Cursor {
  uint64_t record = 0;
  uint64_t offset = 0;
  bool operator==(const Cursor&) const = default;
};
// A place in a run's journal.
using Place = std::map<std::string, Cursor>;  // by segment name

struct Record {
  uint64_t number = 0;
  int64_t time_us = 0;
  uint8_t type = 0;
  // Valid until the next call on a reader; of a decoder, until it is given more bytes.
  std::string_view payload;
};

inline constexpr size_t kMaxHoles = 4096;

// Bytes that are no records, between two that are (or, when the segment is closed, at its end).
struct Hole {
  uint64_t offset = 0;
  uint64_t bytes = 0;
  uint64_t after_record = 0;
};

// Turns bytes of a segment into records. No I/O: bytes may come from a file or from a wire, in
// pieces of any size. Holds no policy: damage is handed to the caller. Memory is bounded by two
// records and one piece, whatever the damage.
//
// What is incomplete or damaged at the end is "not yet" until Settle() says that no writer is left.
class Decoder {
 public:
  // `at` with record 0: the bytes begin with the file header. Else: with the record after
  // `at.record`.
  explicit Decoder(Cursor at = {});
  void Feed(std::string_view bytes);
  // The same without a copy: room for `size` bytes, of which `used` were then filled.
  std::span<char> Prepare(size_t size);
  void Commit(size_t used);

  // The next record, or nullopt when more bytes are needed. kCorrupt when this is no segment at all
  // (magic and checksum wrong, or a newer version); nothing follows.
  Result<std::optional<Record>> Next();

  // All bytes there will ever be have been fed: what looks like the beginning of a record and is
  // not complete is damage, so that Next() can go on behind it.
  void Settle() { settled_ = true; }
  bool settled() const { return settled_; }
  // Settle(), and when Next() has nothing more: the bytes at the end that are no record (0: clean)
  // become a hole. Returns their count. When Next() does have more, returns 0 and changes nothing.
  uint64_t Finish();
  // Forgets everything after cursor(), a hole at the end and Settle() included: the next bytes fed
  // are those at cursor().offset. For a tail that may have been cut off and written anew.
  void Rewind();

  uint64_t pending() const;              // bytes fed that lie after cursor()
  Cursor cursor() const { return at_; }  // after the last record returned
  // In order; grows as damage is passed. Of more than kMaxHoles the last one holds the bytes of all
  // others.
  const std::vector<Hole>& holes() const { return holes_; }
  void ForgetHoles() { holes_.clear(); }
  // From the file header, once seen and undamaged.
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
  uint64_t skipped_ = 0;          // bytes of damage between at_.offset and the unread ones
  uint64_t passed_ = 0;           // of all damage so far
  mutable uint64_t checked_ = 0;  // bytes whose checksum was taken while looking for a record
  bool aligned_ = true;           // a record should begin here: the one before ended here
  bool header_seen_ = false;
  bool settled_ = false;
  bool tail_is_hole_ = false;  // the last of holes_ is one that Finish() made
  std::optional<StoredHeader> header_;
  std::vector<Hole> holes_;
};

// Reads a segment file with pread, in large pieces; may be called again later to go on (follow).
// A file called X.tj must be the segment X, else kCorrupt (somebody swapped or renamed segments).
class Reader {
 public:
  // A cursor whose offset turns out wrong is found again by its record number, from the start.
  static Result<Reader> Open(const std::string& path, Cursor after = {});

  // nullopt: nothing more for now. At a damaged end this looks whether a writer is alive; if none
  // is, records behind the damage are handed out too.
  Result<std::optional<Record>> Next();
  Cursor cursor() const;
  const std::vector<Hole>& holes() const {
    return decoder_.holes();
  }                                            // after the cursor given to Open
  std::optional<std::string> run_key() const;  // nullopt: header not written yet, or damaged
  // True while some writer holds the segment's lock.
  Result<bool> WriterAlive() const;
  // Call when Next() gave nullopt and no writer is alive: bytes at the end that are no record
  // become a hole ("a flipped byte in the last record"). Returns their count. Next() may be called
  // again afterwards (a writer may have cut the tail off and gone on): that hole is then taken
  // back.
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
  size_t piece_ = 0;         // how much to read at once
  uint64_t skip_until_ = 0;  // records up to this number were seen before
  bool tail_stale_ = false;  // what the decoder holds beyond its cursor may have changed
  bool header_checked_ = false;
  std::optional<std::string> run_key_;
};

}  // namespace tenon::journal

#endif  // TENON_JOURNAL_READER_H_
