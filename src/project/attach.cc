// SPDX-License-Identifier: Apache-2.0
#include "project/attach.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <optional>
#include <utility>

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "project/files/config_file.h"
#include "project/files/host_keys.h"
#include "project/files/target.h"
#include "project/types.h"
#include "yaml/document.h"
#include "yaml/edit.h"

namespace tenon::project {
namespace {

constexpr std::string_view kShare = "~/.azureml/share/";

// Sorted by key, because files are written in this order.
using Lines = std::map<std::string, yaml::NewValue>;

std::string ToFile(const Lines& lines) {
  Result<yaml::Document> document = yaml::Document::Parse("new", "");
  for (const auto& [key, value] : lines) {
    TENON_CHECK(document.ok());
    Result<std::string> bytes = Set(*document, {key}, value);
    TENON_CHECK(bytes.ok());
    document = yaml::Document::Parse("new", std::move(bytes).value());
  }
  TENON_CHECK(document.ok());
  return document->bytes();
}

std::string ComputeFile(const AttachRequest& request, const TargetType& type) {
  using yaml::NewValue;
  Lines lines;
  const std::string share =
      request.shared_directory.empty() ? std::string(kShare) : request.shared_directory;
  lines["type"] = NewValue::Text(std::string(type.name));
  lines["userManagedEnvironment"] = NewValue::Bool(type.user_python);
  if (type.host == HostKind::kSsh) {
    lines["address"] = NewValue::Text(request.address);
    lines["username"] = NewValue::Text(request.username);
    if (request.port != 0) lines["port"] = NewValue::Text(std::to_string(request.port));
    if (!request.password_reference.empty()) {
      lines["password"] = NewValue::Text(request.password_reference);
    }
  }
  switch (type.executor) {
    case run::ExecutorKind::kContainer:
      lines["baseDockerImage"] = NewValue::Text(std::string(kDefaultImage));
      lines["sharedVolumes"] = NewValue::Bool(true);
      lines["nativeSharedDirectory"] = NewValue::Text(share);
      break;
    case run::ExecutorKind::kProcess:
      lines["pythonLocation"] = NewValue::Text(!request.python.empty()        ? request.python
                                               : type.host == HostKind::kHere ? "python"
                                                                              : "python3");
      lines["nativeSharedDirectory"] = NewValue::Text(share);
      break;
    case run::ExecutorKind::kSpark:
      lines["yarnDeployMode"] = NewValue::Text("cluster");
      break;
  }
  std::string bytes = ToFile(lines);
  if (request.setup.empty()) return bytes;
  // Lists are not indented, and keys stand in alphabetical order.
  std::string list = "setup:\n";
  for (const std::string& line : request.setup)
    list += "- " + json::Print(json::Value(line)) + "\n";
  size_t at = bytes.size();
  for (const auto& [key, value] : lines) {
    if (key > "setup") at = std::min(at, bytes.find("\n" + key + ":") + 1);
  }
  return bytes.insert(at, list);
}

// `target` is quoted if YAML needs it. `prepare`: the value of PrepareEnvironment.
std::string RunConfigurationBytes(const std::string& target, const std::string& framework,
                                  bool prepare) {
  const std::string bytes =
      "ArgumentVector:\n"
      "- $file\n"
      "CondaDependenciesFile: aml_config/conda_dependencies.yml\n"
      "EnvironmentVariables: null\n"
      "Framework: " +
      framework +
      "\n"
      "PrepareEnvironment: " +
      (prepare ? "true" : "false") +
      "\n"
      "SparkDependenciesFile: aml_config/spark_dependencies.yml\n"
      "Target: local\n"
      "TrackedRun: true\n"
      "UseSampling: true\n";
  const Result<yaml::Document> document = yaml::Document::Parse("new", bytes);
  TENON_CHECK(document.ok());
  Result<std::string> named = Set(*document, {"Target"}, yaml::NewValue::Text(target));
  TENON_CHECK(named.ok());
  return std::move(named).value();
}

// Accepts the names of the documentation and of mid-2017 as well as those that attach writes.
Result<const TargetType*> TypeFor(const std::string& said) {
  const std::string name = said == "docker"           ? "localdocker"
                           : said == "virtualmachine" ? "remotedocker"
                                                      : said;
  const TargetType* type = FindTargetType(name);
  if (type != nullptr && type->launch == LaunchKind::kDirect) return type;
  if (type != nullptr) return Invalid("targets of type " + name + " cannot be attached yet");
  const std::vector<std::string> names{"local", "docker", "remotedocker", "remote", "cluster"};
  const auto near = DidYouMean(said, names);
  return Invalid("there is no type `" + ForTerminal(said) + "`")
      .WithHint(near ? "did you mean " + *near + "?" : "types are " + Join(names, ", "));
}

Result<std::string> FrameworkFor(const std::string& asked, bool python) {
  if (asked.empty()) return std::string(python ? "Python" : "PySpark");
  for (const char* name : {"Python", "PySpark"}) {
    if (ToLower(asked) == ToLower(name)) return std::string(name);
  }
  return Invalid("--framework: expected Python or PySpark, found `" + ForTerminal(asked) + "`");
}

// The present bytes of the file, nullopt when there is none. kInvalid when it exists and `force` is
// not set.
Result<std::optional<std::string>> Present(const Project& project, const std::string& file,
                                           bool force) {
  const std::string path = JoinPath(project.root, file);
  if (!Exists(path)) return std::optional<std::string>();
  if (!force) {
    return Invalid(file + ": there is such a file already")
        .WithHint("nothing was written; --force overwrites it, another name leaves it alone");
  }
  TENON_TRY(std::string bytes, ReadFile(path));
  return std::optional<std::string>(std::move(bytes));
}

// kInvalid unless `text` is one line of text; `what` is the option.
Status CheckText(const char* what, const std::string& text) {
  if (IsUtf8(text) && ForTerminal(text) == text && text.find('\n') == std::string::npos) return {};
  return Invalid(std::string(what) + ": the value is not one line of text");
}

}  // namespace

std::string PasswordReference(const std::string& target, const std::string& user,
                              const std::string& id) {
  return "AzureMlSecret=" + target + "#" + user + "#" + id;
}

bool IsFarType(const std::string& type) {
  const Result<const TargetType*> found = TypeFor(type);
  return found.ok() && (*found)->host == HostKind::kSsh;
}

namespace {

// Checked before anything is done on a machine, so that writing does not fail afterwards.
Status CheckMayWrite(const Project& project) {
  const std::string folder = JoinPath(project.root, kConfigFolder);
  const bool there = Exists(folder);
  if (there && !IsDirectory(folder)) {
    return Invalid(std::string(kConfigFolder) + " is not a folder")
        .WithHint("move it away, or be in another project");
  }
  const std::string& place = there ? folder : project.root;
  if (::access(place.c_str(), W_OK | X_OK) != 0) return FromErrno("write into " + place, errno);
  return {};
}

}  // namespace

Result<Attached> CheckAttach(const Project& project, const AttachRequest& request) {
  TENON_TRY(const TargetType* type, TypeFor(request.type));
  TENON_TRY_VOID(CheckConfigName(request.name, "target"));
  TENON_TRY_VOID(CheckText("--address", request.address));
  TENON_TRY_VOID(CheckText("--username", request.username));
  TENON_TRY_VOID(CheckText("--python", request.python));
  for (const std::string& line : request.setup) {
    TENON_TRY_VOID(CheckText("--setup", line));
    TENON_TRY_VOID(ParseSetupLine(line));
  }
  if (type->host == HostKind::kSsh) {
    if (request.address.empty()) {
      return Invalid("a target of type " + std::string(type->name) + " needs the machine's address")
          .WithHint("name it with -a: an IP address or a host name");
    }
    if (request.username.empty()) {
      return Invalid("a target of type " + std::string(type->name) + " needs a user to log in as")
          .WithHint("name it with -u");
    }
  }
  Attached out;
  out.type = type->name;
  TENON_TRY(out.framework, FrameworkFor(request.framework, type->host == HostKind::kHere));
  const std::string stem = JoinPath(kConfigFolder, request.name);
  out.files = {stem + ".compute", stem + ".runconfig"};
  TENON_TRY_VOID(Present(project, out.files[0], request.force));
  TENON_TRY_VOID(Present(project, out.files[1], request.force));
  TENON_TRY_VOID(CheckMayWrite(project));
  return out;
}

Result<Attached> Attach(const Project& project, const AttachRequest& request) {
  TENON_TRY(Attached out, CheckAttach(project, request));
  TENON_TRY(const TargetType* type, TypeFor(request.type));
  // Both files are checked before the first one is written; only the disk can fail after that.
  TENON_TRY(const auto old_compute, Present(project, out.files[0], request.force));
  TENON_TRY(const auto old_runconfig, Present(project, out.files[1], request.force));
  TENON_TRY_VOID(WriteConfigFile(project, out.files[0], old_compute, ComputeFile(request, *type)));
  Status second = WriteConfigFile(
      project, out.files[1], old_runconfig,
      RunConfigurationBytes(request.name, out.framework, type->host == HostKind::kSsh));
  if (!second.ok()) {
    // This may fail too, because the disk has just refused the second file.
    const std::string path = JoinPath(project.root, out.files[0]);
    const Status undone =
        old_compute ? WriteFileAtomically(path, *old_compute, 0644, Durability::kPowerLoss)
                    : RemoveFile(path);
    Error error = std::move(second).error();
    if (!undone.ok()) error.hint = out.files[0] + " was written and could not be taken back";
    return error;
  }
  return out;
}

Result<std::string> CreateRunConfiguration(const Project& project, const std::string& name,
                                           const std::string& target, const std::string& framework,
                                           bool force) {
  TENON_TRY_VOID(CheckConfigName(name, "run configuration"));
  std::vector<std::string> names;
  const TargetEntry* found = nullptr;
  const std::vector<TargetEntry> targets = ListTargets(project);
  for (const TargetEntry& entry : targets) {
    names.push_back(entry.name);
    if (entry.name == target) found = &entry;
  }
  if (found == nullptr) {
    const auto near = DidYouMean(target, names);
    return NotFound("there is no target `" + ForTerminal(target) + "`")
        .WithHint(near ? "did you mean `-t " + *near + "`?" : "there are: " + Join(names, ", "));
  }
  const TargetType* type = FindTargetType(found->type);
  const bool python = type == nullptr || type->executor != run::ExecutorKind::kSpark;
  TENON_TRY(const std::string word, FrameworkFor(framework, python));
  const std::string file = JoinPath(kConfigFolder, name + ".runconfig");
  if (!force && ConfigFile(project, name, ".amb")) {
    return Invalid("aml_config/" + name + ".amb: there is a run configuration of that name already")
        .WithHint("nothing was written; choose another name");
  }
  TENON_TRY(const auto old, Present(project, file, force));
  TENON_TRY_VOID(WriteConfigFile(
      project, file, old,
      RunConfigurationBytes(target, word,
                            python && type != nullptr && type->host == HostKind::kSsh)));
  return file;
}

}  // namespace tenon::project
