// SPDX-License-Identifier: Apache-2.0
#include "base/process.h"

#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/file.h"
#include "base/text.h"

extern char** environ;

namespace tenon {
namespace {

constexpr const char* kDefaultPath = "/usr/local/bin:/usr/bin:/bin";

enum class Step : int { kStdio, kChdir, kUser, kExec };

// What the child sends through a close-on-exec pipe when it cannot become the program.
struct Failure {
  Step step;
  int errno_value;
};

// Everything the child needs, made before fork, because the child may not allocate.
struct Prepared {
  std::vector<std::string> env_text;
  std::vector<std::string> programs;  // tried in order
  std::vector<char*> argv;
  std::vector<char*> envp;
  int stdio[3] = {-1, -1, -1};
  int failure_fd = -1;
};

std::vector<std::string> Programs(const std::string& name, const Environment& env) {
  if (name.find('/') != std::string::npos) return {name};
  auto path = env.find("PATH");
  std::vector<std::string> programs;
  for (const std::string& folder : Split(path == env.end() ? kDefaultPath : path->second, ':')) {
    programs.push_back(JoinPath(folder.empty() ? "." : folder, name));
  }
  return programs;
}

void Prepare(const SpawnOptions& options, Prepared* prepared) {
  for (const auto& [name, value] : options.env) {
    prepared->env_text.push_back(name);
    prepared->env_text.back().append("=").append(value);
  }
  for (std::string& text : prepared->env_text) prepared->envp.push_back(text.data());
  prepared->envp.push_back(nullptr);
  for (const std::string& word : options.argv) {
    prepared->argv.push_back(const_cast<char*>(word.c_str()));
  }
  prepared->argv.push_back(nullptr);
  prepared->programs = Programs(options.argv[0], options.env);
}

[[noreturn]] void ReportAndExit(const Prepared& prepared, Step step, int errno_value) {
  Failure failure{step, errno_value};
  ssize_t ignored = ::write(prepared.failure_fd, &failure, sizeof failure);
  (void)ignored;
  ::_exit(127);
}

// Puts the three descriptors in their places. First moves all of them out of the way, because one
// of them may have the number that another one needs.
void ArrangeStdio(Prepared& prepared) {
  for (int* fd :
       {&prepared.failure_fd, &prepared.stdio[0], &prepared.stdio[1], &prepared.stdio[2]}) {
    if (*fd < 0 || *fd > 2) continue;
    int moved = ::fcntl(*fd, F_DUPFD_CLOEXEC, 3);
    if (moved < 0) ReportAndExit(prepared, Step::kStdio, errno);
    *fd = moved;
  }
  for (int target = 0; target < 3; ++target) {
    if (prepared.stdio[target] < 0) continue;
    if (::dup2(prepared.stdio[target], target) < 0) ReportAndExit(prepared, Step::kStdio, errno);
  }
}

void ResetSignals() {
  struct sigaction action = {};
  action.sa_handler = SIG_DFL;
  for (int signal = 1; signal < NSIG; ++signal) ::sigaction(signal, &action, nullptr);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

[[noreturn]] void RunChild(const SpawnOptions& options, Prepared& prepared) {
  if (options.new_session) ::setsid();
  ArrangeStdio(prepared);
  // Before chdir(2), because it is this user who must be able to enter the folder.
  if (options.user) {
    if (int failure = BecomeUser(*options.user)) ReportAndExit(prepared, Step::kUser, failure);
  }
  if (!options.cwd.empty() && ::chdir(options.cwd.c_str()) != 0) {
    ReportAndExit(prepared, Step::kChdir, errno);
  }
  if (options.in_child) options.in_child();
  ResetSignals();
  // Like execvp(3): runs the first program that can run. A file we may not run is reported only if
  // no other program runs.
  int failure = ENOENT;
  for (const std::string& program : prepared.programs) {
    ::execve(program.c_str(), prepared.argv.data(), prepared.envp.data());
    bool elsewhere = errno == ENOENT || errno == ENOTDIR || errno == EACCES;
    if (errno == EACCES || !elsewhere || prepared.programs.size() == 1) failure = errno;
    if (!elsewhere) break;
  }
  ReportAndExit(prepared, Step::kExec, failure);
}

Error ExecError(const SpawnOptions& options, int errno_value) {
  const std::string& name = options.argv[0];
  std::string doing = "start " + name;
  bool has_path = name.find('/') != std::string::npos;
  switch (errno_value) {
    case ENOENT: {
      std::string full = has_path ? JoinPath(options.cwd, name) : name;
      if (has_path && Exists(full)) {
        return NotFound(doing + ": the file is there, but not the interpreter or loader it names")
            .WithHint("look at its first line, and whether it was made for this system");
      }
      if (has_path) break;
      auto path = options.env.find("PATH");
      return NotFound(doing + ": no program of that name on PATH")
          .WithHint("PATH is " + (path == options.env.end() ? kDefaultPath : path->second));
    }
    case EACCES:
      return Denied(doing + ": Permission denied")
          .WithHint("the file must be executable, and so must the folders above it");
    case ENOEXEC:
      return Invalid(doing + ": not a program this machine can run")
          .WithHint("a script needs a first line such as #!/bin/sh");
    case E2BIG:
      return Invalid(doing + ": arguments and environment are too long");
    default:
      break;
  }
  return FromErrno(doing, errno_value);
}

Error SpawnError(const SpawnOptions& options, const Failure& failure) {
  switch (failure.step) {
    case Step::kStdio:
      return FromErrno("start " + options.argv[0] + ": connect its output", failure.errno_value);
    case Step::kChdir:
      return FromErrno("start " + options.argv[0] + " in folder " + options.cwd,
                       failure.errno_value);
    case Step::kUser:
      return FromErrno("start " + options.argv[0] + " as user " + std::to_string(options.user->uid),
                       failure.errno_value);
    case Step::kExec:
      break;
  }
  return ExecError(options, failure.errno_value);
}

// Blocks signals, so that none reaches the child while it still has our handlers.
pid_t ForkWithSignalsHeld(const SpawnOptions& options, Prepared& prepared) {
  sigset_t all, before;
  sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  const pid_t pid = options.fork ? options.fork() : ::fork();
  if (pid == 0) RunChild(options, prepared);
  int failure = errno;
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  errno = failure;
  return pid;
}

std::optional<std::string> ReadBootId() {
  auto text = ReadFile("/proc/sys/kernel/random/boot_id", 4096);
  if (!text.ok()) return std::nullopt;
  return std::string(Trim(*text));
}

struct ProcStat {
  char state = '?';
  uint64_t start_ticks = 0;
};

// Reads fields 3 and 22 of /proc/PID/stat. The name in field 2 may hold blanks and brackets, so
// counting starts after the last closing bracket.
std::optional<ProcStat> ReadProcStat(pid_t pid) {
  auto text = ReadFile("/proc/" + std::to_string(pid) + "/stat", 65536);
  if (!text.ok()) return std::nullopt;
  size_t bracket = text->rfind(") ");
  if (bracket == std::string::npos) return std::nullopt;
  std::vector<std::string> fields = Split(text->substr(bracket + 2), ' ');
  if (fields.size() < 20 || fields[0].size() != 1) return std::nullopt;
  return ProcStat{fields[0][0], std::strtoull(fields[19].c_str(), nullptr, 10)};
}

}  // namespace

std::string GetVariable(const Environment& environment, const std::string& name,
                        const std::string& otherwise) {
  const auto found = environment.find(name);
  return found == environment.end() ? otherwise : found->second;
}

Credentials OurCredentials() {
  Credentials user{::geteuid(), ::getegid(), {}};
  int count = ::getgroups(0, nullptr);
  if (count <= 0) return user;
  user.groups.resize(static_cast<size_t>(count));
  count = ::getgroups(count, user.groups.data());
  user.groups.resize(static_cast<size_t>(std::max(count, 0)));
  return user;
}

int BecomeUser(const Credentials& user) {
  if (::setgroups(user.groups.size(), user.groups.data()) != 0) return errno;
  if (::setresgid(user.gid, user.gid, user.gid) != 0) return errno;
  if (::setresuid(user.uid, user.uid, user.uid) != 0) return errno;
  return 0;
}

Environment CurrentEnvironment() {
  Environment env;
  for (char** entry = environ; entry && *entry; ++entry) {
    const char* equals = std::strchr(*entry, '=');
    if (equals && equals != *entry)
      env.emplace(std::string_view(*entry, static_cast<size_t>(equals - *entry)), equals + 1);
  }
  return env;
}

Result<pid_t> Spawn(const SpawnOptions& options) {
  TENON_CHECK(!options.argv.empty());
  if (options.argv[0].empty()) return Invalid("start a program: its name is empty");
  Prepared prepared;
  Prepare(options, &prepared);
  UniqueFd null;
  if (options.stdin_fd < 0) {
    auto opened = OpenFile("/dev/null", O_RDONLY);
    if (!opened.ok()) return std::move(opened).error().Wrap("start " + options.argv[0]);
    null = std::move(*opened);
  }
  prepared.stdio[0] = options.stdin_fd < 0 ? null.get() : options.stdin_fd;
  prepared.stdio[1] = options.stdout_fd;
  prepared.stdio[2] = options.stderr_fd;

  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return FromErrno("start " + options.argv[0], errno);
  UniqueFd from_child(ends[0]), to_parent(ends[1]);
  prepared.failure_fd = to_parent.get();
  pid_t pid = ForkWithSignalsHeld(options, prepared);
  if (pid < 0) return FromErrno("start " + options.argv[0], errno);
  to_parent.Reset();

  Failure failure;
  ssize_t n;
  do {
    n = ::read(from_child.get(), &failure, sizeof failure);
  } while (n < 0 && errno == EINTR);
  if (n != sizeof failure) return pid;  // the pipe closed: the program runs
  (void)Wait(pid).ok();
  return SpawnError(options, failure);
}

Result<ExitStatus> Wait(pid_t pid) {
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0) {
    if (errno != EINTR) return FromErrno("wait for process " + std::to_string(pid), errno);
  }
  return DecodeWaitStatus(status);
}

ExitStatus DecodeWaitStatus(int wait_status) {
  if (WIFSIGNALED(wait_status)) return {0, WTERMSIG(wait_status)};
  return {WEXITSTATUS(wait_status), 0};
}

std::optional<std::string> FindProgram(const std::string& name, const std::string& path) {
  if (name.empty()) return std::nullopt;
  for (const std::string& program : Programs(name, {{"PATH", path}})) {
    struct stat info;
    bool runs = ::stat(program.c_str(), &info) == 0 && S_ISREG(info.st_mode) &&
                ::access(program.c_str(), X_OK) == 0;
    if (runs) return program;
  }
  return std::nullopt;
}

std::string BootId() {
  if (const char* fake = std::getenv("TENON_TEST_BOOT_ID")) return fake;
  return ReadBootId().value_or("");
}

std::optional<ProcessId> IdentifyProcess(pid_t pid) {
  std::optional<ProcStat> stat = ReadProcStat(pid);
  if (!stat) return std::nullopt;
  return ProcessId{pid, stat->start_ticks, BootId()};
}

Liveness CheckProcess(const ProcessId& id) {
  std::string boot = BootId();
  if (!boot.empty() && !id.boot_id.empty() && boot != id.boot_id) return Liveness::kRebooted;
  if (id.pid <= 0) return Liveness::kGone;  // kill(2) takes 0 and below for groups
  if (::kill(id.pid, 0) != 0 && errno == ESRCH) return Liveness::kGone;
  std::optional<ProcStat> stat = ReadProcStat(id.pid);
  if (!stat) {
    // The process has ended since, or /proc hides it; then only its pid can tell.
    return ::kill(id.pid, 0) != 0 && errno == ESRCH ? Liveness::kGone : Liveness::kAlive;
  }
  if (stat->state == 'Z' || stat->state == 'X') return Liveness::kGone;
  bool other = id.start_ticks != 0 && stat->start_ticks != id.start_ticks;
  return other ? Liveness::kGone : Liveness::kAlive;
}

}  // namespace tenon
