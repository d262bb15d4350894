// SPDX-License-Identifier: Apache-2.0
#include "executor/process_tree.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

#include "base/file.h"
#include "base/process.h"
#include "base/text.h"
#include "executor/cgroup.h"
#include "executor/run_mark.h"

namespace tenon::executor {
namespace {

// A /proc made of files, so that any tree can be looked at.
class FakeProc {
 public:
  FakeProc() {
    char name[] = "/tmp/tenon-proc-XXXXXX";
    TENON_CHECK(::mkdtemp(name) != nullptr);
    folder_ = name;
    TENON_CHECK(MakeDirs(folder_ + "/self").ok());
    Write("self/stat", "1");
  }
  ~FakeProc() { EXPECT_TRUE(RemoveTree(folder_).ok()); }
  const std::string& folder() const { return folder_; }

  void Add(pid_t pid, pid_t parent, const std::string& environ, uint64_t start = 1000,
           char state = 'S', const std::string& name = "sh") {
    std::string at = std::to_string(pid);
    TENON_CHECK(MakeDirs(folder_ + "/" + at).ok());
    std::string stat = at + " (" + name + ") " + state + " " + std::to_string(parent) + " " + at +
                       " " + at + " 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 " + std::to_string(start) +
                       " 0 0\n";
    Write(at + "/stat", stat);
    Write(at + "/environ", environ);
  }
  void AddThread(pid_t pid, pid_t thread, const std::string& environ, char state) {
    const std::string at = std::to_string(pid) + "/task/" + std::to_string(thread);
    TENON_CHECK(MakeDirs(folder_ + "/" + at).ok());
    Write(at + "/stat", std::to_string(thread) + " (sh) " + state + " 1\n");
    Write(at + "/environ", environ);
  }
  void SetLimit(pid_t pid, const std::string& hard) {
    Write(std::to_string(pid) + "/limits",
          "Limit                     Soft Limit           Hard Limit           Units     \n"
          "Max open files            1024                 4096                 files     \n"
          "Max file locks            " +
              hard + "           " + hard + "           locks     \n");
  }
  TreeQuery Query(pid_t supervisor) const {
    TreeQuery query;
    query.run_key = "key-1";
    query.supervisor = supervisor;
    query.not_before_ticks = 500;
    query.proc = folder_;
    return query;
  }
  std::vector<pid_t> Scan(pid_t supervisor) const {
    std::vector<pid_t> pids;
    for (const TreeProcess& process : ScanTree(Query(supervisor)).processes) {
      pids.push_back(process.pid);
    }
    return pids;
  }

