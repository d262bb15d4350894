// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_RUN_SPEC_H_
#define TENON_RUN_SPEC_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/fields.h"
#include "base/json.h"
#include "base/result.h"
#include "run/container_spec.h"
#include "run/packages.h"

namespace tenon::run {

class Members;

// How the runner starts the script. A new executor needs one more kind and a row in spec.cc.
enum class ExecutorKind { kProcess, kContainer, kSpark };
constexpr int LastOf(ExecutorKind) { return static_cast<int>(ExecutorKind::kSpark); }

// What a client needs to know about an executor kind; the executor itself is on the host. Client
// code reads these traits and never compares kinds.
struct ExecutorTraits {
  std::string_view name;     // in JSON
  bool host_python = false;  // uses a Python of the host, not one of an image
  bool in_engine = false;    // runs in a container engine, which may start it again after a restart
  bool own_loopback = false;  // the host's loopback address does not reach the script's ports
};
const ExecutorTraits& TraitsOf(ExecutorKind kind);

// Everything a runner needs to carry out one run: a plain value, sent as JSON and kept in the
// journal. It has the names of secrets only; their values travel beside it and are never written
// down.
struct RunSpec {
  // Who
  std::string key;         // UUID; the same on every machine
  std::string id;          // <project>_<ms>
  int64_t number = 0;      // 1, 2, 3 … within the project; 0: it only prepares
  std::string project;     // name
  std::string project_id;  // GUID; `experiment_id` of listings
  std::string user;        // login name of the submitter, for listings
  std::string user_id;     // GUID derived from `user`

  // What
  std::string script;  // relative to the project's root
  std::vector<std::string> arguments;
  std::vector<std::pair<std::string, std::string>> parameters;  // from `arguments`
  std::string tree;       // root hash (hex) of the tree a host gets
  std::string kept_tree;  // root hash (hex) of the tree that the client keeps

  // Where and how
  std::string target;             // name of the .compute file
  std::string target_type;        // local, localdocker, …
  std::string host;               // id of the machine as the client keeps it; "" = the client's own
  std::string run_configuration;  // name of the .runconfig file
  ExecutorKind executor = ExecutorKind::kProcess;
  std::string python;                                            // pythonLocation
  std::vector<std::pair<std::string, std::string>> environment;  // EnvironmentVariables
  std::vector<std::string> secret_names;
  std::string shared_directory;    // parent of the shared folder; "" = none. The runner expands `~`
  std::vector<std::string> setup;  // shell lines to run before the script; containers skip them
  bool tracked = true;             // false: the run has a journal but is not listed
  int64_t grace_us = 30'000'000;   // from asking the script to stop until killing it
  int64_t timeout_us = 0;          // 0: none
  bool keep = false;               // keep the run directory after success
  bool keep_on_fail = false;       // a failed script leaves its container for `tenon shell`
  int64_t retries = 0;             // how often to start it again after a restart of its machine
  bool only_prepare = false;       // make the environment and run nothing; `script` is empty

  // With what
  bool managed_environment = false;  // the runner makes `packages`; false: the user's own Python
  bool prepare_environment = true;   // false: the environment must exist already
  bool refresh_environment = false;  // resolve the packages and make the environment again
  Packages packages;
  ContainerSpec container;  // for ExecutorKind::kContainer

  // Provenance, for listings and restore
  std::string git_commit;
  std::string git_branch;
  std::string git_diff_object;  // hash (hex) of the diff in the object store, "" = none
  std::string rerun_of;         // id of the run that this one repeats; "" = none

