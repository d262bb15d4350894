// SPDX-License-Identifier: Apache-2.0
// Looking at targets and taking them away: list, show, detach.
#include <CLI/CLI.hpp>
#include <memory>

#include "base/text.h"
#include "cli/command.h"
#include "cli/config_files.h"
#include "cli/print.h"
#include "project/config_file.h"
#include "project/run_configuration.h"
#include "project/target.h"
#include "project/types.h"

namespace tenon::cli {
namespace {

using project::Project;
using project::Target;

// ---- list --------------------------------------------------------------------------------------

Result<int> List(Session& session) {
  TENON_TRY(const Project project, OpenFiles(session));
  json::Array names;
  Table table({{"Name"}, {"Type"}, {"File"}});
  for (const project::TargetEntry& entry : project::ListTargets(project)) {
    names.emplace_back(json::EncodeBytes(entry.name));
    table.Add({ForTerminal(entry.name), entry.error ? "(broken)" : entry.type,
               entry.file.empty() ? "built in" : ForTerminal(entry.file)});
    if (entry.error && !session.WantsJson()) {
      PrintErr("note: " + ForTerminal(entry.error->message) + "\n");
    }
  }
  PrintListing(session, names, table);
  return 0;
}

// ---- show --------------------------------------------------------------------------------------

struct Row {
  std::string key;
  json::Value value;
  project::Origin origin;
};

std::vector<Row> Rows(const Target& target) {
  std::vector<Row> rows;
  const auto text = [&](const char* key, const project::Setting<std::string>& setting) {
    if (!setting.given() && setting.value.empty()) return;
    rows.push_back({key, json::Value(json::EncodeBytes(setting.value)), setting.origin});
  };
  const auto boolean = [&](const char* key, const project::Setting<bool>& setting) {
    rows.push_back({key, json::Value(setting.value), setting.origin});
  };
  const project::TargetType* type = project::FindTargetType(target.type.value);
  text("type", target.type);
  text("address", target.address);
  text("username", target.username);
  if (target.password.value != project::PasswordForm::kAbsent) {
    const std::string form(project::PasswordFormName(target.password.value));
    rows.push_back({"password", json::Value("(" + form + ")"), target.password.origin});
  }
  if (type->executor == run::ExecutorKind::kContainer) {
    text("baseDockerImage", target.base_docker_image);
    boolean("sharedVolumes", target.shared_volumes);
    boolean("nvidiaDocker", target.nvidia_docker);
  }
  if (type->executor == run::ExecutorKind::kProcess) text("pythonLocation", target.python_location);
  if (type->executor == run::ExecutorKind::kSpark) text("yarnDeployMode", target.yarn_deploy_mode);
  text("nativeSharedDirectory", target.native_shared_directory);
  boolean("userManagedEnvironment", target.user_managed_environment);
  return rows;
}

std::vector<std::string> UsersOf(const Project& project, const std::string& target) {
  std::vector<std::string> names;
  for (const auto& entry : project::ListRunConfigurations(project)) {
    if (entry.target == target) names.push_back(entry.name);
  }
  return names;
}

Error NoSuchTarget(const Project& project, const std::string& name) {
  std::vector<std::string> names;
  for (const auto& entry : project::ListTargets(project)) names.push_back(entry.name);
  const auto near = DidYouMean(name, names);
  return NotFound("there is no target `" + ForTerminal(name) + "`")
      .WithHint(near ? "did you mean `" + *near + "`?" : "there are: " + Join(names, ", "));
}

Result<int> Show(Session& session, const std::string& name) {
  TENON_TRY(const Project project, OpenFiles(session));
  Result<Target> target = project::ReadTarget(project, name);
  if (!target.ok()) {
    if (target.error().kind == ErrorKind::kNotFound) return NoSuchTarget(project, name);
    return std::move(target).error();
  }
  Table table({{"Setting"}, {"Value"}, {"From"}});
  json::Object settings;
  for (const Row& row : Rows(*target)) {
    const bool text = row.value.is_string();
    table.Add({row.key,
               text ? ForTerminal(std::string(row.value.as_string())) : json::Print(row.value),
               row.origin.Text()});
    settings[row.key] = row.value;
  }
  const std::vector<std::string> users = UsersOf(project, name);
  json::Array problems, user_names;
  for (const std::string& user : users) user_names.emplace_back(json::EncodeBytes(user));
  std::vector<std::string> notes = target->notices;
  for (const Error& error : target->wrong_types) notes.push_back(error.message);
  for (const Error& error : target->unfinished) notes.push_back(error.message);
  for (const std::string& note : notes) {
    problems.emplace_back(json::EncodeBytes(note));
    if (!session.WantsJson()) PrintErr("note: " + ForTerminal(note) + "\n");
  }
  json::Object object{{"name", json::EncodeBytes(name)},
                      {"file", target->file.empty() ? json::Value(nullptr)
                                                    : json::Value(json::EncodeBytes(target->file))},
                      {"settings", std::move(settings)},
                      {"run_configurations", std::move(user_names)},
                      {"problems", std::move(problems)}};
  PrintListing(session, object, table);
  if (!session.WantsJson() && !users.empty()) {
    PrintErr("used by the run configurations " + ForTerminal(Join(users, ", ")) + "\n");
  }
  return 0;
}

// ---- detach ------------------------------------------------------------------------------------

// The .compute file, and the .runconfig beside it if it is the target's own.
std::vector<std::string> FilesOf(const Project& project, const std::string& name) {
  std::vector<std::string> files;
  if (auto file = project::ConfigFile(project, name, ".compute")) files.push_back(*file);
  for (const auto& entry : project::ListRunConfigurations(project)) {
    if (entry.name == name && entry.target == name) files.push_back(entry.file);
  }
  return files;
}

Result<int> Detach(Session& session, const std::string& name, bool yes) {
  TENON_TRY(const Project project, OpenFiles(session));
  if (!project::ConfigFile(project, name, ".compute")) {
    if (project::IsBuiltInTarget(name)) {
      return NotFound("the target `" + name + "` is built in and has no file to remove");
    }
    return NoSuchTarget(project, name);
  }
  const std::vector<std::string> files = FilesOf(project, name);
  if (!yes) {
    TENON_TRY(const bool answer,
              AskYes("Remove " + ForTerminal(Join(files, " and ")) + "?", "--yes"));
    if (!answer) {
      PrintErr("nothing was removed\n");
      return 1;
    }
  }
  json::Array removed;
  for (const std::string& file : files) {
    TENON_TRY_VOID(project::RemoveConfigFile(project, file));
    removed.emplace_back(json::EncodeBytes(file));
    if (!session.WantsJson()) PrintOut("removed " + ForTerminal(file) + "\n");
  }
  if (session.WantsJson()) {
    PrintListing(session,
                 json::Object{{"name", json::EncodeBytes(name)}, {"removed", std::move(removed)}},
                 Table({}));
  }
  const std::vector<std::string> left = UsersOf(project, name);
  if (!left.empty()) {
    PrintErr("note: still naming this target: " + ForTerminal(Join(left, ", ")) +
             "; `tenon runconfiguration delete -n NAME` removes one\n");
  }
  return 0;
}

}  // namespace

Command ComputeTargetListCommand() {
  return {{{"computetarget", "list"}, {"computecontext", "list"}},
          "List the targets of the project",
          "JSON is an array of names. `local` and `docker` need no file.",
          {"tenon computetarget list", "tenon computetarget list -o json"},
          [](CLI::App&, const std::vector<std::string>&) -> Action {
            return [](Session& session) { return List(session); };
          }};
}

Command ComputeTargetShowCommand() {
  return {{{"computetarget", "show"}},
          "Show the settings of one target",
          "A password is never shown, only what kind of thing is written there.",
          {"tenon computetarget show my_dsvm", "tenon computetarget show local --json"},
          [](CLI::App& app, const std::vector<std::string>&) -> Action {
            auto name = std::make_shared<std::string>();
            app.add_option("NAME,-n,--name", *name, "The target")->required();
            return [name](Session& session) { return Show(session, *name); };
          }};
}

Command ComputeTargetDetachCommand() {
  return {{{"computetarget", "detach"}},
          "Remove a target's files from the project",
          "Removes NAME.compute and the NAME.runconfig that uses it, after asking. Nothing happens "
          "on the machine itself.",
          {"tenon computetarget detach my_dsvm", "tenon computetarget detach my_dsvm --yes"},
          [](CLI::App& app, const std::vector<std::string>&) -> Action {
            auto name = std::make_shared<std::string>();
            auto yes = std::make_shared<bool>(false);
            app.add_option("NAME,-n,--name", *name, "The target")->required();
            app.add_flag("-y,--yes", *yes, "Do not ask");
            return [name, yes](Session& session) { return Detach(session, *name, *yes); };
          }};
}

}  // namespace tenon::cli
