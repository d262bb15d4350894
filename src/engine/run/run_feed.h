// SPDX-License-Identifier: Apache-2.0
// The records of one run, as they come into our run folder. Whoever follows a run, or looks after
// it, reads them there; a feed says whether more has come, or whether nobody writes any more.
#ifndef TENON_ENGINE_RUN_RUN_FEED_H_
#define TENON_ENGINE_RUN_RUN_FEED_H_

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "journal/reader.h"
#include "run/event.h"
#include "transport/host.h"

namespace tenon::engine {

// What the one who has a feed tells it and hears from it. Each may be empty.
struct FeedSink {
  // Records that have just come, all there are between two places of a segment: saves reading them
  // from the folder. Not every feed has them at hand, and none those next to damage.
  std::function<Status(std::string_view segment, journal::Cursor before,
                       std::span<const journal::Record>, journal::Cursor after)>
      on_records;
  // A segment here was cut back, and other records may follow; those that were there before have
  // numbers up to the highest so far.
  std::function<void()> on_cut;
  // How much was read of the segments here, the host's first.
  std::function<std::vector<transport::KnownLength>()> read;
};

// Made by MachineRuns::Feed(). Nothing happens before the first call; one thread at a time. After
// an Error the next call begins anew. The machine can be asked other things between the calls.
class RunFeed {
 public:
  virtual ~RunFeed() = default;

  enum class Heard {
    kNothing,  // in that time
    kMore,     // there may be more in the folder, or somebody still writes
    kEnded,    // nobody writes any more, and all of it is here
    kUnknown,  // the machine has no such run
  };
  // Waits for more, at most that long.
  virtual Result<Heard> Wait(int64_t timeout_us) = 0;
  // Takes in everything there is now; what another process of ours brings is left to it. Never
  // kNothing.
  virtual Result<Heard> CatchUp() = 0;
  // Everything there was when Wait() was first called is here.
  virtual bool CaughtUp() const = 0;

  // After CatchUp(), for a run whose end is here: whether all that was written before it is, too.
  // Not yet, while another process of ours brings it.
  virtual Result<bool> IsWhole() = 0;
  // Takes that in. Returns the same.
  virtual Result<bool> TakeRest() = 0;
  // Waits until the end is on the disk, where we would tell of it before whoever wrote it has
  // waited.
  virtual void AwaitDisk() {}

  // For poll(2), after Wait(): readable when the next Wait() may have something; -1: nothing tells.
  virtual int fd() const = 0;
  // The next Wait() has something, whatever fd() says.
  virtual bool HasNews() const { return false; }
  // Whether a call that failed like that may succeed later, when a link stands again.
  virtual bool MayMend(const Error& error) const = 0;

  // Who is stopped, so that nothing new comes.
  struct Stopped {
    pid_t pid = 0;
    bool here = false;  // a process of ours that brings the records; else the run's runner
    std::string where;  // the machine of the runner; "" = this one
    bool operator==(const Stopped&) const = default;
  };
  // As found by Wait() or CatchUp(); nullopt: nobody, as far as is known.
  virtual std::optional<Stopped> stopped() = 0;
  // How long nothing was heard from the machine, while waiting.
  virtual int64_t SilentUs() const = 0;
};

// What to say about one that is stopped.
run::Notice StoppedNotice(const std::string& run_id, const RunFeed::Stopped& stopped);

}  // namespace tenon::engine

#endif  // TENON_ENGINE_RUN_RUN_FEED_H_
