// SPDX-License-Identifier: Apache-2.0
#include "base/process.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "base/in_child.h"
#include "base/temp_folder.h"
#include "base/text.h"

namespace tenon {
namespace {

SpawnOptions Shell(const std::string& command) {
  SpawnOptions options;
  options.argv = {"/bin/sh", "-c", command};
  options.env = {{"PATH", "/usr/bin:/bin"}};
  return options;
}

// Runs with standard output into a file and returns what was written.
std::string OutputOf(SpawnOptions options) {
  TempFolder folder;
  auto fd = OpenFile(folder / "out", O_RDWR | O_CREAT);
  options.stdout_fd = fd->get();
  auto pid = Spawn(options);
  if (!pid.ok()) return pid.error().message;
  auto status = Wait(*pid);
  if (!status.ok() || status->AsShell() != 0) return "failed";
  return *ReadFile(folder / "out");
}

void MakeScript(const std::string& path, std::string_view text, mode_t mode) {
  ASSERT_TRUE(WriteFileAtomically(path, text, mode, Durability::kProcess).ok());
}

bool WaitUntilGone(const ProcessId& id) {
  int64_t limit = SystemClock().MonotonicUs() + 20'000'000;
  while (SystemClock().MonotonicUs() < limit) {
    if (CheckProcess(id) == Liveness::kGone) return true;
    ::usleep(1000);
  }
  return false;
}

TEST(SpawnTest, AMissingProgramIsAnErrorNotAnExitCode) {
  SpawnOptions options;
  options.argv = {"/no/such/program"};
  auto pid = Spawn(options);
  ASSERT_FALSE(pid.ok());
  EXPECT_EQ(pid.error().kind, ErrorKind::kNotFound);
  EXPECT_EQ(pid.error().message, "start /no/such/program: No such file or directory");
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);  // no zombie either
  options.argv = {"no-such-program-here"};
  options.env = {{"PATH", "/usr/bin:/bin"}};
  auto by_name = Spawn(options);
  ASSERT_FALSE(by_name.ok());
  EXPECT_EQ(by_name.error().kind, ErrorKind::kNotFound);
  EXPECT_EQ(by_name.error().hint, "PATH is /usr/bin:/bin");
  options.argv = {""};
  EXPECT_EQ(Spawn(options).error().kind, ErrorKind::kInvalid);
}

TEST(SpawnTest, AMissingFolderIsNotBlamedOnTheProgram) {
  SpawnOptions options = Shell("true");
  options.cwd = "/no/such/folder";
  auto pid = Spawn(options);
  ASSERT_FALSE(pid.ok());
  EXPECT_EQ(pid.error().kind, ErrorKind::kNotFound);
  EXPECT_EQ(pid.error().message,
            "start /bin/sh in folder /no/such/folder: No such file or directory");
}

TEST(SpawnTest, WhyAProgramCannotRunIsSaid) {
  TempFolder folder;
  MakeScript(folder / "plain", "#!/bin/sh\n", 0644);
  MakeScript(folder / "lost", "#!/no/such/interpreter\n", 0755);
  MakeScript(folder / "noise", "no first line\n", 0755);
  SpawnOptions options;
  options.argv = {folder / "plain"};
  EXPECT_EQ(Spawn(options).error().kind, ErrorKind::kDenied);
  options.argv = {folder / "lost"};
  EXPECT_NE(Spawn(options).error().message.find("interpreter"), std::string::npos);
  options.argv = {folder / "noise"};
  EXPECT_EQ(Spawn(options).error().kind, ErrorKind::kInvalid);
  options.argv = {"plain"};
  options.env = {{"PATH", folder.path()}};
  EXPECT_EQ(Spawn(options).error().kind, ErrorKind::kDenied);
}

TEST(SpawnTest, TheChildsPathIsSearchedNotOurs) {
  TempFolder folder;
  MakeScript(folder / "tenon-test-tool", "#!/bin/sh\necho found\n", 0755);
  SpawnOptions options;
  options.argv = {"tenon-test-tool"};
  options.env = {{"PATH", "/nowhere:" + folder.path()}};
  EXPECT_EQ(OutputOf(options), "found\n");
}

TEST(SpawnTest, ARelativeProgramIsFoundFromTheChildsFolder) {
  TempFolder folder;
  MakeScript(folder / "tool", "#!/bin/sh\npwd\n", 0755);
  SpawnOptions options;
  options.argv = {"./tool"};
  options.cwd = folder.path();
  EXPECT_EQ(OutputOf(options), folder.path() + "\n");
}

TEST(SpawnTest, TheEnvironmentIsExactlyTheOneGiven) {
  SpawnOptions options;
  options.argv = {"/usr/bin/env"};
  options.env = {{"A", "1"}, {"B", "x=y\nz"}};
  EXPECT_EQ(OutputOf(options), "A=1\nB=x=y\nz\n");
}

TEST(SpawnTest, BlockedAndIgnoredSignalsAreNotInherited) {
  sigset_t set, before;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGUSR1);
  ::pthread_sigmask(SIG_BLOCK, &set, &before);
  auto pipe_before = ::signal(SIGPIPE, SIG_IGN);
  SpawnOptions options;
  options.argv = {"/bin/grep", "-E", "^Sig(Blk|Ign)", "/proc/self/status"};
  EXPECT_EQ(OutputOf(options), "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n");
  ::signal(SIGPIPE, pipe_before);
  sigset_t now;
  ::pthread_sigmask(SIG_SETMASK, &before, &now);
  EXPECT_TRUE(sigismember(&now, SIGTERM));  // our own mask is as we left it
  EXPECT_FALSE(sigismember(&now, SIGINT));
}

