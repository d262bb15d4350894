// SPDX-License-Identifier: Apache-2.0
#include "project/resolve.h"

#include "project/temp_project.h"

namespace tenon::project {
namespace {

class ResolveTest : public TempProject {
 protected:
  // The error for a .runconfig with this text, named `local`.
  std::string RunConfigurationComplaint(std::string_view bytes) {
    WriteLocal();
    Write("aml_config/local.runconfig", bytes);
    return Complaint(Submit());
  }
  std::string ComputeComplaint(std::string_view bytes) {
    WriteLocal();
    Write("aml_config/local.compute", bytes);
    return Complaint(Submit());
  }
};

// ---- Where each value comes from -------------------------------------------------------------

TEST_F(ResolveTest, EverySettingRemembersItsOrigin) {
  Write(
      "aml_config/box.compute",
      "type: local\r\npythonLocation: \"/opt/py\"\r\nnativeSharedDirectory: ~/.azureml/share/\r\n");
  Write("aml_config/fast.runconfig",
        "# how\nFramework: Python\nTarget: \"box\"\nTrackedRun: False\n"
        "EnvironmentVariables:\n  B: 2\n  \"A\": True\n  C:\n");
  Write("code/train.py", "");
  Request request = Submit("code/train.py");
  request.run_configuration = "fast";
  request.arguments = {"--epochs", "20", "10", "--wait"};
  request.environment = {{"A", "over"}, {"D", "new"}};
  const Resolved resolved = MustResolve(request);

  EXPECT_EQ(resolved.project.root, root_);
  EXPECT_EQ(resolved.run_configuration.value, "fast");
  EXPECT_EQ(resolved.run_configuration.origin.Text(), "option -c");
  EXPECT_EQ(resolved.target_name.value, "box");
  EXPECT_EQ(resolved.target_name.origin.Text(), "aml_config/fast.runconfig:3:9");
  EXPECT_EQ(resolved.target.type.origin.Text(), "aml_config/box.compute:1:7");
  EXPECT_EQ(resolved.target.python_location.value, "/opt/py");
  EXPECT_EQ(resolved.target.python_location.origin.Text(), "aml_config/box.compute:2:17");
  EXPECT_EQ(resolved.framework.value, Framework::kPython);
  EXPECT_EQ(resolved.framework.origin.Text(), "aml_config/fast.runconfig:2:12");
  EXPECT_EQ(resolved.script.value, "code/train.py");
  EXPECT_EQ(resolved.arguments.value, request.arguments);
  EXPECT_FALSE(resolved.tracked_run.value);
  EXPECT_EQ(resolved.tracked_run.origin.Text(), "aml_config/fast.runconfig:4:13");
  EXPECT_TRUE(resolved.prepare_environment.value);
  EXPECT_EQ(resolved.prepare_environment.origin.Text(), "default");
  ASSERT_EQ(resolved.environment.size(), 4u);
  EXPECT_EQ(resolved.environment[0].first, "B");
  EXPECT_EQ(resolved.environment[0].second.value, "2");
  EXPECT_EQ(resolved.environment[0].second.origin.Text(), "aml_config/fast.runconfig:6:6");
  EXPECT_EQ(resolved.environment[1].second.value, "over");
  EXPECT_EQ(resolved.environment[1].second.origin.Text(), "option --env");
  EXPECT_EQ(resolved.environment[2].second.value, "");
  EXPECT_EQ(resolved.environment[3].first, "D");
  EXPECT_TRUE(resolved.notices.empty());
}

TEST_F(ResolveTest, CapitalisedBooleanStaysAsWrittenInTheEnvironment) {
  WriteLocal();
  Write("aml_config/local.runconfig",
        "Framework: Python\nTarget: local\nEnvironmentVariables: {FLAG: True, N: 007, Q: \"a: "
        "b\"}\n");
  const Resolved resolved = MustResolve(Submit());
  ASSERT_EQ(resolved.environment.size(), 3u);
  EXPECT_EQ(resolved.environment[0].second.value, "True");
  EXPECT_EQ(resolved.environment[1].second.value, "007");
  EXPECT_EQ(resolved.environment[2].second.value, "a: b");
}

TEST_F(ResolveTest, OptionTargetWinsOverTheRunConfiguration) {
  WriteLocal();
  Write("aml_config/other.compute", "type: local\npythonLocation: /other\n");
  Request request = Submit();
  request.target = "other";
  const Resolved resolved = MustResolve(request);
  EXPECT_EQ(resolved.target_name.value, "other");
  EXPECT_EQ(resolved.target_name.origin.Text(), "option -t");
  EXPECT_EQ(resolved.target.python_location.value, "/other");
  EXPECT_EQ(resolved.run_configuration.value, "local");
  EXPECT_EQ(resolved.run_configuration.origin.Text(), "default");
}

TEST_F(ResolveTest, SpecCarriesEverythingTheRunnerNeeds) {
  WriteLocal();
  Write("aml_config/local.compute",
        "type: local\npythonLocation: python3\nnativeSharedDirectory: ~/.azureml/share/\n");
  Write("aml_config/local.runconfig",
        "Framework: Python\nTarget: local\nTrackedRun: false\nEnvironmentVariables: {A: b}\n");
  Request request = Submit();
  request.arguments = {"--lr", "0.1", "x"};
  const run::RunSpec plain = ToRunSpec(MustResolve(request));
  EXPECT_EQ(plain.project, "myproject");
  EXPECT_EQ(plain.project_id, DerivedId(root_));
  EXPECT_EQ(plain.script, "train.py");
  EXPECT_EQ(plain.arguments, request.arguments);
  EXPECT_EQ(plain.parameters, run::ParametersFromArguments(request.arguments));
  EXPECT_EQ(plain.target, "local");
  EXPECT_EQ(plain.target_type, "local");
  EXPECT_EQ(plain.run_configuration, "local");
  EXPECT_EQ(plain.executor, run::ExecutorKind::kProcess);
  EXPECT_EQ(plain.python, "python3");
  ASSERT_EQ(plain.environment.size(), 1u);
  EXPECT_EQ(plain.environment[0].second, "b");
  EXPECT_FALSE(plain.tracked);
  EXPECT_EQ(plain.shared_directory, "~/.azureml/share/myproject/");

  Write(".azureml/project.json",
        R"({"Id":"g","Scope":"/subscriptions/s/accounts/acc/workspaces/ws/projects/proj"})");
  const run::RunSpec scoped = ToRunSpec(MustResolve(request));
  EXPECT_EQ(scoped.project, "proj");
  EXPECT_EQ(scoped.project_id, "g");
  EXPECT_EQ(scoped.shared_directory, "~/.azureml/share/acc/ws/proj/");
}

TEST_F(ResolveTest, NoSharedFolderWithoutTheKey) {
  WriteLocal();
  EXPECT_EQ(ToRunSpec(MustResolve(Submit())).shared_directory, "");
}

TEST_F(ResolveTest, ExplainNamesTheLineOfEachValue) {
  WriteLocal();
  Request request = Submit();
  request.arguments = {"a b"};
  std::string text;
  for (const Explanation& row : Explain(MustResolve(request))) {
    if (row.setting.starts_with("project")) continue;
    text += row.setting + " = " + row.value + " (" + row.origin + ")\n";
  }
  EXPECT_EQ(text,
            "run configuration = local (default)\n"
            "Target = local (aml_config/local.runconfig:4:9)\n"
            "type = local (aml_config/local.compute:1:7)\n"
            "Framework = Python (aml_config/local.runconfig:3:12)\n"
            "script = train.py (option SCRIPT)\n"
            "arguments = 'a b' (option SCRIPT)\n"
            "pythonLocation = python3 (aml_config/local.compute:2:17)\n"
            "userManagedEnvironment = true (default)\n"
            "TrackedRun = true (aml_config/local.runconfig:5:13)\n");
}

// ---- What needs no file ----------------------------------------------------------------------

TEST_F(ResolveTest, FolderWithoutConfigRunsPythonHereWithANotice) {
  Write("train.py", "");
  const Resolved resolved = MustResolve(Submit());
  EXPECT_EQ(resolved.target.type.value, "local");
  EXPECT_EQ(resolved.target.type.origin.Text(), "built in");
  EXPECT_EQ(resolved.target.python_location.value, "python");
  EXPECT_EQ(resolved.framework.value, Framework::kPython);
  ASSERT_EQ(resolved.notices.size(), 1u);
  EXPECT_EQ(resolved.notices[0], "there is no aml_config/ in " + root_ +
                                     ": running with Framework Python on the target `local`");
}

TEST_F(ResolveTest, ConfigFolderWithoutRunConfigurationsDoesTheSame) {
  Write("train.py", "");
  Write("aml_config/conda_dependencies.yml", "name: x\n");
  const Resolved resolved = MustResolve(Submit());
  ASSERT_EQ(resolved.notices.size(), 1u);
  EXPECT_EQ(
      resolved.notices[0],
      "aml_config/ has no run configuration: running with Framework Python on the target `local`");
}

TEST_F(ResolveTest, LocalAndDockerNeedNoComputeFile) {
  Write("train.py", "");
  Write("aml_config/a.runconfig", "Target: local\nFramework: Python\n");
  Write("aml_config/b.runconfig", "Target: docker\nFramework: Python\n");
  Request request = Submit();
  request.run_configuration = "a";
  EXPECT_EQ(MustResolve(request).target.type.value, "local");
  request.run_configuration = "b";
  EXPECT_EQ(MustResolve(request).target.type.value, "localdocker");
}

// ---- Names -----------------------------------------------------------------------------------

TEST_F(ResolveTest, TargetGivenAsRunConfigurationNamesTheOnesThatUseIt) {
  WriteLocal();
  Write("aml_config/docker.compute", "type: localdocker\n");
  Write("aml_config/docker-python.runconfig", "Target: docker\nFramework: Python\n");
  Write("aml_config/docker-spark.runconfig", "Target: docker\nFramework: PySpark\n");
  Write("aml_config/lonely.compute", "type: local\n");
  Request request = Submit();
  request.run_configuration = "docker";
  EXPECT_EQ(
      Complaint(request),
      "not_found: `docker` is a target, not a run configuration | run configurations that use it: "
      "docker-python, docker-spark; write `-c docker-python`");
  request.run_configuration = "lonely";
  EXPECT_EQ(Complaint(request),
            "not_found: `lonely` is a target, not a run configuration | "
            "no run configuration uses it; write `-t lonely`");
}

TEST_F(ResolveTest, UnknownRunConfiguration) {
  WriteLocal();
  Request request = Submit();
  request.run_configuration = "Loacl";
  EXPECT_EQ(Complaint(request),
            "not_found: there is no run configuration `Loacl` | did you mean `-c local`?");
  request.run_configuration = "gpu-cluster";
  EXPECT_EQ(Complaint(request),
            "not_found: there is no run configuration `gpu-cluster` | there are: local");
  request.run_configuration = "../aml_config/local";
  EXPECT_EQ(Complaint(request).substr(0, 40), "not_found: there is no run configuration");
}

TEST_F(ResolveTest, RunConfigurationByFileName) {
  WriteLocal();
  Request request = Submit();
  for (const char* name :
       {"local.runconfig", "aml_config/local.runconfig", ".\\aml_config\\local.runconfig"}) {
    request.run_configuration = name;
    EXPECT_EQ(MustResolve(request).run_configuration.value, "local") << name;
  }
}

TEST_F(ResolveTest, NoRunConfigurationNamedAndNoneCalledLocal) {
  Write("train.py", "");
  Write("aml_config/b.runconfig", "Target: local\nFramework: Python\n");
  Write("aml_config/a.runconfig", "Target: local\nFramework: Python\n");
  EXPECT_EQ(
      Complaint(Submit()),
      "not_found: no run configuration is named, and there is no aml_config/local.runconfig | "
      "name one with -c: a, b");
}

TEST_F(ResolveTest, TargetWithoutFileNamesTheLineAndTheFile) {
  WriteLocal();
  Write("aml_config/local.runconfig", "Framework: Python\nTarget: docker-python\n");
  Write("aml_config/docker-pyton.compute", "type: localdocker\n");
  EXPECT_EQ(Complaint(Submit()),
            "not_found: aml_config/local.runconfig:2:9: Target: there is no target `docker-python` "
            "(no aml_config/docker-python.compute) | did you mean `docker-pyton`?");
  Request request = Submit();
  request.target = "zebra";
  EXPECT_EQ(Complaint(request),
            "not_found: -t: there is no target `zebra` (no aml_config/zebra.compute) | "
            "there are: docker, docker-pyton, local");
}

// ---- Framework -------------------------------------------------------------------------------

TEST_F(ResolveTest, MissingFrameworkIsPySparkAndSaysWhereTheLineGoes) {
  EXPECT_EQ(
      RunConfigurationComplaint("# a comment\nTarget: local\nTrackedRun: true\n"),
      "invalid: aml_config/local.runconfig:2:1: `Framework` is missing, which means PySpark; this "
      "version runs Python scripts | insert this line here: `Framework: Python`");
  EXPECT_EQ(
      RunConfigurationComplaint("{\n  \"Target\":\"local\"\n}"),
      "invalid: aml_config/local.runconfig:1:2: `Framework` is missing, which means PySpark; this "
      "version runs Python scripts | insert here: `\"Framework\": \"Python\",`");
  EXPECT_EQ(RunConfigurationComplaint("Target: local\nFramework:\n"),
            "invalid: aml_config/local.runconfig:2:1: `Framework` has no value, which means "
            "PySpark; this "
            "version runs Python scripts | write `Framework: Python`");
}

TEST_F(ResolveTest, TheFixOfAMissingFrameworkWorks) {
  EXPECT_NE(RunConfigurationComplaint("# a comment\nTarget: local\n"), "(accepted)");
  EXPECT_EQ(RunConfigurationComplaint("# a comment\nFramework: Python\nTarget: local\n"),
            "(accepted)");
  EXPECT_NE(RunConfigurationComplaint("{\n  \"Target\":\"local\"\n}"), "(accepted)");
  EXPECT_EQ(RunConfigurationComplaint("{\"Framework\": \"Python\",\n  \"Target\":\"local\"\n}"),
            "(accepted)");
}

TEST_F(ResolveTest, PySparkIsNeverSilentlyPython) {
  EXPECT_EQ(
      RunConfigurationComplaint("Target: local\nFramework: \"PySpark\"\n"),
      "invalid: aml_config/local.runconfig:2:12: Framework: PySpark is not there yet; this version "
      "runs Python scripts | write `Framework: Python` if the script needs no Spark");
}

TEST_F(ResolveTest, OtherSpellingsOfTheFramework) {
  EXPECT_EQ(
      RunConfigurationComplaint("Target: local\nFramework: python\n"),
      "invalid: aml_config/local.runconfig:2:12: Framework: expected Python or PySpark, found "
      "`python` | write `Framework: Python`");
  EXPECT_EQ(
      RunConfigurationComplaint("Target: local\nFramework: TensorFlow\n"),
      "invalid: aml_config/local.runconfig:2:12: Framework: expected Python or PySpark, found "
      "`TensorFlow` | write `Framework: Python`");
  EXPECT_EQ(
      RunConfigurationComplaint("Target: local\nframework: Python\n"),
      "invalid: aml_config/local.runconfig:2:1: `framework` is not `Framework`: upper and lower "
      "case count | write `Framework: Python`");
}

// ---- Mistakes in files -----------------------------------------------------------------------

TEST_F(ResolveTest, SuccessorsFormatIsRecognised) {
  const std::string want =
      ": this is the format of the successor, not of a Workbench project | "
      "write a file with `Target: local` and `Framework: Python`";
  EXPECT_EQ(RunConfigurationComplaint("# x\nscript: train.py\ntarget: local\nframework: Python\n"),
            "invalid: aml_config/local.runconfig:2:1: `script`" + want);
  EXPECT_EQ(RunConfigurationComplaint("{\"framework\": \"Python\", \"environment\": {}}"),
            "invalid: aml_config/local.runconfig:1:2: `framework`" + want);
}

TEST_F(ResolveTest, DuplicateKeyNamesBothLines) {
  EXPECT_EQ(RunConfigurationComplaint("Target: local\nFramework: Python\nTarget: docker\n"),
            "invalid: aml_config/local.runconfig:3:1: `Target` is already given in line 1 | "
            "remove one of the two lines");
}

TEST_F(ResolveTest, WrongTypesPointAtTheValue) {
  EXPECT_EQ(ComputeComplaint("type: local\naddress: [x]\n"),
            "invalid: aml_config/local.compute:2:10: address: expected text, found a list | write "
            "`address: value`; a bracket that belongs to the value needs quotes around it");
  EXPECT_EQ(
      ComputeComplaint("type: local\nnvidiaDocker: maybe\n"),
      "invalid: aml_config/local.compute:2:15: nvidiaDocker: expected true or false, found text | "
      "write `nvidiaDocker: true` or `nvidiaDocker: false`");
  EXPECT_EQ(
      ComputeComplaint("{\"type\": \"local\", \"sharedVolumes\": 1}"),
      "invalid: aml_config/local.compute:1:36: sharedVolumes: expected true or false, found text | "
      "write `\"sharedVolumes\": true` or `\"sharedVolumes\": false`");
  EXPECT_EQ(
      RunConfigurationComplaint("Target: local\nFramework: Python\nArgumentVector: train.py\n"),
      "invalid: aml_config/local.runconfig:3:17: ArgumentVector: expected a list, found text | "
      "write `ArgumentVector: [one, two]`");
  EXPECT_EQ(
      RunConfigurationComplaint("Target: local\nFramework: Python\nArgumentVector: [a, [b]]\n"),
      "invalid: aml_config/local.runconfig:3:21: ArgumentVector: expected text, found a list | "
      "write one word per item; put it in quotes if it is empty or begins with a bracket");
  EXPECT_EQ(
      RunConfigurationComplaint("Target: local\nFramework: Python\nEnvironmentVariables: A=b\n"),
      "invalid: aml_config/local.runconfig:3:23: EnvironmentVariables: expected names with values, "
      "found text | write `EnvironmentVariables: {NAME: value}`");
  EXPECT_EQ(
      RunConfigurationComplaint(
          "Target: local\nFramework: Python\nEnvironmentVariables: {A: [b]}\n"),
      "invalid: aml_config/local.runconfig:3:27: EnvironmentVariables: A: expected text, found a "
      "list | put the value in quotes");
  EXPECT_EQ(
      RunConfigurationComplaint(
          "Target: local\nFramework: Python\nEnvironmentVariables: {A=b: c}\n"),
      "invalid: aml_config/local.runconfig:3:24: EnvironmentVariables: `A=b` cannot be the name of "
      "a variable | write `NAME: value`");
}

TEST_F(ResolveTest, ValueOfAPasswordIsInNoMessage) {
  for (const char* bytes :
       {"type: local\npassword: [hunter2]\n", "type: local\npassword: {hunter2: x}\n",
        "type: local\npassword: hunter2: x\n", "type: local\npassword:hunter2\n",
        "type: local\npassword: \"hunter2\n", "type: local\npassword: \"a\" hunter2\n",
        "type: local\npassword: *hunter2\n", "type: local\npassword: !hunter2 x\n",
        "type: local\npassword: @hunter2\n", "type: local\n  password: hunter2\n"}) {
    const std::string complaint = ComputeComplaint(bytes);
    EXPECT_NE(complaint, "(accepted)") << bytes;
    EXPECT_EQ(complaint.find("hunter2"), std::string::npos) << complaint;
  }
}

TEST_F(ResolveTest, MissingTargetAndMissingType) {
  EXPECT_EQ(RunConfigurationComplaint("Framework: Python\n"),
            "invalid: aml_config/local.runconfig:1:1: `Target` is missing | "
            "insert this line here: `Target: local`");
  EXPECT_EQ(ComputeComplaint("pythonLocation: python\n"),
            "invalid: aml_config/local.compute:1:1: `type` is missing | "
            "insert this line here: `type: local`");
  EXPECT_EQ(
      ComputeComplaint("Type: local\n"),
      "invalid: aml_config/local.compute:1:1: `Type` is not `type`: upper and lower case count | "
      "write `type: local`");
  EXPECT_EQ(ComputeComplaint("type: locl\n"),
            "invalid: aml_config/local.compute:1:7: type: there is no type `locl` | "
            "did you mean `type: local`?");
  EXPECT_EQ(ComputeComplaint("type: kubernetes\n"),
            "invalid: aml_config/local.compute:1:7: type: there is no type `kubernetes` | types "
            "are local, "
            "localdocker, docker, remote, remotedocker, virtualmachine, cluster, slurm");
}

TEST_F(ResolveTest, FilesThatAreNoSettings) {
  EXPECT_EQ(RunConfigurationComplaint(""),
            "invalid: aml_config/local.runconfig: the file is empty | ");
  EXPECT_EQ(RunConfigurationComplaint("- a\n- b\n"),
            "invalid: aml_config/local.runconfig:1:1: expected settings, found a list | "
            "write one `key: value` per line");
  EXPECT_EQ(RunConfigurationComplaint("\tTarget: local\n").substr(0, 38),
            "invalid: aml_config/local.runconfig:1:");
}

TEST_F(ResolveTest, UnknownKeysAreNoticesThatGuess) {
  WriteLocal();
  Write("aml_config/local.runconfig",
        "Framework: Python\nTarget: local\nTrakedRun: false\nzzz: 1\n");
  Write("aml_config/local.compute", "type: local\nPythonLocation: /x\n");
  const Resolved resolved = MustResolve(Submit());
  ASSERT_EQ(resolved.notices.size(), 3u);
  EXPECT_EQ(resolved.notices[0],
            "aml_config/local.runconfig:3:1: unknown key `TrakedRun` is ignored; did you mean "
            "`TrackedRun`?");
  EXPECT_EQ(resolved.notices[1], "aml_config/local.runconfig:4:1: unknown key `zzz` is ignored");
  EXPECT_EQ(resolved.notices[2],
            "aml_config/local.compute:2:1: unknown key `PythonLocation` is ignored; did you mean "
            "`pythonLocation`?");
  EXPECT_EQ(resolved.target.python_location.value, "python");
}

TEST_F(ResolveTest, BrokenFilesOfOthersDoNotStopThisRun) {
  WriteLocal();
  Write("aml_config/bad.compute", "\tx");
  Write("aml_config/bad.runconfig", "{");
  Write("aml_config/conda_dependencies.yml", "{");
  EXPECT_EQ(Complaint(Submit()), "(accepted)");
}

TEST_F(ResolveTest, InvalidNamesOfVariablesInOptions) {
  WriteLocal();
  Request request = Submit();
  request.environment = {{"", "x"}};
  EXPECT_EQ(Complaint(request),
            "invalid: --env: `` cannot be the name of a variable | write `--env NAME=VALUE`");
}

// ---- Targets of other types ------------------------------------------------------------------

TEST_F(ResolveTest, MachinesOverSshAreSupported) {
  Write("train.py", "");
  Write("aml_config/vm.compute",
        "address: h\nbaseDockerImage: null\npassword: AzureMlSecret=x\nsharedVolumes: true\n"
        "type: remotedocker\nusername: u\nnvidiaDocker: true");
  Write("aml_config/vm.runconfig", "Target: vm\nFramework: Python\n");
  Request request = Submit();
  request.run_configuration = "vm";
  const Resolved resolved = MustResolve(request);
  EXPECT_EQ(resolved.target.address.value, "h");
  EXPECT_EQ(resolved.target.base_docker_image.value, "");
  EXPECT_TRUE(resolved.target.nvidia_docker.value);
  EXPECT_FALSE(resolved.target.user_managed_environment.value);
  EXPECT_EQ(resolved.target.password_reference, "AzureMlSecret=x");
  EXPECT_TRUE(CheckSupported(resolved).ok());
  EXPECT_EQ(ToRunSpec(resolved).executor, run::ExecutorKind::kContainer);
}

TEST_F(ResolveTest, AMachineThatIsStillToBeFilledInIsNotUsed) {
  Write("train.py", "");
  Write("aml_config/vm.compute", "address: <ipAddress>\ntype: remote\nusername: u\n");
  Write("aml_config/vm.runconfig", "Target: vm\nFramework: Python\n");
  Request request = Submit();
  request.run_configuration = "vm";
  const Status supported = CheckSupported(MustResolve(request));
  ASSERT_FALSE(supported.ok());
  EXPECT_NE(Complaint(supported.error()).find("aml_config/vm.compute:1:10: address"),
            std::string::npos)
      << Complaint(supported.error());
}

TEST_F(ResolveTest, OtherTypesAreReadAndThenRefused) {
  Write("train.py", "");
  Write("aml_config/hdi.compute", "address: h\ntype: cluster\nusername: u\n");
  Write("aml_config/hdi.runconfig", "Target: hdi\nFramework: Python\n");
  Request request = Submit();
  request.run_configuration = "hdi";
  const Status supported = CheckSupported(MustResolve(request));
  ASSERT_FALSE(supported.ok());
  EXPECT_EQ(Complaint(supported.error()),
            "invalid: aml_config/hdi.compute:2:7: target `hdi` is of type cluster; this version "
            "runs `local, localdocker, docker, remote, remotedocker, virtualmachine` | run it here "
            "with `-t local`");
}

TEST_F(ResolveTest, LocalIsSupported) {
  WriteLocal();
  EXPECT_TRUE(CheckSupported(MustResolve(Submit())).ok());
}

TEST_F(ResolveTest, OldestFormWithoutTypeIsUnderstood) {
  Write("train.py", "");
  Write("aml_config/hdi.compute", "address: a\ncluster: True\nnative: True\n");
  Write("aml_config/vm.compute", "address: a\ncluster: False\nnative: False\n");
  Write("aml_config/local.runconfig", "Target: hdi\nFramework: Python\n");
  EXPECT_EQ(MustResolve(Submit()).target.type.value, "cluster");
  Request request = Submit();
  request.target = "vm";
  EXPECT_EQ(MustResolve(request).target.type.value, "virtualmachine");
  EXPECT_EQ(MustResolve(request).target.type.origin.Text(), "aml_config/vm.compute:2:10");
}

}  // namespace
}  // namespace tenon::project
