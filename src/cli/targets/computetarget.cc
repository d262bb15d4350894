// SPDX-License-Identifier: Apache-2.0
// The commands that list, show and detach targets.
#include <algorithm>
#include <memory>
#include <set>

#include "base/text.h"
#include "cli/command.h"
#include "cli/parse/options.h"
#include "cli/print/print.h"
#include "cli/projects/config_files.h"
#include "cli/targets/target_host.h"
#include "engine/run/runs.h"
#include "project/files/config_file.h"
#include "project/files/run_configuration.h"
#include "project/files/target.h"
#include "project/types.h"

namespace tenon::cli {
namespace {

using project::Project;
using project::Target;

// ---- list --------------------------------------------------------------------------------------

// For people: the address of a target, and whether its host key was agreed to.
struct Place {
  std::string address, key;
};

std::optional<engine::HostRecord> Known(Session& session, const Target& target) {
  const Result<engine::Context*> context = session.Context();
  if (!context.ok()) return std::nullopt;
  const std::string id = HostIdForTarget((*context)->home, target);
  if (id.empty()) return std::nullopt;
  Result<engine::HostRecord> host = engine::ReadHost((*context)->home, id);
  if (!host.ok()) return std::nullopt;
  return *std::move(host);
}

Place PlaceOf(Session& session, const Project& project, const std::string& name) {
  const Result<Target> target = project::ReadTarget(project, name);
  if (!target.ok() || target->address.value.empty()) return {};
  Place place{target->address.value, "not yet"};
  if (target->port.value != 0) place.address += ":" + std::to_string(target->port.value);
  const auto host = Known(session, *target);
  if (host && !host->host_key.empty()) place.key = "pinned";
  return place;
}

Result<int> List(Session& session) {
  TENON_TRY(const Project project, OpenFiles(session));
  json::Array names;
  Table table({{"Name"}, {"Type"}, {"Address"}, {"Host key"}, {"File"}});
  for (const project::TargetEntry& entry : project::ListTargets(project)) {
    names.emplace_back(json::EncodeBytes(entry.name));
    const Place place = session.WantsJson() ? Place() : PlaceOf(session, project, entry.name);
    table.Add({OneLine(entry.name), entry.error ? "(broken)" : entry.type, OneLine(place.address),
               place.key, entry.file.empty() ? "built in" : OneLine(entry.file)});
    if (entry.error && !session.WantsJson()) {
      PrintErr("note: " + Hanging(entry.error->message) + "\n");
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
  if (target.port.given()) {
    rows.push_back({"port", json::Value(target.port.value), target.port.origin});
  }
  if (target.password.value != project::PasswordForm::kAbsent) {
    const std::string form(project::PasswordFormName(target.password.value));
    rows.push_back({"password", json::Value("(" + form + ")"), target.password.origin});
  }
  if (type->HasKey("baseDockerImage")) text("baseDockerImage", target.base_docker_image);
  if (type->HasKey("sharedVolumes")) boolean("sharedVolumes", target.shared_volumes);
  if (type->HasKey("nvidiaDocker")) boolean("nvidiaDocker", target.nvidia_docker);
  if (type->HasKey("pythonLocation")) text("pythonLocation", target.python_location);
  if (type->HasKey("yarnDeployMode")) text("yarnDeployMode", target.yarn_deploy_mode);
  text("nativeSharedDirectory", target.native_shared_directory);
  text("tenonDirectory", target.tenon_directory);
  if (target.setup.given()) {
    json::Array lines;
    for (const std::string& line : target.setup.value) lines.emplace_back(line);
    rows.push_back({"setup", std::move(lines), target.setup.origin});
  }
  if (target.idle_after_us.given()) {
    const int64_t seconds = target.idle_after_us.value / 1'000'000;
    rows.push_back(
        {"whenIdle",
         json::Object{{"after_seconds", seconds}, {"run", json::EncodeBytes(target.idle_command)}},
         target.idle_after_us.origin});
  }
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

Result<int> Show(Session& session, const std::string& name) {
  TENON_TRY(const Project project, OpenFiles(session));
  TENON_TRY(const Target target, project::ReadTarget(project, name));
  Table table({{"Setting"}, {"Value"}, {"From"}});
  json::Object settings;
  for (const Row& row : Rows(target)) {
    const bool text = row.value.is_string();
    table.Add({row.key, text ? OneLine(std::string(row.value.as_string())) : json::Print(row.value),
               row.origin.Text()});
    settings[row.key] = row.value;
  }
  const std::vector<std::string> users = UsersOf(project, name);
  json::Array problems, user_names;
  for (const std::string& user : users) user_names.emplace_back(json::EncodeBytes(user));
  std::vector<std::string> notes = target.notices;
  for (const Error& error : target.wrong_types) notes.push_back(error.message);
  for (const Error& error : target.unfinished) notes.push_back(error.message);
  for (const std::string& note : notes) {
    problems.emplace_back(json::EncodeBytes(note));
    if (!session.WantsJson()) PrintErr("note: " + Hanging(note) + "\n");
  }
  json::Object object{{"name", json::EncodeBytes(name)},
                      {"file", target.file.empty() ? json::Value(nullptr)
                                                   : json::Value(json::EncodeBytes(target.file))},
                      {"settings", std::move(settings)},
                      {"run_configurations", std::move(user_names)},
                      {"problems", std::move(problems)}};
  const auto host = Known(session, target);
  if (host) {
    object["host_id"] = host->id;
    object["host_key"] = HostKeyJson(*host);
    object["host"] = FactsJson(*host);
  }
  PrintListing(session, object, table);
  if (host && !session.WantsJson() && session.globals.output != "tsv") {
    const auto key = engine::ParseHostKey(host->host_key);
    PrintOut("\nhost " + host->id +
             (key.ok() ? ", host key " + key->type + " " + key->fingerprint : "") + "\n" +
             (host->facts.empty() ? "" : FactsText(*host)));
    FlushOut();
  }
  if (!session.WantsJson() && !users.empty()) {
    PrintErr("used by the run configurations " + OneLine(Join(users, ", ")) + "\n");
  }
  return 0;
}

// ---- detach ------------------------------------------------------------------------------------

// The .compute file, and the .runconfig of the same name if it uses this target.
std::vector<std::string> FilesOf(const Project& project, const std::string& name) {
  std::vector<std::string> files;
  if (auto file = project::ConfigFile(project, name, ".compute")) files.push_back(*file);
  for (const auto& entry : project::ListRunConfigurations(project)) {
    if (entry.name == name && entry.target == name) files.push_back(entry.file);
  }
  return files;
}

// Whether another target that still exists leads to the machine.
bool IsUsedByOthers(const run::Home& home, const engine::HostRecord& host, const Project& project,
                    const std::string& name) {
  for (const auto& [root, target] : host.users) {
    if (root == project.root && target == name) continue;
    Project other;
    other.root = root;
    if (!project::ConfigFile(other, target, ".compute")) continue;
    const Result<Target> read = project::ReadTarget(other, target);
    // A file with mistakes may be repaired later, so it counts as leading to the machine.
    const std::string id = read.ok() ? HostIdForTarget(home, *read) : std::string();
    if (id.empty() || id == host.id) return true;
  }
  return false;
}

// The machines to forget with a target: the one it leads to and those it led to before, except
// machines that other targets need.
Result<std::vector<engine::HostRecord>> MachinesOf(Session& session, const Project& project,
                                                   const std::string& name) {
  std::vector<engine::HostRecord> found;
  const Result<Target> target = project::ReadTarget(project, name);
  const Result<engine::Context*> context = session.Context();
  if (!context.ok()) return found;
  const run::Home& home = (*context)->home;
  const std::string id = target.ok() ? HostIdForTarget(home, *target) : std::string();
  std::vector<std::string> unreadable;
  TENON_TRY(auto hosts, engine::ListHosts(home, &unreadable));
  const std::pair<std::string, std::string> user(project.root, name);
  for (engine::HostRecord& host : hosts) {
    const bool its = host.id == id || std::count(host.users.begin(), host.users.end(), user) > 0;
    if (its && !IsUsedByOthers(home, host, project, name)) found.push_back(std::move(host));
  }
  if (std::count(unreadable.begin(), unreadable.end(), id) > 0) found.emplace_back().id = id;
  return found;
}

// A run whose machine is forgotten can be neither watched nor canceled, so detaching is refused.
Status CheckNoRunGoesOn(Session& session, const std::vector<engine::HostRecord>& hosts) {
  if (hosts.empty()) return {};
  TENON_TRY(engine::Context * context, session.Context());
  TENON_TRY_VOID(engine::Refresh(*context));
  TENON_TRY(history::HistoryStore * store, context->History());
  history::RunQuery query;
  query.unfinished_only = query.include_hidden = query.include_untracked = true;
  std::vector<std::string> going;
  TENON_TRY_VOID(store->Visit(query, [&](const history::RunRow& row) {
    const auto is_its = [&](const engine::HostRecord& host) { return host.id == row.spec.host; };
    if (std::any_of(hosts.begin(), hosts.end(), is_its)) going.push_back(row.spec.id);
    return Status();
  }));
  if (going.empty()) return {};
  return Invalid("runs go on there, as far as is known here: " + Join(going, ", "))
      .WithHint(
          "`tenon ps` goes and looks; `tenon cancel RUN` ends one; `--force` detaches all the "
          "same");
}

Result<int> Detach(Session& session, const std::string& name, bool yes, bool force) {
  TENON_TRY(const Project project, OpenFiles(session));
  if (!project::ConfigFile(project, name, ".compute")) {
    if (project::IsBuiltInTarget(name)) {
      return NotFound("the target `" + name + "` is built in and has no file to remove");
    }
    return project::NoSuchTarget(project, name);
  }
  const std::vector<std::string> files = FilesOf(project, name);
  TENON_TRY(const auto hosts, MachinesOf(session, project, name));
  if (!force) TENON_TRY_VOID(CheckNoRunGoesOn(session, hosts));
  if (!yes) {
    const std::string more = hosts.empty() ? "" : ", and forget the machine's host key and secrets";
    TENON_TRY(const bool answer,
              AskYes("Remove " + OneLine(Join(files, " and ")) + more + "?", "--yes"));
    if (!answer) {
      PrintErr("nothing was removed\n");
      return 1;
    }
  }
  json::Array removed;
  for (const std::string& file : files) {
    TENON_TRY_VOID(project::RemoveConfigFile(project, file));
    removed.emplace_back(json::EncodeBytes(file));
    if (!session.WantsJson()) PrintOut("removed " + OneLine(file) + "\n");
  }
  std::set<std::string> said;
  for (const engine::HostRecord& host : hosts) {
    TENON_TRY(engine::Context * context, session.Context());
    TENON_TRY_VOID(engine::ForgetEverything(*context, host.id));
    if (!session.WantsJson() && said.insert(host.address).second)
      PrintOut("forgot the machine" + (host.address.empty() ? "" : " at " + OneLine(host.address)) +
               "\n");
  }
  if (session.WantsJson()) {
    PrintListing(session,
                 json::Object{{"name", json::EncodeBytes(name)}, {"removed", std::move(removed)}},
                 Table({}));
  }
  const std::vector<std::string> left = UsersOf(project, name);
  if (!left.empty()) {
    PrintErr("note: still naming this target: " + OneLine(Join(left, ", ")) +
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
          [](OptionTable&, const std::vector<std::string>&) -> Action {
            return [](Session& session) { return List(session); };
          }};
}

Command ComputeTargetShowCommand() {
  return {{{"computetarget", "show"}},
          "Show the settings of one target",
          "A password is never shown, only what kind of thing is written there.",
          {"tenon computetarget show my_dsvm", "tenon computetarget show local --json"},
          [](OptionTable& table, const std::vector<std::string>&) -> Action {
            auto name = std::make_shared<std::string>();
            table.Add("NAME,-n,--name", name.get(), "The target").Required();
            return [name](Session& session) { return Show(session, *name); };
          }};
}

Command ComputeTargetDetachCommand() {
  return {
      {{"computetarget", "detach"}},
      "Remove a target's files from the project",
      "Removes NAME.compute and the NAME.runconfig that uses it, after asking, and forgets the "
      "machine's host key and secrets unless another target leads to it. Nothing happens on the "
      "machine itself; `tenon host clean` removes what Tenon keeps there. Not while runs go on "
      "there, unless --force.",
      {"tenon computetarget detach my_dsvm", "tenon computetarget detach my_dsvm --yes"},
      [](OptionTable& table, const std::vector<std::string>&) -> Action {
        auto name = std::make_shared<std::string>();
        auto yes = std::make_shared<bool>(false);
        auto force = std::make_shared<bool>(false);
        table.Add("NAME,-n,--name", name.get(), "The target").Required();
        table.Flag("-y,--yes", yes.get(), "Do not ask");
        table.Flag("--force", force.get(), "Also while runs go on there");
        return
            [name, yes, force](Session& session) { return Detach(session, *name, *yes, *force); };
      }};
}

}  // namespace tenon::cli
