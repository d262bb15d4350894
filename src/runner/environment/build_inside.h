// SPDX-License-Identifier: Apache-2.0
// Making an environment inside a container of its base image. The two ends of it: the job that goes
// in on standard input, and the lines of JSON that come back on standard output.
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
  Credentials user;  // whose the environment and the caches are
  std::string user_name;

  std::string ToText() const;  // holds secrets
  static Result<BuildJob> FromText(std::string_view text);
};

// The verb, as the first process of a container. Returns its exit code.
int RunBuildInside();

// The other end: takes the lines apart.
class BuildAnswer {
 public:
  explicit BuildAnswer(BuildReporter& reporter) : reporter_(reporter) {}
  void Feed(std::string_view bytes);
  // Set once the last line was there.
  const std::optional<Result<MadeEnvironment>>& result() const { return result_; }

 private:
  void TakeLine(std::string_view line);

  BuildReporter& reporter_;
  std::string rest_;
  std::optional<Result<MadeEnvironment>> result_;
};

}  // namespace tenon::runner

#endif  // TENON_RUNNER_ENVIRONMENT_BUILD_INSIDE_H_
