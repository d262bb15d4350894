// SPDX-License-Identifier: Apache-2.0
// Reads every target, run configuration and project.json of the corpus (real projects of 2017):
// which load, which are refused, and why. Prints the table to the test's output.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/source_tree.h"
#include "base/text.h"
#include "project/check.h"
#include "project/files/run_configuration.h"
#include "project/files/target.h"
#include "project/project.h"

namespace tenon::project {
namespace {

// Folders with aml_config/ at or below `folder`.
void FindProjects(const std::string& folder, std::vector<std::string>* out) {
  Result<std::vector<std::string>> names = ListDir(folder);
  ASSERT_TRUE(names.ok()) << folder;
  std::sort(names->begin(), names->end());
  for (const std::string& name : *names) {
    const std::string path = JoinPath(folder, name);
    if (!IsDirectory(path)) continue;
    if (name == kConfigFolder) {
      out->push_back(folder);
    } else {
      FindProjects(path, out);
    }
  }
}

struct Table {
  size_t loaded = 0;
  std::map<std::string, std::string> refused;     // file → "line:column: why"
  std::map<std::string, std::string> unfinished;  // loads, but cannot be used as it is
  std::string text;

  void Loaded(const std::string& file, const std::string& remark) {
    ++loaded;
    text += "loaded   " + file + (remark.empty() ? "" : "  (" + remark + ")") + "\n";
  }
  void Refused(const std::string& file, const Error& error) {
    refused[file] = error.message;
    text += "REFUSED  " + file + "  " + error.message + " | " + error.hint + "\n";
  }
};

void LookAt(const std::string& corpus, const std::string& root, Table* table) {
  std::optional<Error> broken;
  const Result<Project> project = OpenProjectToLook(root, root, &broken);
  ASSERT_TRUE(project.ok()) << project.error().message;
  const std::string prefix = root.substr(corpus.size() + 1) + "/";
  const std::string identity = ".azureml/project.json";
  if (broken) {
    table->Refused(prefix + identity, *broken);
  } else if (Exists(JoinPath(root, identity))) {
    table->Loaded(prefix + identity, "project " + project->name.value);
  }
  for (const std::string& name : NamesWithEnding(*project, ".compute")) {
    const std::string file = prefix + *ConfigFile(*project, name, ".compute");
    const Result<Target> target = ReadTarget(*project, name);
    if (!target.ok()) {
      table->Refused(file, target.error());
      continue;
    }
    std::vector<std::string> remarks{target->type.value};
    for (const Error& wrong : target->wrong_types) remarks.push_back(wrong.message);
    for (const Error& missing : target->unfinished) remarks.push_back(missing.message);
    for (const std::string& notice : target->notices) remarks.push_back(notice);
    if (remarks.size() > 1) table->unfinished[file] = Join(remarks, "; ");
    table->Loaded(file, Join(remarks, "; "));
  }
  for (const char* ending : {".runconfig", ".amb"}) {
    for (const std::string& name : NamesWithEnding(*project, ending)) {
      const std::string file = *ConfigFile(*project, name, ending);
      if (RunConfigurationFile(*project, name) != file) {
        table->Loaded(prefix + file, "not read beside the .runconfig");
        continue;
      }
      const Result<RunConfiguration> configuration = ReadRunConfiguration(*project, name);
      if (!configuration.ok()) {
        table->Refused(prefix + file, configuration.error());
      } else {
        table->Loaded(prefix + file, Join(configuration->notices, "; "));
      }
    }
  }
}

TEST(ProjectCorpus, EveryFileLoadsOrIsRefusedAsItMust) {
  const char* given = std::getenv("TENON_CORPUS");
  const std::string corpus = given != nullptr ? given : SourcePath("../shared/corpus");
  if (!IsDirectory(corpus)) GTEST_SKIP() << "planned: the corpus of real projects is not here";
  std::vector<std::string> roots;
  FindProjects(corpus, &roots);
  Table table;
  for (const std::string& root : roots) LookAt(corpus, root, &table);
  std::printf("%s%zu loaded, %zu refused\n", table.text.c_str(), table.loaded,
              table.refused.size());

  EXPECT_GE(roots.size(), 39u);
  EXPECT_GE(table.loaded, 205u);
  const std::map<std::string, std::string> refused{
      {"Azure-Samples__MachineLearningSamples-BiomedicalEntityExtraction@b755a12c/aml_config/"
       "docker.compute",
       "aml_config/docker.compute:2:1: a tab is used as indentation"},
      {"hning86__etsbasedforecasting/aml_config/docker.runconfig",
       "aml_config/docker.runconfig:11:3: a comma is missing before this entry"},
  };
  EXPECT_EQ(table.refused, refused);
  const auto bracket =
      table.unfinished.find("laurentran__sequence-labeling/aml_config/dsvm.compute");
  ASSERT_NE(bracket, table.unfinished.end());
  EXPECT_NE(
      bracket->second.find("aml_config/dsvm.compute:8:11: username: expected text, found a list"),
      std::string::npos)
      << bracket->second;
  EXPECT_TRUE(table.unfinished.contains("zxpek__GenAdvNet/aml_config/remote docker.compute"));
  EXPECT_TRUE(table.unfinished.contains(
      "SpaceRangerWes__deep_learning_with_azure_ml_services/aml_config/remotevm.compute"));
}

// A clear-text password gets a finding that does not show it. Other forms get none.
TEST(ProjectCorpus, NoFindingShowsAPassword) {
  const char* given = std::getenv("TENON_CORPUS");
  const std::string corpus = given != nullptr ? given : SourcePath("../shared/corpus");
  if (!IsDirectory(corpus)) GTEST_SKIP() << "planned: the corpus of real projects is not here";
  std::vector<std::string> roots;
  FindProjects(corpus, &roots);
  size_t findings = 0;
  for (const std::string& root : roots) {
    const Result<Checked> checked = CheckProject(root, root);
    ASSERT_TRUE(checked.ok()) << checked.error().message;
    for (const Finding& finding : checked->findings) {
      ++findings;
      EXPECT_EQ(finding.text.find("AzureMlSecret"), std::string::npos) << finding.text;
      EXPECT_EQ(finding.text.find("REDACTED"), std::string::npos) << finding.text;
    }
  }
  EXPECT_GT(findings, 0u);
}

}  // namespace
}  // namespace tenon::project
