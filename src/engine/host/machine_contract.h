// SPDX-License-Identifier: Apache-2.0
// What every Machine promises, as tests; with its MachineRuns, RunFeed, MachineFiles and
// MachineDoor.
#ifndef TENON_ENGINE_HOST_MACHINE_CONTRACT_H_
#define TENON_ENGINE_HOST_MACHINE_CONTRACT_H_

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/file.h"
#include "base/process.h"
#include "base/temp_folder.h"
#include "engine/data/data.h"
#include "engine/host/machine.h"
#include "engine/run/follow.h"
#include "engine/run/runs.h"
#include "engine/run/submit.h"
#include "run/state.h"

namespace tenon::engine {

// A machine, and the client that uses it.
class MachineWorld {
 public:
  virtual ~MachineWorld() = default;
  virtual Context& context() = 0;
  virtual std::string id() const = 0;  // for Context::At()
  // An existing folder on the machine, empty at first.
  virtual std::string Folder() const = 0;
};

struct MachineParam {
  std::string name;
  std::function<std::unique_ptr<MachineWorld>()> make;  // null: can't be made on this system
};

// What the script done.sh prints, and what it leaves in outputs/model.txt. wait.sh prints the same
// and waits.
inline constexpr std::string_view kContractOutput = "hello\n", kContractModel = "weights\n";

class MachineContract : public testing::TestWithParam<MachineParam> {
 protected:
  void SetUp() override {
    world_ = GetParam().make();
    if (!world_) GTEST_SKIP() << "planned: needs root and sshd";
    context_ = &world_->context();
    auto machine = context_->At(world_->id());
    ASSERT_TRUE(machine.ok()) << machine.error().message;
    machine_ = *machine;
    Write("done.sh", "echo hello; mkdir -p outputs; echo weights > outputs/model.txt\n");
    Write("wait.sh", "echo hello; sleep 600\n");
  }

