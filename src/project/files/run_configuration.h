// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_PROJECT_FILES_RUN_CONFIGURATION_H_
#define TENON_PROJECT_FILES_RUN_CONFIGURATION_H_

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "project/files/settings_file.h"
#include "project/origin.h"
#include "project/project.h"

namespace tenon::project {

enum class Framework { kPython, kPySpark };
std::string_view FrameworkName(Framework framework);  // as written in files

using EnvironmentSettings = std::vector<std::pair<std::string, Setting<std::string>>>;

// The content of a .runconfig file.
struct RunConfiguration {
  std::string name;
  std::string file;              // relative to the root; "" when built in
  Setting<std::string> target;   // "" when the file names none
  Setting<Framework> framework;  // missing means PySpark
  std::vector<Setting<std::string>> argument_vector;
  EnvironmentSettings environment;  // in the order of the file
  Setting<std::string> conda_file;  // relative to the root
  Setting<std::string> spark_file;
  Setting<bool> prepare_environment;
  Setting<bool> tracked_run;
  Setting<bool> use_sampling;
  Setting<bool> managed_environment;  // key of June 2017, opposite of userManagedEnvironment
  std::vector<std::string> notices;

  // Errors to return where a missing key is needed, with the place to fix; set by the reader.
  std::optional<Error> missing_target;
  std::optional<Error> spark_framework;  // Framework is PySpark, or missing
};

// The keys of a .runconfig file.
std::span<const Key> RunConfigurationKeys();

// kNotFound: no such file. kInvalid: the file has another form.
Result<RunConfiguration> ReadRunConfiguration(const Project& project, std::string_view name);

// The run configuration of a project without any: Framework Python on the target of that name.
RunConfiguration BuiltInRunConfiguration(std::string_view target);

}  // namespace tenon::project

#endif  // TENON_PROJECT_FILES_RUN_CONFIGURATION_H_
