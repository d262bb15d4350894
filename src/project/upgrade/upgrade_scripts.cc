// SPDX-License-Identifier: Apache-2.0
#include "project/upgrade/upgrade_scripts.h"

#include <algorithm>
#include <vector>

#include "base/file.h"
#include "base/text.h"

namespace tenon::project {
namespace {

constexpr int kMaxFiles = 4000;
constexpr int kMaxDepth = 12;
constexpr size_t kMaxBytes = 1u << 20;

constexpr std::string_view kSparkModules[] = {"pyspark", "mmlspark", "pysparkling"};

// Removed or moved in TensorFlow 2.
constexpr std::string_view kOnlyIn1x[] = {
    "Session(",
    "InteractiveSession(",
    "placeholder(",
    "global_variables_initializer(",
    "app.run(",
    "app.flags",
    "contrib.",
    "get_variable(",
    "ConfigProto(",
    "get_default_graph(",
    "variable_scope(",
    "initialize_all_variables(",
    "train.AdamOptimizer(",
    "train.GradientDescentOptimizer(",
    "train.Saver(",
};

bool IsWordChar(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// Whether `line` imports `module` or something in it.
bool Imports(std::string_view line, std::string_view module) {
  const bool from = line.starts_with("from ");
  if (!from && !line.starts_with("import ")) return false;
  std::string_view rest = line.substr(from ? 5 : 7);
  while (!rest.empty()) {
    rest = Trim(rest);
    if (rest.starts_with(module) &&
        (rest.size() == module.size() || !IsWordChar(rest[module.size()]))) {
      return true;
    }
    const size_t comma = rest.find(',');
    if (from || comma == std::string_view::npos) return false;
    rest = rest.substr(comma + 1);
  }
  return false;
}

// Matches "tf.Session(" but not "tf.compat.v1.Session(", which TensorFlow 2 has.
bool UsesAs1x(std::string_view line) {
  if (Imports(line, "tensorflow.contrib") || Imports(line, "tensorflow.examples")) return true;
  for (const std::string_view module : {"tf.", "tensorflow."}) {
    for (size_t at = line.find(module); at != std::string_view::npos;
         at = line.find(module, at + 1)) {
      if (at > 0 && (IsWordChar(line[at - 1]) || line[at - 1] == '.')) continue;
      const std::string_view rest = line.substr(at + module.size());
      for (const std::string_view name : kOnlyIn1x) {
        if (rest.starts_with(name)) return true;
      }
    }
  }
  return false;
}

void Collect(const std::string& root, const std::string& below, int depth,
             std::vector<std::string>* files) {
  if (depth > kMaxDepth || files->size() >= kMaxFiles) return;
  Result<std::vector<std::string>> names = ListDir(below.empty() ? root : JoinPath(root, below));
  if (!names.ok()) return;
  std::sort(names->begin(), names->end());
  for (const std::string& name : *names) {
    if (name.starts_with('.') || name == "outputs" || name == "azureml-logs") continue;
    const std::string path = below.empty() ? name : JoinPath(below, name);
    struct stat info;
    if (::lstat(JoinPath(root, path).c_str(), &info) != 0) continue;
    if (S_ISDIR(info.st_mode)) {
      Collect(root, path, depth + 1, files);
    } else if (S_ISREG(info.st_mode) && name.ends_with(".py") && below != "aml_config") {
      files->push_back(path);
    }
  }
}

}  // namespace

void InspectScript(std::string_view name, std::string_view bytes, ScriptFacts* facts) {
  ++facts->scripts;
  int number = 0;
  std::string first_1x;
  bool tensorflow = false;
  const auto place = [&] { return std::string(name) + ":" + std::to_string(number); };
  for (const std::string& whole : Split(bytes, '\n')) {
    ++number;
    const std::string_view line = Trim(std::string_view(whole).substr(0, whole.find('#')));
    if (line.empty()) continue;
    for (const std::string_view module : kSparkModules) {
      if (facts->spark.empty() && Imports(line, module)) facts->spark = place();
    }
    if (Imports(line, "tensorflow")) {
      tensorflow = true;
      if (facts->tensorflow.empty()) facts->tensorflow = place();
    }
    if (first_1x.empty() && UsesAs1x(line)) first_1x = place();
  }
  if (tensorflow && facts->tensorflow_1x.empty()) facts->tensorflow_1x = first_1x;
}

ScriptFacts InspectScripts(const std::string& root) {
  std::vector<std::string> files;
  Collect(root, "", 0, &files);
  ScriptFacts facts;
  for (const std::string& file : files) {
    const Result<std::string> bytes = ReadFile(JoinPath(root, file), kMaxBytes);
    if (bytes.ok()) InspectScript(file, *bytes, &facts);
  }
  return facts;
}

}  // namespace tenon::project
