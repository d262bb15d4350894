// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_LAUNCH_HOST_SERVICES_H_
#define TENON_LAUNCH_HOST_SERVICES_H_

#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "run/requests.h"

namespace tenon::launch {

// What a host does besides starting runs: it manages what it keeps, says what it offers, and lets
// the client in. Every call may be repeated, also after an Error of kind kUnavailable.
class HostServices {
 public:
  virtual ~HostServices() = default;

  // Ends what is left of a run whose folder on the host is gone. Fails with kInvalid when the
  // folder exists.
  virtual Result<run::EndedLost> EndLost(const run::EndLostRequest& request) = 0;

  // Collects outputs that could not be collected when the run ended. Nothing to collect is success.
  // Fails with kInvalid when the run has not ended. After any other Error the outputs stay where
  // they are.
  virtual Result<run::Collected> Collect(const std::string& run_id) = 0;

  // Removes the environments that the request names, except those that a live run uses, then lists
  // all that are left.
  virtual Result<run::EnvironmentsAnswer> Environments(const run::EnvironmentsRequest& request) = 0;

  // Removes the containers of ended runs, and of builds that nobody watches.
  virtual Result<run::SweepAnswer> Sweep(const run::SweepRequest& request) = 0;

  // Returns what the machine offers (docs/runner.md § probe). May take half a minute.
  virtual Result<json::Object> Probe() = 0;

  // Removes what the request names, then returns what the host keeps. Never touches a live run.
  virtual Result<run::HostedAnswer> Hosted(const run::HostedRequest& request) = 0;

  // Starts, changes or ends the host's one watcher, which runs a command when the host has been
  // idle.
  virtual Result<run::WatchIdleAnswer> WatchIdle(const run::WatchIdleRequest& request) = 0;

  // Returns a command line for the host that runs `words` (none: a shell) where the run's script
  // is: in its container, or in its folder. The command uses the standard streams it is started
  // with. The caller starts it in place of its own process, over the machine's way in.
  virtual Result<std::vector<std::string>> EnterCommand(const std::string& run_id, bool tty,
                                                        const std::vector<std::string>& words) = 0;

  // Returns a command line for the host that joins its standard streams to a port of the script's
  // loopback address. The command exits with 1 when nothing listens on the port, with 125 when it
  // could not be started.
  virtual Result<std::vector<std::string>> PortCommand(const std::string& run_id, int port) = 0;
};

}  // namespace tenon::launch

#endif  // TENON_LAUNCH_HOST_SERVICES_H_
