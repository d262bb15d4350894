// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_ENGINE_HOST_MACHINE_RUNS_H_
#define TENON_ENGINE_HOST_MACHINE_RUNS_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "base/result.h"
#include "engine/reporter.h"
#include "engine/run/run_feed.h"
#include "journal/fold.h"
#include "run/requests.h"

namespace tenon::engine {

struct WantedObject {
  Hash hash;
  uint64_t size = 0;
  bool node = false;  // of a tree; its size is not known
};

// Which runs are to be cleaned up, and how far.
struct CleanScope {
  std::string project_id;  // "" = of all projects
  std::string target;      // its name, where the machine's id does not tell the runs apart
  bool dry_run = false;
};
struct CleanedRuns {
  std::vector<std::string> runs;  // that are meant, whatever became of them
  uint64_t folders = 0;           // removed
  uint64_t going = 0;             // left alone, because the run goes on
  uint64_t bytes_freed = 0;
  std::vector<run::Kept> kept;  // with the reason
};

// What a machine has of runs, and how that comes to us. Owned by its machine. Every call may be
// repeated.
class MachineRuns {
 public:
  virtual ~MachineRuns() = default;

  // The records of a run. The feed must not outlive the machine.
  virtual std::unique_ptr<RunFeed> Feed(const std::string& run_id, FeedSink sink) = 0;

  // The machine says that it has no such run. Whether it once had it, as far as is known here; if
  // not, the run has never started there.
  virtual bool HadRun(const journal::RunView& run) const = 0;
  // What to say when a run is not known there any more; `said`: how the machine put it.
  virtual Error LostRun(const std::string& run_id, Error said) const = 0;
  // After the end of such a run was written here: what the machine may still have of it is asked
  // for once, and never again.
  virtual Status GiveUp(const std::string& run_id) = 0;
  // As which run another client has started a run of a restarted machine again; "" = none has, as
  // far as the machine can be asked.
  virtual std::string StartedAgainAs(const std::string& run_id) = 0;

  // Brings the outputs of a run that is over here, as its journal names them. Nothing to do where
  // they are in our store already, or when it was done.
  virtual Status FetchOutputs(const std::string& run_id, Reporter& reporter) = 0;
  // The same, and has the machine try again to collect what it could not.
  virtual Status BringHome(const std::string& run_id, Reporter& reporter) = 0;
  // Brings single objects, or a whole tree by its root (hex), into our store. `what` names the work
  // for OnProgress; `accept` looks at a tree that was not made here, once it is whole. kCorrupt:
  // the machine sends something else than was asked for.
  virtual Status FetchObjects(const std::vector<WantedObject>& wanted, std::string_view what,
                              Reporter& reporter) = 0;
  virtual Status FetchTree(const std::string& root, std::string_view what, Reporter& reporter,
                           const std::function<Status()>& accept) = 0;

  // Removes what runs that are over have left there, but for what is nowhere else.
  virtual Result<CleanedRuns> Clean(const CleanScope& scope, Reporter& reporter) = 0;
};

}  // namespace tenon::engine

#endif  // TENON_ENGINE_HOST_MACHINE_RUNS_H_
