// SPDX-License-Identifier: Apache-2.0
// The verb `start`, in three processes. The one that was called waits for the answer and prints it.
// The one in between makes a new session and ends. The third is the supervisor: its parent is init,
// and no hang-up reaches it.
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <memory>

#include "base/durable.h"
#include "base/error_json.h"
#include "base/file.h"
#include "base/mask.h"
#include "base/poll_loop.h"
#include "base/private_file.h"
#include "base/text.h"
#include "executor/run_mark.h"
#include "journal/writer.h"
#include "run/env_vars.h"
#include "run/mask_spec.h"
#include "run/private_home.h"
#include "run/verbs.h"
#include "runner/supervise/executor.h"
#include "runner/supervise/facts.h"
#include "runner/supervise/kept_secrets.h"
#include "runner/supervise/recorder.h"
#include "runner/supervise/supervisor.h"
#include "runner/supervise/syncer.h"
#include "runner/verbs/detach.h"
#include "runner/verbs/verb_hosted.h"
#include "runner/verbs/verbs.h"

extern char** environ;

namespace tenon::runner {
namespace {

json::Object HandleToJson(const run::RunnerStarted& started) {
  json::Object runner;
  runner["pid"] = static_cast<int64_t>(started.process.pid);
  runner["start_ticks"] = started.process.start_ticks;
  runner["boot_id"] = started.process.boot_id;
  json::Object answer;
  answer["runner"] = std::move(runner);
  answer["host"] = started.host;
  answer["version"] = started.version;
  answer["protocol"] = started.protocol;
  return answer;
}

// Does not wait for the disk, so the script does not have to. SyncSpec() waits, with the first
// record.
Status WriteSpec(const StartRequest& request, const std::string& version) {
  json::Object object;
  object["protocol"] = run::kProtocol;
  object["version"] = version;
  object["marked"] = executor::HasRunMark(request.spec.key);
  object["spec"] = run::MaskSpec(request.spec, Masker(request.SecretValues())).ToJson();
  return WriteFileAtomically(request.run.Folder().spec(), json::Print(object) + "\n", 0600,
                             Durability::kProcess);
}

// Brings the bytes of spec.json to disk; its name comes there with the segment's name. A disk that
// refuses is reported elsewhere.
void SyncSpec(const run::RunFolder& folder) {
  if (auto file = OpenFile(folder.spec(), O_RDONLY); file.ok()) (void)DurableFsync(file->get());
}

// A run that was started from within another run has the other run's key in its environment, so
// ending the other run would end this one too. Changes the key in the memory that other processes
// see as our environment.
void TakeOwnMark(const std::string& run_key) {
  std::string name = std::string(run::env::kRunKey) + "=";
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    if (::strncmp(*entry, name.c_str(), name.size()) != 0) continue;
    char* value = *entry + name.size();
    if (::strlen(value) == run_key.size()) {
      std::copy(run_key.begin(), run_key.end(), value);
    } else {
      ::memset(*entry, 'X', ::strlen(*entry));
    }
  }
}

Status BecomeDaemon(const StartRequest& request, int keep) {
  TENON_TRY(UniqueFd null, OpenFile("/dev/null", O_RDWR));
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) {
    if (::dup2(null.get(), fd) < 0) return FromErrno("closing the standard streams", errno);
  }
  // Descriptors that leaked to us from the client's parents would stay open for the length of the
  // run, and a process may wait for their end.
  CloseOthers(keep);
  (void)null.Release();  // closed with the others
  ::signal(SIGHUP, SIG_IGN);
  ::signal(SIGPIPE, SIG_IGN);
  TakeOwnMark(request.spec.key);
  // Keeps the script from looking at our descriptors and memory.
  (void)::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  if (::chdir(request.run.Folder().path().c_str()) != 0) {
    return FromErrno("entering " + request.run.Folder().path(), errno);
  }
  return {};
}

run::RunnerStarted OurHandle(const std::string& version) {
  run::RunnerStarted started;
  started.process = IdentifyProcess(::getpid()).value_or(ProcessId{::getpid(), 0, BootId()});
  struct utsname names {};
  if (::uname(&names) == 0) started.host = names.nodename;
  started.version = version;
  started.protocol = run::kProtocol;
  return started;
}

void SendAnswer(UniqueFd& pipe, const json::Object& answer) {
  (void)WriteAll(pipe.get(), json::Print(answer)).ok();
  pipe.Reset();
}

