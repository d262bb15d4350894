// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_LAUNCH_LAUNCH_H_
#define TENON_LAUNCH_LAUNCH_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/process.h"
#include "base/result.h"
#include "launch/upload.h"
#include "run/environment_record.h"
#include "run/event.h"
#include "run/spec.h"
#include "run/state.h"

namespace tenon::launch {

// The runner to use. Either its bytes, which are put on the host once, under their hash; or, with
// `path` set, a program that is already there.
struct RunnerProgram {
  std::string_view bytes;  // must outlive the launch
  std::string_view hash;   // SHA-256 of them, hex
  std::string path;
};

struct StartRequest {
  run::RunSpec spec;        // spec.id names the run's folder
  Environment environment;  // what the script's environment begins with
  Environment secrets;      // added to it; written down nowhere
  TreeToSend tree;          // spec.tree, for a host that does not share our disk
  std::string version;      // ours, for the far side's messages
  // The run whose machine was restarted, which this one is in place of: of several clients that
  // think so, the first is let; kDenied for the others. "" = it is in nobody's place.
  std::string retry_of;
};

struct CancelRequest {
  std::string run_id;
  std::optional<int64_t> grace_us;  // absent: the run's own
  std::string who;                  // for the reason: "ann on laptop"
};

// A run that its host has lost, as far as we remember it.
struct EndLostRequest {
  std::string run_id;
  std::string key;
  std::string boot_id;     // of the boot in which it was started; "": not known
  bool container = false;  // its script runs in one
};
struct EndedLost {
  bool known = false;  // nothing of it is left; false: that could not be seen, or not be done
  run::Proof proof;
};

struct Recovered {
  run::State state = run::State::kNotStarted;
  bool recovered = false;  // the end was written by this call
};

struct Collected {
  bool collected = false;  // by this call
  uint64_t left = 0;       // files that could not be read and are kept
};

// What stays although it was to be removed.
struct Kept {
  std::string name;  // key of an environment, name of a container
  std::string why;
};

struct EnvironmentsRequest {
  std::vector<std::string> remove;  // keys
  bool dry_run = false;
};
struct EnvironmentsAnswer {
  std::vector<run::ListedEnvironment> environments;  // newest use first
  std::vector<std::string> removed;                  // keys
  std::vector<Kept> kept;
  uint64_t bytes_freed = 0;
};

struct SweepRequest {
  std::vector<std::string> runs;  // ids
  bool all = false;               // of every run of the home
  bool dry_run = false;
  bool spare_kept = false;  // not those that were kept to be looked at (--keep-on-fail)
};
struct SweepAnswer {
  std::vector<std::string> removed;  // names of containers
  std::vector<Kept> kept;
};

struct HostedRequest {
  std::vector<std::string> remove;  // run ids
  bool clean = false;               // apply the policy
  int64_t keep_us = 0;              // of it: what ended longer ago goes
  bool dry_run = false;
  // Runs to which keep_us applies, when it is set; the machine's own policy is for the others.
  std::optional<std::vector<std::string>> only;
  bool force = false;  // also what has the only copy of a run's outputs
  bool look = false;   // also for what goes on beside runs, which takes a moment
};
struct HostedRun {
  std::string run_id, project, target, script;
  std::string state;  // as run::StateName() has it
  std::string reason;
  int64_t created_us = 0, ended_us = 0;  // by the host's clock; 0: not known, not over
  uint64_t bytes = 0;                    // of its folder, work_bytes included
  uint64_t work_bytes = 0;
  bool alive = false;
  bool outputs_left = false;  // its folder has the only copy of outputs
};
struct HostedAnswer {
  std::vector<HostedRun> runs;  // newest first
  uint64_t environments_bytes = 0, objects_bytes = 0, cache_bytes = 0, data_bytes = 0;
  uint64_t other_bytes = 0;
  uint64_t disk_free_bytes = 0;
  int64_t last_run_us = 0;        // when the last one began; 0: never
  int64_t idle_since_us = 0;      // 0: something goes on, or there was no run yet
  std::vector<std::string> busy;  // what goes on beside runs of the home, in words; see `look`
  std::vector<std::string> removed;
  std::vector<Kept> kept;
  uint64_t bytes_freed = 0;
};

struct WatchIdleRequest {
  int64_t after_us = 0;
  std::string command;     // for /bin/sh -c
  bool stop = false;       // end the watcher instead
  bool look = false;       // only tell how it is
  bool runs_only = false;  // of it: what takes no time
};
struct WatchIdleAnswer {
  bool watching = false;
  int64_t idle_since_us = 0;      // 0: something goes on
  std::vector<std::string> busy;  // what goes on, in words; all of it with `look` alone
};

// Gets a runner going on a host, finds it again, stops it. Every call may be repeated, also after
// an Error of kind kUnavailable, which leaves open whether the runner heard us.
//
// The handle of a started run is run::RunnerStarted: a plain value that the journal holds too, so a
// client that has lost it finds it there. Calls need only the run's id, never the handle.
class Launch {
 public:
  virtual ~Launch() = default;

  // Returns once the runner holds its segment and its first record is on disk; the run then goes on
  // by itself whatever happens to us. A run that was started before: its handle, nothing new
  // happens. Any Error but kUnavailable means that nothing was started.
  virtual Result<run::RunnerStarted> Start(const StartRequest& request) = 0;

  // Asks a run to stop; returns its state once the request is on record. A finished run stays as it
  // is. kNotFound: the host does not know the run.
  virtual Result<run::State> Cancel(const CancelRequest& request) = 0;

  // Makes sure that a run whose runner is gone has its end on record. A live run is left alone.
  // kNotFound: the host does not know the run, so it never started there.
  virtual Result<Recovered> Recover(const std::string& run_id) = 0;

  // Ends what is left of a run whose folder on the host is gone. kInvalid: it is there.
  virtual Result<EndedLost> EndLost(const EndLostRequest& request) = 0;

  // Collects outputs that could not be collected when the run ended. Nothing to do: success.
  // kInvalid: the run has not ended. Any other Error leaves them where they are.
  virtual Result<Collected> Collect(const std::string& run_id) = 0;

  // Removes environments, as far as no run that goes on uses them, and lists those that are there
  // then.
  virtual Result<EnvironmentsAnswer> Environments(const EnvironmentsRequest& request) = 0;

  // Removes the containers of runs that are over and of builds that nobody watches.
  virtual Result<SweepAnswer> Sweep(const SweepRequest& request) = 0;

  // What the machine offers (docs/runner.md § probe). Takes up to half a minute.
  virtual Result<json::Object> Probe() = 0;

  // What is kept on the host, after removing what was asked for. A run that goes on is never
  // touched.
  virtual Result<HostedAnswer> Hosted(const HostedRequest& request) = 0;

  // Starts, changes or ends the one watcher that runs a command when the host has been idle.
  virtual Result<WatchIdleAnswer> WatchIdle(const WatchIdleRequest& request) = 0;

  // The command that runs `words` (none: a shell) on our own standard streams where the run's
  // script is: in its container, or in its folder. To be started in our place.
  virtual Result<std::vector<std::string>> EnterCommand(const std::string& run_id, bool tty,
                                                        const std::vector<std::string>& words) = 0;

  // The command that joins our own standard streams to a port of the loopback address there.
  virtual Result<std::vector<std::string>> PortCommand(const std::string& run_id, int port) = 0;
};

}  // namespace tenon::launch

#endif  // TENON_LAUNCH_LAUNCH_H_
