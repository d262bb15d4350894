// SPDX-License-Identifier: Apache-2.0
#include "transport/ssh_host.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/temp_folder.h"
#include "transport/test_sshd.h"

namespace tenon::transport {
namespace {

TEST(SshHostTest, AFolderThatHasBecomeAnothersIsNotUsed) {
  if (!TestSshd::Possible()) GTEST_SKIP() << "planned: needs root and sshd";
  TestSshd sshd;
  Ssh ssh(sshd.Pinned(), {});
  std::string theirs = "/tmp/tenon-test-XXXXXX";  // where everybody may make folders
  ASSERT_NE(::mkdtemp(theirs.data()), nullptr);
  const std::string started = theirs + "/started";
  const AgentProgram program{std::string(64, 'a'), [] { return Result<std::string>(""); }};
  const std::string runner = theirs + "/bin/tenon-runner-aaaaaaaaaaaaaaaa";
  ASSERT_TRUE(MakeDirs(theirs + "/bin").ok());
  ASSERT_TRUE(
      WriteFileAtomically(runner, "#!/bin/sh\ntouch " + started + "\n", 0755, Durability::kProcess)
          .ok());
  ASSERT_EQ(::chown(theirs.c_str(), 65534, 65534), 0);
  SshHostOptions options;
  options.root = options.asked_root = theirs;
  options.machine = "x86_64";
  options.program = [&](const std::string&) { return Result<AgentProgram>(program); };
  SshHost host(ssh, options);
  const auto hello = host.Hello();
  ASSERT_FALSE(hello.ok());
  EXPECT_EQ(hello.error().kind, ErrorKind::kDenied) << hello.error().message;
  EXPECT_FALSE(Exists(started));
  ASSERT_TRUE(RemoveTree(theirs).ok());
}

TEST(SshHostTest, AProgramThereThatHangsIsReplaced) {
  if (!TestSshd::Possible()) GTEST_SKIP() << "planned: needs root and sshd";
  TestSshd sshd;
  Ssh ssh(sshd.Pinned(), {});
  const TempFolder root;
  const std::string good = "#!/bin/sh\n[ \"$1\" = check ] || echo tenon-agent 1\n";
  const AgentProgram program{std::string(64, 'a'), [&] { return Result<std::string>(good); }};
  const std::string runner = root / "bin/tenon-runner-aaaaaaaaaaaaaaaa";
  ASSERT_TRUE(MakeDirs(root / "bin").ok());
  ASSERT_TRUE(
      WriteFileAtomically(runner, "#!/bin/sh\nexec sleep 60\n", 0755, Durability::kProcess).ok());
  SshHostOptions options;
  options.root = options.asked_root = root.path();
  options.machine = "x86_64";
  options.program = [&](const std::string&) { return Result<AgentProgram>(program); };
  options.greet_us = 200'000;
  SshHost host(ssh, options);
  EXPECT_FALSE(host.Hello().ok());  // the good program answers no requests, either
  EXPECT_EQ(ReadFile(runner, 1000).value_or(""), good);
}

}  // namespace
}  // namespace tenon::transport
