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

// What became of a start.
struct Started {
  run::RunnerStarted runner;  // its process is 0 while the run waits for its turn
  run::LaunchHandle handle;   // to be kept, unless it is empty
};

// Gets a runner going on a host, finds it again, stops it. Every call may be repeated, also after
// an Error of kind kUnavailable, which leaves open whether the host heard us.
//
// A started run is found again by its id and its handle, a value that the near segment keeps. A
// client that was killed before it could keep it has an empty one: then the id is all there is, and
// a launch that needs more looks for it (kUnavailable, as long as that is not known).
class Launch {
 public:
  virtual ~Launch() = default;

  // Returns once the run goes on by itself whatever happens to us: its runner holds its segment and
  // the first record is on disk, or it waits for its turn where nobody but the host can lose it. A
  // run that was started before: its handle, nothing new happens. Any Error but kUnavailable means
  // that nothing was started.
  virtual Result<Started> Start(const StartRequest& request) = 0;

  // Asks a run to stop; returns its state once the request is on record. A finished run stays as it
  // is; one that waits never starts. kNotFound: the host does not know the run.
  virtual Result<run::State> Cancel(const run::CancelRequest& request,
                                    const run::LaunchHandle& handle) = 0;

  // Whether a run goes on, by whatever the launch knows that from: its runner lives, or it waits
  // for its turn (Recovered::waiting). If not, makes sure that it has its end on record. kNotFound:
  // the host does not know the run, so it never started there.
  virtual Result<run::Recovered> Recover(const std::string& run_id,
                                         const run::LaunchHandle& handle) = 0;
};

}  // namespace tenon::launch

#endif  // TENON_LAUNCH_LAUNCH_H_
