// SPDX-License-Identifier: Apache-2.0
#include "project/upgrade/upgrade.h"

#include <algorithm>
#include <set>

#include "base/file.h"
#include "base/text.h"
#include "project/dependencies/packages.h"
#include "project/files/run_configuration.h"
#include "project/files/target.h"
#include "project/types.h"
#include "project/upgrade/upgrade_match.h"

namespace tenon::project {
namespace {

// A target's file and how run configurations use it.
struct TargetUse {
  Target target;
  yaml::Document document;
  bool gpu_image = false;
  bool gpu = false;  // according to its image or nvidiaDocker
  bool spark = false;
  std::set<std::string> conda_files;
};

bool IsContainer(const Target& target) {
  const TargetType* type = FindTargetType(target.type.value);
  return type != nullptr && type->executor == run::ExecutorKind::kContainer;
}

bool IsGpuImage(std::string_view image) {
  return MatchesPattern("*gpu*", image) || MatchesPattern("nvidia/cuda*", image);
}

bool LeavesProject(std::string_view path) {
  if (path.starts_with('/')) return true;
  const std::vector<std::string> parts = Split(path, '/');
  return std::find(parts.begin(), parts.end(), "..") != parts.end();
}

int LineAt(const yaml::Document& document, size_t offset) {
  const std::string& bytes = document.bytes();
  const size_t end = std::min(offset, bytes.size());
  return 1 +
         static_cast<int>(std::count(bytes.begin(), bytes.begin() + static_cast<long>(end), '\n'));
}

class Planner {
 public:
  Planner(const Project& project, const UpgradeOptions& options)
      : project_(project), options_(options), scripts_(InspectScripts(project.root)) {}

  Result<UpgradePlan> Plan() {
    TENON_TRY_VOID(ReadConfigurations());
    ReadTargets();
    PlanFrameworks();
    PlanConda();
    PlanTargets();
    SortAndTidy();
    DropImpossible();
    return std::move(out_);
  }

 private:
  Status ReadConfigurations() {
    std::vector<std::string> names;
    std::vector<std::string> all;
    for (const RunConfigurationEntry& entry : ListRunConfigurations(project_)) {
      all.push_back(entry.name);
    }
    if (options_.run_configuration) {
      const std::string& name = *options_.run_configuration;
      if (std::find(all.begin(), all.end(), name) == all.end()) {
        const auto near = DidYouMean(name, all);
        return NotFound("there is no run configuration `" + ForTerminal(name) + "`")
            .WithHint(near          ? "did you mean `" + *near + "`?"
                      : all.empty() ? "the project has none"
                                    : "there are " + Join(all, ", "));
      }
      names = {name};
    } else {
      names = all;
    }
    for (const std::string& name : names) {
      Result<RunConfiguration> read = ReadRunConfiguration(project_, name);
      if (read.ok()) {
        configurations_.push_back(std::move(read).value());
      } else {
        Broken(RunConfigurationFile(project_, name).value_or(""), read.error());
      }
    }
    return {};
  }

  void ReadTargets() {
    std::set<std::string> names;
    for (const RunConfiguration& configuration : configurations_) {
      names.insert(configuration.target.value);
    }
    if (!options_.run_configuration) {
      for (std::string& name : NamesWithEnding(project_, ".compute")) names.insert(std::move(name));
    }
    for (const std::string& name : names) {
      const auto file = ConfigFile(project_, name, ".compute");
      if (!file) continue;  // a built-in target, or a missing one, which is no matter of upgrades
      Result<Target> target = ReadTarget(project_, name);
      Result<yaml::Document> document = yaml::Document::Load(JoinPath(project_.root, *file), *file);
      if (!target.ok() || !document.ok()) {
        Broken(*file, target.ok() ? document.error() : target.error());
        continue;
      }
      TargetUse use{
          std::move(target).value(), std::move(document).value(), false, false, false, {}};
      use.gpu_image = IsContainer(use.target) && IsGpuImage(use.target.base_docker_image.value);
      use.gpu = use.gpu_image || (IsContainer(use.target) && use.target.nvidia_docker.value);
      targets_.emplace(name, std::move(use));
    }
  }

