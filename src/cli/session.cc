// SPDX-License-Identifier: Apache-2.0
#include "cli/session.h"

#include "base/file.h"
#include "cli/parse/options.h"
#include "cli/print/ask.h"
#include "engine/private_home.h"
#include "engine/run/runs.h"
#include "project/project.h"
#include "run/env_vars.h"
#include "version.h"

namespace tenon::cli {

Session::Session(engine::OtherMachines* others)
    : environment(CurrentEnvironment()), others_(others) {}
Session::~Session() = default;

Result<std::string> Session::HomePath() const {
  auto get = [&](const char* name) -> std::string {
    const auto it = environment.find(name);
    return it == environment.end() ? "" : it->second;
  };
  std::string home = get(run::env::kHome);
  if (home.empty()) {
    const std::string user_home = get("HOME");
    if (user_home.empty()) {
      return Invalid("neither TENON_HOME nor HOME is set, so there is no place for the history")
          .WithHint("set TENON_HOME to a folder of yours");
    }
    home = JoinPath(user_home, ".tenon");
  }
  if (home.front() != '/') {
    TENON_TRY(const std::string current, CurrentFolder());
    home = JoinPath(current, home);
  }
  engine::KeepHomePrivate(home);
  return home;
}

Result<engine::Context*> Session::Context() {
  if (!context_) {
    TENON_TRY(std::string home, HomePath());
    context_ = engine::MakeLocalContext(std::move(home), TENON_VERSION, others_);
    if (HasTerminal()) context_->ask_user = AskForSsh;
  }
  return context_.get();
}

Result<std::optional<Session::Project>> Session::FindProject() {
  TENON_TRY(const std::string current, CurrentFolder());
  const std::optional<std::string> given =
      globals.project.empty() ? std::nullopt : std::optional<std::string>(globals.project);
  TENON_TRY(const auto found, project::OpenProject(current, given));
  bool is_project = found.has_config || given.has_value();
  if (!is_project) {
    // A folder without aml_config/ is a project once a run was submitted from it.
    TENON_TRY(engine::Context * context, Context());
    if (auto store = context->History(); store.ok()) {
      TENON_TRY(const int64_t last, (*store)->LastNumber(found.id.value));
      is_project = last > 0;
    }
  }
  if (!is_project) return std::optional<Project>();
  return std::optional<Project>(Project{found.root, found.name.value, found.id.value});
}

Result<std::string> Session::ProjectId() {
  TENON_TRY(const auto found, FindProject());
  return found ? found->id : std::string();
}

Result<std::string> Session::ResolveRun(const std::string& name) {
  TENON_TRY(engine::Context * context, Context());
  TENON_TRY(const std::string project_id, ProjectId());
  TENON_TRY_VOID(engine::Refresh(*context));
  return engine::ResolveRun(*context, project_id, name);
}

void AddGlobalOptions(OptionTable& table, Globals* globals) {
  table.Add("-o,--output", &globals->output, "How to print: json, jsonc (coloured), table, tsv")
      .OneOf({"json", "jsonc", "table", "tsv"})
      .Type("FORMAT")
      .Global();
  table.Flag("--json", &globals->json, "The same as -o json").Global();
  table
      .Add("--query", &globals->query,
           "Print only what this JMESPath query takes from the JSON answer")
      .Type("QUERY")
      .Global();
  table.Add("--project", &globals->project, "The project's folder, instead of the current one")
      .Type("DIR")
      .Global();
  table.Flag("--debug", &globals->debug, "Say more about what goes wrong").Global();
}

}  // namespace tenon::cli
