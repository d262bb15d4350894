// SPDX-License-Identifier: Apache-2.0
// Finds out what uses a machine besides the runs of one home: runs of other homes, processes on a
// GPU, logins. Turning a machine off while it is used costs work; leaving it on costs money. So
// whatever can't be seen counts as use, and every use is named.
#ifndef TENON_RUNNER_VERBS_MACHINE_USE_H_
#define TENON_RUNNER_VERBS_MACHINE_USE_H_

#include <cstdint>
#include <string>
#include <vector>

namespace tenon::runner {

// What /proc, /run/systemd/sessions, /etc/passwd and nvidia-smi say.
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
    std::string pid;  // as nvidia-smi prints it: a number, or "[N/A]"
    std::string name, gpu;
  };
  std::vector<Process> processes;
  std::vector<Session> desktops;  // graphical sessions; others have a terminal
  std::vector<GpuProcess> gpu_processes;
  std::vector<std::string> problems;                    // what could not be seen, in words
  std::vector<std::pair<uint32_t, std::string>> users;  // number and name, from /etc/passwd
};

// `root` is "/" except in tests. `with_gpu`: also runs nvidia-smi, which may take seconds.
MachineFacts LookAtMachine(const std::string& root, bool with_gpu);

// Says what keeps the machine from being idle, one text for each thing: "ann is logged in on pts/3
// (bash)", "GPU 0 is used by process 4711 (python) of ann". Leaves out runs below `home`, because
// their journals tell more. Empty: nothing uses the machine.
std::vector<std::string> WhatGoesOn(const MachineFacts& facts, const std::string& home);

// LookAtMachine() and WhatGoesOn() for this machine. Runs nvidia-smi only when nothing else uses
// the machine, or when `all` is set.
std::vector<std::string> LookForUse(const std::string& home, bool all);

}  // namespace tenon::runner

#endif  // TENON_RUNNER_VERBS_MACHINE_USE_H_