// For a segment that could not be opened. If another start holds it, returns the handle of that
// one, else `why`.
Result<run::RunnerStarted> WaitForOther(const std::string& segment, const Error& why) {
  for (int tries = 0; tries < 100; ++tries) {
    auto locked = IsLockedByOther(segment);
    if (!locked.ok() || !*locked) break;
    auto handle = ReadHandle(segment);
    if (handle.ok() && *handle) return **handle;
    ::usleep(50'000);
  }
  return why;
}

// Runs the supervisor to its end. An Error means that it has not begun. `adopt`: for a run whose
// runner is gone but whose container goes on.
Status Supervise(StartRequest request, bool adopt, const std::string& version,
                 UniqueFd& answer_pipe) {
  TENON_TRY_VOID(BecomeDaemon(request, answer_pipe.get()));
  run::RunFolder folder = request.run.Folder();
  if (!adopt) {
    // Everything that is started from here on inherits the mark. The process that waits for our
    // answer has no mark and is never taken for a process of the run. If the mark can't be set, the
    // proof of a recovery says so.
    (void)executor::TakeRunMark(request.spec.key);
    TENON_TRY_VOID(WriteSpec(request, version));
  }
  journal::Writer::Options options;
  options.path = folder.host_segment();
  options.run_key = request.spec.key;
  options.segment = run::kHostSegment;
  options.reserve = true;
  auto opened = journal::Writer::Open(options);
  if (!opened.ok()) {
    TENON_TRY(run::RunnerStarted other, WaitForOther(folder.host_segment(), opened.error()));
    SendAnswer(answer_pipe, HandleToJson(other));
    return {};
  }
  journal::Writer writer = std::move(*opened);
  // We hold the lock, so no other start is under way; but an earlier one may have started the run.
  Facts facts;
  if (adopt) {
    TENON_TRY(facts, ReadFacts(folder.host_segment()));
  } else if (writer.last_record() > 0) {
    TENON_TRY(auto handle, ReadHandle(folder.host_segment()));
    if (handle) {
      SendAnswer(answer_pipe, HandleToJson(*handle));
      return {};
    }
  }
  TENON_TRY(auto executor, MakeExecutor(request, facts));
  if (adopt && (facts.end || !executor->OutlivesRunner())) {
    SendAnswer(answer_pipe, HandleToJson(*facts.runner));
    return {};
  }
  // Before there are threads, because threads inherit which signals are blocked.
  PollLoop loop;
  Supervisor* supervisor = nullptr;
  TENON_TRY_VOID(loop.HandleSignals({SIGCHLD, SIGUSR1, SIGUSR2, SIGTERM, SIGINT},
                                    [&](int signal) { supervisor->OnSignal(signal); }));
  run::RunnerStarted started = OurHandle(version);
  TENON_TRY_VOID(writer.Append(started));
  // After this the run has begun: whatever fails is recorded as its end.
  Recorder recorder(std::move(writer), request.SecretValues(), folder.runner_log());
  if (!adopt) recorder.AppendState(run::State::kStarting);
  Syncer syncer(recorder.writer());
  // The answer waits for the disk, the script does not.
  // A disk that fails to sync does not undo the start.
  syncer.SyncNow([&answer_pipe, answer = HandleToJson(started), folder](const Status&) {
    SyncSpec(folder);
    SendAnswer(answer_pipe, answer);
  });
  Supervisor carried_out(std::move(request), recorder, syncer, loop, std::move(executor));
  supervisor = &carried_out;
  if (adopt) {
    carried_out.RunAdopted(facts);
  } else {
    carried_out.Run();
  }
  return {};
}

[[noreturn]] void SupervisorProcess(StartRequest request, bool adopt, const std::string& version,
                                    UniqueFd answer_pipe) {
  const std::string home = request.run.home;
  auto status = Supervise(std::move(request), adopt, version, answer_pipe);
  if (!status.ok()) {
    json::Object answer;
    answer["error"] = ErrorToJson(status.error());
    SendAnswer(answer_pipe, answer);
  }
  // The run is over, and nobody waits for us any more.
  answer_pipe.Reset();
  CleanHostedHome(home);
  ::_exit(status.ok() ? 0 : 1);
}

// The handle of a run that has been started before; nullopt: it has not.
Result<std::optional<json::Object>> EarlierStart(const StartRequest& request) {
  auto handle = ReadHandle(request.run.Folder().host_segment());
  if (!handle.ok() && handle.error().kind == ErrorKind::kNotFound)
    return std::optional<json::Object>();
  if (!handle.ok()) return std::move(handle).error();
  if (!*handle) return std::optional<json::Object>();
  return std::optional<json::Object>(HandleToJson(**handle));
}

Result<json::Object> ReadAnswer(int pipe) {
  TENON_TRY(std::string text, ReadRequest(pipe));
  auto value = json::Parse(text);
  if (!value.ok() || !value->is_object()) {
    return Unavailable("the supervisor ended before it could answer");
  }
  json::Object answer = std::move(value->get_object());
  if (const json::Object* error = json::GetObject(answer, "error")) {
    return ErrorFromJson(*error);
  }
  return answer;
}

// Starts a supervisor whose parent is init. Returns its answer.
Result<json::Object> StartSupervisor(StartRequest request, bool adopt, const std::string& version) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return FromErrno("starting the supervisor", errno);
  UniqueFd ours(ends[0]), theirs(ends[1]);
  pid_t between = ::fork();
  if (between < 0) return FromErrno("starting the supervisor", errno);
  if (between == 0) {
    ours.Reset();
    ::setsid();
    pid_t supervisor = ::fork();
    if (supervisor != 0) ::_exit(supervisor < 0 ? 1 : 0);
    SupervisorProcess(std::move(request), adopt, version, std::move(theirs));
  }
  theirs.Reset();
  auto answer = ReadAnswer(ours.get());
  (void)Wait(between).ok();
  return answer;
}