  // ---- .runconfig ----------------------------------------------------------------------------

  void PlanFrameworks() {
    for (const RunConfiguration& configuration : configurations_) {
      Framework framework = configuration.framework.value;
      if (!configuration.framework.given()) framework = PlanFramework(configuration);
      const auto target = targets_.find(configuration.target.value);
      if (target == targets_.end()) continue;
      target->second.spark |= framework == Framework::kPySpark;
      target->second.conda_files.insert(configuration.conda_file.value);
    }
  }

  Framework PlanFramework(const RunConfiguration& configuration) {
    UpgradeThing thing{UpgradeSubject::kKey, "Framework", "", 0, 6};
    if (scripts_.scripts == 0) thing.facts |= kScriptNone;
    if (!scripts_.spark.empty()) thing.facts |= kScriptSpark;
    const UpgradeRow* row = FindUpgrade(thing);
    const Result<yaml::Document> document =
        yaml::Document::Load(JoinPath(project_.root, configuration.file), configuration.file);
    if (row == nullptr || !document.ok()) return Framework::kPySpark;
    AddKey(*document, *row, yaml::NewValue::Text(std::string(row->write)));
    return row->write == "Python" ? Framework::kPython : Framework::kPySpark;
  }

  // ---- Conda files ---------------------------------------------------------------------------

  void PlanConda() {
    const std::string usual = "aml_config/conda_dependencies.yml";
    std::set<std::string> files;
    for (const RunConfiguration& configuration : configurations_) {
      files.insert(configuration.conda_file.value);
    }
    if (!options_.run_configuration) files.insert(usual);
    for (const std::string& file : files) {
      if (LeavesProject(file)) {
        Notice(file, 0, "outside the project: left alone", "outside");
        continue;
      }
      if (PackagesFormatOf(file) != PackagesFormat::kConda) continue;
      Result<CondaFile> conda = ReadCondaFile(project_.root, file);
      if (!conda.ok()) {
        if (conda.error().kind != ErrorKind::kNotFound) Broken(file, conda.error());
        continue;
      }
      CondaPlan plan = PlanCondaFile(*conda, UseOf(file));
      if (!plan.changes.empty()) out_.files[file] = conda->document.bytes();
      std::move(plan.changes.begin(), plan.changes.end(), std::back_inserter(out_.changes));
      std::move(plan.notices.begin(), plan.notices.end(), std::back_inserter(out_.notices));
      if (plan.cuda10) cuda10_files_.insert(file);
    }
  }

  CondaUse UseOf(const std::string& file) const {
    CondaUse use;
    use.modern = options_.modern;
    use.scripts = scripts_;
    for (const auto& [name, target] : targets_) {
      if (!target.conda_files.contains(file) || !IsContainer(target.target)) continue;
      (target.gpu ? use.on_gpu : use.on_cpu) = true;
    }
    return use;
  }

  // ---- .compute ------------------------------------------------------------------------------

  void PlanTargets() {
    for (const auto& [name, use] : targets_) {
      if (!IsContainer(use.target)) continue;
      PlanImage(use);
      const yaml::Node* key = use.document.root().Find("nvidiaDocker");
      const bool missing = key == nullptr || key->kind == yaml::Kind::kNull;
      if (!use.gpu_image || !missing) continue;
      const UpgradeRow* row = FindUpgrade({UpgradeSubject::kKey, "nvidiaDocker", "", kOnGpu, 6});
      if (row != nullptr) AddKey(use.document, *row, yaml::NewValue::Bool(true));
    }
  }

  void PlanImage(const TargetUse& use) {
    const yaml::Node* node = use.document.root().Find("baseDockerImage");
    if (node == nullptr) return;  // the file names no image
    UpgradeThing thing{UpgradeSubject::kImage, node->text, "", 0, 6};
    if (node->kind == yaml::Kind::kNull || node->text.empty()) thing.text = "(null)";
    if (use.gpu) thing.facts |= kOnGpu;
    if (use.spark) thing.facts |= kOnSpark;
    for (const std::string& file : use.conda_files) {
      if (cuda10_files_.contains(file)) thing.facts |= kCuda10;
    }
    const UpgradeRow* row = FindUpgrade(thing);
    if (row == nullptr) return;
    if (!row->notice.empty()) {
      Notice(use.document.file_name(), node->position.line,
             row->action == UpgradeAction::kKeep
                 ? "`" + ForTerminal(node->text) + "`: " + std::string(row->notice)
                 : std::string(row->notice),
             row->id);
    }
    if (row->action != UpgradeAction::kReplace) return;
    AddKey(use.document, *row, yaml::NewValue::Text(std::string(row->write)), "baseDockerImage");
  }

