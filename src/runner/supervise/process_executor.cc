// SPDX-License-Identifier: Apache-2.0
#include "runner/supervise/process_executor.h"

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cstdlib>
#include <utility>

#include "base/clock.h"
#include "base/file.h"
#include "base/text.h"
#include "run/env_vars.h"
#include "run/verbs.h"
#include "runner/environment/environment_folder.h"
#include "runner/supervise/collect.h"
#include "runner/supervise/prepare.h"
#include "runner/verbs/login_shell.h"
#include "runner/verbs/small_verbs.h"

namespace tenon::runner {
namespace {

constexpr const char* kDefaultPath = "/usr/local/bin:/usr/bin:/bin";

// The environment that the `setup:` lines leave behind.
Result<Environment> AfterSetup(const StartRequest& request, Handover& handover,
                               const std::atomic<bool>& stop) {
  const std::vector<std::string>& lines = request.spec.setup;
  if (lines.empty()) return request.environment;
  const int64_t begin = SystemClock().MonotonicUs();
  Environment environment = request.environment;
  environment[run::env::kRunKey] = request.spec.key;  // marks what the lines start as the run's
  // The lines do not get the secrets, because the environment that they leave behind is written to
  // a file for a moment.
  TENON_TRY(Environment left, RunSetupLines(lines, environment, request.run.Folder().path(),
                                            request.SecretValues(), stop));
  handover.Put(run::Step{"setup", SystemClock().MonotonicUs() - begin,
                         Count(lines.size(), "line", "lines")});
  return left;
}

// The environment of a running process; empty if it can't be read.
Environment EnvironmentOf(pid_t pid) {
  Environment env;
  const auto text = ReadFile("/proc/" + std::to_string(pid) + "/environ");
  if (!text.ok()) return env;
  for (const std::string& entry : Split(*text, '\0')) {
    const size_t equals = entry.find('=');
    if (equals != std::string::npos && equals > 0) {
      env[entry.substr(0, equals)] = entry.substr(equals + 1);
    }
  }
  return env;
}

}  // namespace

ProcessExecutor::ProcessExecutor(StartRequest request, Facts facts)
    : request_(std::move(request)),
      facts_(std::move(facts)),
      folder_(request_.run.Folder()),
      python_(request_.spec.python),
      script_(request_.spec.key) {}

Result<Environment> ProcessExecutor::ScriptEnvironment() const {
  Environment env = request_.environment;
  for (const auto& [name, value] : request_.spec.environment) env[name] = value;
  env = request_.WithOwn(std::move(env));
  TENON_TRY(const std::string shim, EnsureShim(request_.run.home));
  const std::string python_path = GetVariable(env, run::env::kPythonPath);
  env[run::env::kPythonPath] = python_path.empty() ? shim : shim + ":" + python_path;
  env[run::env::kPythonUnbuffered] = "1";
  env[run::env::kRunId] = request_.spec.id;
  env[run::env::kMetricsDir] = folder_.metrics();
  env[run::env::kOutputsDir] = folder_.outputs();
  TENON_TRY(const std::string shared, EnsureSharedFolder(request_));
  // A value inherited from the shell would name another project's folder.
  env.erase(run::env::kShare);
  // Scripts rely on the slash at the end.
  if (!shared.empty()) env[run::env::kShare] = shared + (shared.back() == '/' ? "" : "/");
  env["PWD"] = folder_.work();
  return env;
}

Status ProcessExecutor::PrepareEnvironment(Handover& handover, const std::atomic<bool>& stop) {
  // Processes that the setup lines leave in the background become our children.
  (void)::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
  // From here on the environment is the one that the target's setup lines have left.
  TENON_TRY(request_.environment, AfterSetup(request_, handover, stop));
  TENON_TRY(environment_, ScriptEnvironment());
  if (!request_.spec.managed_environment || request_.spec.packages.empty()) return {};
  TENON_TRY(const FolderEnvironment made, EnsureFolderEnvironment(request_, handover, stop));
  python_ = made.python;
  environment_[run::env::kVirtualEnv] = made.prefix;
  environment_["PATH"] = made.prefix + "/bin:" + GetVariable(environment_, "PATH", kDefaultPath);
  environment_.erase("PYTHONHOME");
  return {};
}

Status ProcessExecutor::Prepare(Handover& handover, const std::atomic<bool>& stop) {
  TENON_TRY_VOID(PrepareEnvironment(handover, stop));
  const run::RunSpec& spec = request_.spec;
  std::vector<run::Notice> notices;
  TENON_TRY(std::string program, FindPython(IsShellScript(spec.script) ? "sh" : python_,
                                            environment_, folder_.work(), &notices));
  for (run::Notice& notice : notices) handover.Put(std::move(notice));
  argv_ = {std::move(program), ScriptWord(spec.script)};
  argv_.insert(argv_.end(), spec.arguments.begin(), spec.arguments.end());
  return {};
}

Result<std::optional<run::ScriptStarted>> ProcessExecutor::Start(const OpenStreams& open,
                                                                 const Tell& /*tell*/) {
  recorded_here_ = true;
  TENON_TRY(const Streams streams, open());
  executor::ProcessRequest request;
  request.argv = argv_;
  request.cwd = folder_.work();
  request.env = std::move(environment_);
  request.stdout_fd = streams.stdout_fd;
  request.stderr_fd = streams.stderr_fd;
  TENON_TRY(const pid_t pid, script_.Start(request));
  return std::optional(executor::StartedAs(pid, std::move(argv_)));
}

bool ProcessExecutor::FetchMetrics(Recorder& recorder, SafeNames& names) {
  return recorded_here_ || TakeMetricsAfter(folder_, facts_.metrics, recorder, names);
}

Environment ProcessExecutor::ShellEnvironment() const {
  Environment env;
  if (facts_.script && !facts_.end && CheckProcess(facts_.script->process) == Liveness::kAlive) {
    env = EnvironmentOf(facts_.script->process.pid);
    const char* terminal = ::getenv("TERM");
    if (!env.empty() && terminal != nullptr) env["TERM"] = terminal;
  }
  if (env.empty()) {
    env = CurrentEnvironment();
    for (const auto& [name, value] : request_.spec.environment) env[name] = value;
  }
  env.erase(run::env::kRunKey);
  env.erase(run::env::kMetricsDir);
  return env;
}

Result<int> ProcessExecutor::Enter(Door door, std::vector<std::string> command) {
  if (door == Door::kPort) return RunSmallVerb({run::kVerbDial, command.back()}).value_or(1);
  const std::string& id = request_.spec.id;
  if (!IsDirectory(folder_.work())) {
    return NotFound("the working directory of " + id + " is not there any more")
        .WithHint("it is removed after success unless --keep is given; `tenon restore " + id +
                  " DIR` brings the files back");
  }
  SpawnOptions options;
  options.env = ShellEnvironment();
  options.cwd = folder_.work();
  options.stdin_fd = STDIN_FILENO;
  if (command.empty()) command = {GetVariable(options.env, "SHELL", "/bin/sh")};
  options.argv = std::move(command);
  // Ctrl-C at the terminal is for the command; this process only waits.
  ::signal(SIGINT, SIG_IGN);
  ::signal(SIGQUIT, SIG_IGN);
  TENON_TRY(const pid_t pid, Spawn(options));
  TENON_TRY(const ExitStatus status, Wait(pid));
  return status.AsShell();
}

}  // namespace tenon::runner
