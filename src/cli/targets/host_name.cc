// SPDX-License-Identifier: Apache-2.0
#include "cli/targets/host_name.h"

#include <algorithm>
#include <map>

#include "base/clock.h"
#include "base/file.h"
#include "base/terminal.h"
#include "base/text.h"
#include "cli/projects/config_files.h"
#include "cli/targets/known_hosts.h"
#include "cli/targets/target_host.h"
#include "project/shared_folder.h"
#include "project/types.h"

namespace tenon::cli {
namespace {

using engine::HostRecord;

bool IsHere(const project::Target& target) {
  const project::TargetType* type = project::FindTargetType(target.type.value);
  return type != nullptr && type->host == project::HostKind::kHere;
}

// The target of that name in this project; nullopt if there is none.
Result<std::optional<project::Target>> TargetHere(const project::Project& project,
                                                  const std::string& word) {
  auto target = project::ReadTarget(project, word);
  if (target.ok()) return std::optional<project::Target>(std::move(*target));
  if (target.error().kind == ErrorKind::kNotFound) return std::optional<project::Target>();
  return std::move(target).error();
}

bool IsIdBeginning(const std::string& word) {
  return word.size() >= 4 && word.find_first_not_of("0123456789abcdef") == std::string::npos;
}

Result<HostRecord> FindRecorded(const run::Home& home, const std::vector<HostRecord>& hosts,
                                const std::string& word) {
  std::vector<HostRecord> found;
  std::vector<std::string> names;
  for (const HostRecord& host : hosts) {
    names.push_back(host.target);
    const bool by_id = IsIdBeginning(word) && host.id.starts_with(word);
    if (host.target == word || by_id) found.push_back(host);
  }
  if (found.size() > 1) {
    std::erase_if(found, [&](const HostRecord& host) {
      return host.target == word && IsLeftBehind(home, host);
    });
  }
  if (found.size() == 1) return found.front();
  if (!found.empty()) {
    std::vector<std::string> ids;
    for (const HostRecord& host : found) {
      ids.push_back(host.id.substr(0, kHostDigits) + " (" + OneLine(ProjectOf(host)) + ", " +
                    OneLine(host.address) + ")");
    }
    return Invalid("several machines are called `" + OneLine(word) + "`: " + Join(ids, ", "))
        .WithHint("name one by the beginning of its id, or be in its project");
  }
  const auto near = DidYouMean(word, names);
  return NotFound("no machine is called `" + OneLine(word) + "`")
      .WithHint(near            ? "did you mean `" + *near + "`?"
                : names.empty() ? "`tenon computetarget attach` makes one known"
                                : "`tenon host list` shows those that are known");
}

}  // namespace

std::string ProjectOf(const HostRecord& host) { return std::string(BaseName(host.project_root)); }

std::string AgoWords(int64_t us, int64_t now_us) {
  if (us <= 0) return "never";
  return now_us - us < 1'000'000 ? "now" : HumanDuration(now_us - us) + " ago";
}

std::string GpuWords(const HostRecord& host) {
  std::map<std::string, int> counts;
  const json::Array* gpus = json::GetArray(host.facts, "gpus");
  for (const json::Value& value : gpus != nullptr ? *gpus : json::Array()) {
    if (const json::Object* gpu = value.if_object()) {
      ++counts[json::DecodeBytes(json::GetString(*gpu, "name"))];
    }
  }
  std::vector<std::string> words;
  for (const auto& [name, count] : counts) {
    words.push_back((count > 1 ? std::to_string(count) + " × " : "") + OneLine(name));
  }
  return Join(words, ", ");
}

json::Array BusyJson(const std::vector<std::string>& busy) {
  json::Array array;
  for (const std::string& one : busy) array.emplace_back(json::EncodeBytes(one));
  return array;
}

Result<HostRecord> FindHost(Session& session, const std::string& word) {
  TENON_TRY(engine::Context * context, session.Context());
  TENON_TRY(const auto hosts, KnownHosts(context->home));
  TENON_TRY(const project::Project project, OpenFiles(session));
  TENON_TRY(const auto target, TargetHere(project, word));
  if (target) {
    if (!IsHere(*target)) return KnownHostForTarget(session, project, *target);
    // The name of a local target, like `docker`, may also be a machine of another project.
    auto recorded = FindRecorded(context->home, hosts, word);
    if (recorded.ok()) return recorded;
    return Invalid("target `" + OneLine(word) + "` is this machine")
        .WithHint("this command is about machines that are reached over SSH");
  }
  return FindRecorded(context->home, hosts, word);
}

Result<HostRecord> FindRecordedHost(Session& session, const std::string& word) {
  TENON_TRY(engine::Context * context, session.Context());
  TENON_TRY(const auto hosts, KnownHosts(context->home));
  return FindRecorded(context->home, hosts, word);
}

Result<std::string> HostIdNamed(Session& session, const std::string& word) {
  if (word.empty()) return std::string();
  TENON_TRY(const project::Project project, OpenFiles(session));
  TENON_TRY(const auto target, TargetHere(project, word));
  if (target && IsHere(*target)) return std::string();
  TENON_TRY(const HostRecord host, FindHost(session, word));
  return host.id;
}

Result<engine::Machine*> MachineNamed(Session& session, const std::string& word) {
  TENON_TRY(const HostRecord host, FindHost(session, word));
  TENON_TRY(engine::Context * context, session.Context());
  return context->At(host.id);
}

Result<TargetFolder> SharedFolderOf(Session& session, const std::string& name) {
  TENON_TRY(const std::string cwd, CurrentFolder());
  TENON_TRY(const project::Project project, project::OpenProject(cwd, GivenProject(session)));
  TENON_TRY(const project::Target target, project::ReadTarget(project, name));
  TargetFolder folder;
  folder.target = name;
  folder.shared = project::SharedFolder(project, target);
  if (folder.shared.empty()) {
    return Invalid("target `" + OneLine(name) + "` has no shared folder for data")
        .WithHint("`tenon config set nativeSharedDirectory '~/.azureml/share/' --target " +
                  ShellQuote(name) + "` gives it one");
  }
  TENON_TRY(engine::Context * context, session.Context());
  std::string host_id;
  if (!IsHere(target)) {
    TENON_TRY(const HostRecord host, KnownHostForTarget(session, project, target));
    host_id = host.id;
  }
  TENON_TRY(folder.machine, context->At(host_id));
  return folder;
}

}  // namespace tenon::cli