constexpr size_t kMaxClaim = 4096;

// Claims the retry of a run whose machine was restarted. The first run to claim it wins; others get
// kDenied. True: this call has claimed it. False: this run had claimed it before.
Result<bool> ClaimRetry(const StartRequest& request) {
  const std::string path = run::Home(request.run.home).retry_of(request.retry_of);
  TENON_TRY_VOID(MakeDirs(DirName(path), 0700));
  TENON_TRY(const auto lock, FileLock::Take(DirName(path) + "/.lock", true));
  auto before = ReadFile(path, kMaxClaim);
  if (!before.ok() && before.error().kind != ErrorKind::kNotFound) return std::move(before).error();
  const std::string id(before.ok() ? Trim(*before) : "");
  if (id.empty()) {
    TENON_TRY_VOID(
        WriteFileAtomically(path, request.run.run_id + "\n", 0600, Durability::kPowerLoss));
    return true;
  }
  if (id == request.run.run_id) return false;
  return Denied("the run " + request.retry_of + " was started again before, as " + ForTerminal(id));
}

Result<json::Object> StartOnce(StartRequest request, const std::string& version) {
  run::RunFolder folder = request.run.Folder();
  TENON_TRY_VOID(MakeDirs(folder.path(), 0700));
  KeepFolderPrivate(request.run.home, run::kPrivateFolders);
  TENON_TRY(auto earlier, EarlierStart(request));
  if (earlier) return std::move(*earlier);
  // Checked before anything is written, so a run that is refused here has never started.
  TENON_TRY_VOID(MakeExecutor(request, {}));
  KeepSecrets(request);
  const std::string run_key = request.spec.key;
  auto started = StartSupervisor(std::move(request), /*adopt=*/false, version);
  if (!started.ok()) ForgetSecrets(folder, run_key);
  return started;
}

}  // namespace

Result<json::Object> Start(StartRequest request, const std::string& version) {
  if (request.retry_of.empty()) return StartOnce(std::move(request), version);
  TENON_TRY(const bool claimed, ClaimRetry(request));
  const std::string claim = run::Home(request.run.home).retry_of(request.retry_of);
  auto started = StartOnce(std::move(request), version);
  if (!started.ok() && claimed) (void)RemoveFile(claim).ok();
  return started;
}

Status Adopt(const RunName& run, const run::RunSpec& spec, const std::string& version) {
  StartRequest request;
  request.run = run;
  request.spec = spec;
  request.environment = CurrentEnvironment();
  request.secrets = SecretsOf(run.Folder(), spec).values;
  TENON_TRY_VOID(StartSupervisor(std::move(request), /*adopt=*/true, version));
  return {};
}

}  // namespace tenon::runner
