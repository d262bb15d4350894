// SPDX-License-Identifier: Apache-2.0
#include "environment/recipe.h"

#include <algorithm>
#include <optional>

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "environment/key.h"
#include "environment/pypi_names.h"

namespace tenon::environment {
namespace {

// uv can fetch no older Python: nobody made such builds.
constexpr PythonVersion kOldestManaged{3, 8, 0};
// Later versions have no pkg_resources.
constexpr const char* kLastWithPkgResources = "setuptools<81";
// uv can install into no older Python.
constexpr PythonVersion kOldestForUv{3, 6, 0};

class RecipeMaker {
 public:
  RecipeMaker(const run::Packages& packages, const Found& found, const Places& places)
      : packages_(packages), found_(found), places_(places) {
    recipe_.python = places.prefix + "/bin/python";
    recipe_.pip = packages.pip;
  }

  Result<Recipe> Make() {
    TENON_TRY(constraint_, ParsedPython());
    if (packages_.format == "uv-lock") {
      TENON_TRY_VOID(Lock());
    } else if (!places_.staged.empty()) {
      Staged();
    } else if (!packages_.conda.empty() && !found_.no_channel) {
      TENON_TRY_VOID(Conda());
    } else {
      TENON_TRY_VOID(Pypi());
    }
    return std::move(recipe_);
  }

  Result<Recipe> MakeConda() {
    TENON_TRY(constraint_, ParsedPython());
    TENON_TRY_VOID(Conda());
    return std::move(recipe_);
  }

 private:
  Result<PythonConstraint> ParsedPython() const {
    auto parsed = PythonConstraint::Parse(packages_.python);
    if (!parsed.ok()) {
      parsed.error().message = Where(packages_.python_where) + parsed.error().message;
    }
    return parsed;
  }

  const std::string& Final() const {
    return places_.final_prefix.empty() ? places_.prefix : places_.final_prefix;
  }

  RecipeStep& Add(std::string name, Tool tool, std::vector<std::string> argv) {
    RecipeStep step;
    step.name = std::move(name);
    step.tool = tool;
    step.argv = std::move(argv);
    recipe_.steps.push_back(std::move(step));
    return recipe_.steps.back();
  }

  static Environment UvEnvironment(const std::string& cache, const char* downloads) {
    // Copies, not hard links: through a hard link a script could damage the cache and every later
    // environment.
    return {{"UV_LINK_MODE", "copy"},
            {"UV_CACHE_DIR", cache + "/uv"},
            {"UV_PYTHON_DOWNLOADS", downloads}};
  }

  // --- an installed interpreter, or one that uv fetches

  Status VirtualEnvironment() {
    const Interpreter* interpreter = ChoosePython(found_.interpreters, constraint_);
    if (interpreter) return FromInterpreter(*interpreter);
    if (found_.python_is_named) return WrongNamedPython();
    if (CanManage()) return ManagedPython();
    return PythonFromChannel();
  }

  Status FromInterpreter(const Interpreter& interpreter) {
    auto version = ParsePythonVersion(interpreter.version);
    uses_uv_ = !found_.uv.empty() && version && *version >= kOldestForUv;
    if (uses_uv_) {
      Add("virtual environment", Tool::kUv,
          {found_.uv, "venv", "--python", interpreter.path, places_.prefix})
          .env = UvEnvironment(places_.cache, "never");
      return {};
    }
    if (interpreter.has_venv && interpreter.has_ensurepip) {
      Add("virtual environment", Tool::kVenv, {interpreter.path, "-m", "venv", places_.prefix});
      return {};
    }
    if (interpreter.has_venv && interpreter.has_pip) {
      Add("virtual environment", Tool::kVenv,
          {interpreter.path, "-m", "venv", "--without-pip", places_.prefix});
      outer_python_ = interpreter.path;
      return {};
    }
    return NotFound(Where(AskedWhere()) + "no environment can be made with " + interpreter.path +
                    " (Python " + interpreter.version + "): it has no " +
                    (interpreter.has_venv ? "pip" : "venv module") + ", and uv could not be had")
        .WithHint("install python3-venv there (`apt-get install python3-venv`), or put uv on PATH");
  }

