// SPDX-License-Identifier: Apache-2.0
#include "project/files/config_set.h"

#include <sys/stat.h>
#include <unistd.h>

#include "project/attach.h"
#include "project/check.h"
#include "project/files/config_file.h"
#include "project/files/target.h"
#include "project/temp_project.h"

namespace tenon::project {
namespace {

class ConfigTest : public TempProject {
 protected:
  Project Open() {
    Result<Project> project = OpenProject(root_, root_);
    if (project.ok()) return *project;
    ADD_FAILURE() << project.error().message;
    return {};
  }
  std::string Read(const std::string& file) {
    return ReadFile(JoinPath(root_, file)).value_or("(none)");
  }
  // "file:line: before -> after", or the error's text.
  std::string Set(const SetRequest& request) {
    const Result<Change> change = SetKey(Open(), request);
    if (!change.ok()) return Complaint(change.error());
    return change->file + ":" + std::to_string(change->line) + ": " + change->before.value_or("-") +
           " -> " + change->after.value_or("-") + (change->changed ? "" : " (same)");
  }
  std::string Findings() {
    const Result<Checked> checked = CheckProject(root_, root_);
    if (!checked.ok()) return Complaint(checked.error());
    std::string text;
    for (const Finding& finding : checked->findings) {
      text += std::string(LevelName(finding.level)) + " " + finding.file + ":" +
              std::to_string(finding.line) + ":" + std::to_string(finding.column) + ": " +
              finding.text + "\n";
    }
    return text;
  }
};

// ---- set ---------------------------------------------------------------------------------------

TEST_F(ConfigTest, TheKeyDecidesWhichFileChangesAndEveryOtherByteStays) {
  const std::string compute =
      "# mine\r\naddress: 203.0.113.7\r\ntype: remotedocker   # kind\r\nusername: me";
  const std::string runconfig = "\"Framework\": \"PySpark\"  # was\nTarget: vm\n";
  Write("aml_config/vm.compute", compute);
  Write("aml_config/gpu.runconfig", runconfig);
  EXPECT_EQ(Set({"nvidiaDocker", "true", "gpu", {}}), "aml_config/vm.compute:5: - -> true");
  EXPECT_EQ(Read("aml_config/vm.compute"), compute + "\r\nnvidiaDocker: true");
  EXPECT_EQ(Set({"Framework", "Python", "gpu", {}}),
            "aml_config/gpu.runconfig:1: PySpark -> Python");
  EXPECT_EQ(Read("aml_config/gpu.runconfig"), "\"Framework\": \"Python\"  # was\nTarget: vm\n");
  EXPECT_EQ(Set({"nvidiaDocker", {}, "gpu", {}}), "aml_config/vm.compute:5: true -> -");
  EXPECT_EQ(Read("aml_config/vm.compute"), compute);
}

TEST_F(ConfigTest, VariablesWithDotsAndOddValuesAreMembers) {
  Write("aml_config/local.runconfig",
        "EnvironmentVariables: null\nFramework: Python\nTarget: local\n");
  EXPECT_EQ(Set({"EnvironmentVariables.A.B", "x: #y", {}, {}}),
            "aml_config/local.runconfig:2: - -> x: #y");
  EXPECT_EQ(Read("aml_config/local.runconfig"),
            "EnvironmentVariables:\n  A.B: \"x: #y\"\nFramework: Python\nTarget: local\n");
  EXPECT_EQ(Set({"EnvironmentVariables.A=B", "1", {}, {}}),
            "invalid: `A=B` cannot be the name of a variable | ");
  EXPECT_EQ(Set({"EnvironmentVariables", "1", {}, {}}),
            "invalid: EnvironmentVariables is a mapping, not one value | set one of its entries: "
            "`EnvironmentVariables.NAME`");
}

TEST_F(ConfigTest, TheFirstEntryMakesTheListAndTheNextIsAdded) {
  const std::string compute = "address: 203.0.113.7\ntype: remote\nusername: me\n";
  Write("aml_config/vm.compute", compute);
  EXPECT_EQ(Set({"setup.1", "x", {}, "vm"}),
            "invalid: setup is a list of 0 entries; `1` is none of them | `setup.0` adds one");
  EXPECT_EQ(Read("aml_config/vm.compute"), compute);
  EXPECT_EQ(Set({"setup.0", "module load cuda", {}, "vm"}),
            "aml_config/vm.compute:4: - -> module load cuda");
  EXPECT_EQ(Read("aml_config/vm.compute"), compute + "setup: [\"module load cuda\"]\n");
  Set({"setup.1", "ulimit -n 4096", {}, "vm"});
  Set({"setup.0", "module load cuda/12", {}, "vm"});
  const Result<Target> target = ReadTarget(Open(), "vm");
  ASSERT_TRUE(target.ok()) << target.error().message;
  EXPECT_EQ(target->setup.value,
            (std::vector<std::string>{"module load cuda/12", "ulimit -n 4096"}));
}

TEST_F(ConfigTest, WrongWordsAreRefusedAndNothingIsWritten) {
  WriteLocal();
  const std::string compute = Read("aml_config/local.compute");
  const std::string runconfig = Read("aml_config/local.runconfig");
  EXPECT_EQ(Set({"nvidiaDoker", "true", {}, {}}),
            "invalid: there is no key `nvidiaDoker` | did you mean `nvidiaDocker`?");
  EXPECT_EQ(Set({"framework", "Python", {}, {}}),
            "invalid: there is no key `framework` | did you mean `Framework`?");
  EXPECT_EQ(Set({"nvidiaDocker", "maybe", {}, {}}),
            "invalid: nvidiaDocker: expected true or false, found `maybe` | ");
  EXPECT_EQ(Set({"type", "locl", {}, {}}).substr(0, 30), "invalid: type: expected local,");
  EXPECT_EQ(
      Set({"Framework", "python", {}, {}}),
      "invalid: Framework: expected Python, PySpark; found `python` | did you mean `Python`?");
  EXPECT_EQ(Set({"Target", "nowhere", {}, {}}),
            "not_found: Target: there is no target `nowhere` | there are: docker, local");
  EXPECT_EQ(Set({"password", "hunter2", {}, {}}),
            "invalid: a password is never written into a file of the project | `tenon secrets set "
            "TARGET` stores it, encrypted");
  EXPECT_EQ(Set({"nvidiaDocker", "true", {}, "docker"}),
            "not_found: the target `docker` is built in and has no file to write to | make one "
            "first: `tenon computetarget attach docker -n docker`");
  EXPECT_EQ(Set({"Framework", "Python", "lcal", {}}),
            "not_found: there is no run configuration `lcal` | did you mean `-c local`?");
  EXPECT_EQ(Set({"address", {}, {}, {}}),
            "not_found: aml_config/local.compute: `address` is not there | ");
  EXPECT_EQ(Read("aml_config/local.compute"), compute);
  EXPECT_EQ(Read("aml_config/local.runconfig"), runconfig);
}

TEST_F(ConfigTest, RepairOfAFileThatCannotBeUsedWorks) {
  Write("aml_config/local.compute", "type: local\nsharedVolumes: maybe\n");
  Write("aml_config/local.runconfig", "Framework: Cython\nTarget: local\n");
  EXPECT_EQ(Set({"sharedVolumes", "no", {}, {}}), "aml_config/local.compute:2: maybe -> false");
  EXPECT_EQ(Set({"Framework", "Python", {}, {}}), "aml_config/local.runconfig:1: Cython -> Python");
  EXPECT_EQ(Set({"Framework", "Python", {}, {}}),
            "aml_config/local.runconfig:1: Python -> Python (same)");
}

TEST_F(ConfigTest, APasswordCanBeTakenAwayAndIsNotShown) {
  Write("aml_config/vm.compute", "password: hunter2\ntype: remotedocker\n");
  EXPECT_EQ(Set({"password", {}, {}, "vm"}), "aml_config/vm.compute:1: (clear text) -> -");
  EXPECT_EQ(Read("aml_config/vm.compute"), "type: remotedocker\n");
}

TEST_F(ConfigTest, SeveralKeysAreWrittenTogetherOrNotAtAll) {
  Write("aml_config/vm.compute", "type: remotedocker\n");
  const Project project = Open();
  EXPECT_FALSE(UpdateTarget(project, "vm", {{"address", "h"}, {"sharedVolumes", "x"}}).ok());
  EXPECT_EQ(Read("aml_config/vm.compute"), "type: remotedocker\n");
  ASSERT_TRUE(UpdateTarget(project, "vm", {{"address", "h"}, {"sharedVolumes", "true"}}).ok());
  EXPECT_EQ(Read("aml_config/vm.compute"), "type: remotedocker\naddress: h\nsharedVolumes: true\n");
}

// ---- Files -------------------------------------------------------------------------------------

TEST_F(ConfigTest, ALinkOutOfTheProjectIsNotWrittenThrough) {
  const std::string outside = top_ + "/outside.compute";
  ASSERT_TRUE(WriteFileAtomically(outside, "type: local\n", 0644, Durability::kProcess).ok());
  Write("aml_config/other.compute", "type: local\n");
  ASSERT_EQ(symlink(outside.c_str(), (root_ + "/aml_config/away.compute").c_str()), 0);
  ASSERT_EQ(symlink("other.compute", (root_ + "/aml_config/near.compute").c_str()), 0);
  EXPECT_EQ(Set({"pythonLocation", "python3", {}, "away"}),
            "denied: aml_config/away.compute: a symbolic link leads out of the project, to " +
                outside + " | nothing was written; change that file itself");
  EXPECT_EQ(ReadFile(outside).value_or(""), "type: local\n");
  EXPECT_EQ(Set({"pythonLocation", "python3", {}, "near"}),
            "aml_config/near.compute:2: - -> python3");
  EXPECT_EQ(Read("aml_config/other.compute"), "type: local\npythonLocation: python3\n");
  struct stat info;
  ASSERT_EQ(lstat((root_ + "/aml_config/near.compute").c_str(), &info), 0);
  EXPECT_TRUE(S_ISLNK(info.st_mode));
}

TEST_F(ConfigTest, TheModeOfAFileStays) {
  Write("aml_config/vm.compute", "type: local\n");
  ASSERT_EQ(chmod((root_ + "/aml_config/vm.compute").c_str(), 0600), 0);
  EXPECT_EQ(Set({"pythonLocation", "x", {}, "vm"}), "aml_config/vm.compute:2: - -> x");
  struct stat info;
  ASSERT_EQ(stat((root_ + "/aml_config/vm.compute").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0600u);
}

TEST_F(ConfigTest, AFileChangedMeanwhileIsNotOverwritten) {
  Write("aml_config/vm.compute", "type: local\n");
  const Status status =
      WriteConfigFile(Open(), "aml_config/vm.compute", std::string("type: docker\n"), "x: 1\n");
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().kind, ErrorKind::kUnavailable);
  EXPECT_EQ(Read("aml_config/vm.compute"), "type: local\n");
}

// ---- attach ------------------------------------------------------------------------------------

TEST_F(ConfigTest, AttachWritesTheFormOf2018) {
  const Project project = Open();
  ASSERT_TRUE(
      Attach(project, {"remotedocker", "my_dsvm", "203.0.113.7", "me", "", "", false}).ok());
  EXPECT_EQ(Read("aml_config/my_dsvm.compute"),
            "address: 203.0.113.7\n"
            "baseDockerImage: ubuntu:22.04\n"
            "nativeSharedDirectory: ~/.azureml/share/\n"
            "sharedVolumes: true\n"
            "type: remotedocker\n"
            "userManagedEnvironment: false\n"
            "username: me\n");
  EXPECT_EQ(Read("aml_config/my_dsvm.runconfig"),
            "ArgumentVector:\n"
            "- $file\n"
            "CondaDependenciesFile: aml_config/conda_dependencies.yml\n"
            "EnvironmentVariables: null\n"
            "Framework: PySpark\n"
            "PrepareEnvironment: true\n"
            "SparkDependenciesFile: aml_config/spark_dependencies.yml\n"
            "Target: my_dsvm\n"
            "TrackedRun: true\n"
            "UseSampling: true\n");
  ASSERT_TRUE(
      Attach(project, {"cluster", "hdi", "h-ssh.example.net", "sshuser", "", "", false}).ok());
  EXPECT_EQ(Read("aml_config/hdi.compute"),
            "address: h-ssh.example.net\ntype: cluster\nuserManagedEnvironment: false\n"
            "username: sshuser\nyarnDeployMode: cluster\n");
  ASSERT_TRUE(Attach(project, {"remote", "r", "203.0.113.7", "me", "", "", false}).ok());
  EXPECT_EQ(Read("aml_config/r.compute"),
            "address: 203.0.113.7\nnativeSharedDirectory: ~/.azureml/share/\n"
            "pythonLocation: python3\ntype: remote\nuserManagedEnvironment: true\nusername: me\n");
  ASSERT_TRUE(Attach(project, {"docker", "yes", "", "", "", "", false}).ok());
  EXPECT_EQ(Read("aml_config/yes.compute"),
            "baseDockerImage: ubuntu:22.04\nnativeSharedDirectory: ~/.azureml/share/\n"
            "sharedVolumes: true\ntype: localdocker\nuserManagedEnvironment: false\n");
  EXPECT_NE(Read("aml_config/yes.runconfig").find("Framework: Python\n"), std::string::npos);
  EXPECT_NE(Read("aml_config/yes.runconfig").find("Target: \"yes\"\n"), std::string::npos);
}

TEST_F(ConfigTest, AttachOverwritesNothingAndWritesBothFilesOrNone) {
  Write("aml_config/vm.runconfig", "Target: local\n");
  const Project project = Open();
  const auto attach = [&](AttachRequest request) {
    const Result<Attached> attached = Attach(project, request);
    return attached.ok() ? "ok" : Complaint(attached.error());
  };
  EXPECT_EQ(attach({"local", "vm", "", "", "", "", false}),
            "invalid: aml_config/vm.runconfig: there is such a file already | nothing was written; "
            "--force overwrites it, another name leaves it alone");
  EXPECT_EQ(Read("aml_config/vm.compute"), "(none)");
  EXPECT_EQ(attach({"local", "vm", "", "", "", "", true}), "ok");
  EXPECT_EQ(attach({"remotedocker", "x", "", "me", "", "", false}),
            "invalid: a target of type remotedocker needs the machine's address | name it with -a: "
            "an IP address or a host name");
  EXPECT_EQ(attach({"remotdocker", "x", "h", "me", "", "", false}),
            "invalid: there is no type `remotdocker` | did you mean remotedocker?");
  for (const char* name : {"", "../x", "a/b", ".x", "-x", "a\\b", "a\nb"}) {
    EXPECT_NE(attach({"local", name, "", "", "", "", false}), "ok") << name;
  }
}

TEST_F(ConfigTest, ARunConfigurationNeedsATarget) {
  const Project project = Open();
  EXPECT_EQ(CreateRunConfiguration(project, "r", "local", "", false).value_or("error"),
            "aml_config/r.runconfig");
  EXPECT_EQ(Read("aml_config/r.runconfig").substr(0, 25), "ArgumentVector:\n- $file\nC");
  EXPECT_FALSE(CreateRunConfiguration(project, "r", "local", "", false).ok());
  const auto missing = CreateRunConfiguration(project, "q", "locl", "", false);
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(Complaint(missing.error()),
            "not_found: there is no target `locl` | did you mean `-t local`?");
}

// ---- check -------------------------------------------------------------------------------------

TEST_F(ConfigTest, CheckJudgesEachFileOnItsOwn) {
  Write(".azureml/project.json", "{\"Id\": ");
  Write("aml_config/bad.compute", "type: local\n\tx: 1\n");
  Write("aml_config/vm.compute",
        "address: <ip>\npassword: hunter2\ntype: remotedocker\nusername: [me]\n");
  Write("aml_config/local.compute", "nvidiaDocker: true\ntype: local\nxyz: 1\n");
  Write("aml_config/a.runconfig", "Target: gone\nFramework: Python\n");
  Write("aml_config/b.runconfig",
        "Target: local\nFramework: Python\nArgumentVector: [no.py]\nTarget: x\n");
  Write("aml_config/c.runconfig",
        "Target: vm\nFramework: Python\nCondaDependenciesFile: aml_config/none.yml\n");
  Write("aml_config/d.runconfig", "Target: local\nFramework: Python\nArgumentVector: [no.py]\n");
  const std::string found = Findings();
  EXPECT_EQ(found.find("hunter2"), std::string::npos);
  for (const char* line :
       {"error .azureml/project.json:2:1: a value is missing",
        "error aml_config/bad.compute:2:1: a tab",
        "warning aml_config/vm.compute:1:10: address: `<ip>` is to be filled in",
        "warning aml_config/vm.compute:2:11: password: this is a secret in clear text",
        "error aml_config/vm.compute:4:11: username: expected text, found a list",
        "warning aml_config/local.compute:1:15: nvidiaDocker has no effect",
        "warning aml_config/local.compute:3:1: unknown key `xyz` is ignored",
        "error aml_config/a.runconfig:1:9: Target: there is no target `gone`",
        "error aml_config/b.runconfig:4:1: `Target` is already given in line 1",
        "error aml_config/c.runconfig:3:24: CondaDependenciesFile: there is no file",
        "warning aml_config/d.runconfig:3:18: ArgumentVector: there is no file `no.py`"}) {
    EXPECT_NE(found.find(line), std::string::npos) << line << "\nnot in\n" << found;
  }
}

TEST_F(ConfigTest, WhatAttachWritesHasNoError) {
  const Project project = Open();
  ASSERT_TRUE(Attach(project, {"docker", "d", "", "", "", "", false}).ok());
  ASSERT_TRUE(Attach(project, {"remotedocker", "vm", "203.0.113.7", "me", "", "", false}).ok());
  ASSERT_TRUE(Attach(project, {"cluster", "hdi", "203.0.113.7", "me", "", "", false}).ok());
  EXPECT_EQ(Findings().find("error"), std::string::npos) << Findings();
}

TEST_F(ConfigTest, CheckIsSilentAboutAGoodProject) {
  WriteLocal();
  EXPECT_EQ(Findings(), "");
}

TEST_F(ConfigTest, PasswordsAreToldApartWithoutBeingKept) {
  const auto form = [&](const std::string& line) {
    Write("aml_config/vm.compute", line + "\ntype: remotedocker\n");
    const Result<Target> target = ReadTarget(Open(), "vm");
    return target.ok() ? std::string(PasswordFormName(target->password.value))
                       : target.error().message;
  };
  EXPECT_EQ(form("address: x"), "none");
  EXPECT_EQ(form("password:"), "empty");
  EXPECT_EQ(form("password: \"\""), "empty");
  EXPECT_EQ(form("password: AzureMlSecret=vm#me#0123456789abcdef0123456789abcdef"), "reference");
  EXPECT_EQ(form("password: AzureMlSecret=00000000-1111-4222-8333-444444444444"), "reference");
  EXPECT_EQ(form("password: vm#me#0123456789abcdef0123456789abcdef"), "reference");
  EXPECT_EQ(form("password: 00000000-1111-4222-8333-444444444444#vm#me"), "reference");
  EXPECT_EQ(form("password: <use_azure_ml_secrets>"), "placeholder");
  EXPECT_EQ(form("password: [AzureML Secret here]"), "placeholder");
  EXPECT_EQ(form("password: \"PASSWORD\"  "), "placeholder");
  EXPECT_EQ(form("password: hunter2"), "clear text");
  EXPECT_EQ(form("password: a#b#c"), "clear text");
}

TEST_F(ConfigTest, AnUnfinishedTargetListsAndFailsOnlyWhenUsed) {
  WriteLocal();
  Write("aml_config/vm.compute", "type: remotedocker\nusername: [me]\n");
  Write("aml_config/vm.runconfig", "Target: vm\nFramework: Python\n");
  for (const TargetEntry& entry : ListTargets(Open())) {
    EXPECT_FALSE(entry.error) << entry.name;
  }
  Request request = Submit();
  request.run_configuration = "vm";
  EXPECT_EQ(Complaint(request),
            "invalid: aml_config/vm.compute:2:11: username: expected text, found a list | write "
            "`username: value`; a bracket that belongs to the value needs quotes around it");
  request.only_look = true;
  EXPECT_EQ(Complaint(request), "(accepted)");
  request.run_configuration = "local";
  EXPECT_EQ(Complaint(request), "(accepted)");
}

TEST_F(ConfigTest, ManagedEnvironmentOfJune2017IsTheOpposite) {
  Write("aml_config/d.compute", "type: docker\nbaseDockerImage: null\n");
  Write("aml_config/d.runconfig",
        "{\"Target\": \"d\", \"Framework\": \"Python\", "
        "\"ManagedEnvironment\": false, \"CondaFile\": null}");
  Write("train.py", "");
  Request request = Submit();
  request.run_configuration = "d";
  EXPECT_TRUE(MustResolve(request).target.user_managed_environment.value);
  Write("aml_config/d.compute", "type: docker\nuserManagedEnvironment: false\n");
  EXPECT_FALSE(MustResolve(request).target.user_managed_environment.value);
}

}  // namespace
}  // namespace tenon::project
