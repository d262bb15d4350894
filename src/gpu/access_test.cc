// SPDX-License-Identifier: Apache-2.0
#include "gpu/access.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/file.h"
#include "base/temp_folder.h"

namespace tenon::gpu {
namespace {

using ImageEnv = std::vector<std::pair<std::string, std::string>>;

const ImageEnv kGpuImage = {{"PATH", "/usr/bin"}, {"NVIDIA_VISIBLE_DEVICES", "all"}};

// A machine made of files below a folder.
class Machine {
 public:
  void Write(const std::string& path, const std::string& text, mode_t mode = 0644) {
    const std::string full = folder_ / path;
    EXPECT_TRUE(MakeDirs(DirName(full)).ok());
    EXPECT_TRUE(WriteFileAtomically(full, text, mode, Durability::kProcess).ok());
  }
  void AddPci(const std::string& slot, const std::string& vendor, const std::string& type) {
    Write("sys/bus/pci/devices/" + slot + "/vendor", vendor + "\n");
    Write("sys/bus/pci/devices/" + slot + "/class", type + "\n");
  }
  HostFacts Look(const std::string& path = "/usr/local/bin:/bin") {
    return LookAtHost(folder_.path(), path);
  }

 private:
  TempFolder folder_;
};

HostFacts GpuHost() {
  HostFacts host;
  host.has_gpu = host.has_driver = host.has_toolkit_hook = true;
  host.driver_version = "550.54.15";
  return host;
}

EngineFacts Docker(const std::string& api = "1.41") {
  EngineFacts engine;
  engine.name = "Docker";
  engine.version = "20.10.24";
  engine.api = api;
  engine.runtimes = {"io.containerd.runc.v2", "runc"};
  return engine;
}

EngineFacts Podman(const std::string& version) {
  EngineFacts engine = Docker();
  engine.name = "Podman Engine";
  engine.version = version;
  engine.runtimes = {"crun", "nvidia"};
  return engine;
}

run::ContainerSpec Asking(std::optional<bool> nvidia_docker, const std::string& gpus = "",
                          bool from_option = false) {
  run::ContainerSpec spec;
  spec.nvidia_docker = nvidia_docker;
  spec.gpus = gpus;
  spec.gpus_from_option = from_option;
  return spec;
}

std::string Applied(const Access& access, const std::string& config = R"({"Image":"x"})") {
  json::Value value = json::Parse(config).value();
  access.Apply(&value.as_object());
  return json::Print(value);
}

Access Decided(const run::ContainerSpec& spec, const ImageEnv& image, const HostFacts& host,
               const EngineFacts& engine) {
  auto access = Decide(spec, image, host, engine);
  EXPECT_TRUE(access.ok()) << access.error().message;
  return access.ok() ? *access : Access{};
}

void ExpectRefused(const run::ContainerSpec& spec, const HostFacts& host, const EngineFacts& engine,
                   const std::string& what, const std::string& command) {
  auto access = Decide(spec, {}, host, engine);
  ASSERT_FALSE(access.ok());
  EXPECT_EQ(access.error().kind, ErrorKind::kUnavailable);
  EXPECT_NE(access.error().message.find(what), std::string::npos) << access.error().message;
  EXPECT_NE(access.error().hint.find(command), std::string::npos) << access.error().hint;
}

TEST(LookAtHost, EmptyMachineHasNothing) {
  Machine machine;
  const HostFacts facts = machine.Look();
  EXPECT_FALSE(facts.has_gpu);
  EXPECT_FALSE(facts.has_driver);
  EXPECT_FALSE(facts.has_toolkit_hook);
  EXPECT_FALSE(facts.has_cdi_specification);
}

TEST(LookAtHost, CardsSoundPartAndOtherVendorsAreNoGpu) {
  Machine machine;
  machine.AddPci("0000:01:00.1", "0x10de", "0x040300");
  machine.AddPci("0000:00:02.0", "0x8086", "0x030000");
  EXPECT_FALSE(machine.Look().has_gpu);
}

TEST(LookAtHost, CardsAreFoundByClass) {
  for (const char* type : {"0x030000", "0x030200", "0x120000"}) {
    Machine machine;
    machine.AddPci("0000:00:02.0", "0x8086", "0x030000");
    machine.AddPci("0000:01:00.0", "0x10de", type);
    const HostFacts facts = machine.Look();
    EXPECT_TRUE(facts.has_gpu) << type;
    EXPECT_FALSE(facts.has_driver) << type;
  }
}

TEST(LookAtHost, DriverVersionOfBothFlavours) {
  for (const char* text :
       {"NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.15  Tue Mar  5 22:23:56 UTC 2024\n"
        "GCC version:  gcc version 12.2.0 (Debian 12.2.0-14)\n",
        "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  550.54.15  Release Build\n"}) {
    Machine machine;
    machine.Write("proc/driver/nvidia/version", text);
    const HostFacts facts = machine.Look();
    EXPECT_TRUE(facts.has_driver);
    EXPECT_EQ(facts.driver_version, "550.54.15");
  }
}

TEST(LookAtHost, DriverWithoutItsProcFile) {
  Machine machine;
  machine.Write("dev/nvidiactl", "");
  machine.Write("dev/nvidia0", "");
  const HostFacts facts = machine.Look();
  EXPECT_TRUE(facts.has_gpu);
  EXPECT_TRUE(facts.has_driver);
  EXPECT_EQ(facts.driver_version, "");
}

TEST(LookAtHost, WslAndTegraHaveNoPciCard) {
  for (const char* device : {"dev/dxg", "dev/nvhost-ctrl"}) {
    Machine machine;
    machine.Write(device, "");
    EXPECT_TRUE(machine.Look().has_gpu) << device;
    EXPECT_TRUE(machine.Look().has_driver) << device;
  }
}

TEST(LookAtHost, HookIsFoundOutsideThePath) {
  Machine machine;
  machine.Write("usr/bin/nvidia-container-runtime-hook", "#!", 0755);
  EXPECT_TRUE(machine.Look("/nowhere").has_toolkit_hook);
}

TEST(LookAtHost, HookOnThePathMustBeAProgram) {
  Machine machine;
  machine.Write("opt/nv/nvidia-container-cli", "#!", 0644);
  if (::geteuid() != 0) {
    EXPECT_FALSE(machine.Look("/opt/nv").has_toolkit_hook);
  }
  machine.Write("opt/nv/nvidia-container-cli", "#!", 0755);
  EXPECT_TRUE(machine.Look("bin:/opt/nv").has_toolkit_hook);
  EXPECT_FALSE(machine.Look("/bin").has_toolkit_hook);
}

TEST(LookAtHost, CdiSpecificationOfSomebodyElseDoesNotCount) {
  Machine machine;
  machine.Write("etc/cdi/other.yaml", "kind: example.com/device\n");
  machine.Write("etc/cdi/nvidia.yaml.old", "kind: nvidia.com/gpu\n");
  EXPECT_FALSE(machine.Look().has_cdi_specification);
  machine.Write("var/run/cdi/nvidia.json", R"({"kind": "nvidia.com/gpu"})");
  EXPECT_TRUE(machine.Look().has_cdi_specification);
}

TEST(Decide, NobodyAsks) {
  const Access access = Decided(Asking({}), {}, GpuHost(), Docker());
  EXPECT_EQ(access.way, Way::kNone);
  EXPECT_FALSE(access.notice);
  EXPECT_EQ(Applied(access), R"({"Image":"x"})");
}

TEST(Decide, DeviceRequestOnEveryApi) {
  for (const char* api : {"1.41", "1.43", "1.44", "1.47", "1.51"}) {
    const Access access = Decided(Asking(true), {}, GpuHost(), Docker(api));
    EXPECT_EQ(Applied(access),
              R"({"Image":"x","HostConfig":{"DeviceRequests":[{"Driver":"nvidia","Count":-1,)"
              R"("Capabilities":[["gpu","compute","utility"]]}]}})");
  }
}

TEST(Decide, DeviceRequestByNumberAndByUuid) {
  EXPECT_EQ(Applied(Decided(Asking(true, "2"), {}, GpuHost(), Docker()), "{}"),
            R"({"HostConfig":{"DeviceRequests":[{"Driver":"nvidia","Count":2,)"
            R"("Capabilities":[["gpu","compute","utility"]]}]}})");
  EXPECT_EQ(Applied(Decided(Asking({}, "GPU-aa,MIG-bb"), {}, GpuHost(), Docker()), "{}"),
            R"({"HostConfig":{"DeviceRequests":[{"Driver":"nvidia","DeviceIDs":["GPU-aa",)"
            R"("MIG-bb"],"Capabilities":[["gpu","compute","utility"]]}]}})");
}

TEST(Decide, RestOfTheConfigurationIsKept) {
  EXPECT_EQ(
      Applied(Decided(Asking(true), {}, GpuHost(), Docker()), R"({"HostConfig":{"ShmSize":7}})"),
      R"({"HostConfig":{"ShmSize":7,"DeviceRequests":[{"Driver":"nvidia","Count":-1,)"
      R"("Capabilities":[["gpu","compute","utility"]]}]}})");
}

TEST(Decide, RuntimeWhereThereIsNoHook) {
  HostFacts host = GpuHost();
  host.has_toolkit_hook = false;
  EngineFacts engine = Docker();
  engine.runtimes.push_back("nvidia");
  EXPECT_EQ(
      Applied(Decided(Asking(true, "3"), {}, host, engine),
              R"({"Env":["A=1","NVIDIA_VISIBLE_DEVICES=void"],"HostConfig":{}})"),
      R"({"Env":["A=1","NVIDIA_VISIBLE_DEVICES=0,1,2","NVIDIA_DRIVER_CAPABILITIES=compute,utility"],)"
      R"("HostConfig":{"Runtime":"nvidia"}})");
  EXPECT_EQ(
      Applied(Decided(Asking(true, "GPU-aa"), {}, host, engine), "{}"),
      R"({"Env":["NVIDIA_VISIBLE_DEVICES=GPU-aa","NVIDIA_DRIVER_CAPABILITIES=compute,utility"],)"
      R"("HostConfig":{"Runtime":"nvidia"}})");
}

TEST(Decide, CdiWhenTheEngineListsWhatIsAskedFor) {
  EngineFacts engine = Docker("1.50");
  engine.cdi_devices = {"nvidia.com/gpu=0", "nvidia.com/gpu=1", "nvidia.com/gpu=all",
                        "nvidia.com/gpu=GPU-aa"};
  EXPECT_EQ(Applied(Decided(Asking(true), {}, GpuHost(), engine), "{}"),
            R"({"HostConfig":{"DeviceRequests":[{"Driver":"cdi",)"
            R"("DeviceIDs":["nvidia.com/gpu=all"]}]}})");
  EXPECT_EQ(Applied(Decided(Asking(true, "2"), {}, GpuHost(), engine), "{}"),
            R"({"HostConfig":{"DeviceRequests":[{"Driver":"cdi",)"
            R"("DeviceIDs":["nvidia.com/gpu=0","nvidia.com/gpu=1"]}]}})");
  EXPECT_EQ(Applied(Decided(Asking(true, "GPU-aa"), {}, GpuHost(), engine), "{}"),
            R"({"HostConfig":{"DeviceRequests":[{"Driver":"cdi",)"
            R"("DeviceIDs":["nvidia.com/gpu=GPU-aa"]}]}})");
  EXPECT_EQ(Decided(Asking(true, "GPU-bb"), {}, GpuHost(), engine).way, Way::kDeviceRequest);
}

TEST(Decide, CdiOfSomebodyElseIsNoGpu) {
  EngineFacts engine = Docker("1.50");
  engine.cdi_devices = {"example.com/gpu=all"};
  EXPECT_EQ(Decided(Asking(true), {}, GpuHost(), engine).way, Way::kDeviceRequest);
}

TEST(Decide, MoreGpusThanCdiLists) {
  HostFacts host = GpuHost();
  host.has_toolkit_hook = false;
  EngineFacts engine = Docker("1.50");
  engine.cdi_devices = {"nvidia.com/gpu=0", "nvidia.com/gpu=all"};
  ExpectRefused(Asking(true, "2"), host, engine, "gpus: 2", "nvidia-ctk cdi list");
}

TEST(Decide, RefusalNamesTheGpu) {
  ExpectRefused(Asking(true), HostFacts{}, Docker(), "no NVIDIA GPU", "computetarget list");
  ExpectRefused(Asking({}, "1"), HostFacts{}, Docker(), "no NVIDIA GPU", "--gpus none");
}

TEST(Decide, RefusalNamesTheDriver) {
  HostFacts host = GpuHost();
  host.has_driver = false;
  ExpectRefused(Asking(true), host, Docker(), "driver", "apt-get install nvidia-driver");
}

TEST(Decide, RefusalNamesTheToolkit) {
  HostFacts host = GpuHost();
  host.has_toolkit_hook = false;
  ExpectRefused(Asking(true), host, Docker(), "NVIDIA Container Toolkit",
                "nvidia-ctk runtime configure");
}

TEST(Decide, PodmanIsGivenCdiOnly) {
  HostFacts host = GpuHost();
  ExpectRefused(Asking(true), host, Podman("5.4.0"), "CDI", "nvidia-ctk cdi generate");
  host.has_cdi_specification = true;
  for (const char* version : {"5.4.0", "5.10.1", "6.0.0"}) {
    EXPECT_EQ(Applied(Decided(Asking(true), {}, host, Podman(version)), "{}"),
              R"({"HostConfig":{"DeviceRequests":[{"Driver":"cdi",)"
              R"("DeviceIDs":["nvidia.com/gpu=all"]}]}})");
  }
}

TEST(Decide, PodmanThatWouldIgnoreTheRequestIsRefused) {
  HostFacts host = GpuHost();
  host.has_cdi_specification = true;
  for (const char* version : {"4.3.1", "5.3.2", ""}) {
    ExpectRefused(Asking(true), host, Podman(version), "takes no request", "containers.conf");
  }
}

TEST(Decide, FalseWinsOverImageAndOwnKey) {
  const Access image = Decided(Asking(false), kGpuImage, GpuHost(), Docker());
  EXPECT_EQ(image.way, Way::kNone);
  ASSERT_TRUE(image.notice);
  EXPECT_NE(image.notice->text.find("nvidiaDocker: false"), std::string::npos);
  EXPECT_EQ(Applied(image, R"({"Env":["NVIDIA_VISIBLE_DEVICES=all"]})"),
            R"({"Env":["NVIDIA_VISIBLE_DEVICES=void"]})");
  const Access key = Decided(Asking(false, "2"), {}, GpuHost(), Docker());
  EXPECT_EQ(key.way, Way::kNone);
  ASSERT_TRUE(key.notice);
  EXPECT_NE(key.notice->text.find("gpus: 2"), std::string::npos);
}

TEST(Decide, OptionWinsOverFalse) {
  EXPECT_EQ(Decided(Asking(false, "1", true), {}, GpuHost(), Docker()).way, Way::kDeviceRequest);
  const Access none = Decided(Asking(true, "none", true), kGpuImage, HostFacts{}, Docker());
  EXPECT_EQ(none.way, Way::kNone);
  EXPECT_EQ(none.gpus, "none");
}

TEST(Decide, GpuImageAloneGetsTheGpu) {
  const Access access = Decided(Asking({}), kGpuImage, GpuHost(), Docker());
  EXPECT_EQ(access.way, Way::kDeviceRequest);
  EXPECT_EQ(access.gpus, "all");
}

TEST(Decide, GpuImageWithoutGpuIsANotice) {
  const Access access = Decided(Asking({}), kGpuImage, HostFacts{}, Docker());
  EXPECT_EQ(access.way, Way::kNone);
  ASSERT_TRUE(access.notice);
  EXPECT_NE(access.notice->text.find("no NVIDIA GPU"), std::string::npos);
  EXPECT_EQ(Applied(access), R"({"Image":"x"})");
}

TEST(IsGpuImage, ValuesThatMeanNo) {
  EXPECT_TRUE(IsGpuImage(kGpuImage));
  EXPECT_TRUE(IsGpuImage({{"NVIDIA_VISIBLE_DEVICES", "0"}}));
  EXPECT_FALSE(IsGpuImage({}));
  for (const char* value : {"", "void", "none"}) {
    EXPECT_FALSE(IsGpuImage({{"NVIDIA_VISIBLE_DEVICES", value}})) << value;
  }
}

TEST(CheckGpus, WhatCanBeWritten) {
  for (const char* good :
       {"", "all", "none", "1", "16", "GPU-5d5b0c1a-0000", "GPU-a,GPU-b", "MIG-GPU-aa/1/0"}) {
    EXPECT_TRUE(CheckGpus(good).ok()) << good;
  }
  for (const char* bad : {"0", "-1", "two", "1.5", "GPU-", "GPU-a,", ",", "0,1", "All", "99999",
                          "GPU-a b", "99999999999999999999"}) {
    auto status = CheckGpus(bad);
    ASSERT_FALSE(status.ok()) << bad;
    EXPECT_EQ(status.error().kind, ErrorKind::kInvalid);
    EXPECT_FALSE(Decide(Asking(true, bad), {}, GpuHost(), Docker()).ok()) << bad;
  }
}

TEST(NextWay, DeviceRequestRefusedFallsBackToTheRuntime) {
  Access refused;
  refused.way = Way::kDeviceRequest;
  refused.gpus = "2";
  const std::string words =
      R"(could not select device driver "nvidia" with capabilities: [[gpu compute utility]])";
  EXPECT_FALSE(NextWay(refused, words, Docker()));
  EngineFacts engine = Docker();
  engine.runtimes.push_back("nvidia");
  auto next = NextWay(refused, words, engine);
  ASSERT_TRUE(next);
  EXPECT_EQ(next->way, Way::kRuntime);
  EXPECT_EQ(next->gpus, "2");
  EXPECT_FALSE(NextWay(refused, "no space left on device", engine));
  EXPECT_FALSE(NextWay(*next, words, engine));
}

TEST(NextWay, StaleCdiFallsBack) {
  Access refused;
  refused.way = Way::kCdi;
  refused.gpus = "all";
  const std::string words = "CDI device injection failed: unresolvable CDI devices";
  EXPECT_EQ(NextWay(refused, words, Docker())->way, Way::kDeviceRequest);
  EXPECT_FALSE(NextWay(refused, "no space left on device", Docker()));
  EXPECT_FALSE(NextWay(refused, words, Podman("5.4.0")));
}

TEST(Refusal, NamesTheMachineItIsAboutAndTheLineThatAsks) {
  run::ContainerSpec spec = Asking(true);
  spec.gpu_where = "aml_config/box.compute:6: nvidiaDocker: true";
  HostFacts host;
  host.machine = "dsvm7 (target box)";
  const HostFacts without_gpu = host;
  HostFacts without_driver = host;
  without_driver.has_gpu = true;
  HostFacts without_toolkit = GpuHost();
  without_toolkit.machine = host.machine;
  without_toolkit.has_toolkit_hook = false;
  EngineFacts with_cdi = Docker();
  with_cdi.cdi_devices = {"nvidia.com/gpu=0"};
  for (const auto& [facts, engine] :
       {std::pair(without_gpu, Docker()), std::pair(without_driver, Docker()),
        std::pair(without_toolkit, Docker()), std::pair(without_toolkit, with_cdi),
        std::pair(without_toolkit, Podman("4.3.1")), std::pair(without_toolkit, Podman("5.4.0"))}) {
    const auto access = Decide(spec, {}, facts, engine);
    ASSERT_FALSE(access.ok());
    const std::string& said = access.error().message;
    EXPECT_TRUE(said.starts_with("aml_config/box.compute:6: nvidiaDocker: true: ")) << said;
    EXPECT_NE(said.find("dsvm7 (target box)"), std::string::npos) << said;
    EXPECT_EQ(said.find("this machine"), std::string::npos) << said;
  }
  const auto noticed =
      Decide(Asking(std::nullopt), {{"NVIDIA_VISIBLE_DEVICES", "all"}}, without_driver, Docker());
  ASSERT_TRUE(noticed.ok() && noticed->notice);
  EXPECT_NE(noticed->notice->text.find("dsvm7"), std::string::npos) << noticed->notice->text;
  EXPECT_TRUE(noticed->notice->hint.starts_with("on dsvm7")) << noticed->notice->hint;
}

}  // namespace
}  // namespace tenon::gpu