  std::string AskedWhere() const {
    return packages_.python_where.empty() ? packages_.file : packages_.python_where;
  }

  bool CanManage() const {
    if (found_.uv.empty() || found_.no_managed_python) return false;
    if (!constraint_.AsPep440()) return false;
    // Some version that uv can fetch must match. Otherwise asking uv only costs time.
    for (int minor = kOldestManaged.minor; minor < 30; ++minor) {
      for (int micro = 0; micro < 40; ++micro) {
        if (constraint_.Matches({3, minor, micro})) return true;
      }
    }
    return false;
  }

  Status ManagedPython() {
    std::string request = *constraint_.AsPep440();
    Environment env = UvEnvironment(places_.cache, "automatic");
    env["UV_PYTHON_INSTALL_DIR"] = places_.prefix + "/.python";
    env["UV_PYTHON_PREFERENCE"] = "only-managed";
    RecipeStep& step = Add("Python and virtual environment", Tool::kUv,
                           {found_.uv, "venv", "--allow-existing", "--python",
                            request.empty() ? "3" : request, places_.prefix});
    step.env = std::move(env);
    step.if_fails = IfFails::kNoManagedPython;
    uses_uv_ = true;
    return {};
  }

  Status WrongNamedPython() const {
    const Interpreter* named = found_.interpreters.empty() ? nullptr : &found_.interpreters[0];
    std::string text = "python" + packages_.python + " is asked for, but ";
    text += named ? named->path + " is Python " + named->version
                  : "the interpreter that pythonLocation names could not be asked for its version";
    return Invalid(Where(AskedWhere()) + text)
        .WithHint("name an interpreter of that version in pythonLocation, or change the line");
  }

  Status NoPython() const {
    std::string text =
        packages_.python.empty()
            ? "there is no Python 3.5 or later here to make the environment with"
            : "python" + packages_.python + " is not here, and it could not be fetched";
    std::string have;
    for (const Interpreter& interpreter : found_.interpreters) {
      have += (have.empty() ? "; here: " : ", ") + interpreter.version;
    }
    return NotFound(Where(AskedWhere()) + text + have)
        .WithHint(
            "ask for a Python that is there (`tenon config upgrade` offers lines that work "
            "today), or name a base image that has this one");
  }

  Status PythonFromChannel() {
    if (found_.no_channel || (found_.conda_tool.empty() && found_.no_rattler)) return NoPython();
    return Conda();
  }

  // --- conda packages

  std::vector<std::string> CondaSpecs() const {
    std::vector<std::string> specs;
    std::string python = "python";
    for (char c : packages_.python) {
      if (c != ' ') python += c;
    }
    specs.push_back(python);
    for (const run::Package& package : packages_.conda) {
      specs.emplace_back(Trim(package.text));
    }
    // uv installs into a prefix from outside. Without uv, the prefix must contain pip.
    bool has_pip =
        std::any_of(packages_.conda.begin(), packages_.conda.end(),
                    [](const auto& package) { return CondaName(package.text) == "pip"; });
    if (found_.uv.empty() && !packages_.pip.empty() && !has_pip) specs.emplace_back("pip");
    return specs;
  }

  Status Conda() {
    if (found_.no_channel) return Unavailable("no conda channel could be reached");
    if (!found_.conda_tool.empty()) {
      CondaTool();
    } else if (!found_.rattler_python.empty()) {
      Rattler();
    } else if (!found_.no_rattler) {
      recipe_ = {};
      recipe_.wants_rattler = true;
      return {};
    } else {
      return NoCondaTool();
    }
    if (places_.final_prefix.empty()) Pip();
    return {};
  }

  Status NoCondaTool() const {
    const std::string& where = packages_.conda.empty() ? packages_.file : packages_.conda[0].where;
    return NotFound(Where(where) +
                    "conda packages are asked for, and there is no micromamba, "
                    "mamba or conda here, nor a Python of 3.10 or later to run py-rattler with")
        .WithHint("put micromamba on PATH, or move the packages to the pip block");
  }

