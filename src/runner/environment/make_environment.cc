// SPDX-License-Identifier: Apache-2.0
// Makes an environment in this order: empty the folders, look for tools and interpreters, ask for a
// recipe, carry it out (after some failures, ask for another recipe), then look at the result.
#include "runner/environment/make_environment.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "base/file.h"
#include "base/mask.h"
#include "base/text.h"
#include "environment/explain.h"
#include "environment/progress.h"
#include "environment/recipe.h"
#include "runner/environment/conda_env.h"
#include "runner/environment/prefix.h"
#include "runner/environment/tool_process.h"
#include "runner/environment/tools.h"

namespace tenon::runner {
namespace {

using environment::Found;
using environment::IfFails;
using environment::Recipe;
using environment::RecipeStep;
using environment::Tool;

// Each round rules out one way to make the environment; there are three.
constexpr int kRounds = 6;

bool IsTrue(const Environment& env, const char* name) {
  auto found = env.find(name);
  if (found == env.end()) return false;
  std::string value = ToLower(found->second);
  return value == "1" || value == "true" || value == "yes" || value == "on";
}

// Removes folders that do not exist here: pip skips them, uv fails.
std::string ExistingFolders(const std::string& list, char separator,
                            std::vector<std::string>& missing) {
  std::vector<std::string> kept;
  for (const std::string& part : Split(list, separator)) {
    std::string entry(Trim(part));
    if (entry.empty()) continue;
    bool local = entry.find("://") == std::string::npos;
    if (local && !Exists(entry)) {
      missing.push_back(entry);
    } else {
      kept.push_back(entry);
    }
  }
  return Join(kept, std::string(1, separator));
}

// Passwords in addresses are masked even if nobody declared them: https://user:PASSWORD@host/.
void AddPasswords(const std::string& text, std::vector<std::string>& masked) {
  for (size_t at = 0; (at = text.find("://", at)) != std::string::npos; at += 3) {
    size_t end = text.find_first_of("/ ,\t", at + 3);
    std::string authority = text.substr(at + 3, end == std::string::npos ? end : end - at - 3);
    size_t sign = authority.rfind('@');
    size_t colon = authority.find(':');
    if (sign == std::string::npos || colon == std::string::npos || colon > sign) continue;
    std::string password = authority.substr(colon + 1, sign - colon - 1);
    bool named = password.starts_with("${");  // the variable's name is no secret
    if (password.size() >= kShortestSecret && !named) masked.push_back(password);
  }
}

std::vector<std::string> AllMasked(const EnvironmentJob& job) {
  std::vector<std::string> masked = job.masked;
  for (const auto& [name, value] : job.environment) AddPasswords(value, masked);
  for (const auto* part : {&job.packages.pip, &job.packages.pip_options, &job.packages.conda}) {
    for (const run::Package& package : *part) AddPasswords(package.text, masked);
  }
  for (const std::string& channel : job.packages.channels) AddPasswords(channel, masked);
  return masked;
}

class Builder {
 public:
  Builder(const EnvironmentJob& job, std::string final_prefix, BuildReporter& reporter,
          const std::atomic<bool>& stop)
      : job_(job),
        packages_(job.packages),
        masked_(AllMasked(job)),
        reporter_(reporter),
        stop_(stop) {
    places_ = {job.prefix, std::move(final_prefix), job.cache, job.scratch, job.project,
               job.staged};
    found_.no_channel = job.no_channel;
  }

  Result<MadeEnvironment> Make() {
    auto made = Try();
    if (made.ok()) return made;
    (void)RemoveTree(job_.prefix).ok();
    return Masked(std::move(made).error());
  }

  Status Stage() {
    Status done = TryStage();
    if (done.ok()) return done;
    (void)RemoveTree(job_.prefix).ok();
    return Masked(std::move(done).error());
  }

 private:
  Result<MadeEnvironment> Try() {
    TENON_TRY_VOID(Prepare());
    TENON_TRY_VOID(LookAround());
    TENON_TRY_VOID(CarryOut());
    return Finish();
  }