  void Write(const std::string& name, std::string_view bytes) {
    const std::string path = temp_ / ("proj/" + name);
    ASSERT_TRUE(MakeDirs(DirName(path)).ok());
    ASSERT_TRUE(WriteFileAtomically(path, bytes, 0644, Durability::kProcess).ok());
  }
  std::string MustSubmit(const std::string& script) {
    SubmitRequest request;
    request.folder.root = temp_ / "proj";
    request.environment = CurrentEnvironment();
    request.spec.project = "proj";
    request.spec.project_id = "project-id";
    request.spec.script = script;
    request.spec.python = "python3";
    request.spec.target = "there";
    request.spec.target_type = "there";
    request.spec.host = world_->id();
    request.spec.keep = true;
    auto id = Submit(*context_, std::move(request), hearing_);
    EXPECT_TRUE(id.ok()) << (id.ok() ? "" : id.error().message);
    return id.ok() ? *id : "";
  }
  Followed MustFollow(const std::string& id, const journal::Place& after = {}) {
    FollowOptions options;
    options.after = after;
    auto followed = Follow(*context_, id, options, hearing_);
    EXPECT_TRUE(followed.ok()) << (followed.ok() ? "" : followed.error().message);
    return followed.ok() ? *followed : Followed();
  }
  // Runs done.sh to its end and fetches its outputs.
  std::string MustRun() {
    const std::string id = MustSubmit("done.sh");
    MustFollow(id);
    const Status fetched = machine_->runs().FetchOutputs(id, silent_);
    EXPECT_TRUE(fetched.ok()) << (fetched.ok() ? "" : fetched.error().message);
    return id;
  }
  snapshot::DataScan MustScan(const std::string& path) {
    auto scan = ScanHere(*context_, path, silent_);
    EXPECT_TRUE(scan.ok()) << (scan.ok() ? "" : scan.error().message);
    return scan.ok() ? *scan : snapshot::DataScan();
  }
  std::string Read(const std::string& path) { return ReadFile(path).value_or("(not there)"); }
  // What the command of a way in prints.
  std::string Through(const Result<WayIn>& way) {
    if (!way.ok()) return "no way: " + way.error().message;
    const auto ran = RunAndCapture(way->argv, "", "", 60'000);
    return ran.ok() ? ran->out : ran.error().message;
  }

  class Hearing : public Reporter {
   public:
    void OnOutput(run::Stream, std::string_view bytes, int64_t) override { output += bytes; }
    void OnEnd(const run::End& end) override { ends.push_back(end.state); }
    std::string output;
    std::vector<run::State> ends;
  };

  TempFolder temp_;
  std::unique_ptr<MachineWorld> world_;
  Context* context_ = nullptr;
  Machine* machine_ = nullptr;
  Hearing hearing_;
  Reporter silent_;
};

// ---- Runs

TEST_P(MachineContract, WhatAScriptPrintsAndItsEndComeHere) {
  const std::string id = MustSubmit("done.sh");
  const Followed followed = MustFollow(id);
  EXPECT_EQ(hearing_.output, kContractOutput);
  EXPECT_EQ(hearing_.ends, std::vector{run::State::kCompleted});
  ASSERT_TRUE(followed.end.has_value());
  EXPECT_EQ(followed.end->exit_code, 0);
  EXPECT_EQ(GetRun(*context_, id)->state, run::State::kCompleted);
}

TEST_P(MachineContract, WhoGoesOnWhereHeWasHearsNothingTwice) {
  const std::string id = MustSubmit("done.sh");
  const Followed first = MustFollow(id);
  MustFollow(id, first.place);
  EXPECT_EQ(hearing_.output, kContractOutput);
}

TEST_P(MachineContract, ARunThatIsCanceledEndsHereToo) {
  const std::string id = MustSubmit("wait.sh");
  CancelOptions options;
  options.grace_us = 0;
  const auto canceled = Cancel(*context_, id, options);
  ASSERT_TRUE(canceled.ok()) << canceled.error().message;
  EXPECT_EQ(canceled->state, run::State::kCanceled);
  MustFollow(id);
  EXPECT_EQ(hearing_.ends, std::vector{run::State::kCanceled});
}

TEST_P(MachineContract, ALookAtARunThatGoesOnEndsNothing) {
  const std::string id = MustSubmit("wait.sh");
  for (int i = 0; i < 2; ++i) {
    const Status looked = RefreshRun(*context_, id, Look::kThere);
    ASSERT_TRUE(looked.ok()) << looked.error().message;
    EXPECT_FALSE(run::IsFinal(GetRun(*context_, id)->state));
  }
  CancelOptions options;
  options.grace_us = 0;
  EXPECT_TRUE(Cancel(*context_, id, options).ok());
}

TEST_P(MachineContract, ARunThatIsRecordedHereAndWasNeverThereIsNotKnown) {
  const run::RunFolder folder(context_->home, "proj_1500000000000");
  ASSERT_TRUE(MakeDirs(folder.path()).ok());
  const auto heard = machine_->runs().Feed("proj_1500000000000", {})->CatchUp();
  ASSERT_TRUE(heard.ok()) << heard.error().message;
  EXPECT_EQ(*heard, RunFeed::Heard::kUnknown);
}

TEST_P(MachineContract, OutputsAreHereHoweverOftenTheyAreFetched) {
  const std::string id = MustRun();
  for (int i = 0; i < 2; ++i) {
    EXPECT_TRUE(machine_->runs().FetchOutputs(id, silent_).ok());
    EXPECT_TRUE(machine_->runs().BringHome(id, silent_).ok());
  }
  const auto run = GetRun(*context_, id);
  ASSERT_TRUE(run.ok()) << run.error().message;
  ASSERT_EQ(run->artifacts.size(), 1u);
  EXPECT_EQ(run->artifacts[0].path, "outputs/model.txt");
  const auto hash = Hash::FromHex(run->artifacts[0].hash);
  ASSERT_TRUE(hash.has_value());
  EXPECT_EQ((*context_->Objects())->Read(*hash).value_or("(not here)"), kContractModel);
}

TEST_P(MachineContract, CleaningTellsWhichRunsItMeansAndMayBeRepeated) {
  const std::string id = MustRun();
  CleanScope scope;
  scope.project_id = "another-project";
  scope.target = "there";
  const auto none = machine_->runs().Clean(scope, silent_);
  ASSERT_TRUE(none.ok()) << none.error().message;
  EXPECT_TRUE(none->runs.empty());
  scope.project_id = "project-id";
  for (int i = 0; i < 2; ++i) {
    const auto cleaned = machine_->runs().Clean(scope, silent_);
    ASSERT_TRUE(cleaned.ok()) << cleaned.error().message;
    EXPECT_EQ(cleaned->going, 0u);
    EXPECT_TRUE(cleaned->kept.empty());
  }
  // The record of the run stays.
  EXPECT_EQ(GetRun(*context_, id)->state, run::State::kCompleted);
}

TEST_P(MachineContract, ARunThatGoesOnIsNotCleanedUp) {
  const std::string id = MustSubmit("wait.sh");
  const auto cleaned = machine_->runs().Clean({"project-id", "there", false}, silent_);
  ASSERT_TRUE(cleaned.ok()) << cleaned.error().message;
  EXPECT_EQ(cleaned->folders, 0u);
  CancelOptions options;
  options.grace_us = 0;
  EXPECT_EQ(Cancel(*context_, id, options)->state, run::State::kCanceled);
}

// ---- Files

TEST_P(MachineContract, AFileGoesThereAndComesBackTheSame) {
  const std::string bytes("a\0b\n\xff", 5);
  Write("data/one.bin", bytes);
  Write("data/deep/two.bin", "two");
  const std::string there = world_->Folder() + "/copied";
  EXPECT_EQ(machine_->files().KindOf(there).value(), PathKind::kNone);
  const auto sent = machine_->files().CopyInto(there, MustScan(temp_ / "proj/data"), silent_);
  ASSERT_TRUE(sent.ok()) << sent.error().message;
  EXPECT_EQ(sent->files, 2u);
  EXPECT_EQ(machine_->files().KindOf(there).value(), PathKind::kFolder);
  EXPECT_EQ(machine_->files().KindOf(there + "/one.bin").value(), PathKind::kFile);
  const auto file = machine_->files().CopyFrom(there + "/one.bin", temp_ / "back.bin", silent_);
  ASSERT_TRUE(file.ok()) << file.error().message;
  EXPECT_EQ(Read(temp_ / "back.bin"), bytes);
  const auto folder = machine_->files().CopyFrom(there, temp_ / "back", silent_);
  ASSERT_TRUE(folder.ok()) << folder.error().message;
  EXPECT_EQ(Read(temp_ / "back/one.bin"), bytes);
  EXPECT_EQ(Read(temp_ / "back/deep/two.bin"), "two");
}

TEST_P(MachineContract, WhatIsNotThereCannotBeCopied) {
  const auto copied =
      machine_->files().CopyFrom(world_->Folder() + "/nothing", temp_ / "back", silent_);
  EXPECT_FALSE(copied.ok());
  EXPECT_FALSE(Exists(temp_ / "back"));
}

TEST_P(MachineContract, ADataSetIsSentOnceListedBroughtBackAndRemoved) {
  Write("data/one.bin", "one");
  Write("data/two.bin", "two");
  const std::string shared = world_->Folder() + "/shared";
  const snapshot::DataScan data = MustScan(temp_ / "proj/data");
  for (const uint64_t sent : {uint64_t{2}, uint64_t{0}}) {
    const auto put = machine_->files().PutSet(shared, "faces", data, silent_);
    ASSERT_TRUE(put.ok()) << put.error().message;
    EXPECT_EQ(put->files, 2u);
    EXPECT_EQ(put->sent_files, sent);
  }
  const auto listed = machine_->files().ListSets(shared);
  ASSERT_TRUE(listed.ok()) << listed.error().message;
  ASSERT_EQ(listed->sets.size(), 1u);
  EXPECT_EQ(listed->sets[0].name, "faces");
  const auto got = machine_->files().GetSet(shared, "faces", temp_ / "back", silent_);
  ASSERT_TRUE(got.ok()) << got.error().message;
  EXPECT_EQ(Read(temp_ / "back/one.bin") + Read(temp_ / "back/two.bin"), "onetwo");
  const auto removed = machine_->files().RemoveSet(shared, "faces");
  ASSERT_TRUE(removed.ok()) << removed.error().message;
  EXPECT_EQ(removed->files, 2u);
  EXPECT_TRUE(machine_->files().ListSets(shared)->sets.empty());
}

// ---- The door

TEST_P(MachineContract, ACommandThereHasItsWordsAsTheyAre) {
  const std::vector<std::string> words = {"printf", "%s.", "a b", "c'd", "$HOME", "*"};
  EXPECT_EQ(Through(machine_->door().Enter(words, /*tty=*/false)), "a b.c'd.$HOME.*.");
}

TEST_P(MachineContract, ItsLoopbackIsOursOrAWayLeadsToItsPorts) {
  if (machine_->door().SharesLoopback()) {
    EXPECT_EQ(machine_->door().ToPort(80).error().kind, ErrorKind::kInvalid);
    return;
  }
  const UniqueFd server(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  ASSERT_EQ(::bind(server.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(::listen(server.get(), 1), 0);
  ASSERT_EQ(::getsockname(server.get(), reinterpret_cast<sockaddr*>(&address), &size), 0);
  std::thread answering([&server] {
    const UniqueFd caller(::accept(server.get(), nullptr, nullptr));
    (void)WriteAll(caller.get(), "from the port").ok();
  });
  EXPECT_EQ(Through(machine_->door().ToPort(ntohs(address.sin_port))), "from the port");
  ::shutdown(server.get(), SHUT_RDWR);
  answering.join();
}

TEST_P(MachineContract, ItCanBeReached) {
  EXPECT_TRUE(machine_->door().Look().ok());
  EXPECT_TRUE(machine_->Probe().ok());
}

inline std::string MachineName(const testing::TestParamInfo<MachineParam>& info) {
  return info.param.name;
}

}  // namespace tenon::engine

#endif  // TENON_ENGINE_HOST_MACHINE_CONTRACT_H_