  void CondaTool() {
    std::vector<std::string> argv = {found_.conda_tool, "create",       "--yes",
                                     "--prefix",        places_.prefix, "--override-channels"};
    for (const std::string& channel : Channels(packages_)) {
      argv.insert(argv.end(), {"--channel", channel});
    }
    for (std::string& spec : CondaSpecs()) argv.push_back(std::move(spec));
    RecipeStep& step = Add("conda packages", Tool::kConda, std::move(argv));
    step.env = {{"CONDA_PKGS_DIRS", places_.cache + "/conda"},
                {"MAMBA_ROOT_PREFIX", places_.cache + "/mamba"},
                {"CONDA_ALWAYS_COPY", "true"},
                {"MAMBA_ALWAYS_COPY", "true"},
                {"MAMBA_NO_BANNER", "1"}};
    step.if_fails = IfFails::kMayBeNoChannel;
  }

  void Rattler() {
    json::Array channels, specs;
    for (const std::string& channel : Channels(packages_)) channels.emplace_back(channel);
    for (const std::string& spec : CondaSpecs()) specs.emplace_back(json::EncodeBytes(spec));
    json::Object order;
    order["channels"] = std::move(channels);
    order["specs"] = std::move(specs);
    order["prefix"] = json::EncodeBytes(places_.prefix);
    order["alternative_prefix"] = json::EncodeBytes(Final());
    order["cache"] = json::EncodeBytes(places_.cache + "/rattler");
    std::string order_path = places_.scratch + "/conda.json";
    RecipeStep& step = Add("conda packages", Tool::kRattler,
                           {found_.rattler_python, "-I", found_.rattler_script, order_path});
    step.files.emplace_back(order_path, json::Print(order));
    step.if_fails = IfFails::kMayBeNoChannel;
  }

  void Staged() {
    Add("conda packages", Tool::kCopy, {});
    Pip();
  }

  // --- pip lines

  std::string RequirementLine(const run::Package& package) const {
    std::string_view text = Trim(package.text);
    bool path =
        text.starts_with("./") || text.starts_with("../") ||
        (text.find('/') != std::string_view::npos && text.find("://") == std::string::npos &&
         text.find('@') == std::string_view::npos && !text.starts_with("/") &&
         !text.starts_with("-"));
    if (text.ends_with(".whl") && text.find("://") == std::string_view::npos &&
        !text.starts_with("/") && text.find('@') == std::string_view::npos) {
      path = true;
    }
    if (!path) return std::string(text);
    if (text.starts_with("./")) text.remove_prefix(2);
    return places_.project + "/" + std::string(text);
  }

  // uv reads most option lines from the file, but wants these on the command line.
  void UvOptions(std::vector<std::string>& argv, std::string& lines) const {
    for (const run::Package& option : packages_.pip_options) {
      std::string_view text = Trim(option.text);
      std::string_view word = text.substr(0, text.find_first_of(" ="));
      std::string value(Trim(text.substr(std::min(word.size() + 1, text.size()))));
      if (word == "--trusted-host") {
        argv.insert(argv.end(), {"--allow-insecure-host", value});
      } else if (word == "--pre") {
        argv.insert(argv.end(), {"--prerelease", "allow"});
      } else if (word == "--prefer-binary" || word == "--use-feature" || word == "--upgrade" ||
                 word == "-U") {
        continue;  // nothing uv knows; it changes no result in a fresh environment
      } else {
        lines += OptionLine(text) + "\n";
      }
    }
  }

  // Puts the project's folder before the path of a wheel folder or a constraints file in the
  // project: the tool runs elsewhere.
  std::string OptionLine(std::string_view text) const {
    for (std::string_view word : {"--find-links", "-f", "--constraint", "-c"}) {
      if (!text.starts_with(word)) continue;
      std::string_view value = text.substr(word.size());
      if (value.empty() || (value[0] != ' ' && value[0] != '=')) continue;
      value = Trim(value.substr(1));
      if (value.starts_with('/') || value.find("://") != std::string_view::npos) break;
      if (value.starts_with("./")) value.remove_prefix(2);
      return std::string(word) + " " + places_.project + "/" + std::string(value);
    }
    return std::string(text);
  }

