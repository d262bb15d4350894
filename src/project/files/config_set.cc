// SPDX-License-Identifier: Apache-2.0
#include "project/files/config_set.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "project/files/config_file.h"
#include "project/files/container_keys.h"
#include "project/files/host_keys.h"
#include "project/files/run_configuration.h"
#include "project/files/target.h"
#include "project/types.h"
#include "yaml/edit.h"

namespace tenon::project {
namespace {

using yaml::Document;
using yaml::Node;

const Key* FindKey(std::span<const Key> keys, std::string_view name) {
  for (const Key& key : keys) {
    if (key.name == name) return &key;
  }
  return nullptr;
}

// Splits at the first dot only ("EnvironmentVariables.A.B" is the member "A.B"), because names of
// variables may contain dots.
yaml::Path PathOf(std::string_view key) {
  const size_t dot = key.find('.');
  if (dot == std::string_view::npos) return {std::string(key)};
  return {std::string(key.substr(0, dot)), std::string(key.substr(dot + 1))};
}

Error NoSuchKey(const std::string& key, bool target_only) {
  std::vector<std::string> names;
  if (!target_only) {
    for (const Key& known : RunConfigurationKeys()) names.emplace_back(known.name);
  }
  for (const Key& known : TargetKeys()) names.emplace_back(known.name);
  Error error = Invalid("there is no key `" + ForTerminal(key) + "`" +
                        (target_only ? " in the file of a target" : ""));
  if (const auto near = DidYouMean(PathOf(key).front(), names)) {
    error.hint = "did you mean `" + *near + "`?";
  } else {
    std::sort(names.begin(), names.end());
    error.hint = "keys are " + Join(names, ", ");
  }
  return error;
}

Result<std::string> OneOf(const std::string& key, const std::string& value,
                          const std::vector<std::string>& words) {
  if (std::find(words.begin(), words.end(), value) != words.end()) return value;
  const auto near = DidYouMean(value, words);
  return Invalid(key + ": expected " + Join(words, ", ") + "; found `" + ForTerminal(value) + "`")
      .WithHint(near ? "did you mean `" + *near + "`?" : "");
}

Status CheckTargetName(const Project& project, const std::string& value) {
  std::vector<std::string> names;
  for (const TargetEntry& entry : ListTargets(project)) names.push_back(entry.name);
  return OneOf("Target", value, names).ok()
             ? Status()
             : Status(NotFound("Target: there is no target `" + ForTerminal(value) + "`")
                          .WithHint("there are: " + Join(names, ", ")));
}

// Converts the text of the command line to a value of the key's type.
Result<yaml::NewValue> ValueFor(const Project& project, const Key& key, const yaml::Path& path,
                                const std::string& value) {
  const std::string name(key.name);
  const bool member = path.size() > 1;
  if (key.expected == Expected::kBool) {
    Result<Document> word = Document::Parse("value", value);
    const std::optional<bool> read = word.ok() ? word->root().AsBool() : std::nullopt;
    if (!read)
      return Invalid(name + ": expected true or false, found `" + ForTerminal(value) + "`");
    return yaml::NewValue::Bool(*read);
  }
  if ((key.expected == Expected::kList || key.expected == Expected::kMap) && !member) {
    const bool list = key.expected == Expected::kList;
    return Invalid(name + " is " + (list ? "a list" : "a mapping") + ", not one value")
        .WithHint("set one of its entries: `" + name + (list ? ".0" : ".NAME") + "`");
  }
  if (member && key.name == "EnvironmentVariables" &&
      (path[1].empty() || path[1].find('=') != std::string::npos)) {
    return Invalid("`" + ForTerminal(path[1]) + "` cannot be the name of a variable");
  }
  if (!IsUtf8(value) || value.find('\0') != std::string::npos) {
    return Invalid(name + ": the value is not UTF-8 text");
  }
  if (value == "null" && !member && name != "type" && name != "Target") {
    return yaml::NewValue::Null();
  }
  if (name == "type") TENON_TRY_VOID(OneOf(name, value, TargetTypeNames()));
  if (name == "Framework") TENON_TRY_VOID(OneOf(name, value, {"Python", "PySpark"}));
  if (name == "yarnDeployMode") TENON_TRY_VOID(OneOf(name, value, {"cluster", "client"}));
  if (name == "Target") TENON_TRY_VOID(CheckTargetName(project, value));
  TENON_TRY_VOID(CheckContainerKey(name, value));
  TENON_TRY_VOID(CheckHostKey(name, member ? path[1] : "", value));
  return yaml::NewValue::Text(value);
}

std::optional<std::string> Shown(const Node* node, const std::string& key) {
  if (node == nullptr) return std::nullopt;
  if (key == "password") {
    return "(" + std::string(PasswordFormName(PasswordFormOf(node))) + ")";
  }
  switch (node->kind) {
    case yaml::Kind::kNull:
      return "null";
    case yaml::Kind::kList:
    case yaml::Kind::kMap:
      return std::string(yaml::KindName(node->kind));
    default:
      return node->text;
  }
}

// Sets an item of a list: an existing one or the next one. Makes the list for the first item.
Result<std::string> SetItem(const Document& document, const yaml::Path& path,
                            const yaml::NewValue& value) {
  const Node* list = FindPath(document, {path.front()});
  const bool none = list == nullptr || list->kind == yaml::Kind::kNull;
  const size_t count = none ? 0 : list->children.size();
  size_t item = 0;
  const char* end = path[1].data() + path[1].size();
  const auto read = std::from_chars(path[1].data(), end, item);
  if (read.ec != std::errc() || read.ptr != end || item > count) {
    return Invalid(path.front() + " is a list of " + Count(count, "entry", "entries") + "; `" +
                   ForTerminal(path[1]) + "` is none of them")
        .WithHint("`" + path.front() + "." + std::to_string(count) + "` adds one");
  }
  if (none)
    return SetSource(document, {path.front()}, "[" + json::Print(json::Value(value.text)) + "]");
  return item == count ? Append(document, {path.front()}, value) : Set(document, path, value);
}

// Changes one key in `document`.
Result<Change> Apply(const Project& project, std::span<const Key> keys, const std::string& key,
                     const std::optional<std::string>& value, Document* document) {
  const yaml::Path path = PathOf(key);
  const Key* known = FindKey(keys, path.front());
  if (known == nullptr) return NoSuchKey(key, true);
  const bool nested = known->expected == Expected::kList || known->expected == Expected::kMap;
  if (path.size() > 1 && !nested) {
    return Invalid("`" + path.front() + "` is one value and has no members");
  }
  Change change;
  change.key = key;
  change.file = document->file_name();
  const Node* old = FindPath(*document, path);
  change.before = Shown(old, key);
  std::string bytes;
  if (!value) {
    if (old == nullptr) {
      return NotFound(document->file_name() + ": `" + ForTerminal(key) + "` is not there");
    }
    change.line = old->key_position.line;
    if (path.size() > 1 && known->expected == Expected::kList) change.line = old->position.line;
    TENON_TRY(bytes, Remove(*document, path));
  } else {
    if (key == "password") {
      return Invalid("a password is never written into a file of the project")
          .WithHint("`tenon secrets set TARGET` stores it, encrypted");
    }
    TENON_TRY(const yaml::NewValue typed, ValueFor(project, *known, path, *value));
    if (path.size() > 1 && known->expected == Expected::kList) {
      TENON_TRY(bytes, SetItem(*document, path, typed));
    } else {
      TENON_TRY(bytes, Set(*document, path, typed));
    }
  }
  change.changed = bytes != document->bytes();
  TENON_TRY(*document, Document::Parse(document->file_name(), std::move(bytes)));
  if (const Node* now = FindPath(*document, path)) {
    change.after = Shown(now, key);
    change.line = now->position.line;
  }
  return change;
}

Result<std::string> FileOfTarget(const Project& project, const std::string& name) {
  if (auto file = ConfigFile(project, name, ".compute")) return *file;
  if (IsBuiltInTarget(name)) {
    return NotFound("the target `" + name + "` is built in and has no file to write to")
        .WithHint("make one first: `tenon computetarget attach " + name + " -n " + name + "`");
  }
  return NoSuchTarget(project, name);
}

Result<std::string> FileOfConfiguration(const Project& project, const std::string& name) {
  if (auto file = RunConfigurationFile(project, name)) return *file;
  std::vector<std::string> names;
  for (const auto& entry : ListRunConfigurations(project)) names.push_back(entry.name);
  const auto near = DidYouMean(name, names);
  Error error = NotFound("there is no run configuration `" + ForTerminal(name) + "`");
  if (near) {
    error.hint = "did you mean `-c " + *near + "`?";
  } else if (ConfigFile(project, name, ".compute")) {
    error.hint = "it is a target; write `--target " + name + "`";
  } else {
    error.hint = "make it with `tenon runconfiguration create -n " + name + " -t TARGET`";
  }
  return error;
}

// The target that a run configuration names. Reads only this key, so that a mistake elsewhere in
// the file does not prevent its repair.
Result<std::string> TargetOf(const Project& project, const std::string& configuration) {
  if (!RunConfigurationFile(project, configuration) &&
      ConfigFile(project, configuration, ".compute")) {
    return configuration;
  }
  TENON_TRY(const std::string file, FileOfConfiguration(project, configuration));
  TENON_TRY(const Document document, Document::Load(JoinPath(project.root, file), file));
  const Node* target = document.root().Find("Target");
  if (target == nullptr || target->text.empty()) {
    return Invalid(file + ": `Target` is missing, so it is not known which target is meant")
        .WithHint("`tenon config set Target local -c " + configuration +
                  "`, or name one with "
                  "--target");
  }
  return target->text;
}

Result<std::vector<Change>> ChangeFile(
    const Project& project, std::span<const Key> keys, const std::string& file,
    const std::vector<std::pair<std::string, std::optional<std::string>>>& values) {
  TENON_TRY(Document document, Document::Load(JoinPath(project.root, file), file));
  const std::string before = document.bytes();
  std::vector<Change> changes;
  for (const auto& [key, value] : values) {
    TENON_TRY(Change change, Apply(project, keys, key, value, &document));
    changes.push_back(std::move(change));
  }
  if (document.bytes() != before) {
    TENON_TRY_VOID(WriteConfigFile(project, file, before, document.bytes()));
  }
  return changes;
}

}  // namespace

Result<Change> SetKey(const Project& project, const SetRequest& request) {
  const std::string first = PathOf(request.key).front();
  const bool of_target = FindKey(TargetKeys(), first) != nullptr;
  const bool of_configuration = FindKey(RunConfigurationKeys(), first) != nullptr;
  if (!of_target && !of_configuration) return NoSuchKey(request.key, false);
  std::string file;
  if (of_target) {
    std::string target = request.target.value_or("");
    if (target.empty()) {
      TENON_TRY(target, TargetOf(project, request.run_configuration.value_or("local")));
    }
    TENON_TRY(file, FileOfTarget(project, target));
  } else {
    if (request.target && !request.run_configuration) {
      return Invalid("`" + first + "` is a key of a run configuration, not of a target")
          .WithHint("name the run configuration with -c");
    }
    TENON_TRY(file, FileOfConfiguration(project, request.run_configuration.value_or("local")));
  }
  TENON_TRY(std::vector<Change> changes,
            ChangeFile(project, of_target ? TargetKeys() : RunConfigurationKeys(), file,
                       {{request.key, request.value}}));
  return std::move(changes.front());
}

Result<std::vector<Change>> UpdateTarget(
    const Project& project, const std::string& target,
    const std::vector<std::pair<std::string, std::optional<std::string>>>& values) {
  TENON_TRY(const std::string file, FileOfTarget(project, target));
  return ChangeFile(project, TargetKeys(), file, values);
}

}  // namespace tenon::project
