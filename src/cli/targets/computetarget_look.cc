// SPDX-License-Identifier: Apache-2.0
// `computetarget test`: whether the machine can be reached, and what it offers now.
#include <memory>

#include "base/file.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/parse/options.h"
#include "cli/print/ask.h"
#include "cli/print/print.h"
#include "cli/projects/config_files.h"
#include "cli/targets/target_host.h"
#include "project/types.h"
#include "secrets/store.h"

namespace tenon::cli {
namespace {

struct TestOptions {
  std::string name, key_file;
  bool password_from_input = false;
  HostKeyOptions host_key;
};

Result<project::Target> FarTarget(const project::Project& project, const std::string& name) {
  TENON_TRY(project::Target target, project::ReadTarget(project, name));
  const project::TargetType* type = project::FindTargetType(target.type.value);
  if (type != nullptr && type->host == project::HostKind::kHere) {
    return Invalid("target `" + OneLine(name) + "` is on this machine; there is nothing to reach")
        .WithHint("`tenon config check` looks at its files");
  }
  return target;
}

// Whether to ask about the host key: only if it was never agreed to, or if an option names or
// accepts a key. Otherwise the login checks the pinned key.
bool MustLook(const HostKeyOptions& options, const engine::HostRecord& host) {
  return host.host_key.empty() || options.accept || !options.expected.empty();
}

Result<int> Test(Session& session, const TestOptions& options) {
  TENON_TRY(const project::Project project, OpenFiles(session));
  TENON_TRY(const project::Target target, FarTarget(project, options.name));
  TENON_TRY(engine::HostRecord host, HostForTarget(session, project, target));
  TENON_TRY(engine::Context * context, session.Context());
  if (!options.key_file.empty()) {
    TENON_TRY(const std::string cwd, CurrentFolder());
    host.identity_file =
        options.key_file.starts_with('/') ? options.key_file : cwd + "/" + options.key_file;
  }
  if (MustLook(options.host_key, host)) {
    TENON_TRY_VOID(AgreeOnHostKey(session, options.host_key, &host));
  }
  engine::GivenSecrets given;
  if (options.password_from_input) {
    TENON_TRY(given.password, ReadSecretFromInput("--password-stdin"));
  }
  Result<engine::HostRecord> learned = engine::TryHost(*context, host, &given);
  if (!learned.ok()) {
    return engine::ExplainDenied(std::move(learned).error(), host, HasReference(target));
  }
  TENON_TRY_VOID(engine::RememberHost(*context, *learned, given));
  if (session.WantsJson()) {
    PrintValue(session, json::Object{{"name", json::EncodeBytes(options.name)},
                                     {"host_key", HostKeyJson(*learned)},
                                     {"host", FactsJson(*learned)}});
  } else {
    PrintOut(FactsText(*learned));
  }
  return 0;
}

}  // namespace

Command ComputeTargetTestCommand() {
  return {{{"computetarget", "test"}},
          "Log in to a target's machine and show what it offers",
          "The first time its host key is shown, and you agree to it before any secret is sent. "
          "Ends with 4 when the machine can't be reached and with 5 when it does not let you in or "
          "shows another host key.",
          {"tenon computetarget test my_dsvm", "tenon computetarget test my_dsvm --json",
           "tenon computetarget test my_dsvm --accept-host-key"},
          [](OptionTable& table, const std::vector<std::string>&) -> Action {
            auto options = std::make_shared<TestOptions>();
            table.Add("NAME,-n,--name", &options->name, "The target").Required();
            AddHostKeyOptions(table, &options->host_key);
            table.Flag("--password-stdin", &options->password_from_input,
                       "Read the password from standard input and store it");
            table.Add("--private-key-file", &options->key_file, "Log in with this key from now on")
                .Type("FILE");
            return [options](Session& session) { return Test(session, *options); };
          }};
}

}  // namespace tenon::cli
