// SPDX-License-Identifier: Apache-2.0
// What a client and a runner say to each other (docs/runner.md has the details). A client starts
// the runner with one verb as its first argument. Unless noted below, the runner's first line on
// standard output is
//
//   tenon-runner <protocol> <version>\n
//
// and the second is the answer, one line of JSON: an object, with member "error" {kind, message,
// hint} on failure. The client sends the request as one JSON object on standard input, closed by
// end of file. Every verb may be repeated; a repeat answers as the first call did.
//
//   start    {protocol, home, run_id, spec, environment, secrets, version, retry_of}
//            → {runner: {pid, start_ticks, boot_id}, host, version, protocol} once the supervisor
//            holds the lock of its segment and its first record is on disk. A run that was started
//            before: its handle.
//   cancel   {protocol, home, run_id, grace_us, who} → {state, unheard, recovered} when the request
//            is recorded; a busy supervisor records it later, `unheard` is its pid.
//   recover  {protocol, home, run_id} → {state, recovered}. Writes the true end of a run
//            whose runner is gone: ends the processes that are left, reads what the script still
//            logged. Does not touch a live run.
//   end-lost {protocol, home, run_id, key, boot_id, container} → {known, proof}. Ends what
//            is left of a run whose folder is gone.
//   collect  {protocol, home, run_id} → {collected, left}. Collects outputs that could not be
//            collected when the run ended.
//   environments
//            {protocol, home, remove: [keys], dry_run} → {environments: [{ready, asked, image_id,
//            socket, created_us, duration_us, last_used_us, runs, in_use}], removed: [keys],
//            kept: [{name, why}], bytes_freed}. Removes the named environments, then lists those
//            that are left. Environments used by a live run are kept.
//   sweep    {protocol, home, runs: [ids], all, dry_run, spare_kept} → {removed: [names], kept:
//            [{name, why}]}. Removes containers of ended runs (of the named runs, or of all), of
//            unknown runs, and of builds that nobody watches.
//   probe    {protocol, home} → what the machine offers
//   hosted   {protocol, home, remove: [ids], clean, keep_us, dry_run, only: [ids], force, look}
//            → what this host keeps
//   watch-idle
//            {protocol, home, after_us, command, stop, look, runs_only} → {watching,
//            idle_since_us, busy: [texts]}
//   version  no input; prints the first line only
//   serve    the agent of one client; after the first line both directions are frames
//
// These print no first line:
//
//   exec     HOME RUN FLAGS COMMAND...: runs a command where the script is, on the runner's own
//            standard streams, and exits with its code; 125 when it could not be started. FLAGS is
//            "tty" or "plain"; no COMMAND: a shell. FLAGS "port" with a port number: joins the
//            standard streams to that port of the script's loopback address
//   environment [MARK]  prints its own environment as NAME=value\0…, with MARK before and after it
//   check HASH          exits with 0 when its own file has that SHA-256
//   dial PATH|PORT      joins its standard streams to a Unix socket or a loopback port
//   login SHELL TEXT    becomes that shell as a login starts it, with `-c TEXT`
//
// Three more verbs are for runners alone and print no first line. As the first process of a
// container, `init` starts the script and `build` makes an environment; the host's runner sends
// them their job as "<length>\n<JSON>". A launcher in a run calls `rank -- PROGRAM...` to start one
// of several processes; `rank` gets its job through the socket in the folder TENON_RANK_DOOR.
#ifndef TENON_RUN_VERBS_H_
#define TENON_RUN_VERBS_H_

#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"

namespace tenon::run {

// Goes up when an old peer could misunderstand a new one. Added members do not raise it.
inline constexpr int kProtocol = 1;

inline constexpr const char* kVerbStart = "start";
inline constexpr const char* kVerbCancel = "cancel";
inline constexpr const char* kVerbRecover = "recover";
inline constexpr const char* kVerbEndLost = "end-lost";
inline constexpr const char* kVerbCollect = "collect";
inline constexpr const char* kVerbEnvironments = "environments";
inline constexpr const char* kVerbSweep = "sweep";
inline constexpr const char* kVerbVersion = "version";
inline constexpr const char* kVerbExec = "exec";
inline constexpr const char* kVerbInit = "init";
inline constexpr const char* kVerbBuild = "build";
inline constexpr const char* kVerbRank = "rank";
inline constexpr const char* kVerbServe = "serve";
inline constexpr const char* kVerbProbe = "probe";
inline constexpr const char* kVerbHosted = "hosted";
inline constexpr const char* kVerbWatchIdle = "watch-idle";
inline constexpr const char* kVerbEnvironment = "environment";
inline constexpr const char* kVerbCheck = "check";
inline constexpr const char* kVerbDial = "dial";
inline constexpr const char* kVerbLogin = "login";

// What an agent (`serve`) prints after its first line and before the first frame.
inline constexpr const char* kAgentGreeting = "tenon-agent 1\n";

// The first line that a runner prints.
std::string HelloLine(std::string_view version);

struct Hello {
  int protocol = 0;
  std::string version;
};
// Finds the hello line in the output of a runner; a login shell may have printed lines before it.
// `after`, if given, receives the offset behind the line. Fails with kUnavailable when there is no
// such line.
Result<Hello> ParseHello(std::string_view output, size_t* after);

// Returns an Error that says which side is older and what to do, or nullopt when the protocols are
// the same.
std::optional<Error> ProtocolMismatch(int ours, int theirs, std::string_view their_version);

}  // namespace tenon::run

#endif  // TENON_RUN_VERBS_H_
