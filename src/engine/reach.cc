// SPDX-License-Identifier: Apache-2.0
#include "engine/reach.h"

#include <algorithm>

#include "launch/embedded_runner.h"
#include "secrets/store.h"

namespace tenon::engine {
namespace {

Result<transport::AgentProgram> ProgramFor(const std::string& machine) {
  TENON_TRY(const launch::EmbeddedProgram* program, launch::EmbeddedRunnerFor(machine));
  return transport::AgentProgram{std::string(program->hash),
                                 [program] { return program->Bytes(); }};
}

void MakeLaunch(Reached* reached) {
  reached->record.root = reached->host->root();
  reached->record.machine = reached->host->machine();
  reached->home = run::Home(reached->record.FarHome());
  reached->calls = std::make_unique<launch::RunnerCalls>(
      *reached->host, reached->home.root(),
      launch::RunnerProgram{{}, {}, reached->host->agent_path()});
  reached->launch = std::make_unique<launch::DirectLaunch>(*reached->calls);
  reached->services = std::make_unique<launch::RunnerServices>(*reached->calls);
}

}  // namespace

transport::SshSecrets SecretsFor(Context& context, const HostRecord& host) {
  transport::SshSecrets answers;
  const std::string root = context.home.root();
  const auto look_up = [&](const std::string& name) -> transport::SshSecrets::Lookup {
    const auto stored = secrets::Store(root).List();
    const auto is_it = [&](const secrets::Store::Entry& entry) { return entry.name == name; };
    // What is wrong with a store that cannot be read is said when it is wanted.
    if (stored.ok() && std::none_of(stored->begin(), stored->end(), is_it)) return nullptr;
    return [root, name] { return secrets::Store(root).Get(name); };
  };
  if (host.has_password) answers.password = look_up(secrets::PasswordName(host.id));
  if (!host.identity_file.empty()) answers.passphrase = look_up(secrets::PassphraseName(host.id));
  answers.ask_user = context.ask_user;
  return answers;
}

Result<std::unique_ptr<Reached>> Reach(Context& context, const HostRecord& host) {
  return ReachWith(context, host, SecretsFor(context, host));
}

Result<std::unique_ptr<Reached>> ReachWith(Context& context, const HostRecord& host,
                                           transport::SshSecrets secrets) {
  if (host.host_key.empty()) {
    return Denied("the host key of " + host.target + " (" + host.address +
                  ") has not been looked at yet, so nothing is sent there")
        .WithHint("`tenon computetarget test " + host.target + "` shows it and asks you");
  }
  auto reached = std::make_unique<Reached>();
  reached->record = host;
  TENON_TRY(transport::SshTarget target, SshTargetOf(context.home, host));
  reached->ssh = std::make_unique<transport::Ssh>(std::move(target), std::move(secrets));
  transport::SshHostOptions options;
  options.root = host.root;
  options.asked_root = host.asked_root;
  options.machine = host.machine;
  options.program = ProgramFor;
  reached->host = std::make_unique<transport::SshHost>(*reached->ssh, std::move(options));
  if (host.root.empty() || !ProgramFor(host.machine).ok()) TENON_TRY_VOID(reached->host->Hello());
  MakeLaunch(reached.get());
  if (host.facts.empty()) TENON_TRY_VOID(Probe(context, *reached));
  return reached;
}

Result<json::Object> Probe(Context& context, Reached& reached) {
  // An ssh of its own brings the variables which the user's configuration sends along; they become
  // part of the login that is remembered.
  reached.ssh->ShareNoMore();
  reached.host->Close();
  TENON_TRY(json::Object facts, reached.services->Probe());
  reached.record.facts = facts;
  reached.record.boot_id = json::GetString(facts, "boot_id");
  reached.record.last_heard_us = context.clock->NowUs();
  auto remembered = UpdateHost(context.home, reached.record.id, [&](HostRecord& host) {
    host.root = reached.record.root;
    host.machine = reached.record.machine;
    host.facts = reached.record.facts;
    host.boot_id = reached.record.boot_id;
    host.last_heard_us = reached.record.last_heard_us;
  });
  // While it is being attached there is no record yet.
  if (!remembered.ok() && remembered.error().kind != ErrorKind::kNotFound) {
    return std::move(remembered).error();
  }
  return facts;
}

Environment LoginEnvironment(const HostRecord& host) {
  Environment environment;
  if (const json::Object* told = json::GetObject(host.facts, "login_environment")) {
    for (const auto& [name, value] : *told) {
      if (value.is_string()) {
        environment[json::DecodeBytes(name)] =
            json::DecodeBytes(std::string_view(value.get_string()));
      }
    }
  }
  return environment;
}

}  // namespace tenon::engine
