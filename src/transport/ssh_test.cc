// SPDX-License-Identifier: Apache-2.0
#include "transport/ssh.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "base/text.h"
#include "transport/askpass.h"
#include "transport/ssh_words.h"
#include "transport/test_sshd.h"

namespace tenon::transport {
namespace {

class SshReal : public NeedsSshd {};

TEST_F(SshReal, TheKeyIsSeenWithoutALogin) {
  TestSshd server;
  Ssh ssh(server.Target(), {});
  const auto key = ssh.LookAtHostKey();
  ASSERT_TRUE(key.ok()) << key.error().message;
  const auto true_key = ParseHostKey(*ReadFile(server.folder / "host.pub"));
  EXPECT_EQ(key->fingerprint, true_key->fingerprint);
  EXPECT_EQ(key->line, true_key->line);
  EXPECT_EQ(key->type, "ED25519");
  EXPECT_EQ(ReadFile(server.folder / "log")->find("Accepted"), std::string::npos);
}

TEST_F(SshReal, NothingIsSentWithoutAPinnedKey) {
  TestSshd server;
  Ssh ssh(server.Target(), {});
  const Status connected = ssh.Connect();
  ASSERT_FALSE(connected.ok());
  EXPECT_EQ(connected.error().kind, ErrorKind::kDenied);
  EXPECT_FALSE(ssh.Open("true").ok());
  EXPECT_EQ(ReadFile(server.folder / "log")->find("Connection from"), std::string::npos);
}

TEST_F(SshReal, ACommandHasItsStreamsAndItsExitCode) {
  TestSshd server;
  Ssh ssh(server.Pinned(), {});
  bool fresh = false;
  const Status connected = ssh.Connect(&fresh);
  ASSERT_TRUE(connected.ok()) << connected.error().message;
  EXPECT_TRUE(fresh);
  EXPECT_TRUE(ssh.Shared());
  const auto said = RunOver(ssh, "echo out; echo err >&2; exit 7");
  ASSERT_TRUE(said.ok());
  EXPECT_EQ(said->out, "out\n");
  EXPECT_EQ(said->err, "err\n");
  EXPECT_EQ(said->status.AsShell(), 7);
  ASSERT_TRUE(ssh.Connect(&fresh).ok());
  EXPECT_FALSE(fresh);
  ssh.Disconnect();
  EXPECT_FALSE(ssh.Shared());
}

TEST_F(SshReal, AnotherHostKeyIsARefusal) {
  TestSshd server;
  const SshTarget target = server.Pinned();
  server.Stop();
  ASSERT_TRUE(RemoveFile(server.folder / "host").ok());
  server.MakeKey("host", "");
  server.Start("");
  Ssh ssh(target, {});
  const Status connected = ssh.Connect();
  ASSERT_FALSE(connected.ok());
  EXPECT_EQ(connected.error().kind, ErrorKind::kDenied);
  EXPECT_NE(connected.error().message.find("another host key"), std::string::npos)
      << connected.error().message;
}

TEST_F(SshReal, ANewAddressOfTheSameMachineIsNoChange) {
  TestSshd server;
  SshTarget target = server.Pinned();
  target.address = "localhost";
  Ssh ssh(target, {});
  const Status connected = ssh.Connect();
  EXPECT_TRUE(connected.ok()) << connected.error().message;
  ssh.Disconnect();
}

TEST_F(SshReal, ADeadSharedConnectionIsReplaced) {
  TestSshd server;
  const SshTarget target = server.Pinned();
  {
    Ssh ssh(target, {});
    ASSERT_TRUE(ssh.Connect().ok());
    const auto who =
        RunAndCapture({"ssh", "-S", target.control_path, "-O", "check", "x"}, "", "", 20'000);
    const size_t at = who->err.find("pid=");
    ASSERT_NE(at, std::string::npos) << who->err;
    ::kill(static_cast<pid_t>(std::atoi(who->err.c_str() + at + 4)), SIGKILL);
    for (int i = 0; i < 500 && ssh.Shared(); ++i) TestSshd::Pause();
  }
  ASSERT_TRUE(Exists(target.control_path));  // left behind
  Ssh ssh(target, {});
  bool fresh = false;
  const Status connected = ssh.Connect(&fresh);
  ASSERT_TRUE(connected.ok()) << connected.error().message;
  EXPECT_TRUE(fresh);
  EXPECT_EQ(RunOver(ssh, "echo here")->out, "here\n");
  ssh.Disconnect();
}

TEST_F(SshReal, ManyAtOnceMakeOneConnection) {
  TestSshd server("MaxSessions 50\n");
  const SshTarget target = server.Pinned();
  std::atomic<int> fresh{0}, failed{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 12; ++i) {
    threads.emplace_back([&] {
      Ssh ssh(target, {});
      bool mine = false;
      const Status connected = ssh.Connect(&mine);
      if (mine) ++fresh;
      const auto said = RunOver(ssh, "echo here");
      if (!connected.ok() || !said.ok() || said->out != "here\n") ++failed;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(fresh, 1);
  EXPECT_EQ(failed, 0);
  const std::string log = *ReadFile(server.folder / "log");
  size_t logins = 0;
  for (size_t at = 0; (at = log.find("Accepted publickey", at)) != std::string::npos; ++at)
    ++logins;
  EXPECT_EQ(logins, 1u);
  Ssh(target, {}).Disconnect();
}

TEST_F(SshReal, MoreSessionsThanTheServerAllowsOpenAnotherConnectionAndAskAgain) {
  TestSshd server("MaxSessions 1\n", "open sesame");
  SshSecrets secrets;
  secrets.passphrase = Known("open sesame");
  Ssh ssh(server.Pinned(), secrets);
  const Status connected = ssh.Connect();
  ASSERT_TRUE(connected.ok()) << connected.error().message;
  auto first = ssh.Open("cat");
  ASSERT_TRUE(first.ok());
  ASSERT_TRUE(WriteAll(first->in.get(), "x").ok());
  char c = 0;
  ASSERT_EQ(::read(first->out.get(), &c, 1), 1);  // it runs
  EXPECT_EQ(RunOver(ssh, "echo second")->out, "second\n");
  first->in.Reset();
  EXPECT_EQ(Wait(std::exchange(first->pid, 0))->AsShell(), 0);
  ssh.Disconnect();
}

TEST_F(SshReal, AWrongPassphraseIsADenial) {
  TestSshd server("", "open sesame");
  SshSecrets secrets;
  secrets.passphrase = Known("wrong");
  Ssh ssh(server.Pinned(), secrets);
  const Status connected = ssh.Connect();
  ASSERT_FALSE(connected.ok());
  EXPECT_EQ(connected.error().kind, ErrorKind::kDenied) << connected.error().message;
  EXPECT_EQ(connected.error().message.find("wrong"), std::string::npos);
}

TEST_F(SshReal, WithoutAPlaceForSocketsItWorksAllTheSame) {
  TestSshd server;
  SshTarget target = server.Pinned();
  target.control_path = server.folder / std::string(120, 'x');
  {
    Ssh ssh(target, {});
    ASSERT_TRUE(ssh.Connect().ok());
    EXPECT_FALSE(ssh.Shared());
    EXPECT_EQ(RunOver(ssh, "echo here")->out, "here\n");
  }
  target.control_path = "/proc/tenon/s";  // a folder nobody can make
  Ssh ssh(target, {});
  ASSERT_TRUE(ssh.Connect().ok());
  EXPECT_EQ(RunOver(ssh, "echo here")->out, "here\n");
}

TEST_F(SshReal, NobodyListensOrANonsenseAddressIsSaidSo) {
  TestSshd server;
  SshTarget target = server.Pinned();
  server.Stop();
  Ssh ssh(target, {});
  const auto key = ssh.LookAtHostKey();
  ASSERT_FALSE(key.ok());
  EXPECT_EQ(key.error().kind, ErrorKind::kUnavailable);
  EXPECT_NE(key.error().message.find("no SSH server answers"), std::string::npos);
  target.address = "-oProxyCommand=touch /tmp/x";
  EXPECT_EQ(Ssh(target, {}).LookAtHostKey().error().kind, ErrorKind::kInvalid);
  EXPECT_EQ(Ssh(target, {}).Connect().error().kind, ErrorKind::kInvalid);
}

// The server accepts the connection and sends nothing.
TEST_F(SshReal, ASilentServerIsGivenUp) {
  const UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  ASSERT_EQ(::bind(fd.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(::listen(fd.get(), 5), 0);
  ASSERT_EQ(::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&address), &size), 0);
  TestSshd server;
  SshTarget target = server.Target();
  target.port = ntohs(address.sin_port);
  const auto key = Ssh(target, {}).LookAtHostKey("", 1);
  ASSERT_FALSE(key.ok());
  EXPECT_EQ(key.error().kind, ErrorKind::kUnavailable);
}

}  // namespace
}  // namespace tenon::transport
