// SPDX-License-Identifier: Apache-2.0
// Decides whether and how a container gets the GPU. LookAtHost() records the facts; the other
// functions are pure and decide from recorded facts.
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

// What a machine has, as far as one can see without asking a driver.
struct HostFacts {
  std::string machine = "this machine";  // its name in messages, which may be read elsewhere
  bool has_gpu = false;  // an NVIDIA device on the PCI bus, or a device file (WSL, Tegra)
  // The kernel module answers (/proc/driver/nvidia/version, /dev/nvidiactl), or the machine is WSL
  // or Tegra.
  bool has_driver = false;
  std::string driver_version;     // "550.54.15"; "" = not known
  bool has_toolkit_hook = false;  // nvidia-container-runtime-hook or nvidia-container-cli on PATH
  // A file in /etc/cdi or /var/run/cdi names nvidia.com/gpu. For Podman, which lists no devices.
  bool has_cdi_specification = false;
};
// Looks at the files below `root` ("/" outside of tests) and at the folders of `path_variable`, a
// PATH value.
HostFacts LookAtHost(const std::string& root, const std::string& path_variable);

// What the container engine says of itself.
struct EngineFacts {
  std::string name;                      // "Docker", "Podman"
  std::string version;                   // of the engine: "20.10.24", "5.4.0"
  std::string api;                       // "1.41"
  std::vector<std::string> runtimes;     // from /info
  std::vector<std::string> cdi_devices;  // "nvidia.com/gpu=all"
};

enum class Way { kNone, kCdi, kDeviceRequest, kRuntime };

// How to ask the engine for the GPU. Apply() puts it into a container's configuration.
struct Access {
  Way way = Way::kNone;
  // "all", a number, or UUIDs; "none": the user refused; "": nobody asked, or none can be had.
  std::string gpus;
  std::optional<run::Notice> notice;

  // Changes HostConfig (DeviceRequests, Runtime) and Env (NVIDIA_VISIBLE_DEVICES,
  // NVIDIA_DRIVER_CAPABILITIES for the runtime) of the configuration. When the user refused the GPU
  // (gpus "none", way kNone), also keeps it away where the engine's default runtime is NVIDIA's.
  void Apply(json::Object* config) const;
};

// Whether an image is made for a GPU: its NVIDIA_VISIBLE_DEVICES is set and is not empty, void or
// none.
bool IsGpuImage(const std::vector<std::pair<std::string, std::string>>& image_env);

// Accepts "", "all", "none", a number from 1 to 1024, or UUIDs with commas between. Else fails with
// kInvalid; the hint says what can be written.
Status CheckGpus(const std::string& gpus);

// The decision of design § 8 and § 14. Fails with kUnavailable when the files or options ask for a
// GPU that can't be had. The Error names who asks (spec.gpu_where), the machine, which of GPU,
// driver and toolkit is missing, and the command that brings it. When only the image asks, the run
// goes without and the result has a notice instead. Before the image is known, the caller passes an
// empty image_env, so that the failure comes before anything is pulled or built.
Result<Access> Decide(const run::ContainerSpec& spec,
                      const std::vector<std::pair<std::string, std::string>>& image_env,
                      const HostFacts& host, const EngineFacts& engine);

// The next way to try after the engine has refused one with the error text `engine_words`. nullopt:
// there is no other way.
std::optional<Access> NextWay(const Access& refused, const std::string& engine_words,
                              const EngineFacts& engine);

}  // namespace tenon::gpu

#endif  // TENON_GPU_ACCESS_H_
