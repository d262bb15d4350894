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

// How the runner starts the script. A new executor is one more kind, with its row (spec.cc).
enum class ExecutorKind { kProcess, kContainer, kSpark };
constexpr int LastOf(ExecutorKind) { return static_cast<int>(ExecutorKind::kSpark); }

// What a client wants to know of a kind without asking the executor, which is on the host. Nobody
// on this side compares kinds.
struct ExecutorTraits {
  std::string_view name;      // in JSON
  bool host_python = false;   // begins with a Python of the host, not with one of an image
  bool in_engine = false;     // the script is an engine's, which may start it again after a restart
  bool own_loopback = false;  // ports of the script are not on the host's loopback address
};
const ExecutorTraits& TraitsOf(ExecutorKind kind);

// Everything a runner needs to carry out one run: a plain value, sent as JSON, kept in the journal.
// Secrets are not in it, only their names; the values travel beside it and are never written down.
struct RunSpec {
  // Who
  std::string key;         // UUID; the same on every machine
  std::string id;          // <project>_<ms>
  int64_t number = 0;      // 1, 2, 3 … within the project; 0: it only prepares
  std::string project;     // name
  std::string project_id;  // GUID; `experiment_id` of listings
  std::string user;        // login name of the submitter, for listings
  std::string user_id;     // GUID derived from the user

  // What
  std::string script;  // relative to the project's root
  std::vector<std::string> arguments;
  std::vector<std::pair<std::string, std::string>> parameters;  // from the arguments
  std::string tree;       // root hash (hex) of the tree a host gets
  std::string kept_tree;  // root hash (hex) of the tree kept here

  // Where and how
  std::string target;       // name of the .compute file
  std::string target_type;  // local, localdocker, …
  std::string host;         // id of the machine as the submitting client keeps it; "" = its own
  std::string run_configuration;  // name of the .runconfig file
  ExecutorKind executor = ExecutorKind::kProcess;
  std::string python;                                            // pythonLocation
  std::vector<std::pair<std::string, std::string>> environment;  // EnvironmentVariables
  std::vector<std::string> secret_names;
  std::string shared_directory;    // below which the shared folder lies; "" = none. `~` is expanded
                                   // by the runner
  std::vector<std::string> setup;  // shell lines before everything else, of a process
  bool tracked = true;             // false: journal kept, not listed
  int64_t grace_us = 30'000'000;   // between asking the script to stop and killing it
  int64_t timeout_us = 0;          // 0: none
  bool keep = false;               // keep the run directory after success
  bool keep_on_fail = false;       // a script that fails leaves its container for `tenon shell`
  int64_t retries = 0;             // how often it is started again when the machine was restarted
  bool only_prepare = false;       // make the environment, run nothing; `script` is empty

  // With what
  bool managed_environment = false;  // `packages` are made by the runner; else the Python is the
                                     // user's affair
  bool prepare_environment = true;   // false: it must have been made before
  bool refresh_environment = false;  // resolve and make it anew
  Packages packages;
  ContainerSpec container;  // of ExecutorKind::kContainer

  // Provenance, for listings and restore
  std::string git_commit;
  std::string git_branch;
  std::string git_diff_object;  // hash (hex) of the diff in the object store, "" = none
  std::string rerun_of;         // run id

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

  // It was not for the machine of the client that submitted it. For what is decided from a record
  // alone, where the machine need not be reached, or known any more.
  bool IsElsewhere() const { return !host.empty(); }
  // Its Python is the user's own: nothing is made for it.
  bool UsesOwnPython() const { return TraitsOf(executor).host_python && !managed_environment; }

  json::Object ToJson() const;
  // kInvalid when a member has the wrong type or one without which no run is possible is missing.
  // Unknown members are ignored, so an older reader takes a newer spec.
  static Result<RunSpec> FromJson(const json::Object& object);
  // The same without asking for any member: for reading what was recorded once.
  static Result<RunSpec> FromRecord(const json::Object& object);
};

// For run/described.h.
json::Value ToJsonValue(ExecutorKind kind);
void ReadValue(Members& in, std::string_view key, ExecutorKind& out);
json::Value ToJsonValue(const RunSpec& spec);
void ReadValue(Members& in, std::string_view key, RunSpec& out);  // with FromRecord()

// `--a=b`, `--a b c` (joined by blanks), bare `--a` = "true"; positionals are left out. A repeated
// flag keeps the last value. A word is a flag when it begins with '-' and is not a number.
std::vector<std::pair<std::string, std::string>> ParametersFromArguments(
    const std::vector<std::string>& arguments);

}  // namespace tenon::run

#endif  // TENON_RUN_SPEC_H_
