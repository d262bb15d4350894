// SPDX-License-Identifier: Apache-2.0
#include "runner/verbs/machine_use.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <map>
#include <set>

#include "base/file.h"
#include "base/process.h"
#include "base/text.h"
#include "gpu/access.h"
#include "run/env_vars.h"
#include "run/verbs.h"

namespace tenon::runner {
namespace {

using Process = MachineFacts::Process;

constexpr size_t kMostOfFile = 64u << 10;
constexpr size_t kMostShown = 3;
constexpr int kNvidiaMs = 20'000;
constexpr int kTerminalMajor = 4, kFirstPts = 136, kLastPts = 143;
// Lower user ids are the system's own: the desktop of a login screen is nobody's login.
constexpr uint32_t kFirstPerson = 1000;
constexpr std::string_view kProgramName = "tenon-runner";
constexpr std::string_view kInsideName = "/.tenon/runner";  // executor/container_config.h

int ToInt(std::string_view text, int otherwise = 0) {
  int value = otherwise;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

// "123 (na me) S 1 123 123 34816 …"
bool ReadStat(std::string_view text, Process* process) {
  const size_t begin = text.find('('), end = text.rfind(')');
  if (begin == std::string_view::npos || end == std::string_view::npos || end < begin) return false;
  process->name = std::string(text.substr(begin + 1, end - begin - 1));
  const std::vector<std::string> fields = Split(Trim(text.substr(end + 1)), ' ');
  if (fields.size() < 5 || fields[0] == "Z" || fields[0] == "X") return false;
  process->parent = ToInt(fields[1]);
  process->terminal = ToInt(fields[4]);
  return true;
}

uint32_t ReadUid(std::string_view status) {
  for (const std::string& line : Split(status, '\n')) {
    if (!line.starts_with("Uid:")) continue;
    return static_cast<uint32_t>(ToInt(Trim(std::string_view(line).substr(4))));
  }
  return 0;
}

void ReadProcesses(const std::string& root, MachineFacts* facts) {
  const std::string proc = JoinPath(root, "proc");
  bool first = false;  // process 1 was seen; if not, others' processes are hidden
  for (const std::string& name : ListDir(proc).value_or({})) {
    Process process;
    process.pid = ToInt(name);
    if (process.pid <= 0) continue;
    const std::string folder = JoinPath(proc, name);
    const auto stat = ReadFile(JoinPath(folder, "stat"), kMostOfFile);
    if (!stat.ok()) continue;  // it has ended, or is hidden
    first = first || process.pid == 1;
    if (!ReadStat(*stat, &process)) continue;
    process.uid = ReadUid(ReadFile(JoinPath(folder, "status"), kMostOfFile).value_or(""));
    const std::string words = ReadFile(JoinPath(folder, "cmdline"), kMostOfFile).value_or("");
    process.command =
        Split(std::string_view(words).substr(0, words.find_last_not_of('\0') + 1), '\0');
    if (auto cwd = ReadLink(JoinPath(folder, "cwd")); cwd.ok()) process.cwd = std::move(*cwd);
    facts->processes.push_back(std::move(process));
  }
  if (!first) {
    facts->problems.push_back(
        "the processes of other people can't be seen (/proc is mounted with hidepid)");
  }
}

void ReadSessions(const std::string& root, MachineFacts* facts) {
  const std::string folder = JoinPath(root, "run/systemd/sessions");
  for (const std::string& name : ListDir(folder).value_or({})) {
    if (name.ends_with(".ref")) continue;
    std::map<std::string, std::string> members;
    for (const std::string& line :
         Split(ReadFile(JoinPath(folder, name), kMostOfFile).value_or(""), '\n')) {
      const size_t equals = line.find('=');
      if (equals != std::string::npos) members[line.substr(0, equals)] = line.substr(equals + 1);
    }
    const std::string& type = members["TYPE"];
    const bool graphical = type == "x11" || type == "wayland" || type == "mir";
    if (!graphical || members["CLASS"] != "user" || members["STATE"] == "closing") continue;
    facts->desktops.push_back({members["USER"], type, members["DISPLAY"]});
  }
}

void ReadUsers(const std::string& root, MachineFacts* facts) {
  const std::string passwd = ReadFile(JoinPath(root, "etc/passwd"), 16u << 20).value_or("");
  for (const std::string& line : Split(passwd, '\n')) {
    const std::vector<std::string> fields = Split(line, ':');
    if (fields.size() > 2) {
      facts->users.emplace_back(static_cast<uint32_t>(ToInt(fields[2])), fields[0]);
    }
  }
}

// Asks nvidia-smi, and puts the fields of each line of its answer into `rows`. False: it did not
// answer; `words` says why.
bool AskNvidiaSmi(const std::string& program, const std::string& what,
                  std::vector<std::vector<std::string>>* rows, std::string* words) {
  const auto ran =
      RunAndCapture({program, what, "--format=csv,noheader"}, "", "", kNvidiaMs, 1u << 20);
  if (!ran.ok() || ran->timed_out || ran->status.AsShell() != 0) {
    *words = !ran.ok()          ? ran.error().message
             : ran->timed_out   ? "it does not answer"
             : ran->out.empty() ? std::string(Trim(ran->err))
                                : std::string(Trim(ran->out));
    return false;
  }
  for (const std::string& line : Split(ran->out, '\n')) {
    if (Trim(line).empty() || line.starts_with("No running")) continue;
    std::vector<std::string> fields;
    for (const std::string& field : Split(line, ',')) fields.emplace_back(Trim(field));
    rows->push_back(std::move(fields));
  }
  return true;
}

void AskForGpuProcesses(const std::string& root, MachineFacts* facts) {
  const std::string usual = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
  const std::string path = GetVariable(CurrentEnvironment(), "PATH", usual) +
                           ":/usr/bin:/usr/local/bin:/usr/lib/wsl/lib";
  std::vector<std::string> below;
  for (const std::string& folder : Split(path, ':')) {
    if (folder.starts_with('/')) below.push_back(JoinPath(root, folder.substr(1)));
  }
  const auto program = FindProgram("nvidia-smi", Join(below, ":"));
  const bool has_driver = gpu::LookAtHost(root, "").has_driver;
  if (!program) {
    if (has_driver) facts->problems.push_back("it can't be seen who uses the GPU: no nvidia-smi");
    return;
  }
  std::vector<std::vector<std::string>> gpus, used;
  std::string words;
  if (!AskNvidiaSmi(*program, "--query-compute-apps=pid,process_name,gpu_uuid", &used, &words)) {
    // Without a driver nobody computes on a GPU.
    if (!has_driver) return;
    facts->problems.push_back("it can't be seen who uses the GPU: nvidia-smi says: " + words);
    return;
  }
  if (!used.empty()) (void)AskNvidiaSmi(*program, "--query-gpu=uuid,index", &gpus, &words);
  for (std::vector<std::string>& row : used) {
    row.resize(3);
    std::string gpu = row[2];
    for (const auto& one : gpus) {
      if (one.size() == 2 && one[0] == row[2]) gpu = one[1];
    }
    facts->gpu_processes.push_back({row[0], row[1], gpu});
  }
}

std::string TerminalName(int device) {
  const int major = (device >> 8) & 0xfff;
  const int minor = (device & 0xff) | ((device >> 12) & 0xfff00);
  if (major >= kFirstPts && major <= kLastPts) {
    return "pts/" + std::to_string((major - kFirstPts) * 256 + minor);
  }
  if (major == kTerminalMajor) {
    return minor < 64 ? "tty" + std::to_string(minor) : "ttyS" + std::to_string(minor - 64);
  }
  return "a terminal";
}

class Judge {
 public:
  Judge(const MachineFacts& facts, const std::string& home) : facts_(facts), home_(home) {
    for (const Process& process : facts_.processes) {
      by_pid_[process.pid] = &process;
      children_[process.parent].push_back(&process);
    }
  }

  std::vector<std::string> Run() {
    for (const Process& process : facts_.processes) LookForRun(process);
    LookForGpuProcesses();
    LookForTerminals();
    for (const MachineFacts::Session& session : facts_.desktops) {
      Say(session.user + " has a desktop session (" + session.type +
          (session.where.empty() ? "" : " on " + session.where) + ")");
    }
    for (const Process& process : facts_.processes) LookForConnection(process);
    for (const std::string& problem : facts_.problems) Say(problem);
    return std::move(said_);
  }

 private:
  void Say(const std::string& text) { said_.push_back(ForTerminal(text)); }

  std::string UserName(uint32_t uid) const {
    for (const auto& [number, name] : facts_.users) {
      if (number == uid) return name;
    }
    return "user " + std::to_string(uid);
  }

  static std::string Word(const Process& process, size_t index) {
    return index < process.command.size() ? process.command[index] : "";
  }
  static bool IsRunner(const Process& process) {
    return process.name.starts_with(kProgramName) ||
           BaseName(Word(process, 0)).starts_with(kProgramName);
  }

  // Finds supervisors of other homes, and inits of containers in which something runs.
  void LookForRun(const Process& process) {
    const std::string verb = Word(process, 1);
    const bool supervisor =
        IsRunner(process) &&
        (verb == run::kVerbStart || verb == run::kVerbRecover || verb == run::kVerbCancel);
    // The init of a container that is kept for a look has no children any more.
    const bool inside = Word(process, 0) == kInsideName && children_.contains(process.pid) &&
                        (verb == run::kVerbInit || verb == run::kVerbBuild);
    if (supervisor && (process.cwd.empty() || !IsBelow(process.cwd))) {
      Say("a run of " + UserName(process.uid) + " goes on (process " + std::to_string(process.pid) +
          ")");
    } else if (inside) {
      Say("a container of a run goes on (process " + std::to_string(process.pid) + ")");
    }
  }
  bool IsBelow(const std::string& path) const {
    return path == home_ || path.starts_with(home_ + "/");
  }

  void LookForGpuProcesses() {
    for (const MachineFacts::GpuProcess& used : facts_.gpu_processes) {
      const auto process = by_pid_.find(ToInt(used.pid, -1));
      const std::string name =
          process != by_pid_.end() ? process->second->name : std::string(BaseName(used.name));
      Say("GPU " + used.gpu + " is used by process " + used.pid +
          (name.empty() ? "" : " (" + name + ")") +
          (process != by_pid_.end() ? " of " + UserName(process->second->uid) : ""));
    }
  }

  // A program that waits for a login or draws the screen is not somebody's login.
  static bool IsOfTheSystem(const Process& process) {
    if (process.uid != 0 && process.uid < kFirstPerson) return true;
    static const std::set<std::string, std::less<>> kNames = {
        "agetty", "getty", "mingetty", "login", "Xorg", "X", "plymouthd"};
    return kNames.contains(process.name);
  }

  void LookForTerminals() {
    std::map<int, std::vector<const Process*>> terminals;
    for (const Process& process : facts_.processes) {
      if (process.terminal != 0 && !IsOfTheSystem(process)) {
        terminals[process.terminal].push_back(&process);
      }
    }
    for (const auto& [terminal, processes] : terminals) {
      std::vector<std::string> names;
      for (const Process* process : processes) {
        if (names.size() < kMostShown) names.push_back(process->name);
      }
      Say(UserName(processes.front()->uid) + " is logged in on " + TerminalName(terminal) + " (" +
          Join(names, ", ") + (processes.size() > kMostShown ? ", …" : "") + ")");
    }
  }

  // Finds SSH sessions without a terminal: a copy, a command, an editor's server. A session that
  // only keeps a connection open, or only runs our agent, does not use the machine.
  void LookForConnection(const Process& process) {
    const std::string title = Word(process, 0);
    if (!process.name.starts_with("sshd") || !title.starts_with("sshd")) return;
    const size_t at = title.find("@notty");
    std::vector<std::string> names;
    if (title.find("@internal-sftp") != std::string::npos) names.emplace_back("sftp");
    if (at != std::string::npos) AddWork(process, &names);
    if (names.empty()) return;
    if (names.size() > kMostShown) names.resize(kMostShown);
    Say(UserName(process.uid) + " is connected over SSH (" + Join(names, ", ") + ")");
  }
  void AddWork(const Process& process, std::vector<std::string>* names) const {
    const auto below = children_.find(process.pid);
    if (below == children_.end()) return;
    for (const Process* child : below->second) {
      if (child->terminal != 0) continue;  // found by its terminal
      if (IsRunner(*child) && Word(*child, 1) != run::kVerbExec) continue;
      const bool leaf = !children_.contains(child->pid);
      if (leaf && !IsRunner(*child)) names->push_back(child->name);
      AddWork(*child, names);
    }
  }

  const MachineFacts& facts_;
  const std::string& home_;
  std::map<int, const Process*> by_pid_;
  std::map<int, std::vector<const Process*>> children_;
  std::vector<std::string> said_;
};

}  // namespace

MachineFacts LookAtMachine(const std::string& root, bool with_gpu) {
  MachineFacts facts;
  ReadProcesses(root, &facts);
  ReadSessions(root, &facts);
  ReadUsers(root, &facts);
  if (with_gpu) AskForGpuProcesses(root, &facts);
  return facts;
}

std::vector<std::string> WhatGoesOn(const MachineFacts& facts, const std::string& home) {
  return Judge(facts, home).Run();
}

std::vector<std::string> LookForUse(const std::string& home, bool all) {
  const char* given = std::getenv(run::env::kTestMachineRoot);
  const std::string root = given != nullptr ? given : "/";
  auto found = WhatGoesOn(LookAtMachine(root, all), home);
  if (all || !found.empty()) return found;
  return WhatGoesOn(LookAtMachine(root, true), home);
}

}  // namespace tenon::runner