  Status TryStage() {
    TENON_TRY_VOID(Prepare());
    FindUv();
    found_.conda_tool = FindCondaTool(env_);
    return CarryOut();
  }

  // Messages quote items of the file, which may contain secrets.
  Error Masked(Error error) const {
    error.message = Masker(masked_).Mask(error.message);
    return error;
  }

  Status Prepare() {
    TENON_TRY_VOID(RemoveTree(job_.prefix));
    TENON_TRY_VOID(RemoveTree(job_.scratch));
    TENON_TRY_VOID(MakeDirs(job_.scratch + "/tmp", 0700));
    TENON_TRY_VOID(MakeDirs(job_.cache, 0755));
    TENON_TRY_VOID(MakeDirs(DirName(job_.prefix), 0755));
    return SetEnvironment();
  }

  Status SetEnvironment() {
    env_ = job_.environment;
    std::string& home = env_["HOME"];
    if (home.empty() || !IsDirectory(home) || ::access(home.c_str(), W_OK | X_OK) != 0) {
      home = job_.scratch + "/home";
      TENON_TRY_VOID(MakeDirs(home, 0700));
    }
    env_["TMPDIR"] = job_.scratch + "/tmp";
    env_["PIP_USER"] = "0";
    env_["PIP_REQUIRE_VIRTUALENV"] = "0";
    env_["PIP_DISABLE_PIP_VERSION_CHECK"] = "1";
    env_["PYTHONUNBUFFERED"] = "1";
    env_["NO_COLOR"] = "1";
    if (!env_.contains("LANG") && !env_.contains("LC_ALL")) env_["LANG"] = "C.UTF-8";
    for (const char* name : {"PIP_TARGET", "PIP_PREFIX", "PIP_ROOT", "PYTHONPATH", "PYTHONHOME",
                             "VIRTUAL_ENV", "CONDA_PREFIX", "UV_SYSTEM_PYTHON", "UV_PYTHON"}) {
      env_.erase(name);
    }
    SetCertificates();
    SetFolders();
    return {};
  }

  void SetCertificates() {
    if (job_.ca_bundle.empty()) return;
    env_.erase("SSL_CERT_DIR");
    for (const char* name : {"SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "PIP_CERT",
                             "GIT_SSL_CAINFO", "CONDA_SSL_VERIFY", "MAMBA_SSL_VERIFY"}) {
      env_[name] = job_.ca_bundle;
    }
  }

  void SetFolders() {
    std::vector<std::string> missing;
    for (auto [name, separator] :
         {std::pair("UV_FIND_LINKS", ','), std::pair("PIP_FIND_LINKS", ' ')}) {
      auto found = env_.find(name);
      if (found == env_.end()) continue;
      std::vector<std::string> gone;
      found->second = ExistingFolders(found->second, separator, gone);
      for (std::string& folder : gone) {
        bool known = std::find(missing.begin(), missing.end(), folder) != missing.end();
        if (!known) missing.push_back(std::move(folder));
      }
      if (found->second.empty()) env_.erase(found);
    }
    if (!missing.empty()) {
      notices_.push_back(
          {run::Level::kWarning,
           "PIP_FIND_LINKS or UV_FIND_LINKS names what is not here: " + Join(missing, ", "),
           "a folder inside the project, named by --find-links in its file, is "
           "there on every target"});
    }
    // uv has no variable for this, so it becomes an option.
    if (IsTrue(env_, "PIP_NO_INDEX")) {
      packages_.pip_options.insert(packages_.pip_options.begin(), {"--no-index", "", ""});
    }
  }

  ToolBox Box() const { return {job_.tools, env_, masked_, stop_}; }

  Status LookAround() {
    FindUv();
    TENON_TRY_VOID(FindPython());
    found_.conda_tool = FindCondaTool(env_);
    return {};
  }