TEST(SpawnTest, OurDescriptorsDoNotReachTheChild) {
  TempFolder folder;
  auto open = OpenFile(folder / "f", O_RDWR | O_CREAT);
  ASSERT_TRUE(open.ok());
  std::string seen = OutputOf(Shell("ls -l /proc/self/fd"));
  EXPECT_NE(seen.find("/out\n"), std::string::npos) << seen;
  EXPECT_EQ(seen.find(folder.path()), std::string::npos) << seen;
}

TEST(SpawnTest, StdinIsEmptyUnlessGiven) {
  EXPECT_EQ(OutputOf(Shell("readlink /proc/self/fd/0; cat")), "/dev/null\n");
}

TEST(SpawnTest, OutputAndErrorMayBeSwapped) {
  TempFolder folder;
  std::string said = InChild([&]() -> std::string {
    auto out = OpenFile(folder / "out", O_RDWR | O_CREAT);
    auto err = OpenFile(folder / "err", O_RDWR | O_CREAT);
    ::dup2(out->get(), 1);
    ::dup2(err->get(), 2);
    SpawnOptions options = Shell("echo o; echo e >&2");
    options.stdout_fd = 2;
    options.stderr_fd = 1;
    auto pid = Spawn(options);
    if (!pid.ok()) return pid.error().message;
    return Wait(*pid)->code == 0 ? "" : "failed";
  });
  EXPECT_EQ(said, "");
  EXPECT_EQ(*ReadFile(folder / "out"), "e\n");
  EXPECT_EQ(*ReadFile(folder / "err"), "o\n");
}

TEST(SpawnTest, WorksWhenOurOwnStandardStreamsAreClosed) {
  TempFolder folder;
  std::string said = InChild([&]() -> std::string {
    for (int fd : {0, 1, 2}) ::close(fd);
    auto out = OpenFile(folder / "out", O_RDWR | O_CREAT);
    if (out->get() != 0) return "not the lowest descriptor";
    SpawnOptions options = Shell("echo o; echo e >&2");
    options.stdout_fd = options.stderr_fd = out->get();
    auto pid = Spawn(options);
    if (!pid.ok()) return pid.error().message;
    if (Wait(*pid)->code != 0) return "failed";
    options.argv = {"/no/such"};
    return Spawn(options).ok() ? "a missing program was started" : "";
  });
  EXPECT_EQ(said, "");
  EXPECT_EQ(*ReadFile(folder / "out"), "o\ne\n");
}

