// SPDX-License-Identifier: Apache-2.0
// The engine and the command line, linked without what connects by SSH and without what makes
// containers (src/CMakeLists.txt names what is taken out): they stand on their interfaces. Other
// machines are reached in a way that a test has made up.
#include <gtest/gtest.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/json.h"
#include "base/temp_folder.h"
#include "base/text.h"
#include "cli/parse/command_line.h"
#include "engine/host/fake_machine.h"
#include "engine/host/other_machines.h"
#include "journal/writer.h"
#include "launch/fake_launch.h"
#include "transport/local_host.h"

namespace tenon {
namespace {

constexpr const char* kKey =
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIBoxBoxBoxBoxBoxBoxBoxBoxBoxBoxBoxBoxBoxB";

// Every address is a box that runs what it is given at once and without a mistake.
class Boxes : public engine::OtherMachines {
 public:
  explicit Boxes(run::Home home) : home_(std::move(home)) {
    launch_.on_start = [this](const launch::StartRequest& request) { return Carry(request.spec); };
  }

  Result<std::unique_ptr<engine::Machine>> Reach(engine::Context& context,
                                                 const engine::HostRecord& host) override {
    std::unique_ptr<engine::Machine> box = std::make_unique<engine::FakeMachine>(
        context, engine::Machine::Parts{&host_, &launch_, &services_, home_}, host);
    return box;
  }
  Result<engine::HostKey> LookAtKey(engine::Context&, const engine::HostRecord&,
                                    const std::string&) override {
    return engine::HostKey{kKey, "ED25519", "SHA256:box"};
  }
  Result<engine::HostRecord> Try(engine::Context&, engine::HostRecord host,
                                 engine::GivenSecrets*) override {
    host.root = home_.root();
    host.machine = "x86_64";
    host.facts = {{"os", "Box 1"}, {"host", "box"}, {"machine", "x86_64"}, {"cpus", 4}};
    return host;
  }
  Status InstallPublicKey(engine::Context&, engine::HostRecord, engine::GivenSecrets*,
                          const std::string&) override {
    return Denied("a box takes no keys");
  }
  void Disconnect(engine::Context&, const engine::HostRecord&) override {}
  Result<std::string> UsualUser(const std::string&) override { return std::string("ann"); }

  const std::vector<launch::StartRequest>& starts() const { return launch_.starts; }

 private:
  Status Carry(const run::RunSpec& spec) {
    const run::RunFolder folder(home_, spec.id);
    TENON_TRY_VOID(MakeDirs(folder.path(), 0700));
    TENON_TRY(auto writer, journal::Writer::Open({folder.host_segment(), spec.key, "host",
                                                  &SystemClock(), /*durable=*/false}));
    run::End end;
    end.state = run::State::kCompleted;
    end.exit_code = 0;
    for (const run::Event& event : std::vector<run::Event>{
             run::RunnerStarted{}, run::Output{run::Stream::kStdout, "from the box\n"}, end}) {
      TENON_TRY_VOID(writer.Append(event));
    }
    return {};
  }

  run::Home home_;
  transport::LocalHost host_;
  launch::FakeLaunch launch_;
  launch::FakeServices services_{launch_};
};

struct Said {
  int code = 0;
  std::string out, err;
};

class WithoutSsh : public testing::Test {
 protected:
  WithoutSsh() {
    for (const char* folder : {"/proj", "/home"}) EXPECT_TRUE(MakeDirs(temp_.path() + folder).ok());
    EXPECT_TRUE(WriteFileAtomically(temp_ / "proj/main.py", "print('from here')\n", 0644,
                                    Durability::kProcess)
                    .ok());
    EXPECT_EQ(::chdir((temp_ / "proj").c_str()), 0);
  }
  ~WithoutSsh() override { EXPECT_EQ(::chdir("/"), 0); }

  Said Tenon(const std::string& line, engine::OtherMachines* others) {
    const std::vector<std::string> words = Split(line, ' ');
    Said said;
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    {
      cli::Session session(others);
      session.environment["TENON_HOME"] = temp_ / "home/.tenon";
      session.environment["HOME"] = temp_ / "home";
      cli::CommandLine command_line(session, cli::Program::kTenon, &words);
      said.code = cli::RunLine(session, command_line.Parse(words));
    }
    said.out = testing::internal::GetCapturedStdout();
    said.err = testing::internal::GetCapturedStderr();
    return said;
  }

  TempFolder temp_;
  Boxes boxes_{run::Home(temp_ / "home/.tenon")};
};

TEST_F(WithoutSsh, AScriptRunsHere) {
  const Said submitted = Tenon("submit -c local main.py", nullptr);
  EXPECT_EQ(submitted.code, 0) << submitted.err;
  EXPECT_NE(submitted.out.find("from here\n"), std::string::npos) << submitted.out;
  const Said listed = Tenon("runs -o json", nullptr);
  EXPECT_NE(listed.out.find("\"Completed\""), std::string::npos) << listed.out << listed.err;
}

TEST_F(WithoutSsh, AnotherMachineIsRefusedInWords) {
  const Said said = Tenon("computetarget attach remote -n box -a box -u ann", nullptr);
  EXPECT_EQ(said.code, 5) << said.err;
  EXPECT_NE(said.err.find("reaches no other machine"), std::string::npos) << said.err;
}

TEST_F(WithoutSsh, AMachineOfAnotherKindIsAttachedAndRunsScripts) {
  const Said attached =
      Tenon("computetarget attach remote -n box -a box --accept-host-key", &boxes_);
  EXPECT_EQ(attached.code, 0) << attached.err;
  EXPECT_NE(attached.out.find("Box 1"), std::string::npos) << attached.out;
  const Said framework = Tenon("config set Framework Python -c box", &boxes_);
  EXPECT_EQ(framework.code, 0) << framework.err;
  const Said submitted = Tenon("submit -c box main.py", &boxes_);
  EXPECT_EQ(submitted.code, 0) << submitted.err;
  EXPECT_NE(submitted.out.find("from the box\n"), std::string::npos) << submitted.out;
  ASSERT_EQ(boxes_.starts().size(), 1u);
  EXPECT_EQ(boxes_.starts().front().spec.user_id.empty(), false);
  const Said logs = Tenon("logs last", &boxes_);
  EXPECT_EQ(logs.out, "from the box\n") << logs.err;
  const Said hosts = Tenon("host list -o json", &boxes_);
  EXPECT_NE(hosts.out.find("\"box\""), std::string::npos) << hosts.out << hosts.err;
}

}  // namespace
}  // namespace tenon
