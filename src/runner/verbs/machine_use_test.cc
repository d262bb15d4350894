// SPDX-License-Identifier: Apache-2.0
#include "runner/verbs/machine_use.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/file.h"
#include "base/temp_folder.h"
#include "base/text.h"

namespace tenon::runner {
namespace {

using Process = MachineFacts::Process;

constexpr int kPts3 = (136 << 8) | 3;
constexpr int kTty1 = (4 << 8) | 1;
const std::string kHome = "/home/ann/.tenon/host";

// A machine that nobody uses: the first process, and processes that wait for logins.
MachineFacts Quiet() {
  MachineFacts facts;
  facts.users = {{0, "root"}, {1000, "ann"}, {1001, "bob"}, {113, "gdm"}};
  facts.processes = {{1, 0, 0, "systemd", {"/sbin/init"}, 0, "/"},
                     {40, 1, 0, "sshd", {"sshd: /usr/sbin/sshd -D [listener]"}, 0, "/"},
                     {41, 1, 0, "agetty", {"/sbin/agetty", "tty1"}, kTty1, "/"},
                     {42, 1, 113, "gnome-shell", {"gnome-shell"}, kTty1, ""},
                     {43, 1, 0, "Xorg", {"/usr/lib/xorg/Xorg"}, kTty1, "/"}};
  return facts;
}

MachineFacts With(std::vector<Process> processes) {
  MachineFacts facts = Quiet();
  for (Process& process : processes) facts.processes.push_back(std::move(process));
  return facts;
}

std::string Said(const MachineFacts& facts) { return Join(WhatGoesOn(facts, kHome), "; "); }

TEST(MachineUse, AMachineThatOnlyWaitsIsIdle) { EXPECT_EQ(Said(Quiet()), ""); }

TEST(MachineUse, ALoginOnATerminalKeepsItOn) {
  EXPECT_EQ(Said(With({{50, 49, 1000, "bash", {"-bash"}, kPts3, ""}})),
            "ann is logged in on pts/3 (bash)");
  EXPECT_EQ(Said(With({{50, 1, 1001, "tmux: server", {"tmux"}, 0, ""},
                       {51, 50, 1001, "bash", {"-bash"}, kPts3, ""},
                       {52, 51, 1001, "vim", {"vim"}, kPts3, ""}})),
            "bob is logged in on pts/3 (bash, vim)");
  EXPECT_EQ(Said(With({{50, 1, 4711, "sh", {"sh"}, kTty1, ""}})),
            "user 4711 is logged in on tty1 (sh)");
}

TEST(MachineUse, ADesktopKeepsItOn) {
  MachineFacts facts = Quiet();
  facts.desktops = {{"ann", "wayland", ":0"}};
  EXPECT_EQ(Said(facts), "ann has a desktop session (wayland on :0)");
}

TEST(MachineUse, ACommandOverSshWithoutATerminalKeepsItOn) {
  EXPECT_EQ(Said(With({{60, 40, 1001, "sshd", {"sshd: bob@notty"}, 0, ""},
                       {61, 60, 1001, "bash", {"bash", "-c", "rsync"}, 0, ""},
                       {62, 61, 1001, "rsync", {"rsync", "--server"}, 0, ""}})),
            "bob is connected over SSH (rsync)");
  EXPECT_EQ(
      Said(With({{60, 40, 1001, "sshd-session", {"sshd-session: bob@internal-sftp"}, 0, ""}})),
      "bob is connected over SSH (sftp)");
}

TEST(MachineUse, AKeptConnectionAndOurAgentAreNoUse) {
  EXPECT_EQ(Said(With({{60, 40, 1000, "sshd", {"sshd: ann@notty"}, 0, ""}})), "");
  EXPECT_EQ(
      Said(With({{60, 40, 1000, "sshd", {"sshd: ann@notty"}, 0, ""},
                 {61, 60, 1000, "bash", {"bash", "-c", "x"}, 0, ""},
                 {62, 61, 1000, "tenon-runner-ab", {"/h/bin/tenon-runner-abc", "serve"}, 0, ""},
                 {63, 62, 1000, "nvidia-smi", {"nvidia-smi"}, 0, ""}})),
      "");
}

TEST(MachineUse, ACommandThatTenonRunsThereIsUse) {
  EXPECT_EQ(Said(With({{60, 40, 1000, "sshd", {"sshd: ann@notty"}, 0, ""},
                       {61, 60, 1000, "tenon-runner-ab", {"tenon-runner-abc", "exec", "h"}, 0, ""},
                       {62, 61, 1000, "python3", {"python3"}, 0, ""}})),
            "ann is connected over SSH (python3)");
}

TEST(MachineUse, ARunOfAnotherHomeKeepsItOnAndOurOwnIsCountedElsewhere) {
  const Process other{70, 1, 1001, "tenon-runner-ab", {"/x/tenon-runner-abc", "start"}, 0, ""};
  EXPECT_EQ(Said(With({other})), "a run of bob goes on (process 70)");
  Process second = other;
  second.uid = 1000;
  second.cwd = "/home/ann/.tenon/runs/p_1";
  EXPECT_EQ(Said(With({second})), "a run of ann goes on (process 70)");
  second.cwd = kHome + "/runs/p_1";
  EXPECT_EQ(Said(With({second})), "");
  // A watcher does not keep the machine on.
  second.command[1] = "watch-idle";
  second.cwd = "/";
  EXPECT_EQ(Said(With({second})), "");
}

TEST(MachineUse, AContainerOfARunCountsWhileItsScriptIsThere) {
  const Process init{80, 79, 0, "runner", {"/.tenon/runner", "init"}, 0, "/"};
  EXPECT_EQ(Said(With({init})), "") << "kept to be looked at";
  EXPECT_EQ(Said(With({init, {81, 80, 1000, "python", {"python", "train.py"}, 0, ""}})),
            "a container of a run goes on (process 80)");
}

TEST(MachineUse, AProcessOnAGpuIsNamedWithItsOwner) {
  MachineFacts facts = With({{4711, 1, 1000, "python", {"python", "train.py"}, 0, ""}});
  facts.gpu_processes = {{"4711", "/usr/bin/python3", "0"}, {"[N/A]", "", "1"}};
  EXPECT_EQ(Said(facts),
            "GPU 0 is used by process 4711 (python) of ann; GPU 1 is used by process [N/A]");
}

TEST(MachineUse, WhatCannotBeSeenCountsAsUse) {
  MachineFacts facts = Quiet();
  facts.problems = {"it can't be seen who uses the GPU: no nvidia-smi"};
  EXPECT_EQ(Said(facts), "it can't be seen who uses the GPU: no nvidia-smi");
}

// A machine whose files lie below a folder.
class RecordedMachine : public testing::Test {
 protected:
  void Write(const std::string& path, const std::string& text, mode_t mode = 0644) {
    const std::string full = folder_ / path;
    ASSERT_TRUE(MakeDirs(DirName(full)).ok());
    ASSERT_TRUE(WriteFileAtomically(full, text, mode, Durability::kProcess).ok());
  }
  void AddProcess(int pid, const std::string& stat, const std::string& uid,
                  const std::string& command) {
    const std::string folder = "proc/" + std::to_string(pid) + "/";
    Write(folder + "stat", std::to_string(pid) + " " + stat + "\n");
    Write(folder + "status",
          "Name:\tx\nUid:\t" + uid + "\t" + uid + "\t" + uid + "\t" + uid + "\n");
    Write(folder + "cmdline", command);
  }
  void SetUp() override {
    AddProcess(1, "(init) S 0 1 1 0 -1 0", "0", std::string("/sbin/init\0", 11));
    Write("etc/passwd", "root:x:0:0::/root:/bin/sh\nann:x:1000:1000::/home/ann:/bin/sh\n");
  }
  std::string Look() { return Join(WhatGoesOn(LookAtMachine(folder_.path(), true), kHome), "; "); }
  void NvidiaSmi(const std::string& body) {
    Write("usr/bin/nvidia-smi", "#!/bin/sh\n" + body, 0755);
  }

