// SPDX-License-Identifier: Apache-2.0
// Makes an environment where it is called: on a host for `local` and `remote` targets, inside a
// container of the base image for the others. Which commands that takes is environment/recipe.h's
// affair; this runs them, tells what they do, and finds out what was installed.
#ifndef TENON_RUNNER_ENVIRONMENT_MAKE_ENVIRONMENT_H_
#define TENON_RUNNER_ENVIRONMENT_MAKE_ENVIRONMENT_H_

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/process.h"
#include "base/result.h"
#include "run/event.h"
#include "run/packages.h"

namespace tenon::runner {

struct EnvironmentJob {
  run::Packages packages;
  std::string python;       // an interpreter the user names (pythonLocation); "" = find one
  std::string prefix;       // where it goes; whatever is there is removed first
  std::string cache;        // package caches, shared between builds and users of this home
  std::string tools;        // uv and py-rattler: looked for here and on PATH, or put here
  std::string scratch;      // for the recipe's own files; emptied first
  std::string project;      // the project's files, read only
  std::string staged;       // a conda prefix that StageConda has made for `prefix`; "" = none
  bool no_channel = false;  // StageConda has found that no channel answers: don't try again
  std::string ca_bundle;    // made known to every tool; "" = none
  // What the tools get: PATH, HOME, proxies, PIP_*, UV_*, secrets. Holds the run's mark, so that
  // what a killed runner leaves can be found and ended.
  Environment environment;
  std::vector<std::string> masked;  // values that must not be told

  // Without `environment` and `masked`, which travel apart.
  json::Object ToJson() const;
  static Result<EnvironmentJob> FromJson(const json::Object& object);
};

struct MadeEnvironment {
  std::string python;                            // path of its interpreter, below the prefix
  std::string python_version;                    // "3.11.7"
  std::vector<run::InstalledPackage> installed;  // sorted by name
  std::vector<run::Notice> notices;
  uint64_t bytes = 0;  // size of the prefix

  json::Object ToJson() const;
  static Result<MadeEnvironment> FromJson(const json::Object& object);
};

// What happens while an environment is made. Calls come from the thread that makes it.
class BuildReporter {
 public:
  virtual ~BuildReporter() = default;
  virtual void OnStep(const run::Step& step) = 0;  // has ended
  // A step goes on: "downloading scikit-learn", bytes or counts; total 0: not known.
  virtual void OnProgress(const std::string& step, const std::string& detail, uint64_t done,
                          uint64_t total) = 0;
  virtual void OnOutput(std::string_view bytes) = 0;  // a tool's own words, masked
};

// Repeatable: nothing of an earlier try is used but caches. A failure tells the tool's last words
// and the line of the file that asked for the package. `stop` set: kUnavailable "stopped", soon.
Result<MadeEnvironment> MakeEnvironment(const EnvironmentJob& job, BuildReporter& reporter,
                                        const std::atomic<bool>& stop);

// Whether conda packages are asked for, so that a prefix has to be solved and installed from
// channels before pip has its turn.
bool WantsConda(const run::Packages& packages);

// For an image: solves and installs the conda part of job.packages on this host into the folder
// `job.prefix`, as if it lay at `final_prefix`. kNotFound: this host has no tool for it and no
// Python of 3.10 or later to run py-rattler. kUnavailable with the reason kNoChannel: no
// channel could be reached.
inline constexpr std::string_view kNoChannel = "no-conda-channel";
inline Error NoChannel() {
  return Unavailable("no conda channel could be reached").WithReason(kNoChannel);
}
Status StageConda(const EnvironmentJob& job, const std::string& final_prefix,
                  BuildReporter& reporter, const std::atomic<bool>& stop);

// A uv that runs in any container of this machine's architecture (static), below `tools`: found
// there, else fetched by a Python of this host. kNotFound / kUnavailable when it cannot be had;
// environments are then made with venv and pip.
Result<std::string> EnsureStaticUv(const std::string& tools, const Environment& environment,
                                   const std::atomic<bool>& stop);

// Of a user's environment on a host, what the tools of a build get: PATH, HOME, proxies, PIP_*,
// UV_*, CONDA_*, MAMBA_*, SSL_* and the like. uv does not read pip's configuration files; what they
// say about indexes is put into UV_* variables unless those are set.
Environment BuildEnvironment(const Environment& users);
// The same for a build in a container, without what names places of this machine: PATH, HOME,
// LD_LIBRARY_PATH, compilers, configuration files.
Environment BuildEnvironmentInside(const Environment& users);

// The machine's CA bundle: SSL_CERT_FILE and the like of `environment`, else the usual places; ""
// when there is none.
std::string FindCaBundle(const Environment& environment);

}  // namespace tenon::runner

#endif  // TENON_RUNNER_ENVIRONMENT_MAKE_ENVIRONMENT_H_
