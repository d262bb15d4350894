// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "base/text.h"
#include "cli/command.h"
#include "cli/parse/options.h"
#include "cli/parse/request_options.h"
#include "cli/print/print.h"
#include "cli/print/terminal_reporter.h"
#include "cli/runs/watch.h"
#include "cli/targets/target_host.h"
#include "engine/host/machine.h"
#include "engine/run/try_python.h"
#include "engine/space/environments.h"
#include "project/files/password.h"

namespace tenon::cli {
namespace {

struct Options {
  RequestOptions request;
  bool refresh = false;
  std::vector<std::string> secrets;
};

// Preparing uses a run, which is mentioned only if it fails.
class PrepareReporter : public TerminalReporter {
 public:
  using TerminalReporter::TerminalReporter;
  void OnRunId(const std::string& run_id) override { run_id_ = run_id; }
  void OnEnvironment(const run::EnvironmentReady&) override {}
  void OnEnd(const run::End& end) override {
    if (end.state == run::State::kCompleted) return;
    TerminalReporter::OnEnd(end);
    OnNotice({run::Level::kInfo, "`tenon show " + run_id_ + "` tells more", ""});
  }

 private:
  std::string run_id_;
};

Result<project::Resolved> ResolveAll(const Session& session, const RequestOptions& options) {
  TENON_TRY(project::Request request, MakeRequest(session, options));
  request.only_look = true;  // needs no script; the checks below report what would stop a run
  TENON_TRY(project::Resolved resolved, project::Resolve(request));
  if (!resolved.target.wrong_types.empty()) return resolved.target.wrong_types.front();
  if (project::RunConfigurationFile(resolved.project, resolved.run_configuration.value)) {
    TENON_TRY(const auto configuration,
              project::ReadRunConfiguration(resolved.project, resolved.run_configuration.value));
    if (configuration.spark_framework) return *configuration.spark_framework;
  }
  TENON_TRY_VOID(project::CheckSupported(resolved));
  return resolved;
}

// There is nothing to make for the user's own Python. It is started once to see that it works.
Result<int> TryPython(Session& session, const project::Resolved& resolved) {
  PrintNotices(resolved);
  TENON_TRY(const std::string host, HostOfTarget(session, resolved.project, resolved.target));
  TENON_TRY(engine::Context * context, session.Context());
  TENON_TRY(engine::Machine * machine, context->At(host));
  auto python = engine::TryPython(*machine, resolved.target.python_location.value,
                                  resolved.project.root, session.environment);
  if (!python.ok()) return std::move(python).error().Wrap("trying the target's Python");
  if (session.WantsJson()) {
    PrintValue(session, json::Object{{"run_configuration", resolved.run_configuration.value},
                                     {"target", resolved.target_name.value},
                                     {"type", resolved.target.type.value},
                                     {"prepared", false},
                                     {"python", json::EncodeBytes(python->path)},
                                     {"python_version", json::EncodeBytes(python->version)}});
    return 0;
  }
  PrintOut("nothing to prepare on " + OneLine(resolved.target_name.value) +
           ": it uses your own Python as it is\nPython " + OneLine(python->version) + ": " +
           OneLine(python->path) + "\n");
  return 0;
}

json::Object ToJson(const project::Resolved& resolved,
                    const engine::PreparedEnvironment& prepared) {
  json::Object object{{"run_configuration", json::EncodeBytes(resolved.run_configuration.value)},
                      {"target", json::EncodeBytes(resolved.target_name.value)},
                      {"type", json::EncodeBytes(resolved.target.type.value)},
                      {"run_id", json::EncodeBytes(prepared.run_id)},
                      {"prepared", prepared.environment.has_value()}};
  if (prepared.environment) object["environment"] = run::EventToJson(*prepared.environment);
  if (prepared.end && !prepared.end->reason.empty()) {
    object["reason"] = json::EncodeBytes(prepared.end->reason);
  }
  return object;
}

std::string Words(const run::EnvironmentReady& ready, const std::string& target) {
  if (ready.key.empty()) {
    return "nothing to prepare on " + OneLine(target) + ": no packages are asked for\n" +
           ready.kind + ": " + OneLine(ready.name) + "\n";
  }
  return std::string(ready.reused ? "there already" : "made") + ": " + OneLine(ready.name) +
         "\nPython " + OneLine(ready.python_version) + ", " +
         Count(ready.packages.size(), "package", "packages") + ", " + HumanBytes(ready.bytes) +
         "\n";
}

Result<int> Make(Session& session, const project::Resolved& resolved, const Options& options) {
  engine::SubmitRequest request;
  TENON_TRY(request.secrets, ReadSecrets(options.secrets, session.environment));
  for (const std::string& notice : resolved.notices) {
    request.notices.push_back({run::Level::kInfo, notice, ""});
  }
  request.folder = {resolved.project.root, project::RedactPassword};
  request.spec = project::ToRunSpec(resolved);
  request.spec.user = UserName(session);
  request.spec.user_id = project::DerivedId("user/" + request.spec.user);
  request.spec.refresh_environment = options.refresh;
  request.environment = session.environment;
  TENON_TRY(request.spec.host, HostOfTarget(session, resolved.project, resolved.target));
  TENON_TRY(engine::Context * context, session.Context());
  InterruptWatch interrupt;
  engine::PreparedEnvironment prepared;
  {
    PrepareReporter reporter({.show_output = false, .steps = session.globals.debug});
    TENON_TRY(prepared, engine::PrepareEnvironment(*context, std::move(request), &interrupt.stop(),
                                                   reporter));
  }
  if (session.WantsJson()) PrintValue(session, ToJson(resolved, prepared));
  if (!prepared.end) {
    PrintErr("no longer watching; the work goes on\n  watch again: tenon logs -f " +
             prepared.run_id + "\n  stop it:     tenon cancel " + prepared.run_id + "\n");
    return 130;
  }
  if (prepared.environment && !session.WantsJson()) {
    PrintOut(Words(*prepared.environment, resolved.target_name.value));
  }
  return prepared.end->exit_code.value_or(1);
}

Result<int> Act(Session& session, const Options& options) {
  TENON_TRY(const project::Resolved resolved, ResolveAll(session, options.request));
  const run::RunSpec spec = project::ToRunSpec(resolved);
  return spec.UsesOwnPython() ? TryPython(session, resolved) : Make(session, resolved, options);
}

}  // namespace

Command ExperimentPrepareCommand() {
  return {{{"experiment", "prepare"}, {"env", "prepare"}},
          "Make a target ready for runs, without running anything",
          "Makes the environment that the run configuration asks for, as the first run would: the "
          "image of a container, or the packages of a target with `userManagedEnvironment: false`. "
          "A `local` target without that uses your own Python, so there is nothing to make: the "
          "settings are read and the Python is tried. What would stop a run is said here too, with "
          "the exit code of submit (125).",
          {"tenon experiment prepare -c docker", "tenon experiment prepare -c docker --refresh",
           "tenon experiment prepare -t local -c local"},
          [](OptionTable& table, const std::vector<std::string>&) -> Action {
            auto options = std::make_shared<Options>();
            AddTargetOptions(table, &options->request);
            AddDependencyOptions(table, &options->request);
            table.Flag("--refresh", &options->refresh,
                       "Make it anew, with the newest packages that the files allow");
            table
                .Add("--secret", &options->secrets,
                     "A secret that the package files name as ${NAME}: NAME, NAME=@FILE, "
                     "NAME=$VAR")
                .Type("NAME")
                .OneEach();
            return [options](Session& session) { return Act(session, *options); };
          },
          /*starts_script=*/true};
}

}  // namespace tenon::cli
