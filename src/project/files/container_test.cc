// SPDX-License-Identifier: Apache-2.0
// Containers and managed environments, from the files to the spec.
#include "project/check.h"
#include "project/files/config_set.h"
#include "project/files/container_keys.h"
#include "project/resolve.h"
#include "project/temp_project.h"

namespace tenon::project {
namespace {

class ContainerTest : public TempProject {
 protected:
  void SetUp() override {
    TempProject::SetUp();
    Write("train.py", "");
    Write("aml_config/d.runconfig", "Target: d\nFramework: Python\nPrepareEnvironment: false\n");
  }
  Request OnDocker(std::string_view compute) {
    Write("aml_config/d.compute", compute);
    Request request = Submit();
    request.run_configuration = "d";
    return request;
  }
  run::RunSpec Spec(std::string_view compute) { return ToRunSpec(MustResolve(OnDocker(compute))); }
};

TEST_F(ContainerTest, TheSpecCarriesTheWholeContainer) {
  Write("aml_config/conda_dependencies.yml", "dependencies:\n- python=3.6\n- pip: [six]\n");
  const Request request = OnDocker(
      "type: localdocker\nbaseDockerImage: 'debian:12'\nsharedVolumes: false\nnvidiaDocker: false\n"
      "gpus: 2\nmemory: 8g\ncpus: 1.5\nshmSize: 512m\nulimits:\n- memlock=-1\n- "
      "nofile=1024:4096\nreadOnlyRoot: true\nnetwork: none\n");
  const Resolved resolved = MustResolve(request);
  EXPECT_TRUE(CheckSupported(resolved).ok());
  EXPECT_TRUE(resolved.notices.empty());
  const run::RunSpec spec = ToRunSpec(resolved);
  EXPECT_EQ(spec.executor, run::ExecutorKind::kContainer);
  EXPECT_TRUE(spec.managed_environment);
  EXPECT_FALSE(spec.prepare_environment);
  EXPECT_EQ(spec.python, "");
  EXPECT_EQ(spec.packages.python, "=3.6");
  ASSERT_EQ(spec.packages.pip.size(), 1u);
  const run::ContainerSpec& container = spec.container;
  EXPECT_EQ(container.image, "debian:12");
  EXPECT_EQ(container.image_where, "aml_config/d.compute:2");
  EXPECT_FALSE(container.shared_volumes);
  EXPECT_EQ(container.nvidia_docker, std::optional<bool>(false));
  EXPECT_EQ(container.gpus, "2");
  EXPECT_EQ(container.gpu_where, "aml_config/d.compute:5: gpus: 2");
  EXPECT_FALSE(container.gpus_from_option);
  EXPECT_EQ(container.memory_bytes, int64_t{8} << 30);
  EXPECT_EQ(container.nano_cpus, 1'500'000'000);
  EXPECT_EQ(container.shm_bytes, 512 << 20);
  EXPECT_EQ(container.ulimits, (std::vector<std::string>{"memlock=-1", "nofile=1024:4096"}));
  EXPECT_TRUE(container.read_only_root);
  EXPECT_EQ(container.network, "none");
}

TEST_F(ContainerTest, WhoAsksForAGpuIsRemembered) {
  const auto asked = [&](const std::string& lines) {
    return Spec("type: localdocker\n" + lines).container.gpu_where;
  };
  EXPECT_EQ(asked("nvidiaDocker: true\n"), "aml_config/d.compute:2: nvidiaDocker: true");
  EXPECT_EQ(asked("gpus: all\nnvidiaDocker: true\n"), "aml_config/d.compute:2: gpus: all");
  EXPECT_EQ(asked("nvidiaDocker: false\n"), "");
  EXPECT_EQ(asked("gpus: none\n"), "");
  Request request = OnDocker("type: localdocker\nnvidiaDocker: true\n");
  request.gpus = "1";
  EXPECT_EQ(ToRunSpec(MustResolve(request)).container.gpu_where, "--gpus 1");
}

TEST_F(ContainerTest, WithoutAnyKeyTheDefaultsHold) {
  for (const char* type : {"localdocker", "docker"}) {
    const run::RunSpec spec = Spec("type: " + std::string(type) + "\nbaseDockerImage:\n");
    EXPECT_EQ(spec.container.image, "ubuntu:22.04");
    EXPECT_EQ(spec.container.image_where, "");
    EXPECT_TRUE(spec.container.shared_volumes);
    EXPECT_FALSE(spec.container.nvidia_docker.has_value());
    EXPECT_EQ(spec.container.gpus, "");
    EXPECT_EQ(spec.container.memory_bytes, 0);
    EXPECT_TRUE(spec.managed_environment);
    EXPECT_TRUE(spec.packages.empty());
  }
}

TEST_F(ContainerTest, TheBuiltInDockerIsAContainer) {
  Write("aml_config/d.runconfig", "Target: docker\nFramework: Python\n");
  Request request = Submit();
  request.run_configuration = "d";
  const Resolved resolved = MustResolve(request);
  EXPECT_TRUE(CheckSupported(resolved).ok());
  const run::RunSpec spec = ToRunSpec(resolved);
  EXPECT_EQ(spec.container.image, "ubuntu:22.04");
  EXPECT_TRUE(spec.managed_environment);
  EXPECT_TRUE(spec.prepare_environment);
}

TEST_F(ContainerTest, AUsersOwnPythonMakesNothing) {
  Write("aml_config/conda_dependencies.yml", "{");
  Request request = OnDocker("type: docker\nuserManagedEnvironment: true\n");
  request.conda_file = "aml_config/conda_dependencies.yml";
  const Resolved resolved = MustResolve(request);
  EXPECT_FALSE(ToRunSpec(resolved).managed_environment);
  EXPECT_EQ(ToRunSpec(resolved).python, "python");
  ASSERT_EQ(resolved.notices.size(), 1u);
  EXPECT_EQ(
      resolved.notices[0],
      "-d has no effect: userManagedEnvironment is true, so the image's own Python is used as "
      "it is");
}

TEST_F(ContainerTest, LocalIsManagedOnlyWhereTheFileSaysSo) {
  WriteLocal();
  Write("aml_config/conda_dependencies.yml", "dependencies: [{pip: [six]}]\n");
  Write("deps.txt", "attrs\n");
  EXPECT_FALSE(ToRunSpec(MustResolve(Submit())).managed_environment);
  EXPECT_TRUE(ToRunSpec(MustResolve(Submit())).packages.empty());
  Request request = Submit();
  request.conda_file = "deps.txt";
  ASSERT_EQ(MustResolve(request).notices.size(), 1u);
  EXPECT_EQ(MustResolve(request).notices[0],
            "-d has no effect: a target of type local uses its own Python as it is unless it says "
            "userManagedEnvironment: false");

  Write("aml_config/local.compute", "type: local\nuserManagedEnvironment: false\n");
  EXPECT_TRUE(MustResolve(Submit()).notices.empty());
  const run::RunSpec spec = ToRunSpec(MustResolve(Submit()));
  EXPECT_TRUE(spec.managed_environment);
  EXPECT_EQ(spec.packages.pip.at(0).text, "six");
  EXPECT_EQ(spec.python, "");
  const run::RunSpec other = ToRunSpec(MustResolve(request));
  EXPECT_EQ(other.packages.format, "requirements");
  EXPECT_EQ(other.packages.pip.at(0).text, "attrs");
  Write("aml_config/local.compute",
        "type: local\npythonLocation: /opt/py\nuserManagedEnvironment: false\n");
  EXPECT_EQ(ToRunSpec(MustResolve(Submit())).python, "/opt/py");
}

TEST_F(ContainerTest, BrokenPackagesStopARunAndOnlyWarnALook) {
  Write("aml_config/conda_dependencies.yml", "dependencies: numpy\n");
  Request request = OnDocker("type: docker\n");
  EXPECT_NE(Complaint(request).find("invalid: aml_config/conda_dependencies.yml:1"),
            std::string::npos)
      << Complaint(request);
  request.only_look = true;
  const Resolved looked = MustResolve(request);
  EXPECT_EQ(looked.notices.size(), 1u);
  const Status supported = CheckSupported(looked);
  ASSERT_FALSE(supported.ok());
  EXPECT_NE(supported.error().message.find("conda_dependencies.yml:1"), std::string::npos);
}

TEST_F(ContainerTest, PySparkInAContainerIsTheSameError) {
  Write("aml_config/d.runconfig", "Target: d\nFramework: PySpark\n");
  EXPECT_EQ(Complaint(OnDocker("type: docker\n")),
            "invalid: aml_config/d.runconfig:2:12: Framework: PySpark is not there yet; this "
            "version runs Python scripts | write `Framework: Python` if the script needs no Spark");
}

TEST_F(ContainerTest, AShareWithoutVolumesIsSaidAndLeftOut) {
  const Request request =
      OnDocker("type: docker\nnativeSharedDirectory: ~/.azureml/share/\nsharedVolumes: false\n");
  const Resolved resolved = MustResolve(request);
  EXPECT_EQ(ToRunSpec(resolved).shared_directory, "");
  ASSERT_EQ(resolved.notices.size(), 1u);
  EXPECT_EQ(resolved.notices[0],
            "aml_config/d.compute:2:24: nativeSharedDirectory needs sharedVolumes: true in a "
            "container; the run goes on without AZUREML_NATIVE_SHARE_DIRECTORY");
  EXPECT_EQ(Spec("type: docker\nnativeSharedDirectory: /s\n").shared_directory, "/s/myproject/");
}

TEST_F(ContainerTest, TheOptionForGpusWinsAndIsChecked) {
  Request request = OnDocker("type: docker\ngpus: none\nnvidiaDocker: false\n");
  request.gpus = "all";
  const run::RunSpec spec = ToRunSpec(MustResolve(request));
  EXPECT_EQ(spec.container.gpus, "all");
  EXPECT_TRUE(spec.container.gpus_from_option);
  EXPECT_EQ(spec.container.nvidia_docker, std::optional<bool>(false));
  request.gpus = "two";
  EXPECT_EQ(Complaint(request).substr(0, 68),
            "invalid: --gpus: expected all, none, a number or UUIDs with commas b");
  WriteLocal();
  Request local = Submit();
  local.run_configuration = "local";
  local.gpus = "1";
  ASSERT_EQ(MustResolve(local).notices.size(), 1u);
  EXPECT_EQ(MustResolve(local).notices[0],
            "--gpus has no effect: a target of type local sees the machine's GPUs as they are");
}

TEST_F(ContainerTest, GpusAsAListOfUuids) {
  EXPECT_EQ(Spec("type: docker\ngpus: [GPU-1a, GPU-2b]\n").container.gpus, "GPU-1a,GPU-2b");
  EXPECT_EQ(Spec("type: docker\ngpus: 'GPU-1a, MIG-2b'\n").container.gpus, "GPU-1a,MIG-2b");
  EXPECT_EQ(Spec("type: docker\ngpus: 0\n").container.gpus, "none");
  EXPECT_EQ(Complaint(OnDocker("type: docker\ngpus:\n- GPU-1\n- 1\n")).substr(0, 74),
            "invalid: aml_config/d.compute:4:3: gpus: expected the UUID of a GPU, found");
  EXPECT_EQ(Complaint(OnDocker("type: docker\ngpus: {a: b}\n")).substr(0, 47),
            "invalid: aml_config/d.compute:2:7: gpus: expect");
}

TEST_F(ContainerTest, WrongLimitsPointAtTheirLine) {
  const std::pair<const char*, const char*> wrong[] = {
      {"memory: lots", "memory: expected a size, found `lots`"},
      {"memory: 8", "memory: expected 6m or more, found `8`"},
      {"memory: -1g", "memory: expected a size"},
      {"cpus: many", "cpus: expected a number of cores"},
      {"cpus: 0", "cpus: expected a number of cores"},
      {"cpus: inf", "cpus: expected a number of cores"},
      {"shmSize: 0", "shmSize: expected a size"},
      {"ulimits: [nofile]", "ulimits: expected name=soft[:hard]"},
      {"ulimits: [nofiles=1]", "ulimits: there is no limit `nofiles`"},
      {"ulimits: ['nofile=9:1']", "ulimits: expected a soft limit that is not above"},
      {"ulimits: nofile=1", "ulimits: expected a list"},
      {"network: 'a b'", "network: expected none, host or the name"},
      {"readOnlyRoot: 1", "readOnlyRoot: expected true or false"},
  };
  for (const auto& [line, complaint] : wrong) {
    const std::string said = Complaint(OnDocker("type: docker\n" + std::string(line) + "\n"));
    EXPECT_EQ(said.find("invalid: aml_config/d.compute:2:"), 0u) << said;
    EXPECT_NE(said.find(complaint), std::string::npos) << said;
  }
}

TEST(ContainerKeys, SizesInAllForms) {
  const std::pair<const char*, int64_t> sizes[] = {
      {"8g", int64_t{8} << 30},   {"8G", int64_t{8} << 30}, {"8GB", int64_t{8} << 30},
      {"8gib", int64_t{8} << 30}, {"512m", 512 << 20},      {"1.5g", int64_t{3} << 29},
      {"65536k", 64 << 20},       {"1t", int64_t{1} << 40}, {"67108864", 64 << 20},
      {"67108864b", 64 << 20},    {" 6m ", 6 << 20},
  };
  for (const auto& [text, bytes] : sizes) {
    auto parsed = ParseMemory(text);
    ASSERT_TRUE(parsed.ok()) << text;
    EXPECT_EQ(*parsed, bytes) << text;
  }
  for (const char* text : {"", "g", "b", "1e9g", "nan", "1..2g", "9999999t", "8 gigs"}) {
    EXPECT_FALSE(ParseMemory(text).ok()) << text;
  }
  EXPECT_EQ(*ParseUlimit("memlock=unlimited"), "memlock=-1");
  EXPECT_FALSE(ParseUlimit("nofile=-1:5").ok());
  EXPECT_FALSE(ParseUlimit("nofile=1:2:3").ok());
}

TEST_F(ContainerTest, ExplainShowsImageEnvironmentAndLimits) {
  Request request = OnDocker("type: docker\nmemory: 1536m\ncpus: 0.5\nulimits: [core=0]\n");
  request.gpus = "1";
  std::string text;
  for (const Explanation& row : Explain(MustResolve(request))) {
    text += row.setting + " = " + row.value + " (" + row.origin + ")\n";
  }
  for (const char* row :
       {"baseDockerImage = ubuntu:22.04 (default)", "gpus = 1 (option --gpus)",
        "memory = 1536m (aml_config/d.compute:2:9)", "cpus = 0.5 (aml_config/d.compute:3:7)",
        "ulimits = core=0 (aml_config/d.compute:4:10)",
        "PrepareEnvironment = false (aml_config/d.runconfig:3:21)",
        "CondaDependenciesFile = aml_config/conda_dependencies.yml (default)"}) {
    EXPECT_NE(text.find(std::string(row) + "\n"), std::string::npos) << row << "\n" << text;
  }
}

TEST_F(ContainerTest, SettingAKeyIsCheckedLikeReadingIt) {
  Write("aml_config/d.compute", "type: docker\nulimits:\n- core=0\n");
  const Result<Project> project = OpenProject(root_, std::nullopt);
  ASSERT_TRUE(project.ok());
  EXPECT_FALSE(SetKey(*project, {"memory", "lots", {}, "d"}).ok());
  EXPECT_FALSE(SetKey(*project, {"gpus", "GPU", {}, "d"}).ok());
  EXPECT_FALSE(SetKey(*project, {"ulimits.0", "nofile", {}, "d"}).ok());
  EXPECT_TRUE(SetKey(*project, {"memory", "2g", {}, "d"}).ok());
  EXPECT_TRUE(SetKey(*project, {"gpus", "2", {}, "d"}).ok());
  EXPECT_TRUE(SetKey(*project, {"ulimits.0", "nofile=5", {}, "d"}).ok());
  Request request = Submit();
  request.run_configuration = "d";
  const run::ContainerSpec container = ToRunSpec(MustResolve(request)).container;
  EXPECT_EQ(container.memory_bytes, int64_t{2} << 30);
  EXPECT_EQ(container.gpus, "2");
  EXPECT_EQ(container.ulimits, (std::vector<std::string>{"nofile=5"}));
}

TEST_F(ContainerTest, CheckNamesWhatStopsARunOfPackages) {
  Write("aml_config/d.compute", "type: docker\n");
  Write("aml_config/l.compute", "type: local\nmemory: 1g\n");
  Write("aml_config/l.runconfig",
        "Target: l\nFramework: Python\nCondaDependenciesFile: reqs.txt\n");
  Write("aml_config/conda_dependencies.yml",
        "dependencies:\n- pip:\n  - ./wheels/gone-1.0-py3-none-any.whl\n");
  Write("reqs.txt", "six\n-r gone.txt\n");
  const Result<Checked> checked = CheckProject(root_, root_);
  ASSERT_TRUE(checked.ok());
  std::string text;
  for (const Finding& finding : checked->findings) {
    text += std::string(LevelName(finding.level)) + " " + finding.file + ":" +
            std::to_string(finding.line) + " " + finding.text + "\n";
  }
  for (const char* part :
       {"error aml_config/conda_dependencies.yml:3 the file `./wheels/gone",
        "warning reqs.txt:2 the file `gone.txt` is not there",
        "warning aml_config/l.compute:2 memory has no effect on a target of type local"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
}

}  // namespace
}  // namespace tenon::project