 private:
  void Write(const std::string& name, const std::string& bytes) {
    TENON_CHECK(WriteFileAtomically(folder_ + "/" + name, bytes, 0600, Durability::kProcess).ok());
  }
  std::string folder_;
};

const std::string kMark("A=b\0TENON_RUN_KEY=key-1\0C=d\0", 28);
const std::string kOther("TENON_RUN_KEY=key-2\0", 20);
constexpr pid_t kFirst = 5'000'001;  // above any real pid, so that ours can't be among them

TEST(ProcessTree, DescendantsOfTheSupervisorNeedNoMark) {
  FakeProc proc;
  proc.Add(kFirst, 1, "");               // the supervisor
  proc.Add(kFirst + 1, kFirst, "");      // the script
  proc.Add(kFirst + 2, kFirst + 1, "");  // its child, listed after it
  proc.Add(kFirst + 3, 1, "");           // a stranger
  EXPECT_EQ(proc.Scan(kFirst), (std::vector<pid_t>{kFirst + 1, kFirst + 2}));
}

TEST(ProcessTree, ChildrenWithSmallerPidsThanTheirParentsAreFound) {
  FakeProc proc;
  proc.Add(kFirst + 2, 1, kMark);
  proc.Add(kFirst + 1, kFirst + 2, "");
  proc.Add(kFirst, kFirst + 1, "");
  EXPECT_EQ(proc.Scan(0).size(), 3u);
}

TEST(ProcessTree, TheMarkFindsOrphansOfADeadSupervisor) {
  FakeProc proc;
  proc.Add(kFirst, 1, kMark);
  proc.Add(kFirst + 1, 1, "TENON_RUN_KEY=key-1");  // without the NUL at the end
  proc.Add(kFirst + 2, 1, std::string("X=TENON_RUN_KEY=key-1\0", 22));
  proc.Add(kFirst + 3, 1, std::string("TENON_RUN_KEY=key-11\0", 21));
  EXPECT_EQ(proc.Scan(0), (std::vector<pid_t>{kFirst, kFirst + 1}));
}

TEST(ProcessTree, ARunStartedByTheScriptIsNotPartOfIt) {
  FakeProc proc;
  proc.Add(kFirst, 1, "");
  proc.Add(kFirst + 1, kFirst, kMark);       // our script
  proc.Add(kFirst + 2, kFirst, kOther);      // the other run's supervisor, orphaned to ours
  proc.Add(kFirst + 3, kFirst + 2, kOther);  // its script
  proc.Add(kFirst + 4, kFirst + 3, "");      // a child of that
  TreeScan scan = ScanTree(proc.Query(kFirst));
  ASSERT_EQ(scan.processes.size(), 1u);
  EXPECT_EQ(scan.processes[0].pid, kFirst + 1);
  EXPECT_TRUE(scan.foreign);
}

TEST(ProcessTree, AnEmptyEnvironmentDoesNotHideTheMark) {
  FakeProc proc;
  const uint64_t ours = RunMarkBelow(UINT64_MAX, "key-1").value();
  proc.Add(kFirst, 1, "");
  proc.SetLimit(kFirst, std::to_string(ours));
  proc.Add(kFirst + 1, 1, "");  // of another run, which our run has started
  proc.SetLimit(kFirst + 1, std::to_string(RunMarkBelow(ours, "key-2").value()));
  proc.Add(kFirst + 2, 1, "");
  proc.SetLimit(kFirst + 2, "unlimited");
  proc.Add(kFirst + 3, kFirst + 1, kMark);  // what the environment says counts less
  proc.SetLimit(kFirst + 3, std::to_string(RunMarkBelow(ours, "key-2").value()));
  EXPECT_EQ(proc.Scan(0), std::vector<pid_t>{kFirst});
}

TEST(ProcessTree, WithoutMarksAClearedEnvironmentCannotBeSeen) {
  FakeProc proc;
  TreeQuery query = proc.Query(0);
  EXPECT_NE(ScanTree(query).remark.find("cleared its environment"), std::string::npos);
  query.marked = true;
  EXPECT_EQ(ScanTree(query).remark.find("cleared its environment"), std::string::npos);
}

TEST(RunMark, EachRunWithinARunIsLowerAndNamesItself) {
  uint64_t limit = UINT64_MAX;
  for (int depth = 0; depth < 256; ++depth) {
    const std::string key = "key-" + std::to_string(depth);
    const auto mark = RunMarkBelow(limit, key);
    ASSERT_TRUE(mark.has_value());
    EXPECT_LT(*mark, limit);
    const std::string text =
        "Max file locks            1   " + std::to_string(*mark) + "   locks\n";
    EXPECT_EQ(ReadRunMark(text, key), RunMark::kOurs);
    EXPECT_EQ(ReadRunMark(text, "another"), RunMark::kForeign);
    limit = *mark;
  }
  EXPECT_FALSE(RunMarkBelow(limit, "one more").has_value());
  EXPECT_EQ(ReadRunMark("Max file locks   unlimited   unlimited   locks\n", "k"), RunMark::kNone);
  EXPECT_EQ(ReadRunMark("Max file locks   7   1000   locks\n", "k"), RunMark::kNone);
  EXPECT_EQ(ReadRunMark("Max open files   7   1000   files\n", "k"), RunMark::kUnknown);
  EXPECT_EQ(ReadRunMark("Max file locks", "k"), RunMark::kUnknown);
  EXPECT_EQ(ReadRunMark("", "k"), RunMark::kUnknown);
}

TEST(ProcessTree, ZombiesAndOlderProcessesDoNotCount) {
  FakeProc proc;
  proc.Add(kFirst, 1, kMark, 1000, 'Z');
  proc.Add(kFirst + 1, 1, kMark, 499);  // a pid and a mark, but older than the run
  proc.Add(kFirst + 2, 1, kMark, 500);
  EXPECT_EQ(proc.Scan(0), std::vector<pid_t>{kFirst + 2});
}

TEST(ProcessTree, AProcessNameWithBracketsDoesNotHideIt) {
  FakeProc proc;
  proc.Add(kFirst, 1, kMark, 1000, 'S', "a) Z 1 (b");
  EXPECT_EQ(proc.Scan(0), std::vector<pid_t>{kFirst});
}

TEST(ProcessTree, ACircleOfParentsEnds) {
  FakeProc proc;
  proc.Add(kFirst, kFirst + 1, "");
  proc.Add(kFirst + 1, kFirst, "");
  EXPECT_TRUE(proc.Scan(77).empty());
}

TEST(ProcessTree, WithoutProcTheProofSaysSo) {
  TreeQuery query;
  query.run_key = "key-1";
  query.proc = "/no/such/proc";
  TreeScan scan = ScanTree(query);
  EXPECT_TRUE(scan.processes.empty());
  EXPECT_NE(scan.remark.find("/no/such/proc"), std::string::npos);
  ProcessSet signaled;
  EXPECT_FALSE(EndTree(query, 1000, &signaled).remark.empty());
}

TEST(HiddenByProc, SaysWhatHidepidHides) {
  const std::string plain = "22 28 0:21 / /proc rw,nosuid - proc proc rw\n";
  const std::string hidden = "22 28 0:21 / /proc rw - proc proc rw,gid=4,hidepid=2\n";
  EXPECT_EQ(HiddenByProc(plain, 1000), "");
  EXPECT_NE(HiddenByProc(hidden, 1000).find("hidepid=2"), std::string::npos);
  EXPECT_EQ(HiddenByProc(hidden, 0), "");
  EXPECT_NE(HiddenByProc(plain + hidden, 1000), "");
  EXPECT_EQ(HiddenByProc(hidden + plain, 1000), "");
  EXPECT_EQ(HiddenByProc("22 28 0:21 / /proc rw - proc proc rw,hidepid=off\n", 1000), "");
  EXPECT_NE(HiddenByProc("22 28 0:21 / /proc rw - proc proc rw,hidepid=invisible\n", 1000), "");
}

// Real processes, found by their mark alone as after the death of a supervisor.
TEST(EndTree, AForkingTreeDoesNotOutrunTheKiller) {
  std::string key = NewUuid();
  SpawnOptions options;
  // Keeps replacing itself by two children that go on, up to some dozens at a time.
  options.argv = {
      "sh", "-c",
      "f() { sleep 0.02; [ \"$1\" -gt 0 ] && { f $(($1-1)) & f $(($1-1)) & }; sleep 600; }; f 4"};
  options.env = CurrentEnvironment();
  options.env["TENON_RUN_KEY"] = key;
  options.new_session = true;
  auto pid = Spawn(options);
  ASSERT_TRUE(pid.ok());
  TreeQuery query;
  query.run_key = key;
  while (ScanTree(query).processes.size() < 10) ::usleep(1000);
  ProcessSet signaled;
  run::Proof proof = EndTree(query, 20'000'000, &signaled);
  EXPECT_EQ(proof.left, 0);
  EXPECT_GE(proof.ended, 10);
  EXPECT_EQ(proof.method, "scan");
  ASSERT_TRUE(Wait(*pid).ok());
  EXPECT_TRUE(ScanTree(query).processes.empty());
}

TEST(Cgroup, TheMountIsFoundWhereverItIs) {
  auto unified =
      FindCgroupMount("30 24 0:26 / /sys/fs/cgroup/unified rw shared:9 - cgroup2 cgroup2 rw\n");
  ASSERT_TRUE(unified.has_value());
  EXPECT_EQ(unified->mount_point, "/sys/fs/cgroup/unified");
  auto odd = FindCgroupMount("30 24 0:26 /a /x\\040y rw - cgroup2 none rw\n");
  ASSERT_TRUE(odd.has_value());
  EXPECT_EQ(odd->mount_point, "/x y");
  EXPECT_EQ(odd->root, "/a");
  EXPECT_FALSE(FindCgroupMount("30 24 0:26 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n"));
  EXPECT_FALSE(FindCgroupMount(""));
}

TEST(Cgroup, OurFolderIsSeenThroughTheMount) {
  CgroupMount all{"/cg", "/"}, part{"/cg", "/a"};
  EXPECT_EQ(CgroupFolder(all, "1:cpu:/z\n0::/a/b\n").value(), "/cg/a/b");
  EXPECT_EQ(CgroupFolder(all, "0::/\n").value(), "/cg");
  EXPECT_EQ(CgroupFolder(part, "0::/a/b\n").value(), "/cg/b");
  EXPECT_EQ(CgroupFolder(part, "0::/a\n").value(), "/cg");
  EXPECT_FALSE(CgroupFolder(part, "0::/ab\n"));
  EXPECT_FALSE(CgroupFolder(all, "0::/../x\n"));
  EXPECT_FALSE(CgroupFolder(all, "4:memory:/x\n"));
}

TEST(Cgroup, ARunsGroupIsFoundAgainByItsKey) {
  std::string key = NewUuid();
  auto made = MakeRunCgroup(key);
  if (!made.ok()) GTEST_SKIP() << "planned: no cgroup can be made here: " << made.error().message;
  EXPECT_EQ(FindRunCgroup(key), *made);
  EXPECT_TRUE(CgroupProcesses(*made).empty());
  RemoveCgroup(*made);
  EXPECT_EQ(FindRunCgroup(key), "");
}

TEST(Cgroup, OnlyEmptyGroupsThatNobodyHoldsAreTakenForDead) {
  auto held = MakeAndHoldRunCgroup(NewUuid());
  if (!held.ok()) GTEST_SKIP() << "no cgroup can be made here: " << held.error().message;
  auto dead = MakeRunCgroup(NewUuid());
  ASSERT_TRUE(dead.ok());
  const std::string other = DirName(*dead) + "/tenon-of-somebody-else";
  ASSERT_TRUE(MakeDirs(other).ok());
  EXPECT_GE(RemoveDeadCgroups(/*everywhere=*/false), 1);
  EXPECT_FALSE(IsDirectory(*dead));
  EXPECT_TRUE(IsDirectory(held->folder));
  EXPECT_TRUE(IsDirectory(other));
  RemoveCgroup(other);
  held->fd.Reset();
  EXPECT_GE(RemoveDeadCgroups(/*everywhere=*/true), 1);
  EXPECT_FALSE(IsDirectory(held->folder));
}

TEST(ProcessTree, AProcessWhoseFirstThreadHasEndedLives) {
  FakeProc proc;
  proc.Add(kFirst, 1, "", 1000, 'Z');
  EXPECT_TRUE(proc.Scan(0).empty());
  proc.AddThread(kFirst, kFirst, "", 'Z');
  EXPECT_TRUE(proc.Scan(0).empty()) << "nobody has waited for it yet";
  proc.AddThread(kFirst, kFirst + 1, kMark, 'S');
  EXPECT_EQ(proc.Scan(0), std::vector<pid_t>{kFirst});
}

TEST(ProcessTree, AProcessThatCouldHaveGivenUpItsMarkIsToldOf) {
  FakeProc proc;
  proc.Add(kFirst, 1, "");
  proc.SetLimit(kFirst, "1000");
  proc.Add(kFirst + 1, 1, "");
  proc.SetLimit(kFirst + 1, "unlimited");
  TreeQuery query = proc.Query(0);
  query.marked = true;
  if (::geteuid() == 0) {
    EXPECT_EQ(ScanTree(query).remark,
              "whether 1 process with a lowered limit on file locks is of the run could not be "
              "seen");
  }
  query.supervisor = kFirst + 2;  // a supervisor knows its descendants
  EXPECT_EQ(ScanTree(query).remark, "");
}

}  // namespace
}  // namespace tenon::executor