  // ---- Helpers -------------------------------------------------------------------------------

  // Adds a change that sets the row's key (or `key`) to `value`.
  void AddKey(const yaml::Document& document, const UpgradeRow& row, yaml::NewValue value,
              std::string key = "") {
    if (key.empty()) key = row.match;
    const yaml::Node& top = document.root();
    const yaml::Node* node = top.Find(key);
    UpgradeChange change;
    change.file = document.file_name();
    change.rule = row.id;
    change.reason = FillIn(row.reason, {{"spark_script", scripts_.spark}});
    change.suggestion = row.asked || row.status == UpgradeStatus::kNotChecked;
    change.after = key + ": " + value.text;
    if (node != nullptr) {
      change.line = node->key_position.line;
      change.before = key + ": " + (node->kind == yaml::Kind::kNull ? "null" : node->text);
    } else {
      const size_t end = top.children.empty() ? top.range.end : top.children.back().range.end;
      change.line = LineAt(document, end) + (document.flow_root() ? 0 : 1);
    }
    change.edits.push_back({UpgradeEdit::Kind::kSet, {key}, std::move(value)});
    out_.files[change.file] = document.bytes();
    out_.changes.push_back(std::move(change));
  }

  void Notice(const std::string& file, int line, std::string text, std::string_view rule) {
    out_.notices.push_back({file, line, std::move(text), std::string(rule)});
  }

  void Broken(const std::string& file, const Error& error) {
    Notice(file, 0, "left alone, it cannot be read: " + error.message, "broken");
  }

  void SortAndTidy() {
    std::stable_sort(out_.changes.begin(), out_.changes.end(), [](const auto& a, const auto& b) {
      return std::tie(a.file, a.line) < std::tie(b.file, b.line);
    });
    std::stable_sort(out_.notices.begin(), out_.notices.end(), [](const auto& a, const auto& b) {
      return std::tie(a.file, a.line) < std::tie(b.file, b.line);
    });
    std::set<std::pair<std::string, std::string>> seen;
    std::erase_if(out_.notices, [&seen](const UpgradeNotice& notice) {
      return !seen.emplace(notice.file, notice.text).second;
    });
  }

  // Turns changes that cannot be made without touching other bytes into notices for the user.
  void DropImpossible() {
    std::vector<bool> possible(out_.changes.size(), true);
    if (MakeUpgrade(out_, possible).ok()) return;
    for (size_t i = 0; i < possible.size(); ++i) {
      std::vector<bool> alone(possible.size(), false);
      alone[i] = true;
      possible[i] = MakeUpgrade(out_, alone).ok();
    }
    if (!MakeUpgrade(out_, possible).ok()) possible.assign(possible.size(), false);
    std::vector<UpgradeChange> kept;
    for (size_t i = 0; i < possible.size(); ++i) {
      UpgradeChange& change = out_.changes[i];
      if (possible[i]) {
        kept.push_back(std::move(change));
        continue;
      }
      const std::string what = change.after.empty() ? "take `" + change.before + "` away"
                                                    : "write `" + change.after + "`";
      Notice(change.file, change.line, "by your own hand, please: " + what + ": " + change.reason,
             "by-hand");
    }
    out_.changes = std::move(kept);
  }

  const Project& project_;
  const UpgradeOptions& options_;
  const ScriptFacts scripts_;
  std::vector<RunConfiguration> configurations_;
  std::map<std::string, TargetUse> targets_;
  std::set<std::string> cuda10_files_;
  UpgradePlan out_;
};

}  // namespace

Result<UpgradePlan> PlanUpgrade(const Project& project, const UpgradeOptions& options) {
  return Planner(project, options).Plan();
}

}  // namespace tenon::project
