// SPDX-License-Identifier: Apache-2.0
// The requests of a client and the answers of a runner (docs/runner.md), shared by both sides.
// Their JSON form is made from their fields (run/described.h). Every request travels with
// `protocol` and `home`, which are no members here. Members can be added; an older reader ignores
// them.
#ifndef TENON_RUN_REQUESTS_H_
#define TENON_RUN_REQUESTS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/fields.h"
#include "run/environment_record.h"
#include "run/event.h"
#include "run/state.h"

namespace tenon::run {

class Members;

struct CancelRequest {
  std::string run_id;
  std::optional<int64_t> grace_us;  // absent: the run's own
  std::string who;                  // who asked, for the reason: "ann on laptop"

  void Check(Members& in) const;
  static constexpr auto Fields() {
    return std::tuple(Field(1, "run_id", &CancelRequest::run_id, FieldRule::kRequired),
                      Field(2, "grace_us", &CancelRequest::grace_us),
                      Field(3, "who", &CancelRequest::who, FieldRule::kAlways));
  }
};

struct CancelAnswer {
  State state = State::kNotStarted;
  int64_t unheard = 0;  // pid of a busy supervisor that has not taken the request yet; 0 = taken
  std::optional<bool> recovered;  // set if the runner was gone: whether this call wrote the end

  static constexpr auto Fields() {
    return std::tuple(Field(1, "state", &CancelAnswer::state, FieldRule::kRequired),
                      Field(2, "unheard", &CancelAnswer::unheard),
                      Field(3, "recovered", &CancelAnswer::recovered));
  }
};

// What the client remembers of a run whose folder its host has lost.
struct EndLostRequest {
  std::string run_id;
  std::string key;
  std::string boot_id;     // the boot in which the run was started; "" = not known
  bool container = false;  // the script runs in a container

  void Check(Members& in) const;
  static constexpr auto Fields() {
    return std::tuple(Field(1, "run_id", &EndLostRequest::run_id, FieldRule::kRequired),
                      Field(2, "key", &EndLostRequest::key, FieldRule::kAlways),
                      Field(3, "boot_id", &EndLostRequest::boot_id, FieldRule::kAlways),
                      Field(4, "container", &EndLostRequest::container, FieldRule::kAlways));
  }
};
struct EndedLost {
  bool known = false;  // nothing of the run is left; false: not known, or not all could be ended
  Proof proof;

  static constexpr auto Fields() {
    return std::tuple(Field(1, "known", &EndedLost::known, FieldRule::kAlways),
                      Field(2, "proof", &EndedLost::proof, FieldRule::kRequired));
  }
};

struct Recovered {
  State state = State::kNotStarted;
  bool recovered = false;    // this call wrote the end
  std::string waiting = {};  // what it waits for before it begins, for people; "" = nothing

  static constexpr auto Fields() {
    return std::tuple(Field(1, "state", &Recovered::state, FieldRule::kRequired),
                      Field(2, "recovered", &Recovered::recovered, FieldRule::kAlways),
                      Field(3, "waiting", &Recovered::waiting));
  }
};

struct Collected {
  bool collected = false;  // this call collected outputs
  uint64_t left = 0;       // files that could not be read and stay where they are

  static constexpr auto Fields() {
    return std::tuple(Field(1, "collected", &Collected::collected, FieldRule::kAlways),
                      Field(2, "left", &Collected::left, FieldRule::kAlways));
  }
};

// Something that stays although its removal was asked for.
struct Kept {
  std::string name;  // key of an environment, name of a container, id of a run
  std::string why;

  static constexpr auto Fields() {
    return std::tuple(Field(1, "name", &Kept::name, FieldRule::kAlways),
                      Field(2, "why", &Kept::why, FieldRule::kAlways));
  }
};

struct EnvironmentsRequest {
  std::vector<std::string> remove;  // keys
  bool dry_run = false;

