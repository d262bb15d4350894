// SPDX-License-Identifier: Apache-2.0
#include "engine/host/machine_contract.h"

#include <utility>

#include "engine/host/reach_by_ssh.h"
#include "engine/host/test_box.h"
#include "journal/writer.h"
#include "launch/fake_launch.h"
#include "launch/test_batch.h"
#include "transport/local_host.h"
#include "transport/test_sshd.h"

namespace tenon::engine {
namespace {

// This machine, with the runner that is embedded in the test program.
class HereWorld : public MachineWorld {
 public:
  Context& context() override { return *context_; }
  std::string id() const override { return ""; }
  std::string Folder() const override { return temp_.path(); }

 private:
  TempFolder temp_;
  std::unique_ptr<Context> context_ = MakeLocalContext(temp_ / "home", "test");
};

// A box whose runs are fakes. They wait for their turn in a batch system; their turn comes when
// somebody asks.
class BoxWorld : public MachineWorld {
 public:
  BoxWorld() {
    context_.host = &host_;
    context_.launch = &here_;
    context_.services = &services_;
    context_.clock = &SystemClock();
    context_.version = "test";
    context_.machines[id()] = std::make_unique<Box>(
        context_, Machine::Parts{&host_, &batch_, &services_, run::Home(temp_ / "box")});
    batch_.on_begin = [this](const run::RunSpec& spec) {
      return Write(spec, {run::RunnerStarted{},
                          run::Output{run::Stream::kStdout, std::string(kContractOutput)}});
    };
    batch_.on_end = [this](const run::RunSpec& spec, run::State state) {
      run::End end;
      end.state = state;
      end.exit_code = state == run::State::kCompleted ? 0 : 143;
      return Write(spec, {end});
    };
    batch_.on_asked = [this](const std::string& run_id) {
      if (batch_.asked == 1) {
        ASSERT_TRUE(batch_.Begin(run_id).ok());
      }
      const auto run = GetRun(context_, run_id);
      ASSERT_TRUE(run.ok()) << run.error().message;
      if (batch_.asked == 2 && run->spec.script == "done.sh") {
        ASSERT_TRUE(Finish(run->spec).ok());
      }
    };
  }

  Context& context() override { return context_; }
  std::string id() const override { return "a-box-in-the-yard"; }
  std::string Folder() const override { return temp_.path(); }

 private:
  Status Write(const run::RunSpec& spec, const std::vector<run::Event>& events) {
    const run::RunFolder folder(run::Home(temp_ / "box"), spec.id);
    TENON_TRY_VOID(MakeDirs(folder.path()));
    TENON_TRY(auto writer, journal::Writer::Open({folder.host_segment(), spec.key, "host",
                                                  &SystemClock(), /*durable=*/false}));
    for (const run::Event& event : events) TENON_TRY_VOID(writer.Append(event));
    return {};
  }
  Status Finish(const run::RunSpec& spec) {
    TENON_TRY(auto* store, context_.Objects());
    TENON_TRY(const Hash model, store->Put(kContractModel));
    run::Artifacts outputs;
    outputs.files = {{"outputs/model.txt", kContractModel.size(), model.Hex()}};
    TENON_TRY_VOID(Write(spec, {outputs}));
    return batch_.Finish(spec.id);
  }

  TempFolder temp_;
  transport::LocalHost host_;
  launch::FakeLaunch here_;
  launch::FakeServices services_{here_};
  launch::TestBatch batch_;
  Context context_{run::Home(temp_ / "home")};
};

// This machine, reached over SSH through a real sshd.
class SshWorld : public MachineWorld {
 public:
  SshWorld() {
    record_.id = "0123456789abcdef0123456789abcdef";
    record_.target = "there";
    record_.type = "remote";
    record_.address = "127.0.0.1";
    record_.port = sshd_.port;
    record_.user = "root";
    record_.identity_file = sshd_.folder / "id";
    record_.asked_root = temp_ / "root";
    const auto line = ReadFile(sshd_.folder / "host.pub");
    TENON_CHECK(line.ok());
    const auto key = transport::ParseHostKey(*line);
    TENON_CHECK(key.ok());
    record_.host_key = key->line;
    TENON_CHECK(EnsureHome(context_->home).ok());
    TENON_CHECK(WriteHost(context_->home, record_).ok());
  }
  ~SshWorld() override { ReachBySsh().Disconnect(*context_, record_); }

  Context& context() override { return *context_; }
  std::string id() const override { return record_.id; }
  std::string Folder() const override { return temp_.path(); }

 private:
  TempFolder temp_;
  transport::TestSshd sshd_;
  std::unique_ptr<Context> context_ = MakeLocalContext(temp_ / "home", "test", &ReachBySsh());
  HostRecord record_;
};

std::unique_ptr<MachineWorld> MakeSshWorld() {
  if (!transport::TestSshd::Possible()) return nullptr;
  return std::make_unique<SshWorld>();
}

INSTANTIATE_TEST_SUITE_P(
    Machines, MachineContract,
    testing::Values(MachineParam{"Here", [] { return std::make_unique<HereWorld>(); }},
                    MachineParam{"Box", [] { return std::make_unique<BoxWorld>(); }},
                    MachineParam{"Ssh", MakeSshWorld}),
    MachineName);

}  // namespace
}  // namespace tenon::engine
