// SPDX-License-Identifier: Apache-2.0
#include "runner/verbs/verb_probe.h"

#include <limits.h>
#include <stdlib.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <set>
#include <vector>

#include "base/clock.h"
#include "base/file.h"
#include "base/text.h"
#include "run/layout.h"
#include "run/members.h"
#include "runner/verbs/account.h"
#include "runner/verbs/login_shell.h"
#include "runner/verbs/try_folder.h"

namespace tenon::runner {
namespace {

constexpr int kVersionMs = 5'000;
constexpr size_t kMostPythons = 6;
constexpr const char* kDefaultPath = "/usr/local/bin:/usr/bin:/bin";

// The value of `name` in a file of lines NAME=value, without its quotes.
std::string AssignedIn(const std::string& path, std::string_view name) {
  auto text = ReadFile(path, 1u << 20);
  if (!text.ok()) return "";
  for (const std::string& line : Split(*text, '\n')) {
    if (!line.starts_with(std::string(name) + "=")) continue;
    std::string value(Trim(std::string_view(line).substr(name.size() + 1)));
    if (value.size() >= 2 && (value[0] == '"' || value[0] == '\'') && value.back() == value[0]) {
      value = value.substr(1, value.size() - 2);
    }
    return value;
  }
  return "";
}

int64_t MemoryBytes() {
  auto text = ReadFile("/proc/meminfo", 1u << 20);
  if (!text.ok()) return 0;
  for (const std::string& line : Split(*text, '\n')) {
    if (line.starts_with("MemTotal:")) return ::strtoll(line.c_str() + 9, nullptr, 10) * 1024;
  }
  return 0;
}

void TellDisk(std::string path, json::Object* answer) {
  while (path.size() > 1 && !Exists(path)) path = DirName(path);
  struct statvfs info {};
  if (::statvfs(path.c_str(), &info) != 0) return;
  (*answer)["disk_free_bytes"] = static_cast<uint64_t>(info.f_bavail) * info.f_frsize;
  (*answer)["disk_total_bytes"] = static_cast<uint64_t>(info.f_blocks) * info.f_frsize;
}

bool InContainer() {
  if (Exists("/.dockerenv") || Exists("/run/.containerenv")) return true;
  auto first = ReadFile("/proc/1/environ", 1u << 20);
  return first.ok() && (first->starts_with("container=") ||
                        first->find(std::string("\0container=", 11)) != std::string::npos);
}

std::string FirstThere(const std::vector<std::string>& paths) {
  for (const std::string& path : paths) {
    if (!IsDirectory(path) && ::access(path.c_str(), X_OK) == 0) return path;
  }
  return "";
}

std::string FindTool(const std::string& name, const Environment& environment,
                     const std::vector<std::string>& usual) {
  const std::string path = GetVariable(environment, "PATH", kDefaultPath);
  if (auto found = FindProgram(name, path)) return *found;
  std::vector<std::string> paths;
  const std::string home = GetVariable(environment, "HOME");
  for (const std::string& one : usual) {
    if (one[0] == '/' || !home.empty()) paths.push_back(JoinPath(home, one));
  }
  return FirstThere(paths);
}

// Why runs can't make folders in the user's home; "": they can.
std::string HomeProblem(const std::string& home) {
  if (home.empty()) return "the account has no home folder";
  if (!IsDirectory(home)) return "there is no folder " + home;
  return TryFolder(home);
}

// Why runs can't be made below `home`; "": they can. Also names a folder there that we can't write
// because somebody else, such as root, has made it.
std::string RunProblem(const run::Home& home) {
  if (std::string problem = TryFolder(home.runs()); !problem.empty()) return problem;
  for (const std::string& parent : {home.root(), home.objects()}) {
    for (const std::string& name : ListDir(parent).value_or({})) {
      const std::string folder = JoinPath(parent, name);
      if (!IsDirectory(folder) || ::access(folder.c_str(), W_OK | X_OK) == 0) continue;
      return FromErrno("write to " + folder, errno).message;
    }
  }
  return "";
}

// The version of a Python. "": the program is no Python, or a stand-in that says so.
std::string PythonVersion(const std::string& path) {
  auto ran = RunAndCapture({path, "-c", "import sys; print(sys.version.split()[0])"}, "/", "",
                           kVersionMs, 4096);
  if (!ran.ok() || ran->timed_out || ran->status.AsShell() != 0) return "";
  return std::string(Trim(ran->out));
}

}  // namespace

void ProbePythons(const Environment& environment, json::Object* answer) {
  json::Array pythons;
  std::set<std::string> seen;
  for (const std::string& folder : Split(GetVariable(environment, "PATH", kDefaultPath), ':')) {
    for (const char* name : {"python3", "python"}) {
      const std::string path = JoinPath(folder, name);
      char real[PATH_MAX];
      if (folder.empty() || FirstThere({path}).empty() ||
          ::realpath(path.c_str(), real) == nullptr || pythons.size() == kMostPythons ||
          !seen.insert(real).second) {
        continue;
      }
      const std::string version = PythonVersion(path);
      if (version.empty()) continue;
      pythons.push_back(json::Object{{"path", json::EncodeBytes(path)}, {"version", version}});
    }
  }
  (*answer)["pythons"] = std::move(pythons);
  const std::string named = GetVariable(environment, "CONDA_EXE");
  const std::string conda =
      FirstThere({named}).empty()
          ? FindTool("conda", environment,
                     {"miniconda3/bin/conda", "miniforge3/bin/conda", "anaconda3/bin/conda",
                      "mambaforge/bin/conda", "/opt/conda/bin/conda", "/opt/miniconda3/bin/conda"})
          : named;
  (*answer)["conda"] = json::EncodeBytes(conda);
  (*answer)["uv"] =
      json::EncodeBytes(FindTool("uv", environment, {".local/bin/uv", ".cargo/bin/uv"}));
}

json::Object Probe(const std::string& home) {
  json::Object answer;
  struct utsname names {};
  (void)::uname(&names);
  std::string os = AssignedIn("/etc/os-release", "PRETTY_NAME");
  if (os.empty()) os = AssignedIn("/usr/lib/os-release", "PRETTY_NAME");
  answer["os"] = json::EncodeBytes(os.empty() ? names.sysname : os);
  answer["kernel"] = names.release;
  answer["machine"] = names.machine;
  answer["host"] = json::EncodeBytes(names.nodename);
  answer["cpus"] = static_cast<int64_t>(std::max(::sysconf(_SC_NPROCESSORS_ONLN), 1L));
  answer["memory_bytes"] = MemoryBytes();
  TellDisk(home, &answer);
  const Account account = OurAccount(CurrentEnvironment());
  const LoginEnvironment login = ReadLoginEnvironment(account.shell);
  answer["shell"] = json::EncodeBytes(account.shell);
  answer["login_environment"] = run::ToJsonMap(login.variables);
  answer["login_problem"] = json::EncodeBytes(login.problem);
  answer["engines"] = ProbeEngines(login.variables);
  ProbeGpus(login.variables, &answer);
  ProbePythons(login.variables, &answer);
  const KillsAtLogout kills = LookAtLogout("/", account.user, ::getuid() == 0);
  answer["kills_at_logout"] = kills.answer;
  answer["kills_reason"] = kills.reason;
  answer["container"] = InContainer();
  answer["now_us"] = SystemClock().NowUs();
  answer["boot_id"] = BootId();
  answer["user"] = json::EncodeBytes(account.user);
  answer["user_home"] = json::EncodeBytes(account.home);
  answer["home_problem"] = json::EncodeBytes(HomeProblem(account.home));
  answer["run_problem"] = json::EncodeBytes(RunProblem(run::Home(home)));
  return answer;
}

}  // namespace tenon::runner
