// SPDX-License-Identifier: Apache-2.0
// Run configurations: create, list, delete.
#include <memory>

#include "base/text.h"
#include "cli/command.h"
#include "cli/parse/options.h"
#include "cli/print/print.h"
#include "cli/projects/config_files.h"
#include "project/attach.h"
#include "project/files/config_file.h"

namespace tenon::cli {
namespace {

struct CreateOptions {
  std::string name, target, framework;
  bool force = false;
};

Result<int> Create(Session& session, const CreateOptions& options) {
  TENON_TRY(const project::Project project, OpenFiles(session));
  TENON_TRY(const std::string file,
            project::CreateRunConfiguration(project, options.name, options.target,
                                            options.framework, options.force));
  if (session.WantsJson()) {
    PrintListing(session,
                 json::Object{{"name", json::EncodeBytes(options.name)},
                              {"target", json::EncodeBytes(options.target)},
                              {"file", json::EncodeBytes(file)}},
                 Table({}));
    return 0;
  }
  PrintOut("wrote " + OneLine(file) + "\n");
  return 0;
}

Result<int> List(Session& session) {
  TENON_TRY(const project::Project project, OpenFiles(session));
  json::Array names;
  Table table({{"Name"}, {"Target"}, {"Framework"}, {"File"}});
  for (const project::RunConfigurationEntry& entry : project::ListRunConfigurations(project)) {
    names.emplace_back(json::EncodeBytes(entry.name));
    table.Add({OneLine(entry.name), entry.error ? "(broken)" : OneLine(entry.target),
               OneLine(entry.framework), OneLine(entry.file)});
    if (entry.error && !session.WantsJson()) {
      PrintErr("note: " + Hanging(entry.error->message) + "\n");
    }
  }
  PrintListing(session, names, table);
  return 0;
}

Result<int> Delete(Session& session, const std::string& name) {
  TENON_TRY(const project::Project project, OpenFiles(session));
  const std::optional<std::string> file = project::RunConfigurationFile(project, name);
  if (!file) {
    std::vector<std::string> names;
    for (const auto& entry : project::ListRunConfigurations(project)) names.push_back(entry.name);
    const auto near = DidYouMean(name, names);
    return NotFound("there is no run configuration `" + OneLine(name) + "`")
        .WithHint(near            ? "did you mean `" + *near + "`?"
                  : names.empty() ? ""
                                  : "there are: " + Join(names, ", "));
  }
  TENON_TRY_VOID(project::RemoveConfigFile(project, *file));
  if (session.WantsJson()) {
    PrintListing(session,
                 json::Object{{"name", json::EncodeBytes(name)},
                              {"file", json::EncodeBytes(*file)},
                              {"deleted", true}},
                 Table({}));
    return 0;
  }
  PrintOut("removed " + OneLine(*file) + "\n");
  return 0;
}

}  // namespace

Command RunConfigurationCreateCommand() {
  return {
      {{"runconfiguration", "create"}, {"runconfigurations", "create"}},
      "Write a run configuration for a target",
      "Writes aml_config/NAME.runconfig; one that is there is left alone unless --force.",
      {"tenon runconfiguration create -n docker-python -t docker",
       "tenon runconfiguration create -n R -t T -o json"},
      [](OptionTable& table, const std::vector<std::string>&) -> Action {
        auto options = std::make_shared<CreateOptions>();
        table.Add("-n,--name", &options->name, "Its name").Type("NAME").Required();
        table.Add("-t,--target", &options->target, "The target it runs on").Type("NAME").Required();
        table
            .Add("--framework", &options->framework,
                 "Python or PySpark (PySpark on a cluster, else Python)")
            .Type("NAME");
        table.Flag("--force", &options->force, "Overwrite a file of that name");
        return [options](Session& session) { return Create(session, *options); };
      }};
}

Command RunConfigurationListCommand() {
  return {{{"runconfiguration", "list"}, {"runconfigurations", "list"}},
          "List the run configurations of the project",
          "JSON is an array of names.",
          {"tenon runconfiguration list", "tenon runconfiguration list -o json"},
          [](OptionTable&, const std::vector<std::string>&) -> Action {
            return [](Session& session) { return List(session); };
          }};
}

Command RunConfigurationDeleteCommand() {
  return {{{"runconfiguration", "delete"}, {"runconfigurations", "delete"}},
          "Remove a run configuration",
          "Removes aml_config/NAME.runconfig and nothing else; the target stays.",
          {"tenon runconfiguration delete -n docker-python"},
          [](OptionTable& table, const std::vector<std::string>&) -> Action {
            auto name = std::make_shared<std::string>();
            table.Add("-n,--name", name.get(), "Its name").Type("NAME").Required();
            return [name](Session& session) { return Delete(session, *name); };
          }};
}

}  // namespace tenon::cli
