// SPDX-License-Identifier: Apache-2.0
// Packages, containers and the members of a spec that carry them, as JSON.
#include "run/packages.h"

#include <gtest/gtest.h>

#include "run/container_spec.h"
#include "run/spec.h"

namespace tenon::run {
namespace {

Packages Everything() {
  Packages packages;
  packages.file = "aml_config/conda_dependencies.yml";
  packages.format = "conda";
  packages.python = "=3.6";
  packages.python_where = "aml_config/conda_dependencies.yml:4";
  packages.channels = {"conda-forge", "defaults"};
  packages.conda = {{"numpy=1.12.1", "numpy", "f:5", "numpy"}};
  packages.pip = {{"./wheels/x-1.0-py3-none-any.whl", "x", "f:7"}, {"a\xff", "", "f:8"}};
  packages.pip_options = {{"--extra-index-url https://h/simple", "", "f:6"}};
  packages.files = {{"wheels/x-1.0-py3-none-any.whl", std::string(64, 'a')}};
  return packages;
}

ContainerSpec EveryLimit() {
  ContainerSpec container;
  container.image = "ubuntu:22.04";
  container.image_where = "aml_config/docker.compute:2";
  container.shared_volumes = false;
  container.nvidia_docker = false;
  container.gpus = "2";
  container.gpus_from_option = true;
  container.memory_bytes = int64_t{8} << 30;
  container.nano_cpus = 1'500'000'000;
  container.shm_bytes = 1 << 20;
  container.ulimits = {"memlock=-1", "nofile=1024:4096"};
  container.read_only_root = true;
  container.network = "none";
  return container;
}

RunSpec ContainerRun() {
  RunSpec spec;
  spec.key = "11111111-1111-1111-1111-111111111111";
  spec.id = "p_1";
  spec.script = "train.py";
  spec.tree = std::string(64, '0');
  spec.executor = ExecutorKind::kContainer;
  spec.managed_environment = true;
  spec.prepare_environment = false;
  spec.refresh_environment = true;
  spec.keep_on_fail = true;
  spec.packages = Everything();
  spec.container = EveryLimit();
  return spec;
}

TEST(Packages, EveryMemberComesBack) {
  const json::Object object = Everything().ToJson();
  auto again = Packages::FromJson(object);
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_EQ(again->ToJson(), object);
  EXPECT_EQ(again->pip[1].text, "a\xff");
  EXPECT_EQ(again->conda[0].where, "f:5");
  EXPECT_EQ(again->files[0].path, "wheels/x-1.0-py3-none-any.whl");
  EXPECT_EQ(again->channels, (std::vector<std::string>{"conda-forge", "defaults"}));
}

TEST(Packages, AbsentMembersAreDefaultsAndUnknownOnesAreLeftAlone) {
  auto packages = Packages::FromJson({{"later", 1}, {"pip", {{{"text", "numpy"}, {"later", 2}}}}});
  ASSERT_TRUE(packages.ok()) << packages.error().message;
  EXPECT_EQ(packages->python, "");
  ASSERT_EQ(packages->pip.size(), 1u);
  EXPECT_EQ(packages->pip[0].text, "numpy");
  EXPECT_TRUE(Packages::FromJson({})->empty());
}

TEST(Packages, AWrongTypeIsNeverADefault) {
  const json::Object bad[] = {
      {{"file", 1}},
      {{"python", json::Array{}}},
      {{"channels", "conda-forge"}},
      {{"channels", json::Array{1}}},
      {{"conda", "numpy"}},
      {{"conda", json::Array{"numpy"}}},
      {{"pip", json::Array{json::Object{{"text", 1}}}}},
      {{"pip_options", json::Object{}}},
      {{"files", json::Array{json::Object{{"hash", false}}}}},
  };
  for (const json::Object& object : bad) {
    auto packages = Packages::FromJson(object);
    ASSERT_FALSE(packages.ok()) << json::Print(object);
    EXPECT_EQ(packages.error().kind, ErrorKind::kInvalid);
  }
}

TEST(ContainerSpec, EveryMemberComesBack) {
  const json::Object object = EveryLimit().ToJson();
  auto again = ContainerSpec::FromJson(object);
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_EQ(again->ToJson(), object);
  EXPECT_EQ(again->nvidia_docker, std::optional<bool>(false));
  EXPECT_EQ(again->memory_bytes, int64_t{8} << 30);
  EXPECT_FALSE(again->shared_volumes);
  EXPECT_EQ(again->ulimits.size(), 2u);
}

TEST(ContainerSpec, AnUnsaidNvidiaDockerStaysUnsaid) {
  auto container = ContainerSpec::FromJson(ContainerSpec().ToJson());
  ASSERT_TRUE(container.ok());
  EXPECT_FALSE(container->nvidia_docker.has_value());
  EXPECT_TRUE(container->shared_volumes);
}

TEST(ContainerSpec, AWrongTypeIsNeverADefault) {
  const json::Object bad[] = {
      {{"image", 1}},          {{"shared_volumes", "true"}}, {{"nvidia_docker", 1}},
      {{"gpus", 1}},           {{"memory_bytes", "8g"}},     {{"memory_bytes", -1}},
      {{"nano_cpus", -1}},     {{"shm_bytes", -1}},          {{"ulimits", "nofile=1"}},
      {{"read_only_root", 0}}, {{"network", false}},
  };
  for (const json::Object& object : bad) {
    auto container = ContainerSpec::FromJson(object);
    ASSERT_FALSE(container.ok()) << json::Print(object);
    EXPECT_EQ(container.error().kind, ErrorKind::kInvalid);
  }
}

TEST(RunSpec, ContainerAndPackagesTravelWithIt) {
  const json::Object object = ContainerRun().ToJson();
  auto again = RunSpec::FromJson(object);
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_EQ(again->ToJson(), object);
  EXPECT_TRUE(again->managed_environment);
  EXPECT_FALSE(again->prepare_environment);
  EXPECT_TRUE(again->refresh_environment);
  EXPECT_TRUE(again->keep_on_fail);
  EXPECT_EQ(again->packages.pip.size(), 2u);
  EXPECT_EQ(again->container.gpus, "2");
}

TEST(RunSpec, ASpecOfAnOlderTenonHasNoPackages) {
  RunSpec spec = ContainerRun();
  json::Object object = spec.ToJson();
  for (const char* key : {"packages", "container", "managed_environment", "prepare_environment",
                          "refresh_environment", "keep_on_fail", "only_prepare"}) {
    ASSERT_EQ(object.erase(key), 1u) << key;
  }
  auto old = RunSpec::FromJson(object);
  ASSERT_TRUE(old.ok()) << old.error().message;
  EXPECT_FALSE(old->managed_environment);
  EXPECT_TRUE(old->prepare_environment);
  EXPECT_TRUE(old->packages.empty());
  EXPECT_EQ(old->container.image, "");
}

TEST(RunSpec, DamageInAPartIsNamed) {
  json::Object object = ContainerRun().ToJson();
  object["packages"] = json::Object{{"python", 3}};
  auto spec = RunSpec::FromJson(object);
  ASSERT_FALSE(spec.ok());
  EXPECT_EQ(spec.error().kind, ErrorKind::kInvalid);
  EXPECT_NE(spec.error().message.find("packages"), std::string::npos) << spec.error().message;
  object["packages"] = json::Array{};
  EXPECT_FALSE(RunSpec::FromJson(object).ok());
  object["packages"] = nullptr;
  object["container"] = json::Object{{"ulimits", 1}};
  EXPECT_FALSE(RunSpec::FromJson(object).ok());
}

TEST(RunSpec, OnlyAPreparationMayLackAScript) {
  RunSpec spec = ContainerRun();
  spec.script.clear();
  EXPECT_FALSE(RunSpec::FromJson(spec.ToJson()).ok());
  spec.only_prepare = true;
  EXPECT_TRUE(RunSpec::FromJson(spec.ToJson()).ok());
}

}  // namespace
}  // namespace tenon::run
