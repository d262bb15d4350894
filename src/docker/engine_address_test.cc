// SPDX-License-Identifier: Apache-2.0
#include "docker/engine_address.h"

#include <gtest/gtest.h>

#include "base/hash.h"
#include "base/temp_folder.h"
#include "docker/fake_engine.h"

namespace tenon::docker {
namespace {

void Put(const std::string& path, std::string_view bytes) {
  ASSERT_TRUE(MakeDirs(DirName(path)).ok());
  ASSERT_TRUE(WriteFileAtomically(path, bytes, 0644, Durability::kProcess).ok());
}

std::string MetaFile(const TempFolder& home, const std::string& name) {
  return home / (".docker/contexts/meta/" + Sha256Of(name).Hex() + "/meta.json");
}

TEST(EngineAddressTest, DockerHostWinsOverEverything) {
  TempFolder home;
  Put(home / ".docker/config.json", R"({"currentContext":"other"})");
  auto found = FindEngine(
      {{"HOME", home.path()}, {"DOCKER_HOST", "unix:///run/my.sock"}, {"DOCKER_CONTEXT", "third"}});
  ASSERT_TRUE(found.ok()) << found.error().message;
  EXPECT_EQ(found->socket, "/run/my.sock");
  EXPECT_EQ(found->from, "DOCKER_HOST");
}

TEST(EngineAddressTest, EnginesElsewhereAreRefusedWithTheWayThatWorks) {
  for (const char* host : {"tcp://10.0.0.1:2375", "ssh://me@host", "https://x"}) {
    auto found = FindEngine({{"DOCKER_HOST", host}});
    ASSERT_FALSE(found.ok());
    EXPECT_EQ(found.error().kind, ErrorKind::kInvalid);
    EXPECT_NE(found.error().message.find(host), std::string::npos);
    EXPECT_NE(found.error().hint.find("remotedocker"), std::string::npos);
  }
  for (const char* host : {"unix://relative", "npipe:////./pipe/x", "hello"}) {
    auto found = FindEngine({{"DOCKER_HOST", host}});
    ASSERT_FALSE(found.ok()) << host;
    EXPECT_EQ(found.error().kind, ErrorKind::kInvalid);
  }
}

TEST(EngineAddressTest, ContextsAreFoundByTheHashOfTheirName) {
  TempFolder home;
  Put(MetaFile(home, "rootless"),
      R"({"Name":"rootless","Endpoints":{"docker":{"Host":"unix:///run/user/7/docker.sock"}}})");
  Put(MetaFile(home, "far"), R"({"Endpoints":{"docker":{"Host":"ssh://me@far"}}})");
  Put(home / ".docker/config.json", R"({"auths":{},"currentContext":"rootless"})");
  auto found = FindEngine({{"HOME", home.path()}});
  ASSERT_TRUE(found.ok()) << found.error().message;
  EXPECT_EQ(found->socket, "/run/user/7/docker.sock");
  EXPECT_EQ(found->from, "the context rootless");
  auto moved = FindEngine({{"HOME", "/nowhere"}, {"DOCKER_CONFIG", home / ".docker"}});
  ASSERT_TRUE(moved.ok());
  EXPECT_EQ(moved->socket, "/run/user/7/docker.sock");
  auto far = FindEngine({{"HOME", home.path()}, {"DOCKER_CONTEXT", "far"}});
  ASSERT_FALSE(far.ok());
  EXPECT_NE(far.error().hint.find("remotedocker"), std::string::npos);
  auto absent = FindEngine({{"HOME", home.path()}, {"DOCKER_CONTEXT", "absent"}});
  ASSERT_FALSE(absent.ok());
  EXPECT_EQ(absent.error().kind, ErrorKind::kNotFound);
  EXPECT_NE(absent.error().message.find("absent"), std::string::npos);
}

TEST(EngineAddressTest, FilesOfDockerThatAreBrokenAreNamed) {
  TempFolder home;
  Put(home / ".docker/config.json", "{");
  auto found = FindEngine({{"HOME", home.path()}});
  ASSERT_FALSE(found.ok());
  EXPECT_NE(found.error().message.find(".docker/config.json"), std::string::npos);
  Put(MetaFile(home, "odd"), "[]");
  auto odd = FindEngine({{"HOME", home.path()}, {"DOCKER_CONTEXT", "odd"}});
  ASSERT_FALSE(odd.ok());
  EXPECT_NE(odd.error().message.find("meta.json"), std::string::npos);
}

TEST(EngineAddressTest, TheUsersOwnEngineIsFoundWhereNoOtherLetsUsIn) {
  FakeEngine fake(nullptr, "docker.sock");
  auto found = FindEngine({{"XDG_RUNTIME_DIR", DirName(fake.socket())},
                           {"HOME", "/nowhere"},
                           {"DOCKER_CONTEXT", "default"}});
  ASSERT_TRUE(found.ok());
  // On a machine with an engine of its own, that engine comes first.
  EXPECT_TRUE(found->socket == fake.socket() || found->socket == "/var/run/docker.sock");
  EXPECT_EQ(found->from, "the usual place");
}

TEST(EngineAddressTest, EachReasonHasItsAdvice) {
  const Error denied = ExplainDial("/var/run/docker.sock", Denied("x"));
  EXPECT_EQ(denied.kind, ErrorKind::kDenied);
  EXPECT_NE(denied.hint.find("sudo usermod -aG docker $USER"), std::string::npos);
  const Error absent = ExplainDial("/var/run/docker.sock", NotFound("x"));
  EXPECT_EQ(absent.kind, ErrorKind::kNotFound);
  EXPECT_NE(absent.hint.find("sudo systemctl start docker"), std::string::npos);
  EXPECT_NE(absent.hint.find("systemctl --user start podman.socket"), std::string::npos);
  const Error silent = ExplainDial("/run/user/7/podman/podman.sock", Unavailable("x"));
  EXPECT_EQ(silent.kind, ErrorKind::kUnavailable);
  EXPECT_NE(silent.hint.find("podman.socket"), std::string::npos);
}

}  // namespace
}  // namespace tenon::docker