  static constexpr auto Fields() {
    return std::tuple(
        Field(1, "key", &RunSpec::key, FieldRule::kAlways),
        Field(2, "id", &RunSpec::id, FieldRule::kAlways),
        Field(3, "number", &RunSpec::number, FieldRule::kAlways),
        Field(4, "project", &RunSpec::project, FieldRule::kAlways),
        Field(5, "project_id", &RunSpec::project_id, FieldRule::kAlways),
        Field(6, "user", &RunSpec::user, FieldRule::kAlways),
        Field(7, "user_id", &RunSpec::user_id, FieldRule::kAlways),
        Field(8, "script", &RunSpec::script, FieldRule::kAlways),
        Field(9, "arguments", &RunSpec::arguments, FieldRule::kAlways),
        Field(10, "parameters", &RunSpec::parameters, FieldRule::kAlways),
        Field(11, "tree", &RunSpec::tree, FieldRule::kAlways),
        Field(12, "kept_tree", &RunSpec::kept_tree, FieldRule::kAlways),
        Field(13, "target", &RunSpec::target, FieldRule::kAlways),
        Field(14, "target_type", &RunSpec::target_type, FieldRule::kAlways),
        Field(15, "host", &RunSpec::host),
        Field(16, "run_configuration", &RunSpec::run_configuration, FieldRule::kAlways),
        Field(17, "executor", &RunSpec::executor, FieldRule::kAlways),
        Field(18, "python", &RunSpec::python, FieldRule::kAlways),
        Field(19, "environment", &RunSpec::environment, FieldRule::kAlways),
        Field(20, "secret_names", &RunSpec::secret_names, FieldRule::kAlways),
        Field(21, "shared_directory", &RunSpec::shared_directory, FieldRule::kAlways),
        Field(22, "setup", &RunSpec::setup),
        Field(23, "tracked", &RunSpec::tracked, FieldRule::kAlways),
        Field(24, "grace_us", &RunSpec::grace_us, FieldRule::kAlways),
        Field(25, "timeout_us", &RunSpec::timeout_us, FieldRule::kAlways),
        Field(26, "keep", &RunSpec::keep, FieldRule::kAlways),
        Field(27, "keep_on_fail", &RunSpec::keep_on_fail, FieldRule::kAlways),
        Field(28, "retries", &RunSpec::retries),
        Field(29, "only_prepare", &RunSpec::only_prepare, FieldRule::kAlways),
        Field(30, "managed_environment", &RunSpec::managed_environment, FieldRule::kAlways),
        Field(31, "prepare_environment", &RunSpec::prepare_environment, FieldRule::kAlways),
        Field(32, "refresh_environment", &RunSpec::refresh_environment, FieldRule::kAlways),
        Field(33, "packages", &RunSpec::packages, FieldRule::kAlways),
        Field(34, "container", &RunSpec::container, FieldRule::kAlways),
        Field(35, "git_commit", &RunSpec::git_commit, FieldRule::kAlways),
        Field(36, "git_branch", &RunSpec::git_branch, FieldRule::kAlways),
        Field(37, "git_diff_object", &RunSpec::git_diff_object, FieldRule::kAlways),
        Field(38, "rerun_of", &RunSpec::rerun_of, FieldRule::kAlways));
  }

  // Whether the run was sent to another machine than the client's own. Decides from the record
  // alone: the machine need not be reachable, or still be known.
  bool IsElsewhere() const { return !host.empty(); }
  // Whether the script uses a Python of the user: the runner makes no environment.
  bool UsesOwnPython() const { return TraitsOf(executor).host_python && !managed_environment; }

  json::Object ToJson() const;
  // Fails with kInvalid when a member has the wrong type, or when one that every run needs is
  // missing (key, id, tree, and script unless only_prepare). Unknown members are ignored, so an
  // older reader takes a newer spec.
  static Result<RunSpec> FromJson(const json::Object& object);
  // Like FromJson(), but requires no member. For specs from a journal.
  static Result<RunSpec> FromRecord(const json::Object& object);
};

// For run/described.h.
json::Value ToJsonValue(ExecutorKind kind);
void ReadValue(Members& in, std::string_view key, ExecutorKind& out);
json::Value ToJsonValue(const RunSpec& spec);
void ReadValue(Members& in, std::string_view key, RunSpec& out);  // with FromRecord()

// Reads parameters from a command line: `--a=b`, `--a b c` (joined by blanks), bare `--a` = "true".
// Positionals are left out, and so is everything after `--`. A repeated flag keeps the last value.
// A word is a flag when it begins with '-' and is not a number.
std::vector<std::pair<std::string, std::string>> ParametersFromArguments(
    const std::vector<std::string>& arguments);

}  // namespace tenon::run

#endif  // TENON_RUN_SPEC_H_
