// SPDX-License-Identifier: Apache-2.0
// What is going on at a machine beside the runs of one home: other people's runs, processes on a
// GPU, logins. A machine that is turned off in the middle of it costs work, one that is left on
// costs money; so what can't be seen counts as going on, and everything is named.
#ifndef TENON_RUNNER_VERBS_MACHINE_USE_H_
#define TENON_RUNNER_VERBS_MACHINE_USE_H_

#include <cstdint>
#include <string>
#include <vector>

namespace tenon::runner {

// Recorded from /proc, /run/systemd/sessions and nvidia-smi.
struct MachineFacts {
  struct Process {
    int pid = 0, parent = 0;
    uint32_t uid = 0;
    std::string name;                  // as in /proc/PID/stat: 15 bytes at most
    std::vector<std::string> command;  // may be empty
    int terminal = 0;                  // device number of its controlling terminal; 0: none
    std::string cwd;                   // "" when we may not see it
  };
  struct Session {  // of systemd-logind
    std::string user, type, where;
  };
  struct GpuProcess {
    std::string pid;  // as told: a number, or "[N/A]"
    std::string name, gpu;
  };
  std::vector<Process> processes;
  std::vector<Session> desktops;  // graphical ones; the others are seen by their terminals
  std::vector<GpuProcess> gpu_processes;
  std::vector<std::string> problems;                    // what could not be seen, in words
  std::vector<std::pair<uint32_t, std::string>> users;  // of /etc/passwd
};

// `root` is "/" but for tests. `with_gpu`: nvidia-smi is asked, which may take seconds.
MachineFacts LookAtMachine(const std::string& root, bool with_gpu);

// What keeps the machine from being idle, one text each: "ann is logged in on pts/3 (bash)", "GPU 0
// is used by process 4711 (python) of ann". Runs below `home` are not looked for: their journals
// tell more. Empty: nothing goes on.
std::vector<std::string> WhatGoesOn(const MachineFacts& facts, const std::string& home);

// Both, for this machine. nvidia-smi is asked only when nothing else goes on, or `all` is set.
std::vector<std::string> LookForUse(const std::string& home, bool all);

}  // namespace tenon::runner

#endif  // TENON_RUNNER_VERBS_MACHINE_USE_H_