TEST(SpawnTest, ANewSessionIsItsOwnGroup) {
  SpawnOptions options = Shell("echo $$; cut -d' ' -f5,6 /proc/$$/stat");
  options.new_session = true;
  std::vector<std::string> lines = Split(OutputOf(options), '\n');
  ASSERT_GE(lines.size(), 2u);
  EXPECT_EQ(lines[1], lines[0] + " " + lines[0]);
}

TEST(SpawnTest, InChildRunsBeforeTheProgram) {
  SpawnOptions options = Shell("umask");
  options.in_child = [] { ::umask(0031); };
  EXPECT_EQ(OutputOf(options), "0031\n");
}

TEST(WaitTest, CodesAndSignalsAreToldApart) {
  auto exited = Wait(*Spawn(Shell("exit 7")));
  EXPECT_EQ(exited->code, 7);
  EXPECT_EQ(exited->signal, 0);
  EXPECT_EQ(exited->AsShell(), 7);
  auto killed = Wait(*Spawn(Shell("kill -9 $$")));
  EXPECT_EQ(killed->signal, SIGKILL);
  EXPECT_EQ(killed->AsShell(), 137);
  EXPECT_FALSE(Wait(1).ok());
}

TEST(CaptureTest, MuchInputAndMuchOutputDoNotBlockEachOther) {
  std::string input(8 << 20, 'x');
  auto result = RunAndCapture({"cat"}, "/", input, 60'000);
  ASSERT_TRUE(result.ok()) << result.error().message;
  EXPECT_EQ(result->out, input);
  EXPECT_FALSE(result->timed_out);
}

TEST(CaptureTest, OutputAndErrorAreKeptApart) {
  auto result = RunAndCapture({"sh", "-c", "echo o; echo e >&2; exit 4"}, "/");
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->out, "o\n");
  EXPECT_EQ(result->err, "e\n");
  EXPECT_EQ(result->status.code, 4);
}

TEST(CaptureTest, AChildThatDoesNotReadItsInputDoesNotKillUs) {
  auto result = RunAndCapture({"sh", "-c", "exec <&-; echo done"}, "/", std::string(1 << 20, 'x'));
  ASSERT_TRUE(result.ok()) << result.error().message;
  EXPECT_EQ(result->out, "done\n");
  sigset_t pending;
  ::sigpending(&pending);
  EXPECT_FALSE(sigismember(&pending, SIGPIPE));
}

