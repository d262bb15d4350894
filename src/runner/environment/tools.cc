// SPDX-License-Identifier: Apache-2.0
#include "runner/environment/tools.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <set>

#include "base/durable.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/text.h"
#include "base/waiting.h"
#include "environment/explain.h"
#include "runner/environment/make_environment.h"
#include "runner/environment/tool_process.h"

namespace tenon::runner {
namespace {

using environment::Interpreter;
using environment::PythonConstraint;
using environment::PythonVersion;

constexpr int kProbeMs = 20'000;
// A fetch that takes longer has failed; the build does without the tool.
constexpr int kFetchMs = 300'000;

// Also runs on Python 2: a conda prefix may hold one.
constexpr const char* kProbe =
    "import sys\n"
    "print('tenon-python %d.%d.%d' % sys.version_info[:3])\n"
    "try:\n"
    "    from importlib.util import find_spec as find\n"
    "except ImportError:\n"
    "    from pkgutil import find_loader as find\n"
    "print('tenon-has ' + ' '.join(m for m in ('venv', 'ensurepip', 'pip') if find(m)))\n"
    "print('tenon-path ' + sys.executable)\n";

std::string RealPath(const std::string& path) {
  char resolved[PATH_MAX];
  return ::realpath(path.c_str(), resolved) ? resolved : path;
}

bool IsProgram(const std::string& path) {
  struct stat info;
  return ::stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) &&
         ::access(path.c_str(), X_OK) == 0;
}

// "python3.11" → 11; -1 when the name does not tell.
int MinorOf(std::string_view name) {
  constexpr std::string_view kStem = "python3.";
  if (!name.starts_with(kStem) || name.size() == kStem.size() || name.size() > kStem.size() + 2) {
    return -1;
  }
  int minor = 0;
  for (char c : name.substr(kStem.size())) {
    if (c < '0' || c > '9') return -1;
    minor = minor * 10 + (c - '0');
  }
  return minor;
}

bool MinorMayMatch(const PythonConstraint& constraint, int minor) {
  for (int micro = 0; micro < 40; ++micro) {
    if (constraint.Matches({3, minor, micro})) return true;
  }
  return false;
}

void AddFolder(const std::string& folder, const PythonConstraint& constraint,
               std::vector<std::string>& candidates) {
  for (const char* name : {"python3", "python"}) {
    std::string path = JoinPath(folder, name);
    if (IsProgram(path)) candidates.push_back(path);
  }
  auto names = ListDir(folder);
  if (!names.ok()) return;
  // Skip pyenv's shims; AddPyenv looks at the versions behind them.
  if (folder.ends_with("/shims")) return;
  std::sort(names->begin(), names->end());
  for (const std::string& name : *names) {
    int minor = MinorOf(name);
    if (minor < 0 || !MinorMayMatch(constraint, minor)) continue;
    std::string path = JoinPath(folder, name);
    if (IsProgram(path)) candidates.push_back(path);
  }
}

void AddPyenv(const Environment& env, const PythonConstraint& constraint,
              std::vector<std::string>& candidates) {
  std::string root = GetVariable(env, "PYENV_ROOT");
  if (root.empty() && !GetVariable(env, "HOME").empty())
    root = GetVariable(env, "HOME") + "/.pyenv";
  if (root.empty()) return;
  auto versions = ListDir(root + "/versions");
  if (!versions.ok()) return;
  std::sort(versions->begin(), versions->end());
  for (const std::string& name : *versions) {
    auto version = environment::ParsePythonVersion(name);
    if (!version || version->major != 3 || !constraint.Matches(*version)) continue;
    std::string path = root + "/versions/" + name + "/bin/python3";
    if (IsProgram(path)) candidates.push_back(path);
  }
}

std::string LineAfter(const std::string& text, std::string_view word) {
  size_t at = text.find(word);
  if (at == std::string::npos) return "";
  at += word.size();
  return std::string(Trim(std::string_view(text).substr(at, text.find('\n', at) - at)));
}

bool HasWord(const std::string& text, const std::string& word) {
  std::vector<std::string> words = Split(text, ' ');
  return std::find(words.begin(), words.end(), word) != words.end();
}

Result<ToolEnd> RunQuietly(const ToolBox& box, std::vector<std::string> argv,
                           const std::string& cwd, int timeout_ms) {
  ToolRun tool;
  tool.argv = std::move(argv);
  tool.env = box.env;
  tool.cwd = cwd;
  tool.masked = box.masked;
  tool.timeout_ms = timeout_ms;
  TENON_TRY(ToolEnd end, RunTool(tool, box.stop));
  if (end.ok()) return end;
  return Unavailable(tool.argv[0] + " ended with " + end.How() + "\n" +
                     environment::LastWords(end.tail));
}

// A folder next to the place where its contents will be moved; removed with the object.
class WorkFolder {
 public:
  static Result<WorkFolder> Make(const std::string& parent) {
    std::string path = parent + "/.new-" + RandomHex(6);
    TENON_TRY_VOID(MakeDirs(path, 0755));
    return WorkFolder(path);
  }
  WorkFolder(WorkFolder&& other) noexcept : path_(std::exchange(other.path_, "")) {}
  WorkFolder& operator=(WorkFolder&&) = delete;
  ~WorkFolder() {
    if (!path_.empty()) (void)RemoveTree(path_).ok();
  }
  const std::string& path() const { return path_; }