  TempFolder folder_;
};

TEST_F(RecordedMachine, LoginsAreReadFromProcAndFromLogind) {
  EXPECT_EQ(Look(), "");
  AddProcess(7, "(a) b) S 1 7 7 34819 -1 0", "1000", std::string("-bash\0", 6));
  AddProcess(8, "(gone) Z 7 7 7 34819 -1 0", "1000", "");
  EXPECT_EQ(Look(), "ann is logged in on pts/3 (a) b)");
  ASSERT_TRUE(RemoveTree(folder_ / "proc/7").ok());
  Write("run/systemd/sessions/1", "USER=ann\nTYPE=tty\nCLASS=user\nSTATE=active\n");
  Write("run/systemd/sessions/c1", "USER=gdm\nTYPE=x11\nCLASS=greeter\nSTATE=active\n");
  EXPECT_EQ(Look(), "");
  Write("run/systemd/sessions/2", "USER=ann\nTYPE=x11\nCLASS=user\nSTATE=online\nDISPLAY=:1\n");
  EXPECT_EQ(Look(), "ann has a desktop session (x11 on :1)");
}

TEST_F(RecordedMachine, HiddenProcessesCountAsUse) {
  ASSERT_TRUE(RemoveTree(folder_ / "proc/1").ok());
  EXPECT_NE(Look().find("hidepid"), std::string::npos) << Look();
}

TEST_F(RecordedMachine, NvidiaSmiTellsWhoUsesAGpu) {
  Write("proc/driver/nvidia/version", "NVRM version: NVIDIA 550.54.15\n");
  EXPECT_NE(Look().find("no nvidia-smi"), std::string::npos) << Look();
  NvidiaSmi("exit 0\n");
  EXPECT_EQ(Look(), "");
  AddProcess(4711, "(python) S 1 1 1 0 -1 0", "1000", "");
  NvidiaSmi(
      "case \"$1\" in\n"
      "*compute-apps*) echo '4711, /usr/bin/python3, GPU-5d';;\n"
      "*) echo 'GPU-aa, 0'; echo 'GPU-5d, 1';;\nesac\n");
  EXPECT_EQ(Look(), "GPU 1 is used by process 4711 (python) of ann");
  NvidiaSmi("echo Unable to determine the device handle; exit 15\n");
  EXPECT_NE(Look().find("Unable to determine"), std::string::npos) << Look();
  // Without a driver nobody can use the GPU.
  ASSERT_TRUE(RemoveTree(folder_ / "proc/driver").ok());
  EXPECT_EQ(Look(), "");
}

}  // namespace
}  // namespace tenon::runner
