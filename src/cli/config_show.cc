// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <memory>

#include "base/text.h"
#include "cli/command.h"
#include "cli/config_files.h"
#include "cli/print.h"
#include "project/resolve.h"

namespace tenon::cli {
namespace {

struct Options {
  std::string run_configuration, target;
};

// With a target alone: the run configuration of its name, else the first that uses it.
std::string ConfigurationFor(const project::Project& project, const std::string& target) {
  std::string found;
  for (const auto& entry : project::ListRunConfigurations(project)) {
    if (entry.target != target) continue;
    if (entry.name == target) return entry.name;
    if (found.empty()) found = entry.name;
  }
  return found;
}

Result<int> Act(Session& session, const Options& options) {
  project::Request request;
  TENON_TRY(request.cwd, CurrentFolder());
  request.project_dir = GivenProject(session);
  request.only_look = true;
  std::string configuration = options.run_configuration;
  if (!options.target.empty()) {
    request.target = options.target;
    TENON_TRY(const project::Project project, OpenFiles(session));
    if (configuration.empty()) configuration = ConfigurationFor(project, options.target);
  }
  if (!configuration.empty()) request.run_configuration = configuration;
  TENON_TRY(const project::Resolved resolved, project::Resolve(request));
  for (const std::string& notice : resolved.notices) {
    PrintErr("note: " + ForTerminal(notice) + "\n");
  }
  Table table({{"Setting"}, {"Value"}, {"From"}});
  json::Array rows;
  for (const project::Explanation& row : project::Explain(resolved)) {
    table.Add({row.setting, row.value, row.origin});
    rows.push_back(json::Object{{"setting", json::EncodeBytes(row.setting)},
                                {"value", json::EncodeBytes(row.value)},
                                {"origin", json::EncodeBytes(row.origin)}});
  }
  PrintListing(session, rows, table);
  return 0;
}

}  // namespace

Command ConfigShowCommand() {
  return {{{"config", "show"}},
          "Show the settings of a run and where each comes from",
          "What `submit` with the same -c and -t would use: options first, then the run "
          "configuration, then the target, then defaults. Passwords are never shown.",
          {"tenon config show", "tenon config show -c my_dsvm", "tenon config show -t docker",
           "tenon config show -c local --json"},
          [](CLI::App& app, const std::vector<std::string>&) -> Action {
            auto options = std::make_shared<Options>();
            app.add_option("-c,--run-configuration", options->run_configuration,
                           "Name of a .runconfig file in aml_config/ (local)")
                ->type_name("NAME");
            app.add_option("-t,--target", options->target,
                           "Name of a .compute file, instead of the one it names")
                ->type_name("NAME");
            return [options](Session& session) { return Act(session, *options); };
          }};
}

}  // namespace tenon::cli
