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
#include "engine/feed/run_feed.h"
#include "engine/reporter.h"
#include "journal/fold.h"
#include "run/requests.h"

namespace tenon::engine {

struct WantedObject {
  Hash hash;
  uint64_t size = 0;
  bool node = false;  // a tree's node; its size is not known
};

// Which runs Clean() removes.
struct CleanScope {
  std::string project_id;  // "" = of all projects
  std::string target;      // target's name, for a machine whose id doesn't tell the runs apart
  bool dry_run = false;
};
struct CleanedRuns {
  std::vector<std::string> runs;  // all runs in the scope, removed or not
  uint64_t folders = 0;           // removed
  uint64_t going = 0;             // left alone, because the run goes on
  uint64_t bytes_freed = 0;
  std::vector<run::Kept> kept;  // not removed, with the reason
};

// The runs of a machine, and how what it has of them is brought to this machine. Owned by its
// machine. Every call may be repeated.
class MachineRuns {
 public:
  virtual ~MachineRuns() = default;

  // The records of a run, whose folder exists in this home. The feed must not outlive the machine.
  virtual std::unique_ptr<RunFeed> Feed(const std::string& run_id, FeedSink sink) = 0;

  // For a run that the machine says it does not have: whether the machine once had it, as far as is
  // known here. False: the run has never started there.
  virtual bool HadRun(const journal::RunView& run) const = 0;
  // The Error for a run that the machine does not know any more; `said` is the machine's own Error.
  virtual Error LostRun(const std::string& run_id, Error said) const = 0;
  // To be called after the client has written the end of such a run. Tries once to fetch what the
  // machine may still have of the run. Later calls of FetchOutputs() do nothing.
  virtual Status GiveUp(const std::string& run_id) = 0;
  // The id of the run that another client has started in place of this one after the machine was
  // restarted; "" = none, as far as the machine can be asked.
  virtual std::string StartedAgainAs(const std::string& run_id) = 0;

  // Fetches the outputs of a run that is over, as its journal names them. Does nothing when they
  // are in our store already or were fetched before.
  virtual Status FetchOutputs(const std::string& run_id, Reporter& reporter) = 0;
  // The same. Also has the machine try again to collect outputs that it could not collect.
  virtual Status BringHome(const std::string& run_id, Reporter& reporter) = 0;
  // Fetch single objects, or a whole tree by its root (hex), into our store. `what` names the work
  // for OnProgress. `accept` checks a fetched tree once it is whole; it is not called where nothing
  // has to be fetched. Fail with kCorrupt when the machine sends something else than was asked for.
  virtual Status FetchObjects(const std::vector<WantedObject>& wanted, std::string_view what,
                              Reporter& reporter) = 0;
  virtual Status FetchTree(const std::string& root, std::string_view what, Reporter& reporter,
                           const std::function<Status()>& accept) = 0;

  // Removes what runs that are over have left on the machine, except what exists nowhere else.
  virtual Result<CleanedRuns> Clean(const CleanScope& scope, Reporter& reporter) = 0;
};

}  // namespace tenon::engine

#endif  // TENON_ENGINE_HOST_MACHINE_RUNS_H_
