// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_RUN_SPEC_H_
#define TENON_RUN_SPEC_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "run/container_spec.h"
#include "run/packages.h"

namespace tenon::run {

// How the runner starts the script. One row per executor.
enum class ExecutorKind { kProcess, kContainer, kSpark };

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

  json::Object ToJson() const;
  // kInvalid when a member has the wrong type or one without which no run is possible is missing.
  // Unknown members are ignored, so an older reader takes a newer spec.
  static Result<RunSpec> FromJson(const json::Object& object);
  // The same without asking for any member: for reading what was recorded once.
  static Result<RunSpec> FromRecord(const json::Object& object);
};

// `--a=b`, `--a b c` (joined by blanks), bare `--a` = "true"; positionals are left out. A repeated
// flag keeps the last value. A word is a flag when it begins with '-' and is not a number.
std::vector<std::pair<std::string, std::string>> ParametersFromArguments(
    const std::vector<std::string>& arguments);

}  // namespace tenon::run

#endif  // TENON_RUN_SPEC_H_
