// SPDX-License-Identifier: Apache-2.0
#include "gpu/access.h"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <string_view>

#include "base/file.h"
#include "base/text.h"

namespace tenon::gpu {

namespace {

constexpr std::string_view kVisible = "NVIDIA_VISIBLE_DEVICES";
constexpr std::string_view kCapabilities = "NVIDIA_DRIVER_CAPABILITIES";
constexpr std::string_view kCdiKind = "nvidia.com/gpu=";
constexpr int kMostGpus = 1024;

bool Contains(const std::vector<std::string>& list, std::string_view item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

// The number of GPUs that `gpus` asks for; nullopt when it is "all" or UUIDs.
std::optional<int> GpuCount(const std::string& gpus) {
  int count = 0;
  const char* end = gpus.data() + gpus.size();
  auto [at, failure] = std::from_chars(gpus.data(), end, count);
  if (failure != std::errc() || at != end) return std::nullopt;
  return count;
}

bool IsPodman(const EngineFacts& engine) {
  return ToLower(engine.name).find("podman") != std::string::npos;
}

// Podman's Docker-compatible socket ignores device requests before 5.4. It always ignores NVIDIA's
// own device requests and NVIDIA's runtime. A container would start without the GPU, and nobody
// would be told.
bool PodmanTakesCdi(const EngineFacts& engine) {
  int major = 0;
  int minor = 0;
  const char* end = engine.version.data() + engine.version.size();
  const auto [at, failure] = std::from_chars(engine.version.data(), end, major);
  if (failure != std::errc()) return false;
  if (at != end && *at == '.') std::from_chars(at + 1, end, minor);
  return major > 5 || (major == 5 && minor >= 4);
}

bool IsUuid(std::string_view text) {
  if (!text.starts_with("GPU-") && !text.starts_with("MIG-")) return false;
  const std::string_view rest = text.substr(4);
  return !rest.empty() && std::all_of(rest.begin(), rest.end(), [](unsigned char c) {
    return std::isalnum(c) || c == '-' || c == '/';
  });
}

// The names that a CDI specification gives the devices.
std::vector<std::string> CdiNames(const std::string& gpus) {
  std::vector<std::string> names;
  if (auto count = GpuCount(gpus)) {
    for (int i = 0; i < *count; ++i) names.push_back(std::string(kCdiKind) + std::to_string(i));
  } else {
    for (const std::string& part : Split(gpus, ',')) names.push_back(std::string(kCdiKind) + part);
  }
  return names;
}

bool ListsCdi(const EngineFacts& engine, const std::string& gpus) {
  const std::vector<std::string> names = CdiNames(gpus);
  return std::all_of(names.begin(), names.end(),
                     [&](const std::string& name) { return Contains(engine.cdi_devices, name); });
}

bool HasNvidiaCdi(const EngineFacts& engine) {
  return std::any_of(engine.cdi_devices.begin(), engine.cdi_devices.end(),
                     [](const std::string& name) { return name.starts_with(kCdiKind); });
}

Way ChooseWay(const std::string& gpus, const HostFacts& host, const EngineFacts& engine) {
  if (IsPodman(engine)) {  // Podman lists no devices
    return host.has_cdi_specification && PodmanTakesCdi(engine) ? Way::kCdi : Way::kNone;
  }
  if (ListsCdi(engine, gpus)) return Way::kCdi;
  if (host.has_toolkit_hook) return Way::kDeviceRequest;
  if (Contains(engine.runtimes, "nvidia")) return Way::kRuntime;
  return Way::kNone;
}

struct Missing {
  std::string what;
  std::string hint;
};

// Says on which machine to run the command, when the reader may sit at another one.
std::string There(const HostFacts& host, const std::string& command) {
  return host.machine == HostFacts().machine ? command : "on " + host.machine + ": " + command;
}

Missing MissingOnPodman(const HostFacts& host, const EngineFacts& engine) {
  if (!PodmanTakesCdi(engine)) {
    return {
        "Podman " + engine.version + " on " + host.machine +
            " takes no request for a GPU through its socket; 5.4 is the first that does",
        "update Podman, or name another engine in DOCKER_HOST; for every container of this "
        "Podman: devices = [\"nvidia.com/gpu=all\"] in containers.conf, and nvidiaDocker: false"};
  }
  return {host.machine +
              " has a GPU and a driver, but no CDI specification of the NVIDIA Container Toolkit, "
              "which is how Podman gives a container the GPU",
          There(host,
                "install it: sudo apt-get install nvidia-container-toolkit && sudo nvidia-ctk cdi "
                "generate --output=/etc/cdi/nvidia.yaml")};
}

Missing MissingToolkit(const std::string& gpus, const HostFacts& host, const EngineFacts& engine) {
  if (IsPodman(engine)) return MissingOnPodman(host, engine);
  if (HasNvidiaCdi(engine)) {
    return {"the CDI specification of the engine on " + host.machine +
                " has no device for gpus: " + gpus,
            There(host,
                  "`nvidia-ctk cdi list` names the devices; `sudo nvidia-ctk cdi generate "
                  "--output=/etc/cdi/nvidia.yaml` makes the specification anew")};
  }
  return {
      host.machine +
          " has a GPU and a driver, but the NVIDIA Container Toolkit is missing, or the engine "
          "does not know it",
      There(host,
            "install it: sudo apt-get install nvidia-container-toolkit && sudo nvidia-ctk runtime "
            "configure --runtime=docker && sudo systemctl restart docker")};
}

// Which of GPU, driver and toolkit is the first that is missing; nullopt: none.
std::optional<Missing> FindMissing(const std::string& gpus, const HostFacts& host,
                                   const EngineFacts& engine) {
  if (!host.has_gpu) {
    return Missing{host.machine + " has no NVIDIA GPU (none on its PCI bus)",
                   "choose a target that has one (tenon computetarget list), or run without: "
                   "nvidiaDocker: false, or --gpus none"};
  }
  if (!host.has_driver) {
    return Missing{
        host.machine + " has an NVIDIA GPU, but no NVIDIA driver is loaded",
        There(host,
              "install it and reboot: sudo apt-get install nvidia-driver (Debian), sudo "
              "ubuntu-drivers install (Ubuntu); installed already: sudo modprobe nvidia")};
  }
  if (ChooseWay(gpus, host, engine) == Way::kNone) return MissingToolkit(gpus, host, engine);
  return std::nullopt;
}

void SetEnv(json::Object* config, std::string_view name, std::string_view value) {
  json::Array env;
  if (const json::Array* old = json::GetArray(*config, "Env")) env = *old;
  const std::string prefix = std::string(name) + "=";
  auto* gone = std::remove_if(env.begin(), env.end(), [&](const json::Value& entry) {
    return entry.is_string() && std::string_view(entry.get_string()).starts_with(prefix);
  });
  env.erase(gone, env.end());
  env.push_back(json::Value(prefix + std::string(value)));
  (*config)["Env"] = std::move(env);
}

json::Array Strings(const std::vector<std::string>& texts) {
  json::Array array;
  for (const std::string& text : texts) array.push_back(json::Value(text));
  return array;
}

json::Object DeviceRequest(const std::string& gpus) {
  json::Object request;
  request["Driver"] = "nvidia";
  if (gpus == "all") {
    request["Count"] = -1;
  } else if (auto count = GpuCount(gpus)) {
    request["Count"] = *count;
  } else {
    request["DeviceIDs"] = Strings(Split(gpus, ','));
  }
  json::Array capabilities;
  capabilities.push_back(Strings({"gpu", "compute", "utility"}));
  request["Capabilities"] = std::move(capabilities);
  return request;
}

json::Object CdiRequest(const std::string& gpus) {
  json::Object request;
  request["Driver"] = "cdi";
  request["DeviceIDs"] = Strings(CdiNames(gpus));
  return request;
}

// The value of NVIDIA_VISIBLE_DEVICES. The runtime does not know counts, so a count becomes a list
// of numbers.
std::string VisibleDevices(const std::string& gpus) {
  auto count = GpuCount(gpus);
  if (!count) return gpus;
  std::vector<std::string> numbers;
  for (int i = 0; i < *count; ++i) numbers.push_back(std::to_string(i));
  return Join(numbers, ",");
}

std::string_view FirstLine(std::string_view text) { return text.substr(0, text.find('\n')); }

// "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  550.54.15  Release Build …"
std::string DriverVersion(std::string_view text) {
  for (const std::string& word : Split(FirstLine(text), ' ')) {
    const bool digits = std::all_of(word.begin(), word.end(),
                                    [](unsigned char c) { return std::isdigit(c) || c == '.'; });
    if (digits && word.find('.') != std::string::npos &&
        std::isdigit(static_cast<unsigned char>(word[0]))) {
      return word;
    }
  }
  return "";
}

bool HasPciGpu(const std::string& root) {
  const std::string folder = JoinPath(root, "sys/bus/pci/devices");
  for (const std::string& name : ListDir(folder).value_or({})) {
    const std::string device = JoinPath(folder, name);
    const std::string vendor = ReadFile(JoinPath(device, "vendor"), 64).value_or("");
    if (Trim(vendor) != "0x10de") continue;
    const std::string type = ReadFile(JoinPath(device, "class"), 64).value_or("");
    // Only display controllers and processing accelerators count, not the card's sound and USB
    // parts.
    if (type.starts_with("0x03") || type.starts_with("0x12")) return true;
  }
  return false;
}

bool AnyExists(const std::string& root, std::initializer_list<std::string_view> paths) {
  return std::any_of(paths.begin(), paths.end(),
                     [&](std::string_view path) { return Exists(JoinPath(root, path)); });
}

bool HasHook(const std::string& root, const std::string& path_variable) {
  std::vector<std::string> folders = Split(path_variable, ':');
  folders.push_back("/usr/bin");  // the engine has another PATH and looks here
  for (const std::string& folder : folders) {
    if (!folder.starts_with('/')) continue;
    for (std::string_view name : {"nvidia-container-runtime-hook", "nvidia-container-cli"}) {
      const std::string program = JoinPath(JoinPath(root, folder.substr(1)), name);
      if (::access(program.c_str(), X_OK) == 0) return true;
    }
  }
  return false;
}

bool HasCdiSpecification(const std::string& root) {
  for (std::string_view folder : {"etc/cdi", "var/run/cdi"}) {
    const std::string path = JoinPath(root, folder);
    for (const std::string& name : ListDir(path).value_or({})) {
      if (!name.ends_with(".yaml") && !name.ends_with(".json")) continue;
      const std::string text = ReadFile(JoinPath(path, name)).value_or("");
      if (text.find("nvidia.com/gpu") != std::string::npos) return true;
    }
  }
  return false;
}

// What the files and options ask for, before we look at the machine.
struct Wish {
  std::string gpus;         // "" = nobody asks
  bool refused = false;     // the files or options say no
  bool from_image = false;  // only the image asks: a missing GPU is a notice, no Error
};

Wish ReadWish(const run::ContainerSpec& spec, bool gpu_image) {
  Wish wish;
  if (spec.gpus_from_option && !spec.gpus.empty() && spec.gpus != "none") {
    wish.gpus = spec.gpus;
  } else if (spec.gpus == "none" || spec.nvidia_docker == false) {
    wish.refused = true;
  } else if (!spec.gpus.empty()) {
    wish.gpus = spec.gpus;
  } else if (spec.nvidia_docker == true || gpu_image) {
    wish.gpus = "all";
    wish.from_image = spec.nvidia_docker != true;
  }
  return wish;
}

Access Without(const run::ContainerSpec& spec, bool gpu_image, bool refused) {
  Access access;
  if (!refused) return access;
  access.gpus = "none";
  const char* said = spec.gpus == "none" ? "gpus: none" : "nvidiaDocker: false";
  if (gpu_image) {
    access.notice = run::Notice{
        run::Level::kInfo,
        "The image is made for a GPU; this run gets none (" + std::string(said) + ").", ""};
  } else if (spec.nvidia_docker == false && !spec.gpus.empty() && spec.gpus != "none") {
    access.notice =
        run::Notice{run::Level::kWarning,
                    "nvidiaDocker: false wins over gpus: " + spec.gpus + "; this run gets no GPU.",
                    "take one of the two lines out, or use --gpus " + spec.gpus};
  }
  return access;
}

}  // namespace

HostFacts LookAtHost(const std::string& root, const std::string& path_variable) {
  HostFacts facts;
  const bool wsl = Exists(JoinPath(root, "dev/dxg"));
  const bool tegra = AnyExists(root, {"dev/nvhost-ctrl", "dev/nvmap"});
  const bool control = Exists(JoinPath(root, "dev/nvidiactl"));
  facts.has_gpu = wsl || tegra || HasPciGpu(root) || Exists(JoinPath(root, "dev/nvidia0"));
  auto version = ReadFile(JoinPath(root, "proc/driver/nvidia/version"));
  facts.has_driver = wsl || tegra || control || version.ok();
  if (version.ok()) facts.driver_version = DriverVersion(*version);
  facts.has_toolkit_hook = HasHook(root, path_variable);
  facts.has_cdi_specification = HasCdiSpecification(root);
  return facts;
}

void Access::Apply(json::Object* config) const {
  if (way == Way::kNone) {
    // Without this, an engine whose default runtime is NVIDIA's would follow the image's own
    // variable.
    if (gpus == "none") SetEnv(config, kVisible, "void");
    return;
  }
  json::Object host;
  if (const json::Object* old = json::GetObject(*config, "HostConfig")) host = *old;
  if (way == Way::kRuntime) {
    host["Runtime"] = "nvidia";
    SetEnv(config, kVisible, VisibleDevices(gpus));
    SetEnv(config, kCapabilities, "compute,utility");
  } else {
    json::Array requests;
    requests.push_back(way == Way::kCdi ? CdiRequest(gpus) : DeviceRequest(gpus));
    host["DeviceRequests"] = std::move(requests);
  }
  (*config)["HostConfig"] = std::move(host);
}

bool IsGpuImage(const std::vector<std::pair<std::string, std::string>>& image_env) {
  for (const auto& [name, value] : image_env) {
    if (name == kVisible) return !value.empty() && value != "void" && value != "none";
  }
  return false;
}

Status CheckGpus(const std::string& gpus) {
  if (gpus.empty() || gpus == "all" || gpus == "none") return {};
  if (auto count = GpuCount(gpus)) {
    if (*count >= 1 && *count <= kMostGpus) return {};
  } else {
    const std::vector<std::string> parts = Split(gpus, ',');
    if (std::all_of(parts.begin(), parts.end(), IsUuid)) return {};
  }
  return Invalid("gpus: " + gpus + ": not a choice of GPUs")
      .WithHint(
          "write all, none, a number from 1 on, or UUIDs with commas between "
          "(nvidia-smi -L lists them: GPU-…)");
}

Result<Access> Decide(const run::ContainerSpec& spec,
                      const std::vector<std::pair<std::string, std::string>>& image_env,
                      const HostFacts& host, const EngineFacts& engine) {
  TENON_TRY_VOID(CheckGpus(spec.gpus));
  const bool gpu_image = IsGpuImage(image_env);
  const Wish wish = ReadWish(spec, gpu_image);
  if (wish.gpus.empty()) return Without(spec, gpu_image, wish.refused);
  auto missing = FindMissing(wish.gpus, host, engine);
  if (!missing) {
    Access access;
    access.way = ChooseWay(wish.gpus, host, engine);
    access.gpus = wish.gpus;
    return access;
  }
  if (!wish.from_image) {
    const std::string who = spec.gpu_where.empty() ? "" : spec.gpu_where + ": ";
    return Unavailable(who + "a GPU is asked for and can't be had: " + missing->what)
        .WithHint(missing->hint);
  }
  Access access;
  access.notice = run::Notice{
      run::Level::kWarning,
      "The image is made for a GPU; this run goes without: " + missing->what + ".", missing->hint};
  return access;
}

std::optional<Access> NextWay(const Access& refused, const std::string& engine_words,
                              const EngineFacts& engine) {
  const std::string words = ToLower(engine_words);
  Access next = refused;
  next.notice.reset();
  if (refused.way == Way::kCdi && words.find("cdi") != std::string::npos && !IsPodman(engine)) {
    next.way = Way::kDeviceRequest;
    return next;
  }
  if (refused.way == Way::kDeviceRequest && Contains(engine.runtimes, "nvidia") &&
      words.find("could not select device driver") != std::string::npos) {
    next.way = Way::kRuntime;
    return next;
  }
  return std::nullopt;
}

}  // namespace tenon::gpu
