// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <poll.h>

#include <atomic>
#include <future>

#include "docker/engine.h"
#include "docker/fake_engine.h"
#include "docker/tar.h"

namespace tenon::docker {
namespace {

std::string ReadToEnd(Stream& stream) {
  std::string text = stream.buffered;
  char piece[4096];
  for (ssize_t n; (n = ::read(stream.fd.get(), piece, sizeof piece)) > 0;) {
    text.append(piece, static_cast<size_t>(n));
  }
  return text;
}

void WaitReadable(int fd) {
  pollfd item{fd, POLLIN, 0};
  ASSERT_EQ(::poll(&item, 1, 20'000), 1);
}

// Polls as a loop would: only when there is something to read.
Result<int> WaitToEnd(Waiting& waiting) {
  for (;;) {
    TENON_TRY(const auto code, waiting.Poll());
    if (code) return *code;
    WaitReadable(waiting.fd());
  }
}

TEST(WaitTest, TheExitCodeComesWhenItComesAndNotBefore) {
  std::promise<void> ended;
  auto when = ended.get_future().share();
  FakeEngine fake(Always(
      {.headers = {{"Transfer-Encoding", "chunked"}}, .with_length = false, .then = [when](int fd) {
         when.wait();
         FakeEngine::Say(fd, "10\r\n{\"StatusCode\":3");
         FakeEngine::Say(fd, "}\r\n1\r\n\n\r\n0\r\n\r\n");
       }}));
  auto waiting = ConnectTo(fake).Wait("c");
  ASSERT_TRUE(waiting.ok());
  for (int i = 0; i < 3; ++i) {
    auto early = (*waiting)->Poll();
    ASSERT_TRUE(early.ok());
    EXPECT_FALSE(early->has_value());
  }
  ended.set_value();
  auto code = WaitToEnd(**waiting);
  ASSERT_TRUE(code.ok()) << code.error().message;
  EXPECT_EQ(*code, 3);
  EXPECT_EQ(*(*waiting)->Poll(), 3) << "asking again is harmless";
  EXPECT_EQ(fake.requests().back().path, "/containers/c/wait");
  EXPECT_EQ(fake.requests().back().query.at("condition"), "not-running");
}

TEST(WaitTest, AnEngineThatDiesIsNoEndOfTheContainer) {
  for (const char* said : {"", "4\r\n{\"St"}) {
    FakeEngine fake(Always({.headers = {{"Transfer-Encoding", "chunked"}},
                            .with_length = false,
                            .then = [said](int fd) {
                              FakeEngine::Say(fd, said);
                              FakeEngine::Hang(fd);
                            }}));
    auto waiting = ConnectTo(fake).Wait("c");
    ASSERT_TRUE(waiting.ok());
    fake.Stop();
    auto code = WaitToEnd(**waiting);
    ASSERT_FALSE(code.ok());
    EXPECT_EQ(code.error().kind, ErrorKind::kUnavailable);
  }
}

TEST(WaitTest, AnAnswerWithoutACodeIsNoZero) {
  const std::pair<FakeAnswer, ErrorKind> cases[] = {
      {FakeEngine::Failure(404, "No such container"), ErrorKind::kNotFound},
      {FakeEngine::Failure(500, "oh"), ErrorKind::kInternal},
      {FakeEngine::Json("{}"), ErrorKind::kUnavailable},
      {FakeEngine::Json(""), ErrorKind::kUnavailable},
      {FakeEngine::Json(R"({"StatusCode":-1,"Error":{"Message":"lost it"}})"),
       ErrorKind::kUnavailable},
  };
  for (const auto& [answer, kind] : cases) {
    FakeEngine fake(Always(answer));
    auto waiting = ConnectTo(fake).Wait("c");
    ASSERT_TRUE(waiting.ok());
    auto code = WaitToEnd(**waiting);
    ASSERT_FALSE(code.ok());
    EXPECT_EQ(code.error().kind, kind) << code.error().message;
  }
}

TEST(StreamTest, WhatCameWithTheHeadIsPartOfTheStream) {
  for (const int status : {101, 200}) {
    std::string input;
    FakeEngine fake(Always({.status = status,
                            .body = FakeEngine::Frame(1, "early"),
                            .with_length = false,
                            .then = [&input](int fd) {
                              char c;
                              while (::recv(fd, &c, 1, 0) == 1) input += c;
                              FakeEngine::Say(fd, FakeEngine::Frame(2, "late"));
                            }}));
    auto stream = ConnectTo(fake).Attach("c", true);
    ASSERT_TRUE(stream.ok()) << stream.error().message;
    FakeEngine::Say(stream->fd.get(), "input");
    ASSERT_EQ(::shutdown(stream->fd.get(), SHUT_WR), 0);
    EXPECT_EQ(ReadToEnd(*stream), FakeEngine::Frame(1, "early") + FakeEngine::Frame(2, "late"));
    EXPECT_EQ(input, "input");
    const FakeRequest request = fake.requests().back();
    EXPECT_EQ(request.query.at("stream"), "1");
    EXPECT_EQ(request.query.at("stdin"), "1");
    EXPECT_EQ(request.headers.at("upgrade"), "tcp");
  }
}

TEST(StreamTest, ARefusalIsNoStream) {
  FakeEngine fake(Always(FakeEngine::Failure(404, "No such container: c")));
  EXPECT_EQ(ConnectTo(fake).Attach("c", false).error().kind, ErrorKind::kNotFound);
  EXPECT_EQ(ConnectTo(fake).StartExec("e", false).error().kind, ErrorKind::kNotFound);
  EXPECT_EQ(ConnectTo(fake).CreateExec("c", {}).error().kind, ErrorKind::kNotFound);
  FakeEngine odd(Always({.status = 204}));
  EXPECT_EQ(ConnectTo(odd).Attach("c", false).error().kind, ErrorKind::kCorrupt);
}

TEST(StreamTest, ACommandInAContainerIsStartedAndAskedForItsEnd) {
  std::atomic<bool> running = true;
  FakeEngine fake([&](const FakeRequest& request) -> FakeAnswer {
    if (request.path == "/containers/c/exec") return FakeEngine::Json(R"({"Id":"e"})", 201);
    if (request.path == "/exec/e/start") {
      return {.status = 101, .body = "raw", .with_length = false};
    }
    if (request.path == "/exec/e/resize") return {.status = 200};
    if (request.path == "/exec/e/json") {
      return FakeEngine::Json(running ? R"({"Running":true,"ExitCode":null})"
                                      : R"({"Running":false,"ExitCode":9})");
    }
    return {.status = 0};
  });
  Engine engine = ConnectTo(fake);
  auto exec = engine.CreateExec("c", {{"Cmd", json::Array{"sh"}}});
  ASSERT_TRUE(exec.ok());
  auto stream = engine.StartExec(*exec, true);
  ASSERT_TRUE(stream.ok());
  EXPECT_EQ(fake.requests().back().body, R"({"Detach":false,"Tty":true})");
  EXPECT_EQ(ReadToEnd(*stream), "raw");
  EXPECT_TRUE(engine.ResizeExec(*exec, 24, 80).ok());
  EXPECT_EQ(fake.requests().back().query.at("h"), "24");
  EXPECT_EQ(fake.requests().back().query.at("w"), "80");
  EXPECT_EQ(engine.ExecExitCode(*exec).error().kind, ErrorKind::kUnavailable);
  running = false;
  EXPECT_EQ(*engine.ExecExitCode(*exec), 9);
}

TEST(ArchiveTest, BytesGoInAndComeOutUnchanged) {
  const std::string bytes(300'000, 'z');
  FakeEngine fake([&](const FakeRequest& request) -> FakeAnswer {
    if (request.method == "GET" && request.path == "/containers/c/archive") {
      return {.body = bytes};
    }
    return request.path == "/version" ? FakeAnswer{.status = 0} : FakeAnswer{.status = 200};
  });
  Engine engine = ConnectTo(fake);
  int left = 3;
  auto put = engine.PutArchive("c", "/a b", [&]() -> Result<std::string> {
    return left-- > 0 ? std::string(100'000, 'z') : std::string();
  });
  ASSERT_TRUE(put.ok()) << put.error().message;
  EXPECT_EQ(fake.requests().back().method, "PUT");
  EXPECT_EQ(fake.requests().back().query.at("path"), "/a b");
  EXPECT_EQ(fake.requests().back().body, bytes);
  std::string got;
  auto status = engine.GetArchive("c", "/a", [&](std::string_view piece) {
    got += piece;
    return Status();
  });
  ASSERT_TRUE(status.ok());
  EXPECT_EQ(got, bytes);
  EXPECT_EQ(engine.GetArchive("c", "/a", [](std::string_view) { return Status(Denied("no")); })
                .error()
                .kind,
            ErrorKind::kDenied);
}

TEST(ArchiveTest, APathThatIsNotThereIsNotFoundAndACutIsUnavailable) {
  FakeEngine absent(Always(FakeEngine::Failure(404, "Could not find the file /x")));
  const auto ignore = [](std::string_view) { return Status(); };
  EXPECT_EQ(ConnectTo(absent).GetArchive("c", "/x", ignore).error().kind, ErrorKind::kNotFound);
  EXPECT_EQ(ConnectTo(absent)
                .PutArchive("c", "/x", [] { return Result<std::string>(std::string()); })
                .error()
                .kind,
            ErrorKind::kNotFound);
  FakeEngine cut(
      Always({.body = "abc", .headers = {{"Content-Length", "9"}}, .with_length = false}));
  EXPECT_EQ(ConnectTo(cut).GetArchive("c", "/x", ignore).error().kind, ErrorKind::kUnavailable);
}

}  // namespace
}  // namespace tenon::docker
