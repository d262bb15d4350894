// SPDX-License-Identifier: Apache-2.0
#include "project/project.h"

#include <unistd.h>

#include "project/temp_project.h"

namespace tenon::project {
namespace {

constexpr char kJson[] =
    R"({"Id":"4CFF7284-430d-4b51-821d-8a2b9aba501d","Scope":"/subscriptions/0/resourceGroups/g/)"
    R"(providers/Microsoft.MachineLearningExperimentation/accounts/acc/workspaces/ws/projects/Other Name"})";

class ProjectTest : public TempProject {};

TEST_F(ProjectTest, RootIsFoundFromASubFolder) {
  WriteLocal();
  ASSERT_TRUE(MakeDirs(root_ + "/code/deep").ok());
  const Result<Project> project = OpenProject(root_ + "/code/deep", std::nullopt);
  ASSERT_TRUE(project.ok());
  EXPECT_EQ(project->root, root_);
  EXPECT_TRUE(project->has_config);
}

TEST_F(ProjectTest, NearestOfTwoNestedProjectsWins) {
  WriteLocal();
  Write("inner/aml_config/local.compute", "type: local\n");
  const Result<Project> project = OpenProject(root_ + "/inner", std::nullopt);
  ASSERT_TRUE(project.ok());
  EXPECT_EQ(project->root, root_ + "/inner");
}

TEST_F(ProjectTest, FolderWithoutConfigIsItsOwnRoot) {
  const Result<Project> project = OpenProject(root_, std::nullopt);
  ASSERT_TRUE(project.ok());
  EXPECT_EQ(project->root, root_);
  EXPECT_FALSE(project->has_config);
}

TEST_F(ProjectTest, NamedFolderIsTakenAsItIsAndMustBeThere) {
  WriteLocal();
  const Result<Project> project = OpenProject(top_, "myproject");
  ASSERT_TRUE(project.ok());
  EXPECT_EQ(project->root, root_);
  const Result<Project> missing = OpenProject(top_, "nowhere");
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(Complaint(missing.error()), "not_found: --project nowhere: there is no such folder | ");
}

TEST_F(ProjectTest, NameAndIdComeFromProjectJsonNotFromTheFolder) {
  Write(".azureml/project.json", kJson);
  const Result<Project> project = OpenProject(root_, std::nullopt);
  ASSERT_TRUE(project.ok());
  EXPECT_EQ(project->name.value, "Other Name");
  EXPECT_EQ(project->id.value, "4cff7284-430d-4b51-821d-8a2b9aba501d");
  EXPECT_EQ(project->id.origin.Text(), ".azureml/project.json:1:7");
  EXPECT_EQ(project->account, "acc");
  EXPECT_EQ(project->workspace, "ws");
}

TEST_F(ProjectTest, WithoutProjectJsonTheIdIsTheSameEveryTimeAndEachFolderHasItsOwn) {
  const Result<Project> project = OpenProject(root_, std::nullopt);
  ASSERT_TRUE(project.ok());
  EXPECT_EQ(project->name.value, "myproject");
  EXPECT_EQ(project->id.value, DerivedId(root_));
  EXPECT_EQ(DerivedId("/a/b"), "ccf4ea97-bd62-834e-a473-c8552df11989");
  EXPECT_NE(DerivedId("/a/b"), DerivedId("/a/c"));
}

TEST_F(ProjectTest, BrokenProjectJsonIsAnErrorAndNotAnotherProject) {
  Write(".azureml/project.json", "{\"Id\":[\"x\"]}");
  const Result<Project> wrong = OpenProject(root_, std::nullopt);
  ASSERT_FALSE(wrong.ok());
  EXPECT_EQ(
      Complaint(wrong.error()),
      "invalid: .azureml/project.json:1:7: Id: expected text, found a list | "
      "write `\"Id\": \"value\"`; a bracket that belongs to the value needs quotes around it");
  Write(".azureml/project.json", "");
  const Result<Project> empty = OpenProject(root_, std::nullopt);
  ASSERT_FALSE(empty.ok());
  EXPECT_EQ(Complaint(empty.error()),
            "invalid: .azureml/project.json: the file is empty | "
            "repair the file, or remove it to go by the folder's name");
}

TEST_F(ProjectTest, ScopeCannotLeadOutOfTheSharedFolder) {
  Write(".azureml/project.json", R"({"Id":"x","Scope":"/accounts/../workspaces/w/projects/.."})");
  const Result<Project> project = OpenProject(root_, std::nullopt);
  ASSERT_TRUE(project.ok());
  EXPECT_EQ(project->name.value, "myproject");
  EXPECT_EQ(project->account, "");
}

TEST_F(ProjectTest, OneBrokenFileDoesNotHideTheOthers) {
  WriteLocal();
  Write("aml_config/remote docker.compute", "type: remotedocker\n");
  Write("aml_config/bad.compute", "type: [x\n");
  Write("aml_config/bad.runconfig", "{\n\"Target\":\"x\"\n\"Framework\":\"Python\"}");
  Write("aml_config/old.amb", "{\"Target\":\"docker\"}");
  const Result<Project> project = OpenProject(root_, std::nullopt);
  ASSERT_TRUE(project.ok());

  const std::vector<TargetEntry> targets = ListTargets(*project);
  ASSERT_EQ(targets.size(), 4u);
  EXPECT_EQ(targets[0].name, "bad");
  ASSERT_TRUE(targets[0].error.has_value());
  EXPECT_EQ(targets[0].error->message,
            "aml_config/bad.compute:1:7: the bracket opened here is never closed");
  EXPECT_EQ(targets[1].name, "docker");
  EXPECT_EQ(targets[1].file, "");
  EXPECT_EQ(targets[1].type, "localdocker");
  EXPECT_EQ(targets[2].name, "local");
  EXPECT_EQ(targets[2].file, "aml_config/local.compute");
  EXPECT_EQ(targets[3].name, "remote docker");
  EXPECT_EQ(targets[3].type, "remotedocker");
  EXPECT_FALSE(targets[3].error.has_value());

  const std::vector<RunConfigurationEntry> configurations = ListRunConfigurations(*project);
  ASSERT_EQ(configurations.size(), 3u);
  EXPECT_EQ(configurations[0].name, "bad");
  ASSERT_TRUE(configurations[0].error.has_value());
  EXPECT_EQ(configurations[0].error->message,
            "aml_config/bad.runconfig:3:1: a comma is missing before this entry");
  EXPECT_EQ(configurations[1].name, "local");
  EXPECT_EQ(configurations[1].framework, "Python");
  EXPECT_EQ(configurations[2].name, "old");
  EXPECT_EQ(configurations[2].target, "docker");
  EXPECT_EQ(configurations[2].framework, "");
}

}  // namespace
}  // namespace tenon::project
