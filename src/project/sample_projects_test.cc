// SPDX-License-Identifier: Apache-2.0
// Whole sample projects (tests/data/projects): what is listed, and what a submit of each run
// configuration reports.
#include <gtest/gtest.h>

#include <string>

#include "base/source_tree.h"
#include "project/project.h"
#include "project/resolve.h"

namespace tenon::project {
namespace {

std::string Folder(const std::string& name) { return SourcePath("tests/data/projects/" + name); }

std::string Describe(const std::string& name, const std::string& script) {
  const Result<Project> project = OpenProject(Folder(name), std::nullopt);
  if (!project.ok()) return project.error().message;
  std::string text = project->name.value + "\n";
  for (const TargetEntry& target : ListTargets(*project)) {
    text += "target " + target.name + ": " + (target.error ? target.error->message : target.type) +
            "\n";
  }
  for (const RunConfigurationEntry& entry : ListRunConfigurations(*project)) {
    Request request;
    request.cwd = project->root;
    request.run_configuration = entry.name;
    request.script = script;
    const Result<Resolved> resolved = Resolve(request);
    text += entry.name + ": ";
    if (!resolved.ok()) {
      text += resolved.error().message + "\n";
      continue;
    }
    text += "runs on " + resolved->target_name.value + " (" + resolved->target.type.value + ")\n";
    for (const std::string& notice : resolved->notices) text += "  notice: " + notice + "\n";
  }
  return text;
}

TEST(SampleProjects, TemplateOfSeptember2017) {
  EXPECT_EQ(
      Describe("template-2017-09", "iris.py"),
      "Iris_9.16-4\n"
      "target docker: localdocker\n"
      "target local: local\n"
      "docker-python: runs on docker (localdocker)\n"
      "docker-spark: aml_config/docker-spark.runconfig:4:12: Framework: PySpark is not there yet; "
      "this version runs Python scripts\n"
      "local: runs on local (local)\n");
}

TEST(SampleProjects, TemplateKeepsWindowsLineEndsAndBlanksOutOfValues) {
  Request request;
  request.cwd = Folder("template-2017-09");
  request.script = "iris.py";
  const Result<Resolved> resolved = Resolve(request);
  ASSERT_TRUE(resolved.ok()) << resolved.error().message;
  const run::RunSpec spec = ToRunSpec(*resolved);
  EXPECT_EQ(spec.python, "python");
  EXPECT_EQ(spec.shared_directory, "~/.azureml/share/account/workspace/Iris_9.16-4/");
  ASSERT_EQ(spec.environment.size(), 1u);
  EXPECT_EQ(spec.environment[0].first, "EXAMPLE_ENV_VAR");
  EXPECT_EQ(spec.environment[0].second, "Example Value");
  EXPECT_EQ(spec.project_id, "00000000-1111-4222-8333-444444444444");
}

TEST(SampleProjects, JsonOfJune2017) {
  EXPECT_EQ(
      Describe("json-2017-06", "train.py"),
      "json-2017-06\n"
      "target docker: localdocker\n"
      "target hdi: cluster\n"
      "target local: local\n"
      "target vm: virtualmachine\n"
      "docker: aml_config/docker.amb:1:2: `Framework` is missing, which means PySpark; this "
      "version "
      "runs Python scripts\n"
      "local: runs on local (local)\n"
      "vm: aml_config/vm.runconfig:1:44: Framework: PySpark is not there yet; this version runs "
      "Python scripts\n");
}

TEST(SampleProjects, AttachedTargetsOf2018) {
  EXPECT_EQ(Describe("attached-2018-04", "train.py"),
            "attached-2018-04\n"
            "target docker: localdocker\n"
            "target local: local\n"
            "target myvm: remotedocker\n"
            "target remote docker: remotedocker\n"
            "gone: aml_config/gone.runconfig:2:9: Target: there is no target `gone-vm` (no "
            "aml_config/gone-vm.compute)\n"
            "myvm: aml_config/myvm.runconfig:5:12: Framework: PySpark is not there yet; this "
            "version runs "
            "Python scripts\n"
            "remote docker: runs on remote docker (remotedocker)\n");
}

TEST(SampleProjects, BrokenFilesEachNameTheirLine) {
  EXPECT_EQ(
      Describe("broken", "train.py"),
      "broken\n"
      "target brackets: remotedocker\n"
      "target docker: localdocker\n"
      "target local: local\n"
      "target tabs: aml_config/tabs.compute:2:1: a tab is used as indentation\n"
      "comma: aml_config/comma.runconfig:4:3: a comma is missing before this entry\n"
      "glued: aml_config/glued.runconfig:1:10: a blank is missing behind the colon\n"
      "local: runs on local (local)\n"
      "oldest: aml_config/oldest.runconfig:1:1: `Framework` is missing, which means PySpark; this "
      "version runs Python scripts\n"
      "successor: aml_config/successor.runconfig:1:1: `script`: this is the format of the "
      "successor, "
      "not of a Workbench project\n"
      "twice: aml_config/twice.runconfig:3:1: `Target` is already given in line 1\n");
}

}  // namespace
}  // namespace tenon::project
