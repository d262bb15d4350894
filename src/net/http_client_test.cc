// SPDX-License-Identifier: Apache-2.0
#include "net/http_client.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <cstring>
#include <functional>
#include <thread>

#include "base/clock.h"
#include "base/temp_folder.h"

namespace tenon::net {
namespace {

std::string ReadHeadOf(int fd) {
  std::string text;
  char c;
  while (text.find("\r\n\r\n") == std::string::npos && ::recv(fd, &c, 1, 0) == 1) text += c;
  return text;
}

void Say(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = ::send(fd, text.data(), text.size(), MSG_NOSIGNAL);
    if (n <= 0) return;
    text.remove_prefix(static_cast<size_t>(n));
  }
}

std::string ReadToEnd(int fd) {
  std::string text;
  char piece[4096];
  for (ssize_t n; (n = ::recv(fd, piece, sizeof piece, 0)) > 0;) {
    text.append(piece, static_cast<size_t>(n));
  }
  return text;
}

// The other end of a connection, on a thread of its own. It is closed when the function returns.
class Peer {
 public:
  explicit Peer(std::function<void(int)> act) {
    int ends[2];
    TENON_CHECK(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
    ours_.Reset(ends[0]);
    thread_ = std::thread([act = std::move(act), end = UniqueFd(ends[1])] { act(end.get()); });
  }
  ~Peer() {
    ours_.Reset();
    thread_.join();
  }
  UniqueFd Take() { return std::move(ours_); }

 private:
  UniqueFd ours_;
  std::thread thread_;
};

// Reads the request's head, then sends `answer` in pieces of `size`.
std::function<void(int)> Answers(std::string answer, size_t size = std::string::npos) {
  return [answer, size](int fd) {
    ReadHeadOf(fd);
    for (size_t at = 0; at < answer.size(); at += std::min(size, answer.size() - at)) {
      Say(fd, std::string_view(answer).substr(at, size));
    }
  };
}

struct Whole {
  HttpResponse head;
  std::string body;
};

Result<Whole> Ask(Peer& peer, HttpRequest request = {.target = "/"}, int timeout_ms = 20'000,
                  size_t limit = 1 << 20) {
  TENON_TRY(HttpExchange exchange,
            HttpExchange::Send(peer.Take(), "docker", std::move(request), timeout_ms));
  TENON_TRY(HttpResponse head, exchange.ReadHead());
  TENON_TRY(std::string body, exchange.ReadAll(limit));
  return Whole{std::move(head), std::move(body)};
}

TEST(HttpClientTest, TheRequestIsOneThatAServerUnderstands) {
  std::string seen;
  {
    Peer peer([&](int fd) {
      seen = ReadHeadOf(fd);
      char body[3];
      ASSERT_EQ(::recv(fd, body, 3, MSG_WAITALL), 3);
      seen.append(body, 3);
      Say(fd, "HTTP/1.1 204 No Content\r\n\r\n");
    });
    auto answer = Ask(peer, {.method = "POST",
                             .target = "/v1.41/x?a=b",
                             .headers = {{"Content-Type", "application/json"}},
                             .body = "{ }"});
    ASSERT_TRUE(answer.ok()) << answer.error().message;
    EXPECT_EQ(answer->head.status, 204);
    EXPECT_EQ(answer->body, "");
  }
  EXPECT_EQ(seen,
            "POST /v1.41/x?a=b HTTP/1.1\r\nHost: docker\r\nContent-Type: application/json\r\n"
            "Connection: close\r\nContent-Length: 3\r\n\r\n{ }");
}

TEST(HttpClientTest, EveryWayToEndABodyIsUnderstoodHoweverItIsCut) {
  const std::string_view body = "hello, world\nand more";
  const std::string answers[] = {
      "HTTP/1.1 200 OK\r\ncontent-length: 21\r\nX-A: b\r\n\r\n" + std::string(body),
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nX-A: b\r\n\r\n"
      "5;ext=1\r\nhello\r\n10\r\n, world\nand more\r\n0\r\nTrailer: x\r\n\r\n",
      "HTTP/1.1 200 OK\r\nX-A: b\r\nTransfer-Encoding: chunked\r\n\r\n"
      "1\r\nh\r\n14\r\nello, world\nand more\r\n0\r\n\r\n",
      "HTTP/1.0 200 OK\r\nX-A: b\r\n\r\n" + std::string(body),
      "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nX-A: b\r\nContent-Length: 21\r\n\r\n" +
          std::string(body),
  };
  for (const std::string& answer : answers) {
    for (const size_t size : {size_t{1}, size_t{2}, size_t{7}, std::string::npos}) {
      Peer peer(Answers(answer, size));
      auto whole = Ask(peer);
      ASSERT_TRUE(whole.ok()) << whole.error().message << "\n" << answer;
      EXPECT_EQ(whole->head.status, 200);
      EXPECT_EQ(whole->head.Header("x-a"), "b");
      EXPECT_EQ(whole->head.Header("absent"), "");
      EXPECT_EQ(whole->head.Header("Trailer"), "");
      EXPECT_EQ(whole->body, body);
    }
  }
}

TEST(HttpClientTest, AnEmptyBodyInChunksIsUnderstoodHoweverItIsCut) {
  for (const char* end : {"0\r\n\r\n", "0;a=b\r\n\r\n", "000\r\nX: y\r\n\r\n"}) {
    for (const size_t size : {size_t{1}, size_t{3}, size_t{4}, std::string::npos}) {
      Peer peer(Answers(std::string("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n") + end,
                        size));
      auto whole = Ask(peer);
      ASSERT_TRUE(whole.ok()) << whole.error().message << end;
      EXPECT_EQ(whole->body, "");
    }
  }
}

TEST(HttpClientTest, AnAnswerCutAnywhereIsAnErrorAndNeverAShortAnswer) {
  for (const std::string answer :
       {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"}) {
    for (size_t cut = 0; cut < answer.size(); ++cut) {
      Peer peer(Answers(answer.substr(0, cut)));
      auto whole = Ask(peer);
      ASSERT_FALSE(whole.ok()) << "cut at " << cut;
      EXPECT_EQ(whole.error().kind, ErrorKind::kUnavailable) << whole.error().message;
    }
  }
}

TEST(HttpClientTest, GarbageIsAnErrorOfItsOwn) {
  for (const char* answer :
       {"hello\r\n\r\n", "HTTP/1.1 abc\r\n\r\n", "HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello!",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhelloXX0\r\n\r\n"}) {
    Peer peer(Answers(answer));
    auto whole = Ask(peer);
    ASSERT_FALSE(whole.ok()) << answer;
    EXPECT_EQ(whole.error().kind, ErrorKind::kCorrupt) << answer << whole.error().message;
  }
}

TEST(HttpClientTest, AHeadWithoutEndIsRefused) {
  const std::pair<const char*, std::string> cases[] = {
      {"HTTP/1.1 200 OK\r\n", "X-Name: " + std::string(100, 'x') + "\r\n"},
      {"HTTP/1.1 200 OK\r\nX-Name: ", std::string(100, 'x')},
      {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;", std::string(100, 'x')},
      {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n",
       "X: " + std::string(97, 'x') + "\r\n"},
  };
  for (const auto& [begin, more] : cases) {
    Peer peer([begin = begin, more = more](int fd) {
      ReadHeadOf(fd);
      Say(fd, begin);
      for (int i = 0; i < 5000; ++i) Say(fd, more);
      ReadToEnd(fd);
    });
    auto whole = Ask(peer);
    ASSERT_FALSE(whole.ok()) << begin;
    EXPECT_EQ(whole.error().kind, ErrorKind::kCorrupt) << begin << whole.error().message;
  }
}

TEST(HttpClientTest, AnAnswerOverTheLimitIsRefused) {
  for (const size_t limit : {size_t{4}, size_t{5}}) {
    Peer peer(Answers("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"));
    auto whole = Ask(peer, {.target = "/"}, 20'000, limit);
    EXPECT_EQ(whole.ok(), limit == 5);
    if (limit == 4) {
      EXPECT_EQ(whole.error().kind, ErrorKind::kInvalid);
    }
  }
}

TEST(HttpClientTest, ASilentPeerIsNotWaitedForBeyondTheDeadline) {
  for (const char* said : {"", "HTTP/1.1 200", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel"}) {
    Peer peer([said](int fd) {
      ReadHeadOf(fd);
      Say(fd, said);
      ReadToEnd(fd);
    });
    auto whole = Ask(peer, {.target = "/"}, 50);
    ASSERT_FALSE(whole.ok()) << said;
    EXPECT_EQ(whole.error().kind, ErrorKind::kUnavailable);
    EXPECT_NE(whole.error().message.find("50 ms"), std::string::npos) << whole.error().message;
  }
}

TEST(HttpClientTest, APeerThatReadsNothingIsNotSentToForEver) {
  UniqueFd silent;
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  silent.Reset(ends[1]);
  auto exchange =
      HttpExchange::Send(UniqueFd(ends[0]), "docker",
                         {.method = "POST", .target = "/", .body = std::string(8 << 20, 'x')}, 50);
  ASSERT_FALSE(exchange.ok());
  EXPECT_EQ(exchange.error().kind, ErrorKind::kUnavailable);
}

TEST(HttpClientTest, ABodyInPiecesArrivesWhole) {
  std::string seen;
  {
    Peer peer([&](int fd) {
      ReadHeadOf(fd);
      while (seen.find("0\r\n\r\n") == std::string::npos) {
        char piece[4096];
        const ssize_t n = ::recv(fd, piece, sizeof piece, 0);
        if (n <= 0) return;
        seen.append(piece, static_cast<size_t>(n));
      }
      Say(fd, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    });
    std::vector<std::string> pieces = {"", "def", std::string(20, 'a')};
    auto whole = Ask(peer, {.method = "PUT", .target = "/", .body_source = [&] {
                              std::string piece = pieces.back();
                              pieces.pop_back();
                              return Result<std::string>(piece);
                            }});
    ASSERT_TRUE(whole.ok()) << whole.error().message;
  }
  EXPECT_EQ(seen, "14\r\n" + std::string(20, 'a') + "\r\n3\r\ndef\r\n0\r\n\r\n");
}

TEST(HttpClientTest, AnAnswerBeforeTheBodyIsThroughIsRead) {
  for (const bool closes : {true, false}) {
    Peer peer([closes](int fd) {
      ReadHeadOf(fd);
      Say(fd, "HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\n\r\nnone");
      if (!closes) {
        // Does not read, like a server that has seen enough, but still notices that the client
        // ends.
        pollfd item{fd, 0, 0};
        ::poll(&item, 1, -1);
      }
    });
    auto whole = Ask(peer, {.method = "PUT", .target = "/", .body_source = [] {
                              return Result<std::string>(std::string(100'000, 'x'));
                            }});
    ASSERT_TRUE(whole.ok()) << whole.error().message;
    EXPECT_EQ(whole->head.status, 404);
    EXPECT_EQ(whole->body, "none");
  }
}

TEST(HttpClientTest, AFailingSourceOfTheBodyIsTheErrorOfTheCall) {
  std::string seen;
  {
    Peer peer([&](int fd) { seen = ReadToEnd(fd); });
    auto whole = Ask(peer, {.method = "PUT", .target = "/", .body_source = [] {
                              return Result<std::string>(Denied("no such luck"));
                            }});
    ASSERT_FALSE(whole.ok());
    EXPECT_EQ(whole.error().kind, ErrorKind::kDenied);
  }
  EXPECT_EQ(seen.find("0\r\n\r\n"), std::string::npos) << "a cut body must not look complete";
}

TEST(HttpClientTest, BytesAfterTheHeadOfAnUpgradeAreNotLost) {
  for (const char* status : {"101 UPGRADED", "200 OK"}) {
    std::string seen;
    {
      Peer peer([&](int fd) {
        seen = ReadHeadOf(fd);
        Say(fd, std::string("HTTP/1.1 ") + status +
                    "\r\nContent-Type: application/vnd.docker.raw-stream\r\n\r\nearly");
        Say(fd, "late");
        ::shutdown(fd, SHUT_WR);
        seen += ReadToEnd(fd);
      });
      auto exchange = HttpExchange::Send(
          peer.Take(), "docker", {.method = "POST", .target = "/", .upgrade = true}, 20'000);
      ASSERT_TRUE(exchange.ok());
      ASSERT_TRUE(exchange->ReadHead().ok());
      auto [fd, buffered] = exchange->Release();
      ASSERT_TRUE(fd.valid());
      EXPECT_EQ(buffered + ReadToEnd(fd.get()), "earlylate");
      Say(fd.get(), "input");
    }
    EXPECT_NE(seen.find("Upgrade: tcp\r\n"), std::string::npos);
    EXPECT_NE(seen.find("Connection: Upgrade\r\n"), std::string::npos);
    EXPECT_TRUE(seen.ends_with("input"));
  }
}

TEST(HttpClientTest, TryingNeverWaits) {
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  UniqueFd peer(ends[1]);
  auto exchange = HttpExchange::Send(UniqueFd(ends[0]), "docker", {.target = "/"}, 0);
  ASSERT_TRUE(exchange.ok());
  const auto head = [&] { return exchange->TryReadHead(); };
  EXPECT_FALSE(head()->has_value());
  Say(peer.get(), "HTTP/1.1 200 OK\r\nTransfer-");
  EXPECT_FALSE(head()->has_value());
  Say(peer.get(), "Encoding: chunked\r\n\r\n");
  ASSERT_TRUE(head()->has_value());
  EXPECT_FALSE((*exchange->TryReadSome()).has_value());
  Say(peer.get(), "3\r\nab");
  EXPECT_EQ(*exchange->TryReadSome(), "ab");
  EXPECT_FALSE((*exchange->TryReadSome()).has_value());
  Say(peer.get(), "c\r\n0\r\n\r\n");
  EXPECT_EQ(*exchange->TryReadSome(), "c");
  EXPECT_EQ(*exchange->TryReadSome(), "");
  EXPECT_EQ(*exchange->TryReadSome(), "") << "the end stays the end";
}

TEST(HttpClientTest, NothingFromACallerCanSmuggleASecondRequest) {
  const HttpRequest bad[] = {
      {.target = "/a b"},
      {.target = "/a\r\nX: y"},
      {.target = "a"},
      {.method = "GET /x HTTP/1.1\r\n", .target = "/"},
      {.target = "/", .headers = {{"A", "b\r\nC: d"}}},
      {.target = "/", .headers = {{"A:", std::string("b\0", 2)}}},
  };
  for (const HttpRequest& request : bad) {
    std::string seen;
    {
      Peer peer([&](int fd) { seen = ReadToEnd(fd); });
      auto whole = Ask(peer, request);
      ASSERT_FALSE(whole.ok());
      EXPECT_EQ(whole.error().kind, ErrorKind::kInvalid);
    }
    EXPECT_EQ(seen, "");
  }
}

TEST(HttpClientTest, EscapedTextIsOneWordOfAQuery) {
  EXPECT_EQ(EscapeUrl("a b&c=d/é%+"), "a%20b%26c%3Dd%2F%C3%A9%25%2B");
  EXPECT_EQ(EscapeUrl("A-z_0.9~"), "A-z_0.9~");
  EXPECT_EQ(EscapeUrl(""), "");
}

UniqueFd ListenAt(const std::string& path, int backlog) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.data(), path.size());
  UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  TENON_CHECK(::bind(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
  TENON_CHECK(::listen(fd.get(), backlog) == 0);
  return fd;
}

TEST(DialTest, EachReasonForNoConnectionHasItsKind) {
  TempFolder folder;
  EXPECT_EQ(DialUnix(folder / "absent", 100).error().kind, ErrorKind::kNotFound);
  { ListenAt(folder / "dead", 1); }
  EXPECT_EQ(DialUnix(folder / "dead", 100).error().kind, ErrorKind::kUnavailable);
  EXPECT_EQ(DialUnix(folder / std::string(200, 'x'), 100).error().kind, ErrorKind::kInvalid);
  EXPECT_EQ(DialUnix("", 100).error().kind, ErrorKind::kInvalid);
  if (::geteuid() != 0) {
    const UniqueFd listener = ListenAt(folder / "theirs", 1);
    ::chmod((folder / "theirs").c_str(), 0);
    EXPECT_EQ(DialUnix(folder / "theirs", 100).error().kind, ErrorKind::kDenied);
  }
}

TEST(DialTest, AFullQueueIsWaitedForUntilTheDeadlineOnly) {
  TempFolder folder;
  const UniqueFd listener = ListenAt(folder / "s", 0);
  std::vector<UniqueFd> queued;
  for (;;) {
    auto fd = DialUnix(folder / "s", 30);
    if (!fd.ok()) {
      EXPECT_EQ(fd.error().kind, ErrorKind::kUnavailable);
      break;
    }
    queued.push_back(*std::move(fd));
    ASSERT_LT(queued.size(), 1000u);
  }
  UniqueFd taken;
  std::thread taker(
      [&] { taken.Reset(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC)); });
  auto late = DialUnix(folder / "s", 20'000);
  taker.join();
  EXPECT_TRUE(late.ok());
}

}  // namespace
}  // namespace tenon::net