  void Check(Members& in) const;
  static constexpr auto Fields() {
    return std::tuple(Field(1, "remove", &EnvironmentsRequest::remove, FieldRule::kAlways),
                      Field(2, "dry_run", &EnvironmentsRequest::dry_run, FieldRule::kAlways));
  }
};
struct EnvironmentsAnswer {
  std::vector<ListedEnvironment> environments;  // newest use first
  std::vector<std::string> removed;             // keys
  std::vector<Kept> kept;
  uint64_t bytes_freed = 0;

  static constexpr auto Fields() {
    return std::tuple(
        Field(1, "environments", &EnvironmentsAnswer::environments, FieldRule::kRequired),
        Field(2, "removed", &EnvironmentsAnswer::removed, FieldRule::kAlways),
        Field(3, "kept", &EnvironmentsAnswer::kept, FieldRule::kAlways),
        Field(4, "bytes_freed", &EnvironmentsAnswer::bytes_freed, FieldRule::kAlways));
  }
};

struct SweepRequest {
  std::vector<std::string> runs;  // ids
  bool all = false;               // of every run of the home that has ended
  bool dry_run = false;
  bool spare_kept = false;  // leave containers that were kept to be looked at (--keep-on-fail)

  static constexpr auto Fields() {
    return std::tuple(Field(1, "runs", &SweepRequest::runs, FieldRule::kAlways),
                      Field(2, "all", &SweepRequest::all, FieldRule::kAlways),
                      Field(3, "dry_run", &SweepRequest::dry_run, FieldRule::kAlways),
                      Field(4, "spare_kept", &SweepRequest::spare_kept, FieldRule::kAlways));
  }
};
struct SweepAnswer {
  std::vector<std::string> removed;  // names of containers
  std::vector<Kept> kept;

  static constexpr auto Fields() {
    return std::tuple(Field(1, "removed", &SweepAnswer::removed, FieldRule::kAlways),
                      Field(2, "kept", &SweepAnswer::kept, FieldRule::kAlways));
  }
};

struct HostedRequest {
  std::vector<std::string> remove;  // run ids
  bool clean = false;               // apply the cleaning policy (docs/runner.md)
  int64_t keep_us = 0;              // for `clean`: remove what ended longer ago
  bool dry_run = false;
  // The runs to which keep_us applies; other runs are kept for 30 days at least. Absent: keep_us
  // applies to all.
  std::optional<std::vector<std::string>> only;
  bool force = false;  // also remove the only copy of a run's outputs
  bool look = false;   // also fill `busy`, which takes a moment

  void Check(Members& in) const;
  static constexpr auto Fields() {
    return std::tuple(Field(1, "remove", &HostedRequest::remove, FieldRule::kAlways),
                      Field(2, "clean", &HostedRequest::clean, FieldRule::kAlways),
                      Field(3, "keep_us", &HostedRequest::keep_us, FieldRule::kAlways),
                      Field(4, "dry_run", &HostedRequest::dry_run, FieldRule::kAlways),
                      Field(5, "only", &HostedRequest::only),
                      Field(6, "force", &HostedRequest::force, FieldRule::kAlways),
                      Field(7, "look", &HostedRequest::look, FieldRule::kAlways));
  }
};
struct HostedRun {
  std::string run_id, project, target, script;
  std::string state;  // a StateName()
  std::string reason;
  int64_t created_us = 0, ended_us = 0;  // by the host's clock; 0: not known, not ended
  uint64_t bytes = 0;                    // disk use of the run, work_bytes included
  uint64_t work_bytes = 0;
  bool alive = false;
  bool outputs_left = false;  // its folder has the only copy of some outputs