 private:
  explicit WorkFolder(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

Result<std::string> OnlyName(const std::string& folder, std::string_view begin,
                             std::string_view end) {
  TENON_TRY(std::vector<std::string> names, ListDir(folder));
  for (const std::string& name : names) {
    if (name.starts_with(begin) && name.ends_with(end)) return name;
  }
  return NotFound("no " + std::string(begin) + "*" + std::string(end) + " in " + folder);
}

// The wheel platform of uv's static build for this machine.
std::string WheelPlatform() {
  struct utsname names = {};
  ::uname(&names);
  return std::string("musllinux_1_1_") + names.machine;
}

// An interpreter that has pip, for fetching a wheel: an existing one, else that of a virtual
// environment that venv makes below `work`, with the pip that comes with Python.
Result<std::string> FindPipPython(const ToolBox& box, const std::string& work) {
  TENON_TRY(PythonConstraint any, PythonConstraint::Parse(">=3.6"));
  auto enough = [](const Interpreter& interpreter) { return interpreter.has_pip; };
  std::vector<Interpreter> found = FindInterpreters(box, any, enough);
  if (!found.empty() && found.back().has_pip) return found.back().path;
  std::string failed;
  for (const Interpreter& interpreter : found) {
    if (!interpreter.has_venv || !interpreter.has_ensurepip) continue;
    std::string folder = work + "/venv";
    Result<ToolEnd> made =
        RunQuietly(box, {interpreter.path, "-m", "venv", folder}, work, kFetchMs);
    if (made.ok()) return folder + "/bin/python";
    failed = made.error().message;
    TENON_TRY_VOID(RemoveTree(folder));
  }
  if (!failed.empty()) return Unavailable("no virtual environment could be made: " + failed);
  std::string text = "there is no Python here that could fetch uv";
  if (!found.empty()) text += ": " + found[0].path + " has neither pip nor what venv needs for it";
  return NotFound(text).WithHint("install python3-venv there (`apt-get install python3-venv`)");
}

// The environment for tools that run outside a recipe.
Environment FetchEnvironment(const Environment& environment) {
  Environment env = environment;
  std::string bundle = FindCaBundle(env);
  if (!bundle.empty()) {
    env["PIP_CERT"] = bundle;
    env["SSL_CERT_FILE"] = bundle;
  }
  env["PIP_USER"] = "0";
  env["PIP_REQUIRE_VIRTUALENV"] = "0";
  env["PIP_DISABLE_PIP_VERSION_CHECK"] = "1";
  for (const char* name : {"PIP_TARGET", "PIP_PREFIX", "PIP_ROOT"}) env.erase(name);
  return env;
}

// The caller holds the lock.
Result<std::string> FetchUv(const ToolBox& box) {
  TENON_TRY(WorkFolder work, WorkFolder::Make(box.tools));
  TENON_TRY(std::string python, FindPipPython(box, work.path()));
  TENON_TRY_VOID(RunQuietly(box,
                            {python, "-m", "pip", "download", "--quiet", "--no-deps",
                             "--no-cache-dir", "--only-binary=:all:", "--platform", WheelPlatform(),
                             "--retries", "2", "--timeout", "30", "--dest", work.path(), "uv"},
                            work.path(), kFetchMs));
  TENON_TRY(std::string wheel, OnlyName(work.path(), "uv-", ".whl"));
  std::string version = Split(wheel, '-')[1];
  TENON_TRY_VOID(RunQuietly(
      box, {python, "-m", "zipfile", "-e", work.path() + "/" + wheel, work.path() + "/wheel"},
      work.path(), kFetchMs));
  TENON_TRY(std::string data, OnlyName(work.path() + "/wheel", "uv-", ".data"));
  std::string program = work.path() + "/wheel/" + data + "/scripts/uv";
  if (::chmod(program.c_str(), 0755) != 0)
    return FromErrno("make " + program + " a program", errno);
  TENON_TRY_VOID(RunQuietly(box, {program, "--version"}, work.path(), kProbeMs));
  std::string folder = box.tools + "/uv-" + version;
  TENON_TRY_VOID(MakeDirs(folder, 0755));
  // Others use a program of this name as soon as they find it, so it must be complete before the
  // rename.
  TENON_TRY(const UniqueFd file, OpenFile(program, O_RDONLY));
  if (DurableFsync(file.get()) != 0) return FromErrno("sync " + program, errno);
  TENON_TRY_VOID(RenameFile(program, folder + "/uv"));
  return folder + "/uv";
}

Status MakeRattler(const ToolBox& box, const std::string& uv, const Interpreter& python,
                   const std::string& folder) {
  TENON_TRY_VOID(RemoveTree(folder));
  std::string inner = folder + "/bin/python";
  if (!uv.empty()) {
    TENON_TRY_VOID(
        RunQuietly(box, {uv, "venv", "--python", python.path, folder}, box.tools, kFetchMs));
    return RunQuietly(box, {uv, "pip", "install", "--python", inner, "py-rattler"}, box.tools,
                      kFetchMs)
                   .ok()
               ? Status()
               : Unavailable("py-rattler could not be installed");
  }
  TENON_TRY_VOID(RunQuietly(box, {python.path, "-m", "venv", folder}, box.tools, kFetchMs));
  TENON_TRY_VOID(RunQuietly(box, {inner, "-m", "pip", "install", "--quiet", "py-rattler"},
                            box.tools, kFetchMs));
  return {};
}

bool CanWrite(const std::string& folder) {
  return MakeDirs(folder, 0755).ok() && ::access(folder.c_str(), W_OK) == 0;
}

}  // namespace

Result<Interpreter> AskInterpreter(const ToolBox& box, const std::string& path) {
  ToolRun tool;
  tool.argv = {path, "-E", "-s", "-c", kProbe};
  tool.env = box.env;
  tool.cwd = "/";  // because -c looks for modules in the working directory
  tool.timeout_ms = kProbeMs;
  TENON_TRY(ToolEnd end, RunTool(tool, box.stop));
  Interpreter interpreter;
  interpreter.version = LineAfter(end.tail, "tenon-python ");
  std::string executable = LineAfter(end.tail, "tenon-path ");
  if (!end.ok() || interpreter.version.empty()) {
    return NotFound(path + " does not answer as a Python would (" + end.How() + ")");
  }
  std::string has = LineAfter(end.tail, "tenon-has ");
  interpreter.path = executable.empty() ? path : executable;
  interpreter.has_venv = HasWord(has, "venv");
  interpreter.has_ensurepip = HasWord(has, "ensurepip");
  interpreter.has_pip = HasWord(has, "pip");
  return interpreter;
}

std::vector<Interpreter> FindInterpreters(const ToolBox& box, const PythonConstraint& constraint,
                                          const Enough& enough) {
  std::vector<std::string> candidates;
  std::string path = GetVariable(box.env, "PATH");
  for (const std::string& folder :
       Split(path.empty() ? "/usr/local/bin:/usr/bin:/bin" : path, ':')) {
    if (!folder.empty()) AddFolder(folder, constraint, candidates);
  }
  AddPyenv(box.env, constraint, candidates);
  std::vector<Interpreter> found;
  std::set<std::string> seen;
  for (const std::string& candidate : candidates) {
    if (!seen.insert(RealPath(candidate)).second) continue;
    auto interpreter = AskInterpreter(box, candidate);
    if (!interpreter.ok()) continue;
    bool repeated = std::any_of(found.begin(), found.end(), [&](const Interpreter& other) {
      return other.path == interpreter->path;
    });
    seen.insert(RealPath(interpreter->path));
    if (repeated) continue;
    found.push_back(std::move(*interpreter));
    if (enough && enough(found.back())) break;
  }
  return found;
}

std::string FindToolsUv(const std::string& tools) {
  auto names = ListDir(tools);
  if (!names.ok()) return "";
  std::string best;
  PythonVersion best_version;
  for (const std::string& name : *names) {
    if (!name.starts_with("uv-")) continue;
    auto version = environment::ParsePythonVersion(std::string_view(name).substr(3));
    std::string program = tools + "/" + name + "/uv";
    if (!version || !IsProgram(program) || (!best.empty() && *version < best_version)) continue;
    best = program;
    best_version = *version;
  }
  return best;
}

std::string FindCondaTool(const Environment& env) {
  for (const char* name : {"micromamba", "mamba", "conda"}) {
    if (auto path = FindProgram(name, GetVariable(env, "PATH"))) return *path;
  }
  return "";
}

Result<FileLock> TakeLock(const std::string& path, const std::atomic<bool>& stop) {
  LongWait long_wait(path);
  while (true) {
    auto lock = FileLock::Take(path, false);
    if (lock.ok() || lock.error().kind != ErrorKind::kUnavailable) return lock;
    TENON_TRY_VOID(long_wait.Look());
    if (stop) return Unavailable("stopped");
    ::usleep(50'000);
  }
}

Result<std::string> EnsureStaticUv(const std::string& tools, const Environment& environment,
                                   const std::atomic<bool>& stop) {
  std::string uv = FindToolsUv(tools);
  if (!uv.empty()) return uv;
  TENON_TRY_VOID(MakeDirs(tools, 0755));
  TENON_TRY(FileLock lock, TakeLock(tools + "/uv.lock", stop));
  uv = FindToolsUv(tools);
  if (!uv.empty()) return uv;
  auto fetched = FetchUv({tools, FetchEnvironment(environment), {}, stop});
  if (!fetched.ok()) return std::move(fetched).error().Wrap("fetch uv");
  return fetched;
}

Result<std::string> EnsureRattler(const ToolBox& box, const std::string& uv,
                                  const std::string& scratch) {
  TENON_TRY(PythonConstraint wanted, PythonConstraint::Parse(">=3.10"));
  std::vector<Interpreter> found = FindInterpreters(box, wanted);
  const Interpreter* python = environment::ChoosePython(found, wanted);
  if (!python) return NotFound("there is no Python of 3.10 or later here to run py-rattler with");
  ToolBox inner{CanWrite(box.tools) ? box.tools : scratch, FetchEnvironment(box.env), box.masked,
                box.stop};
  // A virtual environment points at its interpreter, and this folder may be shared with containers
  // that have another one; so the name depends on the interpreter.
  std::string name = "rattler-" + python->version + "-" + Sha256Of(python->path).Hex().substr(0, 8);
  std::string folder = inner.tools + "/" + name;
  std::string mark = folder + "/complete";
  TENON_TRY(FileLock lock, TakeLock(inner.tools + "/" + name + ".lock", box.stop));
  std::string program = folder + "/bin/python";
  bool works =
      Exists(mark) && RunQuietly(inner, {program, "-I", "-c", "import rattler"}, "", kProbeMs).ok();
  if (works) return program;
  Status made = MakeRattler(inner, uv, *python, folder);
  if (made.ok()) made = WriteFileAtomically(mark, "", 0644, Durability::kProcess);
  if (made.ok()) return program;
  (void)RemoveTree(folder).ok();
  return std::move(made).error().Wrap("get py-rattler");
}

}  // namespace tenon::runner