  void FindUv() {
    found_.uv = FindToolsUv(job_.tools);
    if (found_.uv.empty()) {
      auto path = env_.find("PATH");
      if (auto own = FindProgram("uv", path == env_.end() ? "" : path->second)) found_.uv = *own;
    }
    if (!found_.uv.empty()) return;
    auto fetched = EnsureStaticUv(job_.tools, env_, stop_);
    if (fetched.ok()) {
      found_.uv = *fetched;
    } else {
      learned_ = fetched.error().message;
    }
  }

  Status FindPython() {
    auto constraint = environment::PythonConstraint::Parse(job_.packages.python);
    if (!constraint.ok()) {
      std::string where = environment::Where(job_.packages.python_where);
      constraint.error().message = where + constraint.error().message;
      return std::move(constraint).error();
    }
    found_.python_is_named = !job_.python.empty();
    if (!found_.python_is_named) {
      // If no version is asked for, stop at the first suitable interpreter.
      bool any = constraint->empty();
      auto enough = [any](const environment::Interpreter& interpreter) {
        return any && environment::ChoosePython({&interpreter, 1}, {}) != nullptr;
      };
      found_.interpreters = FindInterpreters(Box(), *constraint, enough);
      return stop_ ? Status(Unavailable("stopped")) : Status();
    }
    std::string path = job_.python;
    if (path.find('/') != std::string::npos) path = JoinPath(job_.project, path);
    TENON_TRY(environment::Interpreter named, AskInterpreter(Box(), path));
    found_.interpreters.push_back(std::move(named));
    return {};
  }

  // --- the recipe

  Status CarryOut() {
    for (int round = 0; round < kRounds; ++round) {
      auto asked = places_.final_prefix.empty()
                       ? environment::MakeRecipe(packages_, found_, places_)
                       : environment::MakeCondaRecipe(packages_, found_, places_);
      if (!asked.ok()) return BecauseOf(std::move(asked).error());
      recipe_ = std::move(*asked);
      if (recipe_.wants_rattler) {
        TENON_TRY_VOID(GetRattler());
        continue;
      }
      auto again = RunSteps();
      if (!again.ok()) return std::move(again).error();
      if (!*again) return {};
      TENON_TRY_VOID(RemoveTree(job_.prefix));
    }
    return Internal("the recipe for the environment never ends");
  }

  // Adds an earlier failure to an error of the recipe that may follow from it.
  Error BecauseOf(Error error) const {
    if (!learned_.empty()) error.message += "\n" + learned_;
    return error;
  }

  Status GetRattler() {
    int64_t start = SystemClock().MonotonicUs();
    reporter_.OnProgress("conda tools", "getting py-rattler", 0, 0);
    auto python = EnsureRattler(Box(), found_.uv, job_.scratch);
    if (stop_) return Unavailable("stopped");
    if (!python.ok()) {
      found_.no_rattler = true;
      learned_ = python.error().message;
      return {};
    }
    found_.rattler_python = *python;
    found_.rattler_script = job_.scratch + "/conda_env.py";
    TENON_TRY_VOID(
        WriteFileAtomically(found_.rattler_script, CondaScript(), 0644, Durability::kProcess));
    Report("conda tools", start, "py-rattler");
    return {};
  }

  void Report(const std::string& name, int64_t start, const std::string& detail) {
    reporter_.OnStep({name, SystemClock().MonotonicUs() - start, detail});
  }

  // True: something was learned from a failure; ask for another recipe.
  Result<bool> RunSteps() {
    for (const RecipeStep& step : recipe_.steps) {
      int64_t start = SystemClock().MonotonicUs();
      environment::ToolProgress progress;
      reporter_.OnProgress(step.name, "", 0, 0);
      TENON_TRY(bool again, RunStep(step, progress));
      if (again) return true;
      Report(step.name, start, progress.Summary());
    }
    return false;
  }

