// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "cli/command.h"
#include "cli/parse/request_options.h"
#include "cli/projects/config_files.h"

namespace tenon::cli {
namespace {

// The run configuration to show for a target: the one of the same name, else the first that uses
// it.
std::string ConfigurationFor(const project::Project& project, const std::string& target) {
  std::string found;
  for (const auto& entry : project::ListRunConfigurations(project)) {
    if (entry.target != target) continue;
    if (entry.name == target) return entry.name;
    if (found.empty()) found = entry.name;
  }
  return found;
}

Result<int> Act(Session& session, RequestOptions options) {
  if (!options.target.empty() && options.run_configuration.empty()) {
    TENON_TRY(const project::Project project, OpenFiles(session));
    options.run_configuration = ConfigurationFor(project, options.target);
  }
  TENON_TRY(project::Request request, MakeRequest(session, options));
  request.only_look = true;
  TENON_TRY(const project::Resolved resolved, project::Resolve(request));
  PrintNotices(resolved);
  PrintExplanation(session, resolved);
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
          [](OptionTable& table, const std::vector<std::string>&) -> Action {
            auto options = std::make_shared<RequestOptions>();
            AddTargetOptions(table, options.get());
            return [options](Session& session) { return Act(session, *options); };
          }};
}

}  // namespace tenon::cli
