// SPDX-License-Identifier: Apache-2.0
// Whether and how a container gets the GPU: pure functions over recorded facts.
#ifndef TENON_GPU_ACCESS_H_
#define TENON_GPU_ACCESS_H_

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "run/container_spec.h"
#include "run/event.h"

namespace tenon::gpu {

// What a machine has, as far as it can be seen without asking a driver.
struct HostFacts {
  std::string machine = "this machine";  // what messages call it: they may be read elsewhere
  bool has_gpu = false;  // an NVIDIA device on the PCI bus, or a device file (WSL, Tegra)
  bool has_driver =
      false;  // the kernel module answers: /proc/driver/nvidia/version, /dev/nvidiactl
  std::string driver_version;     // "550.54.15"; "" when not known
  bool has_toolkit_hook = false;  // nvidia-container-runtime-hook or nvidia-container-cli on PATH
  bool has_cdi_specification = false;  // in /etc/cdi or /var/run/cdi; Podman lists no devices
};
// `root` is "/" but for tests.
HostFacts LookAtHost(const std::string& root, const std::string& path_variable);

// What the engine says.
struct EngineFacts {
  std::string name;                      // "Docker", "Podman"
  std::string version;                   // of the engine: "20.10.24", "5.4.0"
  std::string api;                       // "1.41"
  std::vector<std::string> runtimes;     // of /info
  std::vector<std::string> cdi_devices;  // "nvidia.com/gpu=all"
};

enum class Way { kNone, kCdi, kDeviceRequest, kRuntime };

// How to ask the engine. Apply() puts it into a container's configuration.
struct Access {
  Way way = Way::kNone;
  std::string gpus;  // "all", a number, or UUIDs; "none" when refused
  std::optional<run::Notice> notice;

  // Changes HostConfig (DeviceRequests, Runtime) and Env (NVIDIA_VISIBLE_DEVICES,
  // NVIDIA_DRIVER_CAPABILITIES for the runtime) of the configuration. A GPU that was refused
  // (gpus "none", way kNone) is kept away from an engine whose default runtime is NVIDIA's, too.
  void Apply(json::Object* config) const;
};

// Whether an image is a GPU image: NVIDIA_VISIBLE_DEVICES other than empty, void, none.
bool IsGpuImage(const std::vector<std::pair<std::string, std::string>>& image_env);

// "" / "all" / "none" / N / UUIDs with commas between; kInvalid says what can be written.
Status CheckGpus(const std::string& gpus);

// The decision of design § 8 and § 14. Asked for and not to be had is kUnavailable, naming who asks
// (spec.gpu_where), the machine, which of GPU, driver and toolkit is missing and the command that
// brings it. Before the image is known,
// image_env is empty: the refusal then comes before anything is pulled or built.
Result<Access> Decide(const run::ContainerSpec& spec,
                      const std::vector<std::pair<std::string, std::string>>& image_env,
                      const HostFacts& host, const EngineFacts& engine);

// After the engine has refused the way (words of its error): the next one to try, if there is one.
std::optional<Access> NextWay(const Access& refused, const std::string& engine_words,
                              const EngineFacts& engine);

}  // namespace tenon::gpu

#endif  // TENON_GPU_ACCESS_H_
