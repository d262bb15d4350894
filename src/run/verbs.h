// SPDX-License-Identifier: Apache-2.0
// What a client and a runner say to each other (docs/runner.md). The runner is started with one
// verb as its first argument. Its first line on standard output is always
//
//   tenon-runner <protocol> <version>\n
//
// then one line of JSON with the answer (an object; member "error" {kind, message, hint} on
// failure). Requests come as one JSON object on standard input, closed by end of file. Every verb
// may be repeated; a repeat answers as the first did.
//
//   start    {protocol, home, run_id, spec, environment, secrets, version}
//            → {runner: {pid, start_ticks, boot_id}} once the supervisor holds its segment's lock
//            and its first record is on disk. For a run that was started before: its handle.
//   cancel   {protocol, home, run_id, grace_us, who} → {state} when the request is recorded
//   recover  {protocol, home, run_id} → {state, recovered}. Writes the true end of a run whose
//            runner is gone: ends what is left of it, reads what its script still logged. A live
//            run is left alone.
//   collect  {protocol, home, run_id} → {collected, left}. Collects outputs that could not be
//            collected when the run ended.
//   environments
//            {protocol, home, remove: [keys], dry_run} → {environments: [{ready, asked, image_id,
//            socket, created_us, duration_us, last_used_us, runs, in_use}], removed: [keys],
//            kept: [{name, why}], bytes_freed}. Lists what was made for runs here, after removing
//            what was asked for. What a run that goes on uses is kept.
//   sweep    {protocol, home, runs: [ids], all, dry_run, spare_kept} → {removed: [names], kept:
//            [{name, why}]}.
//            Removes containers of runs that are over (of those named, or all; and of runs nobody
//            knows any more) and of builds that nobody watches.
//   probe    {protocol, home} → what the machine offers
//   hosted   {protocol, home, remove: [ids], clean, keep_us, dry_run, only: [ids], force, look}
//            → what is kept on this host
//   watch-idle
//            {protocol, home, after_us, command, stop, look, runs_only} → {watching,
//            idle_since_us, busy: [texts]}
//   version  no input; prints the first line only
//   serve    the agent of one client; frames in both directions after the first line
//
//   exec     HOME RUN FLAGS COMMAND...: runs a command where the script is, on our own standard
//            streams, and exits with its code; 125 when it could not be started. FLAGS is "tty" or
//            "plain". No COMMAND: a shell. Prints no first line
//
//   environment [MARK]  prints MARK, then its environment as NAME=value\0…; no first line
//   check HASH          exits with 0 when its own file has that SHA-256; no first line
//   dial PATH           joins its standard streams to a Unix socket; no first line
//   login SHELL TEXT    becomes that shell as a login starts it, with `-c TEXT`; no first line
//
// Three more are for runners alone and print no first line. As the first process of a container,
// `init` starts the script and `build` makes an environment; they are told what to do as
// "<length>\n<JSON>". `rank -- PROGRAM...` starts one of several processes of a run, whose launcher
// has called it; it is told what to do through the socket in TENON_RANK_DOOR.
#ifndef TENON_RUN_VERBS_H_
#define TENON_RUN_VERBS_H_

#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"

namespace tenon::run {

// Goes up when an old peer could misunderstand a new one; added members do not raise it.
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

// What an agent (`serve`) prints after its first line, before the first frame.
inline constexpr const char* kAgentGreeting = "tenon-agent 1\n";

std::string HelloLine(std::string_view version);

struct Hello {
  int protocol = 0;
  std::string version;
};
// Finds the hello line in what a runner printed (login shells may print before it). kUnavailable
// when there is none.
Result<Hello> ParseHello(std::string_view output, size_t* after);

// An Error that says which side is older and what to do, when the two protocols differ.
std::optional<Error> ProtocolMismatch(int ours, int theirs, std::string_view their_version);

}  // namespace tenon::run

#endif  // TENON_RUN_VERBS_H_
