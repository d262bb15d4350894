// SPDX-License-Identifier: Apache-2.0
#include "runner/init.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <optional>

#include "base/file.h"
#include "base/mask.h"
#include "base/poll_loop.h"
#include "base/text.h"
#include "executor/cgroup.h"
#include "executor/process_executor.h"
#include "executor/segment_door.h"
#include "executor/sized_text.h"
#include "journal/writer.h"
#include "run/layout.h"
#include "run/members.h"
#include "runner/credentials_json.h"
#include "runner/prepare.h"
#include "runner/recorder.h"
#include "runner/script_run.h"
#include "runner/syncer.h"

namespace tenon::runner {
namespace {

constexpr int kNotStartedCode = 125;
constexpr int64_t kTickUs = 200'000;
// Who asks us to stop also ends us when he has had enough of waiting.
constexpr int64_t kNoGraceLimitUs = int64_t{3600} * 24 * 365 * 1'000'000;

// The script's life inside the container.
class Inside {
 public:
  Inside(InitJob job, Recorder& recorder, Syncer& syncer, PollLoop& loop)
      : job_(std::move(job)),
        recorder_(recorder),
        syncer_(syncer),
        loop_(loop),
        script_(
            loop, recorder, syncer, executor_, job_.leftover_grace_us,
            [this](const ScriptRun::Over& over) { OnOver(over); }, SystemClock()) {}

  // The exit code.
  int Run() {
    if (auto started = Start(); !started.ok()) return NotStarted(started.error());
    Tick();
    loop_.Run();
    return code_;
  }
  void OnSignal(int signal) {
    if (signal == SIGCHLD) return script_.Look();
    script_.AskToStop(kNoGraceLimitUs);
  }

 private:
  Status Start() {
    SettleUser("/", job_.user, job_.user_name, job_.home);
    if (job_.own_work && ::chown(job_.work.c_str(), job_.user.uid, job_.user.gid) != 0) {
      return FromErrno("giving " + job_.work + " to the user", errno);
    }
    executor::ExecRequest request;
    request.cwd = job_.work;
    request.env = CurrentEnvironment();
    for (const auto& [name, value] : job_.environment) request.env[name] = value;
    std::string& python_path = request.env["PYTHONPATH"];
    python_path = python_path.empty() ? job_.shim : job_.shim + ":" + python_path;
    request.run_key = job_.run_key;
    if (job_.user.uid != ::geteuid() || job_.user.gid != ::getegid()) request.user = job_.user;
    TENON_TRY(std::string program, FindInterpreter(request.env));
    request.argv = {program, job_.script};
    request.argv.insert(request.argv.end(), job_.arguments.begin(), job_.arguments.end());
    TENON_TRY_VOID(script_.Start(std::move(request), job_.metrics));
    syncer_.SyncNow([](const Status&) {});
    return {};
  }

  Result<std::string> FindInterpreter(const Environment& env) {
    std::vector<run::Notice> notices;
    auto found = FindPython(job_.interpreter, env, job_.work, &notices);
    for (run::Notice& notice : notices) recorder_.Append(std::move(notice));
    if (found.ok()) return found;
    const bool shell = job_.interpreter == "sh";
    return NotFound("the image " + job_.image + " has no program `" + job_.interpreter + "`")
        .WithHint(shell ? "a script ending in .sh is run with sh: take an image that has one"
                        : "take an image that has Python, or ask for one in the conda file: "
                          "`- python=3.11`");
  }

  int NotStarted(const Error& error) {
    if (!error.hint.empty()) {
      recorder_.Append(run::Notice{run::Level::kError, error.message, error.hint});
    }
    run::ScriptEnded ended;
    ended.exit_code = kNotStartedCode;
    ended.problem = error.message;
    recorder_.AppendLast(std::move(ended));
    (void)recorder_.writer().Sync().ok();
    return code_ = kNotStartedCode;
  }

  void Tick() {
    script_.Pump();
    loop_.AddTimer(kTickUs, [this] { Tick(); });
  }

  void OnOver(const ScriptRun::Over& over) {
    const executor::GroupMemory memory = executor::OwnGroupMemory();
    run::ScriptEnded ended;
    ended.exit_code = over.exit.status.code;
    ended.signal = over.exit.status.signal;
    ended.out_of_memory = over.exit.out_of_memory || memory.out_of_memory;
    ended.peak_rss_bytes = memory.out_of_memory && memory.peak_bytes > 0 ? memory.peak_bytes
                                                                         : over.exit.peak_rss_bytes;
    ended.start_us = over.start_wall_us;
    ended.duration_us = over.duration_us;
    ended.leftovers = over.leftovers;
    (void)recorder_.CheckSegment();
    recorder_.AppendLast(std::move(ended));
    (void)recorder_.writer().Sync().ok();
    code_ = over.exit.status.AsShell();
    loop_.Stop();
  }