  Result<bool> RunStep(const RecipeStep& step, environment::ToolProgress& progress) {
    if (step.tool == Tool::kCopy) {
      TENON_TRY_VOID(CopyTree(places_.staged, job_.prefix, stop_));
      return false;
    }
    TENON_TRY_VOID(WriteFiles(step));
    ToolRun tool;
    tool.argv = step.argv;
    tool.env = env_;
    for (const auto& [name, value] : step.env) {
      bool users = name == "UV_INDEX_STRATEGY" && env_.contains(name);
      if (!users) tool.env[name] = value;
    }
    tool.cwd = job_.scratch;
    tool.masked = masked_;
    tool.on_output = [&](std::string_view bytes) {
      reporter_.OnOutput(bytes);
      for (const auto& point : progress.Feed(bytes)) {
        reporter_.OnProgress(step.name, point.detail, point.done, point.total);
      }
    };
    TENON_TRY(ToolEnd end, RunTool(tool, stop_));
    if (end.ok() || step.if_fails == environment::IfFails::kGoOn) return false;
    return Learn(step, end);
  }

  Status WriteFiles(const RecipeStep& step) {
    for (const auto& [path, bytes] : step.files) {
      TENON_TRY_VOID(WriteFileAtomically(path, bytes, 0600, Durability::kProcess));
    }
    for (const auto& [from, to] : step.copies) {
      TENON_TRY_VOID(MakeDirs(DirName(to)));
      TENON_TRY(std::string bytes, ReadFile(from, 1u << 30));
      TENON_TRY_VOID(WriteFileAtomically(to, bytes, 0644, Durability::kProcess));
    }
    return {};
  }

  Result<bool> Learn(const RecipeStep& step, const ToolEnd& end) {
    Error error = environment::ExplainFailure(step, packages_, recipe_.pip, end.tail, end.How());
    if (step.if_fails == IfFails::kNoManagedPython) {
      found_.no_managed_python = true;
      learned_ = environment::LastWords(end.tail, 6);
      return true;
    }
    bool no_channel = step.if_fails == IfFails::kMayBeNoChannel &&
                      (step.tool == Tool::kRattler ? end.status.code == kNoChannelExit
                                                   : environment::SaysNoChannel(end.tail));
    if (!no_channel) return error;
    learned_ = NoChannel().message + ": " + environment::LastWords(end.tail, 6);
    if (!places_.final_prefix.empty()) return Unavailable(learned_).WithReason(kNoChannel);
    found_.no_channel = true;
    return true;
  }

  // --- what came out

  Result<MadeEnvironment> Finish() {
    MadeEnvironment made;
    made.python = recipe_.python;
    auto interpreter = AskInterpreter(Box(), made.python);
    if (stop_) return Unavailable("stopped");
    if (!interpreter.ok()) {
      return NotFound("the environment was made, but its Python does not start: " +
                      interpreter.error().message);
    }
    made.python_version = interpreter->version;
    made.installed = ListInstalled(job_.prefix);
    made.notices = std::move(notices_);
    made.notices.insert(made.notices.end(), recipe_.notices.begin(), recipe_.notices.end());
    for (run::Notice& notice : made.notices) notice.text = Masker(masked_).Mask(notice.text);
    made.bytes = TreeBytes(job_.prefix);
    (void)RemoveTree(job_.scratch).ok();
    return made;
  }

  const EnvironmentJob& job_;
  run::Packages packages_;
  std::vector<std::string> masked_;
  BuildReporter& reporter_;
  const std::atomic<bool>& stop_;
  environment::Places places_;
  Environment env_;
  Found found_;
  Recipe recipe_;
  std::vector<run::Notice> notices_;
  std::string learned_;  // why an earlier way was given up
};

}  // namespace

bool WantsConda(const run::Packages& packages) { return !packages.conda.empty(); }

Result<MadeEnvironment> MakeEnvironment(const EnvironmentJob& job, BuildReporter& reporter,
                                        const std::atomic<bool>& stop) {
  return Builder(job, "", reporter, stop).Make();
}

Status StageConda(const EnvironmentJob& job, const std::string& final_prefix,
                  BuildReporter& reporter, const std::atomic<bool>& stop) {
  if (job.no_channel) return NoChannel();
  return Builder(job, final_prefix, reporter, stop).Stage();
}

}  // namespace tenon::runner