  void Pip() {
    if (recipe_.pip.empty()) return;
    std::string items;
    for (const run::Package& package : recipe_.pip) items += RequirementLine(package) + "\n";
    bool conda_prefix = !recipe_.steps.empty() && recipe_.steps[0].name == "conda packages";
    if (conda_prefix) uses_uv_ = !found_.uv.empty() && UvTakesCondaPython();
    std::string path = places_.scratch + "/requirements.txt";
    if (uses_uv_) {
      std::string lines;
      std::vector<std::string> argv = {found_.uv,      "pip", "install", "--python",
                                       recipe_.python, "-r",  path};
      UvOptions(argv, lines);
      RecipeStep& step = Add("pip packages", Tool::kUv, std::move(argv));
      step.env = UvEnvironment(places_.cache, "never");
      // pip takes the best version of all indexes, and these files were written for pip.
      step.env["UV_INDEX_STRATEGY"] = "unsafe-best-match";
      step.files.emplace_back(path, lines + items);
      return;
    }
    std::string lines;
    for (const run::Package& option : packages_.pip_options) {
      lines += OptionLine(Trim(option.text)) + "\n";
    }
    std::vector<std::string> argv = {recipe_.python, "-m", "pip"};
    if (!outer_python_.empty()) argv = {outer_python_, "-m", "pip", "--python", recipe_.python};
    argv.insert(argv.end(), {"install", "--disable-pip-version-check", "--no-input", "-r", path});
    RecipeStep& step = Add("pip packages", Tool::kPip, std::move(argv));
    step.env = {{"PIP_CACHE_DIR", places_.cache + "/pip"}};
    step.files.emplace_back(path, lines + items);
  }

  // Installs pip and setuptools. A Python of conda has them, and older packages import them without
  // asking for them. Uses the index and options of the step before. An index that lacks them is no
  // reason to stop.
  void PipItself() {
    std::vector<std::string> argv = recipe_.steps.back().argv;
    Environment env = recipe_.steps.back().env;
    std::string path = places_.scratch + "/pip.txt", lines;
    std::vector<std::string> ignored;
    std::replace(argv.begin(), argv.end(), places_.scratch + "/requirements.txt", path);
    UvOptions(ignored, lines);
    RecipeStep& step = Add("pip itself", Tool::kUv, std::move(argv));
    step.env = std::move(env);
    step.files.emplace_back(path, lines + "pip\n" + kLastWithPkgResources + "\n");
    step.if_fails = IfFails::kGoOn;
  }

  bool UvTakesCondaPython() const {
    for (int minor = kOldestForUv.minor; minor < 40; ++minor) {
      for (int micro = 0; micro < 40; ++micro) {
        if (constraint_.Matches({3, minor, micro})) return true;
      }
    }
    return false;
  }

  // --- everything from PyPI

  Status Pypi() {
    TENON_TRY_VOID(CondaFromPypi());
    TENON_TRY_VOID(VirtualEnvironment());
    // If Python came from a channel, the recipe has its pip lines already, or waits for py-rattler.
    bool from_channel = !recipe_.steps.empty() && recipe_.steps[0].name == "conda packages";
    if (from_channel || recipe_.wants_rattler) return {};
    Pip();
    if (uses_uv_ && packages_.format == "conda" && !recipe_.pip.empty()) PipItself();
    return {};
  }

  Status CondaFromPypi() {
    std::vector<std::string> taken;
    std::vector<run::Package> items;
    std::optional<Error> refused;
    for (const run::Package& package : packages_.conda) {
      if (CondaName(package.text) == "pip") continue;
      auto requirement = PypiRequirement(package);
      if (!requirement.ok() && refused) {
        refused->message += "\n" + Where(package.where) + package.text + ": the same";
        continue;
      }
      if (!requirement.ok()) {
        refused = CannotStandIn(package, requirement.error().message);
        continue;
      }
      taken.push_back(*requirement);
      if (AskedOfPip(CondaName(*requirement))) continue;
      items.push_back({*requirement, NormaliseName(CondaName(*requirement)), package.where});
    }
    if (refused) return std::move(*refused);
    if (taken.empty()) return {};
    recipe_.pip.insert(recipe_.pip.begin(), items.begin(), items.end());
    recipe_.notices.push_back(
        {run::Level::kWarning,
         "no conda channel could be reached: taken from PyPI instead: " + Join(taken, ", "),
         "versions and builds may differ from the channel's"});
    return {};
  }

