// SPDX-License-Identifier: Apache-2.0
// Makes an environment where it is called: on a host for `local` and `remote` targets, inside a
// container of the base image for the others. environment/recipe.h decides which commands that
// takes. This part runs the commands, reports what they do, and finds out what was installed.
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
  std::string python;       // interpreter named by the user (pythonLocation); "": find one
  std::string prefix;       // where the environment goes; an existing folder is removed first
  std::string cache;        // package caches, shared by the builds and users of this home
  std::string tools;        // uv and py-rattler: searched here and on PATH, else put here
  std::string scratch;      // for the recipe's own files; emptied first
  std::string project;      // the project's files, read only
  std::string staged;       // a conda prefix made for `prefix` by StageConda; "": none
  bool no_channel = false;  // StageConda reached no channel: don't try again
  std::string ca_bundle;    // passed to every tool; "": none
  // Variables for the tools: PATH, HOME, proxies, PIP_*, UV_*, secrets. They include the run's
  // mark, so that processes that a killed runner leaves behind can be found and ended.
  Environment environment;
  std::vector<std::string> masked;  // values to mask in all output and messages

  // Without `environment` and `masked`, which are sent separately.
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

// Told what happens while an environment is made, on the thread that makes it.
class BuildReporter {
 public:
  virtual ~BuildReporter() = default;
  virtual void OnStep(const run::Step& step) = 0;  // the step has ended
  // A step makes progress: "downloading scikit-learn", in bytes or counts; total 0: unknown.
  virtual void OnProgress(const std::string& step, const std::string& detail, uint64_t done,
                          uint64_t total) = 0;
  virtual void OnOutput(std::string_view bytes) = 0;  // a tool's output, masked
};

// May be repeated: uses nothing of an earlier try but caches. The error contains the tool's last
// lines and the line of the file that asked for the package. kUnavailable "stopped" soon after
// `stop` is set.
Result<MadeEnvironment> MakeEnvironment(const EnvironmentJob& job, BuildReporter& reporter,
                                        const std::atomic<bool>& stop);

// Whether the project asks for conda packages. Then a prefix is installed from channels before pip
// runs.
bool WantsConda(const run::Packages& packages);

// For an image: solves and installs the conda part of job.packages on this host into the folder
// `job.prefix`, as if that folder were at `final_prefix`. kNotFound: this host has no conda tool,
// and no Python of 3.10 or later to run py-rattler. kUnavailable with the reason kNoChannel: no
// channel could be reached.
inline constexpr std::string_view kNoChannel = "no-conda-channel";
inline Error NoChannel() {
  return Unavailable("no conda channel could be reached").WithReason(kNoChannel);
}
Status StageConda(const EnvironmentJob& job, const std::string& final_prefix,
                  BuildReporter& reporter, const std::atomic<bool>& stop);

// Returns a static uv, which runs in any container of this machine's architecture. Takes the one in
// `tools`, else fetches it with a Python of this host. kNotFound or kUnavailable when that fails;
// environments are then made with venv and pip.
Result<std::string> EnsureStaticUv(const std::string& tools, const Environment& environment,
                                   const std::atomic<bool>& stop);

// Selects from a user's variables on a host those that the tools of a build need: PATH, HOME,
// proxies, PIP_*, UV_*, CONDA_*, MAMBA_*, SSL_* and the like. uv does not read pip's configuration
// files, so their settings for indexes, links, trusted hosts and proxies are put into variables
// that are not already set.
Environment BuildEnvironment(const Environment& users);
// The same for a build in a container. Leaves out variables that name places on this machine: PATH,
// HOME, LD_LIBRARY_PATH, compilers, configuration files.
Environment BuildEnvironmentInside(const Environment& users);

// The machine's CA bundle: the file named by SSL_CERT_FILE or a similar variable of `environment`,
// else one of the usual paths; "" when there is none.
std::string FindCaBundle(const Environment& environment);

}  // namespace tenon::runner

#endif  // TENON_RUNNER_ENVIRONMENT_MAKE_ENVIRONMENT_H_