  static constexpr auto Fields() {
    return std::tuple(Field(1, "run_id", &HostedRun::run_id, FieldRule::kAlways),
                      Field(2, "project", &HostedRun::project, FieldRule::kAlways),
                      Field(3, "target", &HostedRun::target, FieldRule::kAlways),
                      Field(4, "script", &HostedRun::script, FieldRule::kAlways),
                      Field(5, "state", &HostedRun::state, FieldRule::kAlways),
                      Field(6, "reason", &HostedRun::reason, FieldRule::kAlways),
                      Field(7, "created_us", &HostedRun::created_us, FieldRule::kAlways),
                      Field(8, "ended_us", &HostedRun::ended_us, FieldRule::kAlways),
                      Field(9, "bytes", &HostedRun::bytes, FieldRule::kAlways),
                      Field(10, "work_bytes", &HostedRun::work_bytes, FieldRule::kAlways),
                      Field(11, "alive", &HostedRun::alive, FieldRule::kAlways),
                      Field(12, "outputs_left", &HostedRun::outputs_left, FieldRule::kAlways));
  }
};
struct HostedAnswer {
  std::vector<HostedRun> runs;  // newest first
  uint64_t environments_bytes = 0, objects_bytes = 0, cache_bytes = 0, data_bytes = 0;
  uint64_t other_bytes = 0;
  uint64_t disk_free_bytes = 0;
  int64_t last_run_us = 0;    // when the newest run was made; 0: no runs
  int64_t idle_since_us = 0;  // 0: a run is live, `busy` is not empty, or the home was never used
  std::vector<std::string> busy;  // what goes on besides runs of the home, in words; see `look`
  std::vector<std::string> removed;
  std::vector<Kept> kept;
  uint64_t bytes_freed = 0;

  static constexpr auto Fields() {
    return std::tuple(
        Field(1, "runs", &HostedAnswer::runs, FieldRule::kAlways),
        Field(2, "environments_bytes", &HostedAnswer::environments_bytes, FieldRule::kAlways),
        Field(3, "objects_bytes", &HostedAnswer::objects_bytes, FieldRule::kAlways),
        Field(4, "cache_bytes", &HostedAnswer::cache_bytes, FieldRule::kAlways),
        Field(5, "data_bytes", &HostedAnswer::data_bytes, FieldRule::kAlways),
        Field(6, "other_bytes", &HostedAnswer::other_bytes, FieldRule::kAlways),
        Field(7, "disk_free_bytes", &HostedAnswer::disk_free_bytes, FieldRule::kAlways),
        Field(8, "last_run_us", &HostedAnswer::last_run_us, FieldRule::kAlways),
        Field(9, "idle_since_us", &HostedAnswer::idle_since_us, FieldRule::kAlways),
        Field(10, "busy", &HostedAnswer::busy, FieldRule::kAlways),
        Field(11, "removed", &HostedAnswer::removed, FieldRule::kAlways),
        Field(12, "kept", &HostedAnswer::kept, FieldRule::kAlways),
        Field(13, "bytes_freed", &HostedAnswer::bytes_freed, FieldRule::kAlways));
  }
};

struct WatchIdleRequest {
  int64_t after_us = 0;
  std::string command;     // for /bin/sh -c
  bool stop = false;       // end the watcher
  bool look = false;       // change nothing, only answer
  bool runs_only = false;  // for `look`: check runs only, which takes no time

  void Check(Members& in) const;
  static constexpr auto Fields() {
    return std::tuple(Field(1, "after_us", &WatchIdleRequest::after_us, FieldRule::kAlways),
                      Field(2, "command", &WatchIdleRequest::command, FieldRule::kAlways),
                      Field(3, "stop", &WatchIdleRequest::stop, FieldRule::kAlways),
                      Field(4, "look", &WatchIdleRequest::look, FieldRule::kAlways),
                      Field(5, "runs_only", &WatchIdleRequest::runs_only, FieldRule::kAlways));
  }
};
struct WatchIdleAnswer {
  bool watching = false;
  int64_t idle_since_us = 0;      // 0: something goes on
  std::vector<std::string> busy;  // what goes on, in words; without `look` runs alone

  static constexpr auto Fields() {
    return std::tuple(
        Field(1, "watching", &WatchIdleAnswer::watching, FieldRule::kAlways),
        Field(2, "idle_since_us", &WatchIdleAnswer::idle_since_us, FieldRule::kAlways),
        Field(3, "busy", &WatchIdleAnswer::busy, FieldRule::kAlways));
  }
};

}  // namespace tenon::run

#endif  // TENON_RUN_REQUESTS_H_
