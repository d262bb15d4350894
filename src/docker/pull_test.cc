// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <atomic>

#include "docker/engine.h"
#include "docker/fake_engine.h"

namespace tenon::docker {
namespace {

FakeEngine::Handler Pulls(FakeAnswer answer) {
  return [answer](const FakeRequest& request) {
    return request.path == "/images/create" ? answer : FakeAnswer{.status = 0};
  };
}

constexpr std::string_view kLines =
    R"({"status":"Pulling from library/debian","id":"12"}
{"status":"Pulling fs layer","progressDetail":{},"id":"a1"}
{"status":"Already exists","progressDetail":{},"id":"a0"}
{"status":"Downloading","progressDetail":{"current":10,"total":100},"progress":"[> ]","id":"a1"}
{"status":"Pulling fs layer","progressDetail":{},"id":"a2"}
{"status":"Downloading","progressDetail":{"current":50,"total":50},"id":"a2"}
{"status":"Download complete","progressDetail":{},"id":"a1"}
{"status":"Extracting","progressDetail":{"current":7,"total":100},"id":"a1"}
{"status":"Pull complete","progressDetail":{},"id":"a1"}
{"status":"Pull complete","progressDetail":{},"id":"a2"}
{"status":"Digest: sha256:ab"}
{"status":"Status: Downloaded newer image for debian:12"}
)";

TEST(PullTest, ProgressIsTheSumOfTheLayers) {
  for (const size_t size : {size_t{1}, size_t{17}, kLines.size()}) {
    FakeEngine fake(Pulls({.with_length = false, .then = [size](int fd) {
                             for (size_t at = 0; at < kLines.size(); at += size) {
                               FakeEngine::Say(fd, kLines.substr(at, size));
                             }
                           }}));
    std::vector<PullProgress> seen;
    auto status = ConnectTo(fake).Pull(
        "debian:12", [&](const PullProgress& progress) { seen.push_back(progress); }, nullptr);
    ASSERT_TRUE(status.ok()) << status.error().message;
    ASSERT_EQ(seen.size(), 12u);
    EXPECT_EQ(seen[0].layers, 0u) << "the tag is no layer";
    EXPECT_EQ(seen[2].layers_done, 1u);
    EXPECT_EQ(seen[3].what, "Downloading");
    EXPECT_EQ(seen[3].bytes, 10u);
    EXPECT_EQ(seen[3].total, 100u);
    EXPECT_EQ(seen[5].bytes, 60u);
    EXPECT_EQ(seen[5].total, 150u);
    EXPECT_EQ(seen[7].bytes, 150u) << "extracting is no step back";
    EXPECT_EQ(seen.back().layers, 3u);
    EXPECT_EQ(seen.back().layers_done, 3u);
    const FakeRequest request = fake.requests().back();
    EXPECT_EQ(request.query.at("fromImage"), "debian");
    EXPECT_EQ(request.query.at("tag"), "12");
  }
}

TEST(PullTest, ANameWithoutATagIsNotEveryTagThereIs) {
  FakeEngine fake(Pulls(FakeEngine::Json("")));
  ASSERT_TRUE(ConnectTo(fake).Pull("a/b", nullptr, nullptr).ok());
  EXPECT_EQ(fake.requests().back().query.at("tag"), "latest");
  ASSERT_TRUE(ConnectTo(fake).Pull("a/b@sha256:12", nullptr, nullptr).ok());
  EXPECT_EQ(fake.requests().back().query.at("tag"), "sha256:12");
}

TEST(PullTest, WhatTheRegistryHadAgainstItIsToldApart) {
  const std::pair<const char*, ErrorKind> cases[] = {
      {"manifest for a:1 not found: manifest unknown: manifest unknown", ErrorKind::kNotFound},
      {"manifest for a:1 not found", ErrorKind::kNotFound},
      {"repository a not found: does not exist or no pull access", ErrorKind::kNotFound},
      {"pull access denied for a, repository does not exist or may require 'docker login': denied: "
       "requested access to the resource is denied",
       ErrorKind::kDenied},
      {"unauthorized: authentication required", ErrorKind::kDenied},
      {"Get https://registry-1.docker.io/v2/: dial tcp: lookup registry-1.docker.io: no such host",
       ErrorKind::kUnavailable},
      {"net/http: TLS handshake timeout", ErrorKind::kUnavailable},
      {"dial tcp 127.0.0.1:5000: connect: connection refused", ErrorKind::kUnavailable},
      {"write /var/lib/docker/tmp/x: no space left on device", ErrorKind::kUnavailable},
      {"invalid reference format", ErrorKind::kInvalid},
  };
  for (const auto& [words, kind] : cases) {
    const std::string text(words);
    const FakeAnswer answers[] = {
        FakeEngine::Json("{\"status\":\"Pulling\"}\n{\"errorDetail\":{\"message\":\"" + text +
                         "\"},\"error\":\"" + text + "\"}\n"),
        FakeEngine::Json("{\"errorDetail\":{\"message\":\"" + text + "\"}}"),
        FakeEngine::Failure(400, text),
    };
    for (const FakeAnswer& answer : answers) {
      FakeEngine fake(Pulls(answer));
      auto status = ConnectTo(fake).Pull("a:1", nullptr, nullptr);
      ASSERT_FALSE(status.ok()) << words;
      EXPECT_EQ(status.error().kind, kind) << status.error().message;
      EXPECT_EQ(status.error().message, "pulling the image a:1: " + text);
    }
  }
}

TEST(PullTest, APullIsNotDoneBecauseTheEngineDied) {
  FakeEngine fake(Pulls({.headers = {{"Transfer-Encoding", "chunked"}},
                         .with_length = false,
                         .then = [](int fd) { FakeEngine::Say(fd, "5\r\n{\"a\":\r\n"); }}));
  auto status = ConnectTo(fake).Pull("a:1", nullptr, nullptr);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().kind, ErrorKind::kUnavailable);
}

TEST(PullTest, AWishToStopIsHeardWhileTheEngineIsSilent) {
  FakeEngine fake(Pulls({.with_length = false, .then = FakeEngine::Hang}));
  int asked = 0;
  auto status = ConnectTo(fake).Pull("a:1", nullptr, [&] { return ++asked > 3; });
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().kind, ErrorKind::kUnavailable);
  EXPECT_EQ(asked, 4);
}

}  // namespace
}  // namespace tenon::docker
