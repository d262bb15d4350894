// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_ENGINE_MIRROR_H_
#define TENON_ENGINE_MIRROR_H_

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.h"
#include "base/file.h"
#include "base/json.h"
#include "base/result.h"
#include "engine/context.h"
#include "journal/reader.h"

namespace tenon::engine {

// The machine had the run and has it no more. That may be a file system which is not mounted, so it
// is for the user to say that the run is over.
Error LostThere(Machine& far, const std::string& run_id);

// The copies of a far run's segments in our own run folder, kept in step with the originals. What
// is copied is whole records only: a tail that a killed writer left half-written may still be cut
// off and written anew over there. A copy is therefore always a beginning of the original, and
// going on where it ends loses nothing and repeats nothing, whoever stopped when. The exception is
// a power cut over there, which may take an end from the original that was copied already: the host
// is the truth, so the copy is cut back to where both are the same.
//
// One process of this home at a time copies (a lock on the copy); others see the copies grow.
class Mirror {
 public:
  // Records that were just copied, all there are between two places of a segment.
  using OnRecords = std::function<Status(std::string_view segment, journal::Cursor before,
                                         std::span<const journal::Record>, journal::Cursor after)>;

  // `far` is another machine. Nothing happens yet. `on_records` saves reading the copies
  // while they grow; of records next to damage it is not told. `on_cut`: a copy was cut back, and
  // other records may follow; those that were there before have numbers up to the highest so far.
  Mirror(Context& context, Machine& far, const std::string& run_id, OnRecords on_records = nullptr,
         std::function<void()> on_cut = nullptr);
  ~Mirror();

  enum class Heard {
    kNothing,  // in that time
    kMore,     // a copy has grown
    kEnded,    // nobody writes the original any more, and all of it is here
    kUnknown,  // the host has no such run
  };
  // Waits for more, at most that long. kUnavailable: the link is gone; the next call begins anew.
  Result<Heard> Wait(int64_t timeout_us);

  // Everything there was when Wait() began to follow has been taken in.
  bool CaughtUp() const { return waited_ && (writer_alive_.has_value() || !lock_); }

  // Takes in everything there is now; one that somebody else copies is left to them. kEnded,
  // kUnknown as above, else kMore.
  Result<Heard> CatchUp();

  // After CatchUp(), for a run whose end is in the copies: whether all that was written before it
  // is there, too. Not yet, while another process of ours copies; then the host is asked.
  Result<bool> IsWhole();
  // Takes that in.
  Result<bool> TakeRest();

  // Ends what Wait() has begun, so that the host can be asked other things.
  Status Stop();

  // The request that follows a run from its beginning, to be sent ahead with its start; the
  // machine's `ahead` then names the run, and Wait() takes the stream over.
  static json::Object AheadRequest(const run::Home& far_home, const std::string& run_id);

  // Who is stopped, so that nothing new comes: the run's runner on the host, or the process of ours
  // that copies in our place. Known after Wait() or CatchUp(); nullopt: nobody, as far as is known.
  struct Stopped {
    pid_t pid = 0;
    bool here = false;  // it is the one that copies
    bool operator==(const Stopped&) const = default;
  };
  const std::optional<Stopped>& stopped() const { return stopped_; }

  // How long nothing was heard from the host, while waiting.
  int64_t SilentUs() const;

 private:
  struct Copy {
    std::string_view segment;
    std::string near_path, far_path;
    UniqueFd fd;
    journal::Decoder decoder;
    uint64_t length = 0;  // of the copy
    std::string pending;  // the beginning of the record after it
    bool there = false;   // the original exists
    int cuts = 0;         // how often CutBack()
  };

  Result<bool> TakeLock();
  void LookAtCopier();
  Status OpenCopy(Copy* copy);
  void DropPending(Copy* copy);
  Result<bool> Take(Copy* copy, std::string_view bytes);
  Result<bool> TakeInPieces(Copy* copy, std::string_view bytes);
  Status BeginFollowing();
  void Abandon();
  Status CutBack(Copy* copy);
  // One frame of the stream. True: a copy has grown.
  Result<bool> TakeFrame(const Frame& frame);

  // The host has, or had, such a run.
  bool Known() const { return copies_[0].there || copies_[0].length > 0; }

  Context& context_;
  std::string run_id_;
  Machine& far_;
  OnRecords on_records_;
  std::function<void()> on_cut_;
  std::vector<journal::Record> records_;  // of one piece
  std::array<Copy, 2> copies_;
  std::optional<FileLock> lock_;
  bool following_ = false;
  bool waited_ = false;
  bool begin_anew_ = false;  // a copy was cut back
  std::optional<bool> writer_alive_;
  std::optional<Stopped> stopped_;
  int64_t copier_us_ = 0;  // when LookAtCopier() last looked
  int64_t heard_us_ = 0;
};

// The runner of a run on this machine, by its segment, if it is stopped.
std::optional<Mirror::Stopped> StoppedRunner(const std::string& segment);
// What to say about one that is; `where`: the machine of a runner, "" = this one.
run::Notice StoppedNotice(const std::string& run_id, const Mirror::Stopped& stopped,
                          const std::string& where);

}  // namespace tenon::engine

#endif  // TENON_ENGINE_MIRROR_H_
