// SPDX-License-Identifier: Apache-2.0
// A feed brings the records of one run into our run folder. Followers of the run read them in the
// folder; the feed says whether more has come, and whether anybody still writes.
#ifndef TENON_ENGINE_FEED_RUN_FEED_H_
#define TENON_ENGINE_FEED_RUN_FEED_H_

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

// Functions through which a feed and its owner inform each other. Each may be empty.
struct FeedSink {
  // Called with records that have just come: all records between two places of a segment. Saves
  // reading them from the folder. Not every feed calls it, and never with records next to damage.
  std::function<Status(std::string_view segment, journal::Cursor before,
                       std::span<const journal::Record>, journal::Cursor after)>
      on_records;
  // Called when a copy of a segment was cut back. Other records may follow. Records that were read
  // before have numbers up to the highest so far.
  std::function<void()> on_cut;
  // Returns how much of each segment in our folder was read, the host's segment first.
  std::function<std::vector<transport::KnownLength>()> read;
};

// Made by MachineRuns::Feed(). Nothing happens before the first call. One thread at a time. After
// an Error the next call begins anew. Between the calls the machine can be asked other things.
class RunFeed {
 public:
  virtual ~RunFeed() = default;

  enum class Heard {
    kNothing,  // nothing came in that time
    kMore,     // the folder may have more, or a writer is still alive
    kEnded,    // nobody writes any more, and the folder has all records
    kUnknown,  // the machine has no such run
  };
  // Waits for more records, at most `timeout_us`.
  virtual Result<Heard> Wait(int64_t timeout_us) = 0;
  // Takes in everything that exists now. If another process of ours copies, leaves it to that
  // process. Never returns kNothing.
  virtual Result<Heard> CatchUp() = 0;
  // Whether everything that existed when Wait() was first called is in the folder.
  virtual bool CaughtUp() const = 0;

  // To be called after CatchUp(), for a run whose end is in the folder: whether all that was
  // written before the end is there, too. False while another process of ours still copies.
  virtual Result<bool> IsWhole() = 0;
  // Takes in what is missing. Returns what IsWhole() would.
  virtual Result<bool> TakeRest() = 0;
  // Waits until the end is on the disk. Matters where this process would report the end before its
  // writer has synced it.
  virtual void AwaitDisk() {}

  // For poll(2), after Wait(): readable when the next Wait() may have something; -1: no descriptor
  // can tell.
  virtual int fd() const = 0;
  // Whether the next Wait() has something, whatever fd() says.
  virtual bool HasNews() const { return false; }
  // Whether a call that failed with this Error may succeed when the link is back.
  virtual bool MayMend(const Error& error) const = 0;

  // A stopped process that keeps new records from coming.
  struct Stopped {
    pid_t pid = 0;
    bool here = false;  // our process that copies the records; else the run's runner
    std::string where;  // the machine of the runner; "" = this one
    bool operator==(const Stopped&) const = default;
  };
  // As Wait() or CatchUp() found it; nullopt: none is known to be stopped.
  virtual std::optional<Stopped> stopped() = 0;
  // How long nothing was heard from the machine while waiting.
  virtual int64_t SilentUs() const = 0;
};

// What to tell the user about a stopped process.
run::Notice StoppedNotice(const std::string& run_id, const RunFeed::Stopped& stopped);

}  // namespace tenon::engine

#endif  // TENON_ENGINE_FEED_RUN_FEED_H_
