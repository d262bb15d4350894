// SPDX-License-Identifier: Apache-2.0
// The parts of `probe` that ask others: engines, the GPU's driver, the login manager.
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/text.h"
#include "docker/dial.h"
#include "docker/engine.h"
#include "docker/engine_address.h"
#include "gpu/access.h"
#include "runner/verbs/verb_probe.h"

namespace tenon::runner {
namespace {

constexpr int kToolMs = 5'000;
constexpr const char* kDefaultPath = "/usr/local/bin:/usr/bin:/bin";

// --- engines ---

struct EngineKind {
  const char* kind;
  const char* program;
  std::vector<std::string> sockets;  // in the order they are tried
  const char* how_to_start;
};

json::Object NoEngine(const EngineKind& kind, const std::string& socket,
                      const std::string& problem) {
  return {{"kind", kind.kind},
          {"how", "none"},
          {"version", ""},
          {"socket", json::EncodeBytes(socket)},
          {"problem", json::EncodeBytes(problem)}};
}

std::string ProblemOf(const EngineKind& kind, const Error& error) {
  if (error.kind != ErrorKind::kDenied) return error.message;
  const std::string tried =
      error.reason == docker::kHelpersFailed ? ", and `sudo -n` does not help" : "";
  return std::string("its socket is not open to you") +
         (std::string_view(kind.kind) == "docker" ? ": you are not in the group docker" : "") +
         tried;
}

json::Object ProbeEngine(const EngineKind& kind, const std::string& path) {
  json::Object first;
  for (const std::string& socket : kind.sockets) {
    if (!Exists(socket)) continue;
    auto engine = docker::Engine::Connect(socket);
    if (engine.ok()) {
      return {{"kind", kind.kind},
              {"how", docker::NeedsHelper(socket) ? "sudo" : "direct"},
              {"version", engine->version().version},
              {"socket", json::EncodeBytes(socket)},
              {"problem", ""}};
    }
    if (first.empty()) first = NoEngine(kind, socket, ProblemOf(kind, engine.error()));
  }
  if (!first.empty()) return first;
  if (FindProgram(kind.program, path)) {
    return NoEngine(kind, "",
                    std::string("it is installed, but does not run: ") + kind.how_to_start);
  }
  return NoEngine(kind, "", "it is not installed");
}

// --- GPUs ---

std::vector<std::string> Fields(const std::string& line) {
  std::vector<std::string> fields;
  for (const std::string& field : Split(line, ',')) fields.emplace_back(Trim(field));
  return fields;
}

// Reads lines such as "NVIDIA H200, GPU-…, 143771, 550.54.15", one for each GPU. False: nvidia-smi
// named none.
bool AskNvidiaSmi(const std::string& program, json::Array* gpus, json::Object* answer) {
  auto ran = RunAndCapture({program, "--query-gpu=name,uuid,memory.total,driver_version",
                            "--format=csv,noheader,nounits"},
                           "/", "", kToolMs, 1u << 20);
  if (!ran.ok()) return false;
  if (ran->timed_out || ran->status.AsShell() != 0) {
    const std::string words(Trim(ran->out.empty() ? ran->err : ran->out));
    (*answer)["gpu_problem"] = json::EncodeBytes(
        ran->timed_out ? "nvidia-smi does not answer" : "nvidia-smi says: " + ForTerminal(words));
    return false;
  }
  for (const std::string& line : Split(ran->out, '\n')) {
    const std::vector<std::string> fields = Fields(line);
    if (fields.size() != 4) continue;
    const int64_t mib = ::strtoll(fields[2].c_str(), nullptr, 10);
    gpus->push_back(json::Object{{"name", json::EncodeBytes(fields[0])},
                                 {"uuid", json::EncodeBytes(fields[1])},
                                 {"memory_bytes", mib << 20}});
    (*answer)["gpu_driver"] = json::EncodeBytes(fields[3]);
  }
  return !gpus->empty();
}

void ReadDriverFiles(json::Array* gpus) {
  const std::string folder = "/proc/driver/nvidia/gpus";
  for (const std::string& name : ListDir(folder).value_or({})) {
    auto text = ReadFile(folder + "/" + name + "/information", 65536);
    if (!text.ok()) continue;
    json::Object gpu{{"name", ""}, {"uuid", ""}, {"memory_bytes", 0}};
    for (const std::string& line : Split(*text, '\n')) {
      const size_t colon = line.find(':');
      if (colon == std::string::npos) continue;
      const std::string value(Trim(std::string_view(line).substr(colon + 1)));
      if (line.starts_with("Model:")) gpu["name"] = json::EncodeBytes(value);
      if (line.starts_with("GPU UUID:")) gpu["uuid"] = json::EncodeBytes(value);
    }
    gpus->push_back(std::move(gpu));
  }
}

// --- what a logout does ---

// The files that systemd-logind reads. A later file overrides the ones before it.
std::vector<std::string> LogindFiles(const std::string& root) {
  std::vector<std::string> files = {JoinPath(root, "etc/systemd/logind.conf")};
  for (const char* folder : {"usr/lib/systemd/logind.conf.d", "run/systemd/logind.conf.d",
                             "etc/systemd/logind.conf.d"}) {
    std::vector<std::string> names = ListDir(JoinPath(root, folder)).value_or({});
    std::sort(names.begin(), names.end());
    for (const std::string& name : names) {
      if (name.ends_with(".conf")) files.push_back(JoinPath(JoinPath(root, folder), name));
    }
  }
  return files;
}

bool SlurmAdopts(const std::string& root) {
  for (const char* name : {"sshd", "password-auth", "system-auth", "common-account"}) {
    auto text = ReadFile(JoinPath(root, std::string("etc/pam.d/") + name), 1u << 20);
    if (!text.ok()) continue;
    for (const std::string& line : Split(*text, '\n')) {
      if (!line.starts_with('#') && line.find("pam_slurm_adopt") != std::string::npos) return true;
    }
  }
  return false;
}

// Whether logind leaves the user's processes alone. It does so for root, unless the files say
// otherwise.
bool IsExcluded(const std::string& text, const std::string& user, bool is_root) {
  bool excluded = is_root;
  for (const std::string& line : Split(text, '\n')) {
    const size_t equals = line.find('=');
    if (equals == std::string::npos || Trim(line.substr(0, equals)) != "KillExcludeUsers") continue;
    excluded = false;
    for (const std::string& name : Split(Trim(line.substr(equals + 1)), ' ')) {
      excluded = excluded || name == user;
    }
  }
  return excluded;
}

}  // namespace

json::Array ProbeEngines(const Environment& environment) {
  std::string runtime = GetVariable(environment, "XDG_RUNTIME_DIR");
  if (runtime.empty()) runtime = "/run/user/" + std::to_string(::getuid());
  EngineKind docker{"docker",
                    "docker",
                    {"/var/run/docker.sock", JoinPath(runtime, "docker.sock")},
                    "`sudo systemctl start docker`"};
  const EngineKind podman{"podman",
                          "podman",
                          {JoinPath(runtime, "podman/podman.sock"), "/run/podman/podman.sock"},
                          "`systemctl --user start podman.socket`"};
  auto asked = docker::FindEngine(environment);
  if (asked.ok() && asked->from != "the usual place") {
    docker.sockets.insert(docker.sockets.begin(), asked->socket);
  }
  const std::string path = GetVariable(environment, "PATH", kDefaultPath);
  json::Array engines = {ProbeEngine(docker, path), ProbeEngine(podman, path)};
  // A run would fail because of an engine address that can't be used here.
  if (!asked.ok() && asked.error().kind != ErrorKind::kNotFound) {
    engines[0] = NoEngine(docker, "", asked.error().message);
  }
  return engines;
}

void ProbeGpus(const Environment& environment, json::Object* answer) {
  const std::string path = GetVariable(environment, "PATH", kDefaultPath);
  const gpu::HostFacts host = gpu::LookAtHost("/", path);
  (*answer)["gpu_driver"] = host.driver_version;
  (*answer)["gpu_problem"] = "";
  json::Array gpus;
  const auto program =
      FindProgram("nvidia-smi", path + ":/usr/bin:/usr/local/bin:/usr/lib/wsl/lib");
  const bool told = program && AskNvidiaSmi(*program, &gpus, answer);
  if (!told) ReadDriverFiles(&gpus);
  if (gpus.empty() && host.has_gpu && json::GetString(*answer, "gpu_problem").empty()) {
    (*answer)["gpu_problem"] = host.has_driver ? "there is a GPU, but its driver does not answer"
                                               : "there is a GPU, but no driver for it";
  }
  (*answer)["gpus"] = std::move(gpus);
}

std::string KillsOf(std::string_view text, bool defaults) {
  std::string found;
  for (const std::string& whole : Split(text, '\n')) {
    std::string_view line = Trim(whole);
    if (defaults && line.starts_with('#')) line = Trim(line.substr(1));
    const size_t equals = line.find('=');
    if (equals == std::string_view::npos || Trim(line.substr(0, equals)) != "KillUserProcesses") {
      continue;
    }
    const std::string value = ToLower(Trim(line.substr(equals + 1)));
    const bool yes = value == "yes" || value == "true" || value == "1" || value == "on";
    found = value.empty() ? "" : yes ? "yes" : "no";
  }
  return found;
}

KillsAtLogout LookAtLogout(const std::string& root, const std::string& user, bool is_root) {
  if (SlurmAdopts(root)) {
    return {"yes", "pam_slurm_adopt: what a login starts ends with the user's Slurm job"};
  }
  if (!Exists(JoinPath(root, "run/systemd/system"))) {
    return {"no", "there is no systemd that would do so"};
  }
  std::string said, everything, usual;
  for (const std::string& file : LogindFiles(root)) {
    auto text = ReadFile(file, 1u << 20);
    if (!text.ok()) continue;
    everything += *text + "\n";
    if (const std::string one = KillsOf(*text, false); !one.empty()) said = one;
    if (usual.empty()) usual = KillsOf(*text, true);
  }
  if (said == "yes" && IsExcluded(everything, user, is_root)) {
    return {"no", "KillUserProcesses=yes in logind.conf, but not for this user"};
  }
  if (said == "yes") return {"yes", "KillUserProcesses=yes in logind.conf"};
  if (said == "no") return {"no", "KillUserProcesses=no in logind.conf"};
  if (usual == "no") return {"no", "the system's default"};
  if (is_root) return {"no", "root is left alone"};
  if (usual == "yes") return {"yes", "KillUserProcesses is on by default on this system"};
  return {"unknown", "logind.conf does not say"};
}

}  // namespace tenon::runner
