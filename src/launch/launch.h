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
#include "run/event.h"
#include "run/requests.h"
#include "run/spec.h"

namespace tenon::launch {

// The runner to use: either its bytes, which are put on the host once, under their hash; or, with
// `path` set, a program that is on the host already.
struct RunnerProgram {
  std::string_view bytes;  // must outlive the launch
  std::string_view hash;   // SHA-256 of `bytes`, hex
  std::string path;
};

struct StartRequest {
  run::RunSpec spec;        // spec.id names the run's folder
  Environment environment;  // what the script's environment begins with
  Environment secrets;      // added to `environment`; never written down
  TreeToSend tree;          // spec.tree, for a host that does not share our disk
  std::string version;      // of this client, for messages of the host
  // Run being retried because its machine was restarted. The first client to claim it wins, the
  // others get kDenied. Empty: no retry.
  std::string retry_of;
};

// The result of a start.
struct Started {
  run::RunnerStarted runner;  // its process is 0 while the run waits in a queue
  run::LaunchHandle handle;   // the caller stores it, unless it is empty
};

// Starts a runner on a host, finds it again, stops it. Every call may be repeated, also after an
// Error of kind kUnavailable, which leaves open whether the host received the request.
//
// A run that was started is found again by its id and its handle; the client stores the handle in
// the near segment. A client that was killed before it could do so passes an empty handle. Then a
// launch that needs more than the id searches for the run, and fails with kUnavailable until it
// knows.
class Launch {
 public:
  virtual ~Launch() = default;

  // Returns once the run goes on without the client: its runner holds its segment and the first
  // record is on disk, or the run waits in a queue of the host that the client cannot lose. For a
  // run that was started before, returns its handle and starts nothing. After any Error except
  // kUnavailable nothing was started.
  virtual Result<Started> Start(const StartRequest& request) = 0;

  // Asks a run to stop. Returns its state once the request is recorded, or left for a busy runner
  // to record. Does not change a run that has ended; a waiting run never starts. Fails with
  // kNotFound when the host does not know the run.
  virtual Result<run::State> Cancel(const run::CancelRequest& request,
                                    const run::LaunchHandle& handle) = 0;

  // Finds out whether a run goes on: its runner lives, or it waits in a queue (Recovered::waiting).
  // If it does not, makes sure that the end of the run is recorded. Fails with kNotFound when the
  // host does not know the run, so it never started there.
  virtual Result<run::Recovered> Recover(const std::string& run_id,
                                         const run::LaunchHandle& handle) = 0;
};

}  // namespace tenon::launch

#endif  // TENON_LAUNCH_LAUNCH_H_
