// SPDX-License-Identifier: Apache-2.0
#include "engine/ssh_machine.h"

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

SshMachine::SshMachine(Context& context, const HostRecord& host, transport::SshTarget target,
                       transport::SshSecrets secrets)
    : Machine(context.home, host),
      context_(context),
      ssh_(std::move(target), std::move(secrets)) {
  transport::SshHostOptions options;
  options.root = host.root;
  options.asked_root = host.asked_root;
  options.machine = host.machine;
  options.program = ProgramFor;
  ssh_host_ = std::make_unique<transport::SshHost>(ssh_, std::move(options));
}

void SshMachine::MakeLaunch() {
  known_.root = ssh_host_->root();
  known_.machine = ssh_host_->machine();
  const run::Home home(known_.FarHome());
  calls_ = std::make_unique<launch::RunnerCalls>(
      *ssh_host_, home.root(), launch::RunnerProgram{{}, {}, ssh_host_->agent_path()});
  launch_ = std::make_unique<launch::DirectLaunch>(*calls_);
  services_ = std::make_unique<launch::RunnerServices>(*calls_);
  Use({ssh_host_.get(), launch_.get(), services_.get(), home});
}

Result<std::unique_ptr<SshMachine>> SshMachine::Reach(Context& context, const HostRecord& host,
                                                      transport::SshSecrets secrets) {
  if (host.host_key.empty()) {
    return Denied("the host key of " + host.target + " (" + host.address +
                  ") has not been looked at yet, so nothing is sent there")
        .WithHint("`tenon computetarget test " + host.target + "` shows it and asks you");
  }
  TENON_TRY(transport::SshTarget target, SshTargetOf(context.home, host));
  std::unique_ptr<SshMachine> machine(
      new SshMachine(context, host, std::move(target), std::move(secrets)));
  if (host.root.empty() || !ProgramFor(host.machine).ok()) {
    TENON_TRY_VOID(machine->ssh_host_->Hello());
  }
  machine->MakeLaunch();
  if (host.facts.empty()) TENON_TRY_VOID(machine->Probe());
  return machine;
}

Result<json::Object> SshMachine::Probe() {
  // An ssh of its own brings the variables which the user's configuration sends along; they become
  // part of the login that is remembered.
  ssh_.ShareNoMore();
  ssh_host_->Close();
  TENON_TRY(json::Object facts, services().Probe());
  const int64_t now_us = context_.clock->NowUs();
  auto remembered = Remember([&, root = known_.root, machine = known_.machine](HostRecord& host) {
    host.root = root;
    host.machine = machine;
    host.facts = facts;
    host.boot_id = json::GetString(facts, "boot_id");
    host.last_heard_us = now_us;
  });
  // While it is being attached there is no record yet.
  if (!remembered.ok() && remembered.error().kind != ErrorKind::kNotFound) {
    return std::move(remembered).error();
  }
  return facts;
}

void SshMachine::Disconnect() {
  ssh_host_->Close();
  ssh_.Disconnect();
}

}  // namespace tenon::engine