TEST(CaptureTest, OutputBeyondTheLimitIsDroppedNotBlocked) {
  auto result =
      RunAndCapture({"sh", "-c", "head -c 3000000 /dev/zero; echo end >&2"}, "/", "", 60'000, 1000);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->out.size(), 1000u);
  EXPECT_EQ(result->err, "end\n");
  EXPECT_EQ(result->status.code, 0);
}

TEST(CaptureTest, ATimeoutEndsTheChildAndItsChildren) {
  auto result = RunAndCapture({"sh", "-c", "sleep 1000 & echo $!; wait"}, "/", "", 3000);
  ASSERT_TRUE(result.ok());
  ASSERT_FALSE(result->out.empty());
  EXPECT_TRUE(result->timed_out);
  EXPECT_EQ(result->status.signal, SIGKILL);
  pid_t grandchild = static_cast<pid_t>(std::stol(result->out));
  EXPECT_TRUE(WaitUntilGone({grandchild, 0, BootId()}));
}

TEST(CaptureTest, ATimeoutAlsoEndsAChildThatClosedItsOutput) {
  auto result = RunAndCapture({"sh", "-c", "exec >&- 2>&-; sleep 1000"}, "/", "", 300);
  ASSERT_TRUE(result.ok());
  EXPECT_TRUE(result->timed_out);
}

TEST(CaptureTest, AMissingProgramIsAnError) {
  EXPECT_EQ(RunAndCapture({"/no/such"}, "/").error().kind, ErrorKind::kNotFound);
}

TEST(FindProgramTest, FoldersAndPlainFilesAreNoPrograms) {
  TempFolder folder;
  ASSERT_TRUE(MakeDirs(folder / "a/tool").ok());
  ASSERT_TRUE(MakeDirs(folder / "b").ok());
  ASSERT_TRUE(MakeDirs(folder / "c").ok());
  MakeScript(folder / "b/tool", "", 0644);
  MakeScript(folder / "c/tool", "", 0755);
  std::string path = (folder / "a") + ":" + (folder / "b");
  EXPECT_EQ(FindProgram("tool", path), std::nullopt);
  EXPECT_EQ(FindProgram("tool", path + ":" + (folder / "c")), folder / "c/tool");
  EXPECT_EQ(FindProgram(folder / "c/tool", "/nowhere"), folder / "c/tool");
  EXPECT_EQ(FindProgram("", path), std::nullopt);
}

TEST(ProcessIdTest, AReusedPidIsNotTheSameProcess) {
  auto pid = Spawn(Shell("exec sleep 1000"));
  ASSERT_TRUE(pid.ok());
  auto id = IdentifyProcess(*pid);
  ASSERT_TRUE(id);
  EXPECT_GT(id->start_ticks, 0u);
  EXPECT_EQ(CheckProcess(*id), Liveness::kAlive);
  ProcessId predecessor = *id;
  predecessor.start_ticks -= 1;
  EXPECT_EQ(CheckProcess(predecessor), Liveness::kGone);

  ::kill(*pid, SIGKILL);
  siginfo_t info;
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(*pid), &info, WEXITED | WNOWAIT), 0);
  EXPECT_EQ(CheckProcess(*id), Liveness::kGone);  // a zombie
  EXPECT_EQ(IdentifyProcess(*pid), id);
  ASSERT_TRUE(Wait(*pid).ok());
  EXPECT_EQ(CheckProcess(*id), Liveness::kGone);
  EXPECT_EQ(IdentifyProcess(*pid), std::nullopt);
}

TEST(ProcessIdTest, AnotherBootMeansItCannotBeAlive) {
  auto id = IdentifyProcess(::getpid());
  ASSERT_TRUE(id);
  ASSERT_FALSE(id->boot_id.empty());
  EXPECT_EQ(id->boot_id, std::string(Trim(id->boot_id)));
  ::setenv("TENON_TEST_BOOT_ID", "another-boot", 1);
  EXPECT_EQ(BootId(), "another-boot");
  EXPECT_EQ(CheckProcess(*id), Liveness::kRebooted);
  ::unsetenv("TENON_TEST_BOOT_ID");
  EXPECT_EQ(CheckProcess(*id), Liveness::kAlive);
}

TEST(ProcessIdTest, ANameWithBracketsAndBlanksIsReadRight) {
  TempFolder folder;
  auto sleep = FindProgram("sleep", "/usr/bin:/bin");
  ASSERT_TRUE(sleep);
  std::string odd = folder / "a) R 1 (b";
  ASSERT_EQ(::symlink(sleep->c_str(), odd.c_str()), 0);
  SpawnOptions options;
  options.argv = {odd, "1000"};
  auto pid = Spawn(options);
  ASSERT_TRUE(pid.ok()) << pid.error().message;
  auto id = IdentifyProcess(*pid);
  auto self = IdentifyProcess(::getpid());
  ::kill(*pid, SIGKILL);
  ASSERT_TRUE(Wait(*pid).ok());
  ASSERT_TRUE(id && self);
  EXPECT_GE(id->start_ticks, self->start_ticks);
}

TEST(ProcessIdTest, NumbersThatMeanGroupsAreNoProcess) {
  EXPECT_EQ(CheckProcess({0, 0, ""}), Liveness::kGone);
  EXPECT_EQ(CheckProcess({-1, 0, ""}), Liveness::kGone);
}

TEST(EnvironmentTest, OursIsReadWhole) {
  ::setenv("TENON_TEST_VALUE", "a=b\nc", 1);
  EXPECT_EQ(CurrentEnvironment()["TENON_TEST_VALUE"], "a=b\nc");
  ::unsetenv("TENON_TEST_VALUE");
  EXPECT_FALSE(CurrentEnvironment().contains("TENON_TEST_VALUE"));
}

}  // namespace
}  // namespace tenon
