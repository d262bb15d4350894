// SPDX-License-Identifier: Apache-2.0
#include "engine/host/ssh_machine.h"

#include <unistd.h>

#include <algorithm>

#include "base/text.h"
#include "engine/feed/mirror.h"
#include "engine/host/idle.h"
#include "engine/reporter.h"
#include "launch/embedded_runner.h"
#include "run/damage.h"
#include "secrets/store.h"

namespace tenon::engine {
namespace {

constexpr int kStartTries = 6;
constexpr int64_t kStartPauseUs = 500'000;

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
    // If the store can't be read, the secret's lookup reports that when ssh needs it.
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
    : Machine(context.home, host), context_(context), ssh_(std::move(target), std::move(secrets)) {
  transport::SshHostOptions options;
  options.root = host.root;
  options.asked_root = host.asked_root;
  options.machine = host.machine;
  options.program = ProgramFor;
  ssh_host_ = std::make_unique<transport::SshHost>(ssh_, std::move(options));
  door_ = std::make_unique<SshDoor>(ssh_, *ssh_host_);
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
        .WithHint("`tenon computetarget test " + host.target + "` shows it and asks you")
        .WithReason(transport::kHostKeyRefused);
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

void SshMachine::Open() { (void)ssh_host_->Open().ok(); }

// Updates the record of a machine that has started a run. Errors do not change that the run goes on
// there, so they are ignored or reported as a notice.
void SshMachine::NoteStarted(const run::RunSpec& spec, const run::RunnerStarted& runner,
                             Reporter& reporter) {
  (void)UpdateHost(context_.home, known_.id, [&](HostRecord& host) {
    host.acked_tree = spec.tree;
    host.boot_id = runner.process.boot_id;
    host.last_heard_us = context_.clock->NowUs();
  }).ok();
  if (auto watched = WatchIdleIfAsked(*this); !watched.ok()) {
    reporter.OnNotice({run::Level::kWarning,
                       "whenIdle could not be asked for: " + watched.error().message,
                       watched.error().hint});
  }
}

Handover SshMachine::Start(launch::StartRequest start, Reporter& reporter) {
  const auto objects = context_.Objects();
  if (!objects.ok()) return {objects.error()};
  start.tree.store = *objects;
  start.tree.root = start.spec.tree;
  start.tree.base = known_.acked_tree;
  start.tree.on_progress = [&](uint64_t done, uint64_t total) {
    reporter.OnProgress("sending the project", done, total);
  };
  start.environment = LoginEnvironment(known_);
  // Whether to ask for the idle watcher after the start. If not, the journal is requested together
  // with the start, so that a follower gets the first output without another round trip.
  const bool idle_watch = known_.idle_after_us > 0 || known_.idle_watch_given;
  bool unclear = false;
  for (int tries = 1;; ++tries) {
    Mirror::Ahead ahead;
    if (!idle_watch) {
      ahead = {start.spec.id, ssh_host_->NewStream()};
      start.tree.ahead = Mirror::AheadRequest(home(), ahead);
      start.tree.ahead["if_ok"] = true;
    }
    auto started = launch().Start(start);
    if (started.ok()) {
      if (!idle_watch) runs_.NoteAhead(std::move(ahead));
      NoteStarted(start.spec, started->runner, reporter);
      return {std::move(started), false, /*to_be_noted=*/true};
    }
    if (!idle_watch) ssh_host_->EndStream(ahead.stream);
    if (run::IsUnreadableHere(started.error())) return {std::move(started), unclear};
    // An Error that the host itself has answered, such as a full disk, is no lost link.
    const bool refused = started.error().answered;
    const bool lost = started.error().kind == ErrorKind::kUnavailable && !refused;
    // One try may have reached the host; a later refusal does not undo that.
    const bool garbled = started.error().kind == ErrorKind::kCorrupt;
    unclear = unclear || ((lost || garbled) && !refused && link().sent);
    if (!lost || !link().heard || tries == kStartTries) {
      Error error = std::move(started).error();
      if (error.kind == ErrorKind::kDenied && error.hint.empty()) {
        error.hint = "`tenon computetarget test " + ShellQuote(start.spec.target) +
                     "` tries what a run needs there; tenonDirectory in its .compute file names "
                     "another folder";
      }
      return {std::move(error), unclear};
    }
    reporter.OnLink(0, started.error().message);
    ::usleep(static_cast<useconds_t>(kStartPauseUs * tries));
  }
}

Result<json::Object> SshMachine::Probe() {
  // A new ssh connection brings the environment variables that the user's ssh configuration sends.
  // They become part of the login environment that is remembered.
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
  // A machine that is being attached has no record yet.
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