  InitJob job_;
  Recorder& recorder_;
  Syncer& syncer_;
  PollLoop& loop_;
  executor::ProcessExecutor executor_;
  ScriptRun script_;
  int code_ = kNotStartedCode;
};

Result<int> Init() {
  // What we hold open and what we were told is not the script's to look at, even if it is root.
  (void)::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  TENON_TRY(std::string text, executor::ReadSized(STDIN_FILENO));
  TENON_TRY(InitJob job, InitJob::FromText(text));
  text.assign(text.size(), '\0');
  TENON_TRY(UniqueFd null, OpenFile("/dev/null", O_RDONLY));
  if (::dup2(null.get(), STDIN_FILENO) < 0) return FromErrno("closing standard input", errno);
  const bool keep_on_fail = job.keep_on_fail;
  journal::Writer::Options options;
  TENON_TRY(UniqueFd segment, executor::TakeSegment(job.door));
  options.path = "/proc/self/fd/" + std::to_string(segment.get());
  options.run_key = job.run_key;
  options.segment = run::kScriptSegment;
  options.reserve = true;
  options.reserve_beside = false;  // there is no folder of ours to put it in
  TENON_TRY(journal::Writer writer, journal::Writer::Open(options));
  segment.Reset();  // the writer has it open for itself
  PollLoop loop;
  Inside* inside = nullptr;
  TENON_TRY_VOID(loop.HandleSignals({SIGCHLD, SIGTERM, SIGINT},
                                    [&](int signal) { inside->OnSignal(signal); }));
  int code = kNotStartedCode;
  {
    Recorder recorder(std::move(writer), job.secrets, "/dev/null");
    Syncer syncer(recorder.writer());
    Inside carried_out(std::move(job), recorder, syncer, loop);
    inside = &carried_out;
    code = carried_out.Run();
    // The segment is given back with these: whoever waits for its lock knows that all is told.
  }
  if (keep_on_fail && code != 0) {
    sigset_t ends;
    sigemptyset(&ends);
    sigaddset(&ends, SIGTERM);
    sigaddset(&ends, SIGINT);
    int signal = 0;
    ::sigwait(&ends, &signal);
  }
  return code;
}

void AppendLine(const std::string& path, const std::string& line) {
  auto file = OpenFile(path, O_WRONLY | O_APPEND | O_CREAT, 0644);
  if (file.ok()) (void)WriteAll(file->get(), line).ok();
}

// Whether a passwd-like file has that number in its third field.
bool HasNumber(const std::string& text, uint64_t number) {
  for (const std::string& line : Split(text, '\n')) {
    const std::vector<std::string> fields = Split(line, ':');
    if (fields.size() > 2 && fields[2] == std::to_string(number)) return true;
  }
  return false;
}

std::string LineStart(const std::string& text) {
  return text.empty() || text.back() == '\n' ? "" : "\n";
}

}  // namespace

std::string InitJob::ToText() const {
  json::Object o;
  o["run_key"] = run_key;
  o["door"] = door;
  o["metrics"] = metrics;
  o["work"] = work;
  o["shim"] = shim;
  o["interpreter"] = run::ToJsonText(interpreter);
  o["script"] = run::ToJsonText(script);
  o["arguments"] = run::ToJsonTexts(arguments);
  o["environment"] = run::ToJsonMap(environment);
  o["secrets"] = run::ToJsonTexts(secrets);
  o["user"] = CredentialsToJson(user);
  o["user_name"] = run::ToJsonText(user_name);
  o["home"] = home;
  o["image"] = run::ToJsonText(image);
  o["own_work"] = own_work;
  o["keep_on_fail"] = keep_on_fail;
  o["leftover_grace_us"] = leftover_grace_us;
  return json::Print(o);
}

Result<InitJob> InitJob::FromText(std::string_view text) {
  TENON_TRY(json::Value value, json::Parse(text));
  TENON_EXPECT_PEER(value.is_object(), "what the container is told is no JSON object");
  InitJob job;
  run::Members in(value.get_object());
  in.Read("run_key", job.run_key);
  in.Read("door", job.door);
  in.Read("metrics", job.metrics);
  in.Read("work", job.work);
  in.Read("shim", job.shim);
  in.Read("interpreter", job.interpreter);
  in.Read("script", job.script);
  in.Read("arguments", job.arguments);
  in.Read("environment", job.environment);
  in.Read("secrets", job.secrets);
  TENON_TRY(job.user, CredentialsFromJson(in.ReadObject("user")));
  in.Read("user_name", job.user_name);
  in.Read("home", job.home);
  in.Read("image", job.image);
  in.Read("own_work", job.own_work);
  in.Read("keep_on_fail", job.keep_on_fail);
  in.Read("leftover_grace_us", job.leftover_grace_us);
  TENON_TRY_VOID(in.status());
  return job;
}

void SettleUser(const std::string& root, const Credentials& user, const std::string& name,
                const std::string& home) {
  (void)MakeDirs(JoinPath(root, "etc"), 0755).ok();
  const std::string passwd = JoinPath(root, "etc/passwd"), group = JoinPath(root, "etc/group");
  const std::string users = ReadFile(passwd).value_or("");
  const std::string groups = ReadFile(group).value_or("");
  if (!HasNumber(users, user.uid)) {
    AppendLine(passwd, LineStart(users) + name + ":x:" + std::to_string(user.uid) + ":" +
                           std::to_string(user.gid) + ":" + name + ":" + home + ":/bin/sh\n");
  }
  if (!HasNumber(groups, user.gid)) {
    AppendLine(group, LineStart(groups) + name + ":x:" + std::to_string(user.gid) + ":\n");
  }
  const std::string tmp = JoinPath(root, "tmp");
  if (!Exists(tmp) && ::mkdir(tmp.c_str(), 01777) == 0) (void)::chmod(tmp.c_str(), 01777);
}

int RunInit() {
  auto code = Init();
  if (code.ok()) return *code;
  (void)WriteAll(STDERR_FILENO, code.error().message + "\n").ok();
  return kNotStartedCode;
}

}  // namespace tenon::runner
