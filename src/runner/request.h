// SPDX-License-Identifier: Apache-2.0
// What comes in on standard input (docs/runner.md), read and checked.
#ifndef TENON_RUNNER_REQUEST_H_
#define TENON_RUNNER_REQUEST_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/process.h"
#include "base/result.h"
#include "run/layout.h"
#include "run/spec.h"

namespace tenon::runner {

// The run a verb is about.
struct RunName {
  std::string home;
  std::string run_id;
  run::RunFolder Folder() const { return run::RunFolder(run::Home(home), run_id); }
};

struct StartRequest {
  RunName run;
  run::RunSpec spec;
  Environment environment;
  Environment secrets;
  std::string client_version;
  std::string retry_of;  // "": in nobody's place

  std::vector<std::string> SecretValues() const;
  // `variables` with what a process of this run has on top: the secrets, and the run's mark.
  Environment WithOwn(Environment variables) const;
};

struct CancelRequest {
  RunName run;
  std::optional<int64_t> grace_us;
  std::string who;
};

// A run whose folder is gone, as its client remembers it.
struct EndLostRequest {
  RunName run;
  std::string key;
  std::string boot_id;     // of the boot in which it was started; "": not known
  bool container = false;  // its script runs in one
};

struct EnvironmentsRequest {
  std::string home;
  std::vector<std::string> remove;  // keys
  bool dry_run = false;
};

struct SweepRequest {
  std::string home;
  std::vector<std::string> runs;  // ids
  bool all = false;               // of every run
  bool dry_run = false;
  bool spare_kept = false;  // not those that were kept to be looked at (--keep-on-fail)
};

struct HostedRequest {
  std::string home;
  std::vector<std::string> remove;  // run ids
  bool clean = false;
  int64_t keep_us = 0;
  bool dry_run = false;
  bool only_some = false;         // keep_us is for the runs `only` alone
  std::vector<std::string> only;  // run ids
  bool force = false;             // also the only copy of outputs
  bool look = false;              // also for what goes on beside runs
};

struct WatchIdleRequest {
  std::string home;
  int64_t after_us = 0;
  std::string command;
  bool stop = false;
  bool look = false;       // tell how it is, and change nothing
  bool runs_only = false;  // of it: what takes no time
};

// Reads standard input to its end. More than 64 MiB is kInvalid.
Result<std::string> ReadRequest(int fd);

// kInvalid: not a request, of another protocol, or lacking something.
Result<StartRequest> ParseStart(std::string_view text);
Result<CancelRequest> ParseCancel(std::string_view text);
Result<RunName> ParseRecover(std::string_view text);
Result<EndLostRequest> ParseEndLost(std::string_view text);
Result<EnvironmentsRequest> ParseEnvironments(std::string_view text);
Result<SweepRequest> ParseSweep(std::string_view text);
Result<std::string> ParseHome(std::string_view text);  // of a request that names no more
Result<HostedRequest> ParseHosted(std::string_view text);
Result<WatchIdleRequest> ParseWatchIdle(std::string_view text);

}  // namespace tenon::runner

#endif  // TENON_RUNNER_REQUEST_H_
