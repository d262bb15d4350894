// SPDX-License-Identifier: Apache-2.0
#include "run/spec.h"

#include <algorithm>
#include <charconv>

#include "run/described.h"
#include "run/layout.h"

namespace tenon::run {
namespace {

// In the order of ExecutorKind.
constexpr ExecutorTraits kExecutors[] = {
    {"process", /*host_python=*/true, /*in_engine=*/false, /*own_loopback=*/false},
    {"container", /*host_python=*/false, /*in_engine=*/true, /*own_loopback=*/true},
    {"spark", /*host_python=*/false, /*in_engine=*/false, /*own_loopback=*/false},
};
static_assert(std::size(kExecutors) == LastOf(ExecutorKind{}) + 1);

// Checks the members that every run needs.
void RequireEssentials(Members& members, const RunSpec& spec) {
  if (spec.key.empty()) members.Fail("key", "the run's UUID");
  if (!IsValidRunId(spec.id)) members.Fail("id", "a run id that can be a file name");
  if (spec.script.empty() && !spec.only_prepare) members.Fail("script", "the script's path");
  if (spec.tree.empty()) members.Fail("tree", "the root hash of the project's files");
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

const ExecutorTraits& TraitsOf(ExecutorKind kind) { return kExecutors[static_cast<size_t>(kind)]; }

json::Value ToJsonValue(ExecutorKind kind) { return json::Value(TraitsOf(kind).name); }

void ReadValue(Members& in, std::string_view key, ExecutorKind& out) {
  std::string name;
  in.Read(key, name);
  if (!in.Has(key) || in.failed()) return;
  for (size_t i = 0; i < std::size(kExecutors); ++i) {
    if (kExecutors[i].name == name) {
      out = static_cast<ExecutorKind>(i);
      return;
    }
  }
  in.Fail(key, "one of process, container, spark");
}

json::Value ToJsonValue(const RunSpec& spec) { return spec.ToJson(); }

void ReadValue(Members& in, std::string_view key, RunSpec& out) {
  const json::Object* object = in.ReadObject(key);
  if (object == nullptr) return;
  Result<RunSpec> read = RunSpec::FromRecord(*object);
  if (!read.ok()) return in.Fail(key, "a run specification (" + read.error().message + ")");
  out = std::move(*read);
}

json::Object RunSpec::ToJson() const {
  json::Object o = ToJsonObject(*this);
  // Most runs that use the Python of the user have neither. Leaving them out keeps the record
  // short.
  if (packages.file.empty() && packages.empty()) o.erase("packages");
  if (executor != ExecutorKind::kContainer) o.erase("container");
  return o;
}

Result<RunSpec> RunSpec::FromRecord(const json::Object& object) {
  Result<RunSpec> spec = FromJsonObject<RunSpec>(object);
  if (!spec.ok()) return std::move(spec).error().Wrap("run specification");
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
  std::string_view name;  // name of the flag that takes the next words
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