  static Error CannotStandIn(const run::Package& package, const std::string& why) {
    const std::string name = CondaName(package.text);
    return NotFound(
               Where(package.where) + package.text +
               " is a conda package, no channel could be reached, and PyPI can't stand in: " + why)
        .WithHint(
            "see that this machine reaches a conda channel (HTTPS_PROXY, SSL_CERT_FILE); or, if "
            "you know its project's name on PyPI, write that below `- pip:`; or name a base image "
            "that has " +
            name);
  }

  // Whether the pip part has this package too. Then the pip line wins: with conda, pip would have
  // installed it over the conda package.
  bool AskedOfPip(const std::string& name) const {
    std::string normal = NormaliseName(name);
    return std::any_of(packages_.pip.begin(), packages_.pip.end(),
                       [&](const auto& package) { return NormaliseName(package.name) == normal; });
  }

  // --- uv's lock file

  Status Lock() {
    if (found_.uv.empty()) {
      return NotFound(Where(packages_.file) + "a uv.lock needs uv, and it could not be had here")
          .WithHint("put uv on PATH of that machine");
    }
    const Interpreter* interpreter = ChoosePython(found_.interpreters, constraint_);
    if (!interpreter && found_.python_is_named) return WrongNamedPython();
    if (!interpreter && !CanManage()) return NoPython();
    std::string folder = DirName(packages_.file);
    std::string project = places_.scratch + "/project";
    std::vector<std::string> argv = {found_.uv,
                                     "sync",
                                     "--frozen",
                                     "--no-install-project",
                                     "--no-dev",
                                     "--project",
                                     folder == "." ? project : project + "/" + folder};
    std::string request = interpreter ? interpreter->path : *constraint_.AsPep440();
    argv.insert(argv.end(), {"--python", request.empty() ? "3" : request});
    RecipeStep& step = Add("locked packages", Tool::kUv, std::move(argv));
    step.env = UvEnvironment(places_.cache, interpreter ? "never" : "automatic");
    step.env["UV_PROJECT_ENVIRONMENT"] = places_.prefix;
    if (!interpreter) {
      step.env["UV_PYTHON_INSTALL_DIR"] = places_.prefix + "/.python";
      step.if_fails = IfFails::kNoManagedPython;
    }
    for (const run::PackageFile& file : packages_.files) {
      step.copies.emplace_back(places_.project + "/" + file.path, project + "/" + file.path);
    }
    return {};
  }

  const run::Packages& packages_;
  const Found& found_;
  const Places& places_;
  PythonConstraint constraint_;
  Recipe recipe_;
  bool uses_uv_ = false;
  std::string outer_python_;  // its pip installs into an environment that has no pip
};

}  // namespace

std::string Where(const std::string& where) { return where.empty() ? "" : where + ": "; }

std::vector<std::string> Channels(const run::Packages& packages) {
  std::vector<std::string> channels;
  for (const std::string& channel : packages.channels) {
    if (channel == "nodefaults") continue;
    if (channel == "defaults") {
      channels.insert(channels.end(),
                      {"https://repo.anaconda.com/pkgs/main", "https://repo.anaconda.com/pkgs/r"});
    } else {
      channels.push_back(channel);
    }
  }
  if (channels.empty()) channels.emplace_back("conda-forge");
  return channels;
}

Result<Recipe> MakeRecipe(const run::Packages& packages, const Found& found, const Places& places) {
  return RecipeMaker(packages, found, places).Make();
}

Result<Recipe> MakeCondaRecipe(const run::Packages& packages, const Found& found,
                               const Places& places) {
  return RecipeMaker(packages, found, places).MakeConda();
}

}  // namespace tenon::environment
