// SPDX-License-Identifier: Apache-2.0
#include "project/files/config_set.h"

#include <memory>

#include "base/text.h"
#include "cli/command.h"
#include "cli/parse/options.h"
#include "cli/print/print.h"
#include "cli/projects/config_files.h"

namespace tenon::cli {
namespace {

struct Options {
  std::string key, value, run_configuration, target;
  const Option* value_given = nullptr;
  bool unset = false;
};

Result<int> Act(Session& session, const Options& options) {
  const bool value_given = options.value_given->given();
  if (options.unset && value_given) {
    return Invalid("--unset takes no value")
        .WithHint("`tenon config set --unset " + options.key + "`");
  }
  if (!options.unset && !value_given) {
    return Invalid("no value is given for " + options.key)
        .WithHint("`tenon config set " + options.key + " VALUE`; --unset takes the key away");
  }
  project::SetRequest request;
  request.key = options.key;
  if (!options.unset) request.value = options.value;
  if (!options.run_configuration.empty()) request.run_configuration = options.run_configuration;
  if (!options.target.empty()) request.target = options.target;
  TENON_TRY(const project::Project project, OpenFiles(session));
  TENON_TRY(const project::Change change, project::SetKey(project, request));
  PrintChanges(session, {change});
  return 0;
}

}  // namespace

Command ConfigSetCommand() {
  return {{{"config", "set"}},
          "Change one setting in the project's files",
          "The key decides the file: that of the run configuration (Target, Framework, "
          "EnvironmentVariables.NAME …) or that of its target (nvidiaDocker, baseDockerImage …). "
          "One value changes, or one line is added; comments, order, quotes and line ends stay. "
          "A value that does not fit the key is refused, and then nothing is written.",
          {"tenon config set nvidiaDocker true -c my_dsvm",
           "tenon config set Framework Python -c my_dsvm",
           "tenon config set EnvironmentVariables.EPOCHS 20",
           "tenon config set baseDockerImage ubuntu:22.04 --target docker",
           "tenon config set --unset nvidiaDocker --target my_dsvm"},
          [](OptionTable& table, const std::vector<std::string>&) -> Action {
            auto options = std::make_shared<Options>();
            table.Add("KEY", &options->key, "The setting, as the file spells it").Required();
            options->value_given =
                &table.Add("VALUE", &options->value, "Its new value; `null` for none");
            table
                .Add("-c,--run-configuration", &options->run_configuration,
                     "The run configuration (local)")
                .Type("NAME");
            table
                .Add("-t,--target", &options->target,
                     "The target, instead of the one the run configuration names")
                .Type("NAME");
            table.Flag("--unset", &options->unset, "Take the key away");
            return [options](Session& session) { return Act(session, *options); };
          }};
}

}  // namespace tenon::cli
