// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_LAUNCH_HOST_SERVICES_H_
#define TENON_LAUNCH_HOST_SERVICES_H_

#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "run/requests.h"

namespace tenon::launch {

// What a host does for us beside starting runs: it looks after what is kept there, tells what it
// offers, and lets us in. Every call may be repeated, also after an Error of kind kUnavailable.
class HostServices {
 public:
  virtual ~HostServices() = default;

  // Ends what is left of a run whose folder on the host is gone. kInvalid: it is there.
  virtual Result<run::EndedLost> EndLost(const run::EndLostRequest& request) = 0;

  // Collects outputs that could not be collected when the run ended. Nothing to do: success.
  // kInvalid: the run has not ended. Any other Error leaves them where they are.
  virtual Result<run::Collected> Collect(const std::string& run_id) = 0;

  // Removes environments, as far as no run that goes on uses them, and lists those that are there
  // then.
  virtual Result<run::EnvironmentsAnswer> Environments(const run::EnvironmentsRequest& request) = 0;

  // Removes the containers of runs that are over and of builds that nobody watches.
  virtual Result<run::SweepAnswer> Sweep(const run::SweepRequest& request) = 0;

  // What the machine offers (docs/runner.md § probe). Takes up to half a minute.
  virtual Result<json::Object> Probe() = 0;

  // What is kept on the host, after removing what was asked for. A run that goes on is never
  // touched.
  virtual Result<run::HostedAnswer> Hosted(const run::HostedRequest& request) = 0;

  // Starts, changes or ends the one watcher that runs a command when the host has been idle.
  virtual Result<run::WatchIdleAnswer> WatchIdle(const run::WatchIdleRequest& request) = 0;

  // The command that runs `words` (none: a shell) on our own standard streams where the run's
  // script is: in its container, or in its folder. To be started in our place.
  virtual Result<std::vector<std::string>> EnterCommand(const std::string& run_id, bool tty,
                                                        const std::vector<std::string>& words) = 0;

  // The command that joins our own standard streams to a port of the loopback address there.
  virtual Result<std::vector<std::string>> PortCommand(const std::string& run_id, int port) = 0;
};

}  // namespace tenon::launch

#endif  // TENON_LAUNCH_HOST_SERVICES_H_
