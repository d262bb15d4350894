// SPDX-License-Identifier: Apache-2.0
#include "engine/space/environments.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/file.h"
#include "base/text.h"
#include "engine/host/machine.h"
#include "engine/run/follow.h"

namespace tenon::engine {
namespace {

constexpr size_t kCandidatesShown = 5;
constexpr size_t kShownDigits = 12;

// Passes everything on and keeps the environment.
class Listener : public PassingReporter {
 public:
  using PassingReporter::PassingReporter;
  void OnEnvironment(const run::EnvironmentReady& ready) override {
    environment = ready;
    PassingReporter::OnEnvironment(ready);
  }
  // Drops output: what a preparation prints is not a script's.
  void OnOutput(run::Stream, std::string_view, int64_t) override {}

  std::optional<run::EnvironmentReady> environment;
};

// The name as package indexes compare it.
std::string ComparedName(std::string_view name) {
  std::string compared;
  for (const char c : ToLower(name)) {
    const bool mark = c == '-' || c == '_' || c == '.';
    if (!mark) {
      compared += c;
    } else if (!compared.ends_with('-')) {
      compared += '-';
    }
  }
  return compared;
}

// By compared name: the name as written, and its versions.
std::map<std::string, std::pair<std::string, std::string>> ByName(
    const std::vector<run::InstalledPackage>& packages) {
  std::map<std::string, std::vector<const run::InstalledPackage*>> grouped;
  for (const run::InstalledPackage& package : packages) {
    grouped[ComparedName(package.name)].push_back(&package);
  }
  std::map<std::string, std::pair<std::string, std::string>> by_name;
  for (const auto& [name, members] : grouped) {
    std::vector<std::string> versions;
    for (const run::InstalledPackage* member : members) versions.push_back(member->version);
    std::sort(versions.begin(), versions.end());
    versions.erase(std::unique(versions.begin(), versions.end()), versions.end());
    by_name[name] = {members.front()->name, Join(versions, ", ")};
  }
  return by_name;
}

}  // namespace

Result<std::vector<run::ListedEnvironment>> ListEnvironments(Context& context,
                                                             const std::string& host) {
  TENON_TRY(auto answer, RemoveEnvironments(context, {}, /*dry_run=*/false, host));
  return std::move(answer.environments);
}

Result<const run::ListedEnvironment*> FindEnvironment(
    const std::vector<run::ListedEnvironment>& environments, const std::string& name) {
  std::vector<const run::ListedEnvironment*> fitting;
  std::vector<std::string> keys;
  const std::string wanted = ToLower(name);
  for (const run::ListedEnvironment& one : environments) {
    const std::string& key = one.record.ready.key;
    if (!wanted.empty() && key.starts_with(wanted)) fitting.push_back(&one);
    keys.push_back(key.substr(0, std::max(wanted.size(), kShownDigits)));
  }
  if (fitting.size() == 1) return fitting.front();
  if (fitting.empty()) {
    Error error = NotFound("no environment has the key " + ForTerminal(name));
    if (const auto near = DidYouMean(wanted, keys)) {
      return std::move(error).WithHint("did you mean " + *near + "?");
    }
    return std::move(error).WithHint("`tenon env list` lists them");
  }
  std::vector<std::string> candidates;
  for (size_t i = 0; i < std::min(fitting.size(), kCandidatesShown); ++i) {
    candidates.push_back(
        fitting[i]->record.ready.key.substr(0, std::max(kShownDigits, wanted.size() + 4)));
  }
  return Invalid(ForTerminal(name) + " could be any of " + Join(candidates, ", ") +
                 (fitting.size() > kCandidatesShown ? ", …" : ""))
      .WithHint("give more of the key");
}

Result<run::EnvironmentsAnswer> RemoveEnvironments(Context& context, std::vector<std::string> keys,
                                                   bool dry_run, const std::string& host) {
  TENON_TRY(Machine * machine, context.At(host));
  if (!machine->MayHave(machine->home().root())) return run::EnvironmentsAnswer();
  return machine->services().Environments({std::move(keys), dry_run});
}

Result<PreparedEnvironment> PrepareEnvironment(Context& context, SubmitRequest request,
                                               const std::atomic<bool>* stop, Reporter& reporter) {
  request.spec.only_prepare = true;
  request.spec.prepare_environment = true;
  request.spec.tracked = false;
  request.spec.script.clear();
  request.spec.arguments.clear();
  request.spec.parameters.clear();
  Listener listener(reporter);
  PreparedEnvironment prepared;
  TENON_TRY(prepared.run_id, Submit(context, std::move(request), listener));
  FollowOptions options;
  options.stop = stop;
  TENON_TRY(Followed followed, Follow(context, prepared.run_id, options, listener));
  prepared.end = std::move(followed.end);
  if (prepared.end && prepared.end->state == run::State::kCompleted) {
    prepared.environment = std::move(listener.environment);
  }
  return prepared;
}

std::vector<PackageChange> DiffPackages(const std::vector<run::InstalledPackage>& before,
                                        const std::vector<run::InstalledPackage>& after) {
  const auto old_ones = ByName(before), new_ones = ByName(after);
  std::vector<PackageChange> changes;
  for (const auto& [name, was] : old_ones) {
    const auto now = new_ones.find(name);
    if (now == new_ones.end()) {
      changes.push_back({was.first, was.second, ""});
    } else if (now->second.second != was.second) {
      changes.push_back({now->second.first, was.second, now->second.second});
    }
  }
  for (const auto& [name, now] : new_ones) {
    if (!old_ones.contains(name)) changes.push_back({now.first, "", now.second});
  }
  std::sort(changes.begin(), changes.end(),
            [](const auto& a, const auto& b) { return ToLower(a.name) < ToLower(b.name); });
  return changes;
}

}  // namespace tenon::engine
