// SPDX-License-Identifier: Apache-2.0
#include "run/spec.h"

#include <algorithm>
#include <charconv>

#include "run/layout.h"
#include "run/members.h"

namespace tenon::run {
namespace {

constexpr std::pair<ExecutorKind, std::string_view> kExecutors[] = {
    {ExecutorKind::kProcess, "process"},
    {ExecutorKind::kContainer, "container"},
    {ExecutorKind::kSpark, "spark"},
};

std::string_view ExecutorName(ExecutorKind kind) {
  for (const auto& [value, name] : kExecutors) {
    if (value == kind) return name;
  }
  return "process";
}

void ReadExecutor(Members& members, RunSpec& spec) {
  std::string name(ExecutorName(spec.executor));
  members.Read("executor", name);
  for (const auto& [value, text] : kExecutors) {
    if (text == name) {
      spec.executor = value;
      return;
    }
  }
  members.Fail("executor", "one of process, container, spark");
}

// What no run is possible without.
void RequireEssentials(Members& members, const RunSpec& spec) {
  if (spec.key.empty()) members.Fail("key", "the run's UUID");
  if (!IsValidRunId(spec.id)) members.Fail("id", "a run id that can be a file name");
  if (spec.script.empty() && !spec.only_prepare) members.Fail("script", "the script's path");
  if (spec.tree.empty()) members.Fail("tree", "the root hash of the project's files");
}

Status ReadParts(Members& members, RunSpec& spec) {
  if (const json::Object* packages = members.ReadObject("packages")) {
    TENON_TRY(spec.packages, Packages::FromJson(*packages));
  }
  if (const json::Object* container = members.ReadObject("container")) {
    TENON_TRY(spec.container, ContainerSpec::FromJson(*container));
  }
  return members.status();
}

bool IsNumberWord(std::string_view word) {
  double value;
  auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  return error != std::errc::invalid_argument && end == word.data() + word.size();
}

bool IsFlag(std::string_view word) {
  return word.size() > 1 && word[0] == '-' && word != "--" && !IsNumberWord(word);
}

void SetParameter(Pairs& parameters, std::string_view name, std::string value) {
  if (name.empty()) return;
  auto same = [&](const auto& entry) { return entry.first == name; };
  auto old = std::find_if(parameters.begin(), parameters.end(), same);
  if (old != parameters.end()) {
    old->second = std::move(value);
  } else {
    parameters.emplace_back(name, std::move(value));
  }
}

}  // namespace

json::Object RunSpec::ToJson() const {
  json::Object o;
  o["key"] = ToJsonText(key);
  o["id"] = ToJsonText(id);
  o["number"] = number;
  o["project"] = ToJsonText(project);
  o["project_id"] = ToJsonText(project_id);
  o["user"] = ToJsonText(user);
  o["user_id"] = ToJsonText(user_id);
  o["script"] = ToJsonText(script);
  o["arguments"] = ToJsonTexts(arguments);
  o["parameters"] = ToJsonPairs(parameters);
  o["tree"] = ToJsonText(tree);
  o["kept_tree"] = ToJsonText(kept_tree);
  o["target"] = ToJsonText(target);
  o["target_type"] = ToJsonText(target_type);
  if (!host.empty()) o["host"] = ToJsonText(host);
  o["run_configuration"] = ToJsonText(run_configuration);
  o["executor"] = ExecutorName(executor);
  o["python"] = ToJsonText(python);
  o["environment"] = ToJsonPairs(environment);
  o["secret_names"] = ToJsonTexts(secret_names);
  o["shared_directory"] = ToJsonText(shared_directory);
  if (!setup.empty()) o["setup"] = ToJsonTexts(setup);
  o["tracked"] = tracked;
  o["grace_us"] = grace_us;
  o["timeout_us"] = timeout_us;
  o["keep"] = keep;
  o["keep_on_fail"] = keep_on_fail;
  if (retries > 0) o["retries"] = retries;
  o["only_prepare"] = only_prepare;
  o["managed_environment"] = managed_environment;
  o["prepare_environment"] = prepare_environment;
  o["refresh_environment"] = refresh_environment;
  // Most runs of a Python of the user's own have neither; the record stays short.
  if (!packages.file.empty() || !packages.empty()) o["packages"] = packages.ToJson();
  if (executor == ExecutorKind::kContainer) o["container"] = container.ToJson();
  o["git_commit"] = ToJsonText(git_commit);
  o["git_branch"] = ToJsonText(git_branch);
  o["git_diff_object"] = ToJsonText(git_diff_object);
  o["rerun_of"] = ToJsonText(rerun_of);
  return o;
}

Result<RunSpec> RunSpec::FromRecord(const json::Object& object) {
  RunSpec spec;
  Members members(object);
  members.Read("key", spec.key);
  members.Read("id", spec.id);
  members.Read("number", spec.number);
  members.Read("project", spec.project);
  members.Read("project_id", spec.project_id);
  members.Read("user", spec.user);
  members.Read("user_id", spec.user_id);
  members.Read("script", spec.script);
  members.Read("arguments", spec.arguments);
  members.Read("parameters", spec.parameters);
  members.Read("tree", spec.tree);
  members.Read("kept_tree", spec.kept_tree);
  members.Read("target", spec.target);
  members.Read("target_type", spec.target_type);
  members.Read("host", spec.host);
  members.Read("run_configuration", spec.run_configuration);
  ReadExecutor(members, spec);
  members.Read("python", spec.python);
  members.Read("environment", spec.environment);
  members.Read("secret_names", spec.secret_names);
  members.Read("shared_directory", spec.shared_directory);
  members.Read("setup", spec.setup);
  members.Read("tracked", spec.tracked);
  members.Read("grace_us", spec.grace_us);
  members.Read("timeout_us", spec.timeout_us);
  members.Read("keep", spec.keep);
  members.Read("keep_on_fail", spec.keep_on_fail);
  members.Read("retries", spec.retries);
  members.Read("only_prepare", spec.only_prepare);
  members.Read("managed_environment", spec.managed_environment);
  members.Read("prepare_environment", spec.prepare_environment);
  members.Read("refresh_environment", spec.refresh_environment);
  members.Read("git_commit", spec.git_commit);
  members.Read("git_branch", spec.git_branch);
  members.Read("git_diff_object", spec.git_diff_object);
  members.Read("rerun_of", spec.rerun_of);
  Status status = ReadParts(members, spec);
  if (!status.ok()) return std::move(status).error().Wrap("run specification");
  return spec;
}

Result<RunSpec> RunSpec::FromJson(const json::Object& object) {
  TENON_TRY(RunSpec spec, FromRecord(object));
  Members members(object);
  RequireEssentials(members, spec);
  Status status = members.status();
  if (!status.ok()) return std::move(status).error().Wrap("run specification");
  return spec;
}

std::vector<std::pair<std::string, std::string>> ParametersFromArguments(
    const std::vector<std::string>& arguments) {
  Pairs parameters;
  std::string_view name;  // of the flag that takes the words that follow
  std::string value;
  bool open = false;
  auto close = [&] {
    if (open) SetParameter(parameters, name, value.empty() ? "true" : std::move(value));
    open = false;
    value.clear();
  };
  for (const std::string& word : arguments) {
    if (word == "--") break;  // the rest are positionals
    if (!IsFlag(word)) {
      if (open) value += (value.empty() ? "" : " ") + word;
      continue;
    }
    close();
    std::string_view flag = word;
    flag.remove_prefix(std::min(flag.find_first_not_of('-'), flag.size()));
    size_t equals = flag.find('=');
    if (equals != std::string_view::npos) {
      SetParameter(parameters, flag.substr(0, equals), std::string(flag.substr(equals + 1)));
    } else {
      name = flag;
      open = true;
    }
  }
  close();
  return parameters;
}

}  // namespace tenon::run
