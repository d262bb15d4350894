// SPDX-License-Identifier: Apache-2.0
#include "executor/container_config.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace tenon::executor {
namespace {

constexpr int64_t kGiB = int64_t{1} << 30;

ContainerPlan Plan() {
  ContainerPlan plan;
  plan.image = "sha256:abc";
  plan.command = {kRunnerInside, "init"};
  plan.machine_memory_bytes = 64 * kGiB;
  return plan;
}

json::Object Host(const ContainerPlan& plan) {
  auto config = ContainerConfig(plan);
  EXPECT_TRUE(config.ok());
  return *json::GetObject(*config, "HostConfig");
}

// The limit of that name as "soft:hard", "" when there is none.
std::string Ulimit(const json::Object& host, const std::string& name) {
  for (const json::Value& value : *json::GetArray(host, "Ulimits")) {
    const json::Object& limit = value.get_object();
    if (json::GetString(limit, "Name") != name) continue;
    return std::to_string(json::GetInt(limit, "Soft")) + ":" +
           std::to_string(json::GetInt(limit, "Hard"));
  }
  return "";
}

TEST(ContainerConfig, AnImagesOwnEntrypointAndUserNeverRun) {
  auto config = ContainerConfig(Plan());
  ASSERT_TRUE(config.ok());
  EXPECT_EQ(json::Print((*config)["Entrypoint"]), R"(["/.tenon/runner","init"])");
  EXPECT_EQ(json::Print((*config)["Cmd"]), "[]");
  EXPECT_EQ(json::GetString(*config, "User"), "0:0");
}

TEST(ContainerConfig, TheEngineKeepsNoLogOfItsOwnAndRestartsNothing) {
  const json::Object host = Host(Plan());
  EXPECT_EQ(json::GetString(*json::GetObject(host, "LogConfig"), "Type"), "none");
  EXPECT_EQ(json::GetString(*json::GetObject(host, "RestartPolicy"), "Name"), "no");
}

TEST(ContainerConfig, DataLoadersGetSharedMemoryUnlessTheTargetSaysHowMuch) {
  ContainerPlan plan = Plan();
  EXPECT_EQ(json::GetInt(Host(plan), "ShmSize"), 32 * kGiB);
  plan.limits.shm_bytes = kGiB;
  EXPECT_EQ(json::GetInt(Host(plan), "ShmSize"), kGiB);
  plan.limits.shm_bytes = 0;
  plan.machine_memory_bytes = 0;  // an engine that does not tell
  EXPECT_EQ(json::GetInt(Host(plan), "ShmSize"), 64 << 20);
}

TEST(ContainerConfig, AMemoryLimitIsNotSweptIntoSwap) {
  ContainerPlan plan = Plan();
  EXPECT_FALSE(Host(plan).contains("Memory"));
  plan.limits.memory_bytes = 2 * kGiB;
  plan.limits.nano_cpus = 1'500'000'000;
  const json::Object host = Host(plan);
  EXPECT_EQ(json::GetInt(host, "Memory"), 2 * kGiB);
  EXPECT_EQ(json::GetInt(host, "MemorySwap"), 2 * kGiB);
  EXPECT_EQ(json::GetInt(host, "NanoCpus"), 1'500'000'000);
}

TEST(ContainerConfig, OnlyAGpuAsksForLockedMemoryAndOnlyOfAnEngineThatIsRoot) {
  ContainerPlan plan = Plan();
  EXPECT_EQ(Ulimit(Host(plan), "memlock"), "");
  plan.pinned_memory = true;
  EXPECT_EQ(Ulimit(Host(plan), "memlock"), "-1:-1");
  plan.rootless = true;
  EXPECT_EQ(Ulimit(Host(plan), "memlock"), "");
}

TEST(ContainerConfig, UlimitsOfTheTargetWinAndNonsenseIsRefused) {
  ContainerPlan plan = Plan();
  plan.pinned_memory = true;
  plan.limits.ulimits = {"memlock=1024", "nofile=1024:4096", "core=unlimited"};
  const json::Object host = Host(plan);
  EXPECT_EQ(Ulimit(host, "memlock"), "1024:1024");
  EXPECT_EQ(Ulimit(host, "nofile"), "1024:4096");
  EXPECT_EQ(Ulimit(host, "core"), "-1:-1");
  for (const char* wrong : {"nofile", "nofile=", "=5", "nofile=x", "nofile=1:", "nofile=-2"}) {
    plan.limits.ulimits = {wrong};
    auto refused = ContainerConfig(plan);
    ASSERT_FALSE(refused.ok()) << wrong;
    EXPECT_EQ(refused.error().kind, ErrorKind::kInvalid);
  }
}

TEST(ContainerConfig, MountsSayWhatMayBeWritten) {
  ContainerPlan plan = Plan();
  plan.mounts = {{"/h/a b", "/c/a", true}, {"/h/c:d", "/c/b", false}};
  plan.tmpfs = {{kPrivate, "mode=0700"}};
  plan.volumes = {kWorkInside};
  auto config = ContainerConfig(plan);
  ASSERT_TRUE(config.ok());
  const json::Object& host = *json::GetObject(*config, "HostConfig");
  EXPECT_EQ(json::Print(host.at("Mounts")),
            R"([{"Type":"bind","Source":"/h/a b","Target":"/c/a","ReadOnly":true},)"
            R"({"Type":"bind","Source":"/h/c:d","Target":"/c/b"}])");
  EXPECT_EQ(json::Print(host.at("Tmpfs")), R"({"/.tenon":"mode=0700"})");
  EXPECT_EQ(json::Print((*config)["Volumes"]), R"({"/azureml-run":{}})");
}

}  // namespace
}  // namespace tenon::executor
