// SPDX-License-Identifier: Apache-2.0
#include "project/files/run_configuration.h"

#include "base/text.h"

namespace tenon::project {
namespace {

using yaml::Node;

constexpr Key kKeys[] = {
    {"Target", Expected::kText},
    {"TrackedRun", Expected::kBool},
    {"ArgumentVector", Expected::kList},
    {"PrepareEnvironment", Expected::kBool},
    {"Framework", Expected::kText},
    {"CondaDependenciesFile", Expected::kText},
    {"SparkDependenciesFile", Expected::kText},
    {"EnvironmentVariables", Expected::kMap},
    {"UseSampling", Expected::kBool},
    {"CondaFile", Expected::kText},
    {"ManagedEnvironment", Expected::kBool},
    {"Description", Expected::kText},
    {"DataSourceSubstitutions", Expected::kMap},
    {"DataSourceSettings", Expected::kMap},
};

// Keys of the files that the product's successor wrote to the same place since autumn 2018.
constexpr std::string_view kSuccessorKeys[] = {"script", "target", "framework", "environment"};

constexpr std::string_view kCondaDefault = "aml_config/conda_dependencies.yml";
constexpr std::string_view kSparkDefault = "aml_config/spark_dependencies.yml";

// kInvalid for a file with two of the successor's keys, or its `script` alone, and none of ours.
Status CheckNotSuccessor(const SettingsFile& file) {
  const Node& top = file.document().root();
  for (const Key& key : kKeys) {
    if (top.Find(key.name) != nullptr) return {};
  }
  const Node* first = nullptr;
  int count = 0;
  for (const std::string_view key : kSuccessorKeys) {
    if (const Node* node = top.Find(key)) {
      if (first == nullptr || node->key_range.begin < first->key_range.begin) first = node;
      count += key == "script" ? 2 : 1;
    }
  }
  if (count < 2) return {};
  return file
      .ErrorAtKey(*first, "`" + first->key +
                              "`: this is the format of the successor, not of a Workbench project")
      .WithHint("write a file with `Target: local` and `Framework: Python`");
}

Status ReadFramework(const SettingsFile& file, RunConfiguration* out) {
  const Node* node = file.Find("Framework");
  if (node == nullptr) {
    out->framework = {Framework::kPySpark, Origin::Default()};
    out->spark_framework = file.Missing(
        "Framework", ", which means PySpark; this version runs Python scripts", "Python");
    return {};
  }
  const std::string python = "`" + file.Line("Framework", "Python") + "`";
  if (node->text == "Python") {
    out->framework = {Framework::kPython, file.OriginOf(*node)};
    return {};
  }
  if (node->text == "PySpark") {
    out->framework = {Framework::kPySpark, file.OriginOf(*node)};
    out->spark_framework =
        file.ErrorAt(*node, "Framework: PySpark is not there yet; this version runs Python scripts")
            .WithHint("write " + python + " if the script needs no Spark");
    return {};
  }
  const std::vector<std::string> names{"Python", "PySpark"};
  const auto near = DidYouMean(node->text, names);
  return file
      .ErrorAt(*node,
               "Framework: expected Python or PySpark, found `" + ForTerminal(node->text) + "`")
      .WithHint("write " + (near ? "`" + file.Line("Framework", *near) + "`" : python));
}

Status ReadArguments(const SettingsFile& file, RunConfiguration* out) {
  const Node* list = file.Find("ArgumentVector");
  if (list == nullptr) return {};
  for (const Node& item : list->children) {
    if (!item.scalar()) {
      return file
          .ErrorAt(item,
                   "ArgumentVector: expected text, found " + std::string(yaml::KindName(item.kind)))
          .WithHint(
              "write one word per item; put it in quotes if it is empty or begins with a bracket");
    }
    out->argument_vector.push_back({item.text, file.OriginOf(item)});
  }
  return {};
}

Status ReadEnvironment(const SettingsFile& file, RunConfiguration* out) {
  const Node* map = file.Find("EnvironmentVariables");
  if (map == nullptr) return {};
  for (const Node& node : map->children) {
    if (node.key.empty() || node.key.find('=') != std::string::npos) {
      return file
          .ErrorAtKey(node, "EnvironmentVariables: `" + ForTerminal(node.key) +
                                "` cannot be the name of a variable")
          .WithHint("write `NAME: value`");
    }
    if (!node.scalar() && node.kind != yaml::Kind::kNull) {
      return file
          .ErrorAt(node, "EnvironmentVariables: " + node.key + ": expected text, found " +
                             std::string(yaml::KindName(node.kind)))
          .WithHint("put the value in quotes");
    }
    if (node.text.find('\0') != std::string::npos) {
      return file.ErrorAt(node, "EnvironmentVariables: " + node.key + ": a value cannot hold NUL");
    }
    out->environment.emplace_back(node.key, Setting<std::string>{node.text, file.OriginOf(node)});
  }
  return {};
}

// Paths in files are relative to the root. Some files were written on Windows.
Setting<std::string> PathSetting(const SettingsFile& file, std::string_view key,
                                 std::string_view otherwise) {
  Setting<std::string> path = file.Text(key, otherwise);
  for (char& c : path.value) {
    if (c == '\\') c = '/';
  }
  return path;
}

}  // namespace

std::span<const Key> RunConfigurationKeys() { return kKeys; }

std::string_view FrameworkName(Framework framework) {
  return framework == Framework::kPython ? "Python" : "PySpark";
}

Result<RunConfiguration> ReadRunConfiguration(const Project& project, std::string_view name) {
  const std::optional<std::string> path = RunConfigurationFile(project, name);
  if (!path) return NotFound("there is no run configuration `" + ForTerminal(name) + "`");
  TENON_TRY(const SettingsFile file, SettingsFile::Load(project.root, *path, kKeys));
  TENON_TRY_VOID(CheckNotSuccessor(file));
  RunConfiguration out;
  out.name = name;
  out.file = *path;
  out.target = file.Text("Target", "");
  if (out.target.value.empty()) out.missing_target = file.Missing("Target", "", "local");
  TENON_TRY_VOID(ReadFramework(file, &out));
  TENON_TRY_VOID(ReadArguments(file, &out));
  TENON_TRY_VOID(ReadEnvironment(file, &out));
  const bool old_conda =
      file.Find("CondaDependenciesFile") == nullptr && file.Find("CondaFile") != nullptr;
  out.conda_file =
      PathSetting(file, old_conda ? "CondaFile" : "CondaDependenciesFile", kCondaDefault);
  out.spark_file = PathSetting(file, "SparkDependenciesFile", kSparkDefault);
  out.prepare_environment = file.Bool("PrepareEnvironment", true);
  out.tracked_run = file.Bool("TrackedRun", true);
  out.use_sampling = file.Bool("UseSampling", true);
  out.managed_environment = file.Bool("ManagedEnvironment", true);
  out.notices = file.notices();
  return out;
}

RunConfiguration BuiltInRunConfiguration(std::string_view target) {
  RunConfiguration out;
  out.name = target;
  out.target = {std::string(target), Origin::BuiltIn()};
  out.framework = {Framework::kPython, Origin::BuiltIn()};
  out.conda_file.value = kCondaDefault;
  out.spark_file.value = kSparkDefault;
  out.prepare_environment.value = true;
  out.tracked_run.value = true;
  out.use_sampling.value = true;
  out.managed_environment.value = true;
  return out;
}

}  // namespace tenon::project
