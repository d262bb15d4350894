// SPDX-License-Identifier: Apache-2.0
#include "transport/mux_session.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cstdlib>
#include <cstring>
#include <thread>

#include "base/temp_folder.h"
#include "transport/test_sshd.h"

namespace tenon::transport {
namespace {

std::string ReadToEnd(int fd) {
  std::string text;
  char buffer[4096];
  for (ssize_t n; (n = ::read(fd, buffer, sizeof buffer)) > 0;) {
    text.append(buffer, static_cast<size_t>(n));
  }
  return text;
}

ExitStatus WaitForEnd(PipedProcess& process, std::string* words) {
  for (;; ::poll(nullptr, 0, 1)) {
    if (auto end = process.TakeEnd(words)) return *end;
  }
}

class MuxReal : public NeedsSshd {};

TEST_F(MuxReal, ASessionHasItsStreamsAndItsExitCode) {
  TestSshd server;
  Ssh ssh(server.Pinned(), {});
  ASSERT_TRUE(ssh.Connect().ok());
  auto process = ssh.OpenShared("cat; echo words >&2; exit 7");
  ASSERT_TRUE(process.ok());
  ASSERT_TRUE(process->session) << "an ssh was started instead";
  EXPECT_TRUE(process->Going());
  ASSERT_TRUE(WriteAll(process->in.get(), "there and back").ok());
  process->in.Reset();
  EXPECT_EQ(ReadToEnd(process->out.get()), "there and back");
  EXPECT_EQ(ReadToEnd(process->err.get()), "words\n");
  std::string words;
  EXPECT_EQ(WaitForEnd(*process, &words).code, 7);
  EXPECT_EQ(words, "");
  EXPECT_FALSE(process->Going());
  ssh.Disconnect();
}

TEST_F(MuxReal, ASessionThatIsLetGoOfEndsTheCommand) {
  TestSshd server;
  Ssh ssh(server.Pinned(), {});
  ASSERT_TRUE(ssh.Connect().ok());
  {
    auto process = ssh.OpenShared("echo $$; cat");
    ASSERT_TRUE(process.ok() && process->session);
    char c = 0;
    ASSERT_EQ(::read(process->out.get(), &c, 1), 1);  // it runs
  }
  // The connection still serves other sessions.
  EXPECT_TRUE(ssh.Shared());
  EXPECT_EQ(RunOver(ssh, "echo next")->out, "next\n");
  ssh.Disconnect();
}

TEST_F(MuxReal, ARefusedSessionEndsLikeAFailedSshAndSaysWhy) {
  TestSshd server("MaxSessions 1\n");
  Ssh ssh(server.Pinned(), {});
  ASSERT_TRUE(ssh.Connect().ok());
  auto first = ssh.OpenShared("echo up; cat");
  ASSERT_TRUE(first.ok() && first->session);
  char c = 0;
  ASSERT_EQ(::read(first->out.get(), &c, 1), 1);  // it runs
  auto second = ssh.OpenShared("echo second");
  ASSERT_TRUE(second.ok() && second->session);
  EXPECT_EQ(ReadToEnd(second->out.get()), "");
  std::string words;
  EXPECT_EQ(WaitForEnd(*second, &words).code, 255);
  EXPECT_NE(words.find("refused"), std::string::npos) << words;
  EXPECT_TRUE(second->refused);
  // From now on each session is an ssh process, which opens a connection of its own.
  ssh.ShareNoMore();
  auto third = ssh.OpenShared("echo third");
  ASSERT_TRUE(third.ok());
  EXPECT_FALSE(third->session);
  EXPECT_EQ(ReadToEnd(third->out.get()), "third\n");
  ssh.Disconnect();
}

TEST_F(MuxReal, AConnectionThatDiesEndsItsSessions) {
  TestSshd server;
  Ssh ssh(server.Pinned(), {});
  ASSERT_TRUE(ssh.Connect().ok());
  auto process = ssh.OpenShared("echo up; cat");
  ASSERT_TRUE(process.ok() && process->session);
  char c = 0;
  ASSERT_EQ(::read(process->out.get(), &c, 1), 1);
  ssh.Disconnect();
  (void)ReadToEnd(process->out.get());
  std::string words;
  EXPECT_EQ(WaitForEnd(*process, &words).code, 255);
  EXPECT_NE(words, "");
  EXPECT_FALSE(process->refused) << "its command has run";
}

TEST(MuxSession, WhereNobodyListensThereIsNoSession) {
  TempFolder folder;
  const int standard[] = {0, 1, 2};
  EXPECT_FALSE(MuxSession::Open(folder.path() + "/none", "true", standard).ok());
  EXPECT_FALSE(MuxSession::Open("/" + std::string(200, 'x'), "true", standard).ok());
}

// Opens a session at a listener that reads the request, sends `answer` and hangs up. Returns how
// the session ended.
std::optional<ExitStatus> AnsweredWith(const std::string& answer, std::string* words) {
  const char* terminal = std::getenv("TERM");
  // Greeting, request, and a byte for each descriptor.
  std::string asked(12 + 48 + (terminal ? std::strlen(terminal) : 0) + 3, '\0');
  TempFolder folder;
  const std::string path = folder.path() + "/socket";
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  const UniqueFd listening(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  EXPECT_EQ(::bind(listening.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  EXPECT_EQ(::listen(listening.get(), 1), 0);
  std::thread peer([&] {
    const UniqueFd fd(::accept4(listening.get(), nullptr, nullptr, SOCK_CLOEXEC));
    for (size_t got = 0; got < asked.size();) {  // a read stops before each descriptor
      const ssize_t n = ::recv(fd.get(), asked.data() + got, asked.size() - got, 0);
      ASSERT_GT(n, 0);
      got += static_cast<size_t>(n);
    }
    (void)WriteAll(fd.get(), answer).ok();
  });
  const int standard[] = {0, 1, 2};
  auto session = MuxSession::Open(path, "true", standard);
  peer.join();
  if (!session.ok()) return std::nullopt;
  return session->Ended(words);
}

TEST(MuxSession, WhatIsNoAnswerIsARefusal) {
  const std::string exit_3("\0\0\0\x0c\x80\0\0\x04\0\0\0\0\0\0\0\x03", 16);
  for (const std::string& answer :
       {std::string(), std::string("HTTP/1.1 400\r\n\r\n"), std::string("\0\0\0\0", 4),
        std::string("\0\0\0\x02\0\0", 6), exit_3.substr(0, 15)}) {
    std::string words;
    const auto ended = AnsweredWith(answer, &words);
    ASSERT_TRUE(ended);
    EXPECT_EQ(ended->code, 255) << testing::PrintToString(answer);
    EXPECT_NE(words, "");
  }
  std::string words;
  const auto ended = AnsweredWith(exit_3, &words);
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->code, 3);
}

}  // namespace
}  // namespace tenon::transport
