// SPDX-License-Identifier: Apache-2.0
// Makes an environment inside a container of its base image. This file has both ends: the job that
// the runner on the host writes to the container's standard input, and the lines of JSON that the
// container answers on standard output.
//
//   {"step": {…}}  {"progress": {…}}  {"output": "…"}  {"notice": {…}}
//   {"made": {…}} or {"error": {…}} last
#ifndef TENON_RUNNER_ENVIRONMENT_BUILD_INSIDE_H_
#define TENON_RUNNER_ENVIRONMENT_BUILD_INSIDE_H_

#include <optional>
#include <string>
#include <string_view>

#include "base/process.h"
#include "base/result.h"
#include "runner/environment/make_environment.h"

namespace tenon::runner {

struct BuildJob {
  EnvironmentJob job;
  Credentials user;  // owner of the environment and of the caches
  std::string user_name;

  std::string ToText() const;  // holds secrets
  static Result<BuildJob> FromText(std::string_view text);
};

// The verb `build`: runs as the first process of a container. Returns its exit code.
int RunBuildInside();

// The host's end: parses the lines and passes them to `reporter`, which must outlive this object.
class BuildAnswer {
 public:
  explicit BuildAnswer(BuildReporter& reporter) : reporter_(reporter) {}
  void Feed(std::string_view bytes);
  // Set when the last line ("made" or "error") has arrived.
  const std::optional<Result<MadeEnvironment>>& result() const { return result_; }

 private:
  void TakeLine(std::string_view line);

  BuildReporter& reporter_;
  std::string rest_;
  std::optional<Result<MadeEnvironment>> result_;
};

}  // namespace tenon::runner

#endif  // TENON_RUNNER_ENVIRONMENT_BUILD_INSIDE_H_
