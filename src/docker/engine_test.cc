// SPDX-License-Identifier: Apache-2.0
#include "docker/engine.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>

#include <atomic>

#include "docker/dockerfile_changes.h"
#include "docker/fake_engine.h"
#include "docker/image_name.h"
#include "docker/time.h"

namespace tenon::docker {
namespace {

FakeRequest Last(const FakeEngine& fake) { return fake.requests().back(); }

json::Object Body(const FakeRequest& request) {
  auto value = json::Parse(request.body);
  EXPECT_TRUE(value.ok()) << request.body;
  return value.ok() && value->is_object() ? value->as_object() : json::Object();
}

TEST(EngineTest, TheVersionSpokenIsTheLowerOne) {
  const std::pair<const char*, const char*> cases[] = {
      {"1.41", "1.41"}, {"1.47", "1.47"}, {"1.52", "1.52"}, {"1.99", "1.52"}, {"2.0", "1.52"}};
  for (const auto& [theirs, spoken] : cases) {
    FakeEngine fake([theirs = theirs](const FakeRequest& request) {
      return request.path == "/version" ? FakeEngine::Version(theirs, "1.24")
                                        : FakeAnswer{.status = 0};
    });
    auto engine = Engine::Connect(fake.socket());
    ASSERT_TRUE(engine.ok()) << engine.error().message;
    EXPECT_EQ(engine->version().api, spoken);
    EXPECT_EQ(engine->version().name, "Docker");
    EXPECT_EQ(engine->version().version, "20.10.24");
    ASSERT_TRUE(engine->Info().ok());
    EXPECT_EQ(Last(fake).version, spoken);
    EXPECT_EQ(fake.requests()[0].version, "");
  }
}

TEST(EngineTest, AnEngineThatIsTooOldOrTooNewIsRefusedInWords) {
  const std::pair<FakeAnswer, const char*> cases[] = {
      {FakeEngine::Version("1.40"), "Docker 20.10 or later"},
      {FakeEngine::Version("1.9"), "Docker 20.10 or later"},
      {FakeEngine::Version(""), "Docker 20.10 or later"},
      {FakeEngine::Version("1.70", "1.60"), "newer Tenon"},
  };
  for (const auto& [answer, hint] : cases) {
    FakeEngine fake([answer = answer](const FakeRequest&) { return answer; });
    auto engine = Engine::Connect(fake.socket());
    ASSERT_FALSE(engine.ok());
    EXPECT_EQ(engine.error().kind, ErrorKind::kInvalid);
    EXPECT_NE(engine.error().hint.find(hint), std::string::npos) << engine.error().hint;
  }
}

TEST(EngineTest, SomethingElseThatListensThereIsNoEngine) {
  for (const char* body : {"<html>hello</html>", "[]", "", "{\"a\":"}) {
    FakeEngine fake([body](const FakeRequest&) { return FakeEngine::Json(body); });
    EXPECT_FALSE(Engine::Connect(fake.socket()).ok()) << body;
  }
}

TEST(EngineTest, NoEngineAndAStoppedOneSayWhatToDo) {
  TempFolder folder;
  auto absent = Engine::Connect(folder / "docker.sock");
  ASSERT_FALSE(absent.ok());
  EXPECT_EQ(absent.error().kind, ErrorKind::kNotFound);
  EXPECT_NE(absent.error().hint.find("systemctl start docker"), std::string::npos);

  FakeEngine fake(nullptr);
  Engine engine = ConnectTo(fake);
  fake.Stop();
  auto dead = Engine::Connect(fake.socket());
  ASSERT_FALSE(dead.ok());
  EXPECT_EQ(dead.error().kind, ErrorKind::kUnavailable);
  EXPECT_NE(dead.error().hint.find("systemctl start docker"), std::string::npos);
  // An engine that has gone must never look like a container that does not exist.
  ASSERT_TRUE(RemoveFile(fake.socket()).ok());
  EXPECT_EQ(engine.Find("c").error().kind, ErrorKind::kUnavailable);
  EXPECT_EQ(engine.FindImage("c").error().kind, ErrorKind::kUnavailable);
  EXPECT_EQ(engine.Kill("c", SIGKILL).error().kind, ErrorKind::kUnavailable);
  EXPECT_EQ(engine.Remove("c").error().kind, ErrorKind::kUnavailable);
}

TEST(EngineTest, PodmanIsKnown) {
  FakeEngine fake([](const FakeRequest& request) {
    if (request.path == "/version") return FakeEngine::Version("1.41", "1.24", "Podman Engine");
    return FakeEngine::Json(
        R"({"Architecture":"amd64","Rootless":true,"CgroupVersion":"2","DockerRootDir":"/d"})");
  });
  Engine engine = ConnectTo(fake);
  EXPECT_EQ(engine.version().name, "Podman");
  auto info = engine.Info();
  ASSERT_TRUE(info.ok());
  EXPECT_TRUE(info->rootless);
  EXPECT_EQ(info->architecture, "x86_64");
  EXPECT_EQ(info->data_root, "/d");
}

TEST(EngineTest, WhatTheEngineSaysAboutItselfIsRead) {
  FakeEngine fake(Always(FakeEngine::Json(
      R"({"SecurityOptions":["name=seccomp,profile=default","name=rootless"],"CgroupVersion":"2",
          "Architecture":"x86_64","DockerRootDir":"/var/lib/docker","MemTotal":25274793984,
          "Runtimes":{"nvidia":{"path":"x"},"runc":{}},
          "DiscoveredDevices":[{"Source":"cdi","ID":"nvidia.com/gpu=all"},{"Source":"o","ID":"x"}]})")));
  auto info = ConnectTo(fake).Info();
  ASSERT_TRUE(info.ok());
  EXPECT_TRUE(info->rootless);
  EXPECT_EQ(info->cgroup_version, "2");
  EXPECT_EQ(info->memory_bytes, 25274793984);
  EXPECT_EQ(info->runtimes, (std::vector<std::string>{"nvidia", "runc"}));
  EXPECT_EQ(info->cdi_devices, std::vector<std::string>{"nvidia.com/gpu=all"});

  FakeEngine bare(Always(FakeEngine::Json("{}")));
  auto nothing = ConnectTo(bare).Info();
  ASSERT_TRUE(nothing.ok());
  EXPECT_FALSE(nothing->rootless);
  EXPECT_TRUE(nothing->cdi_devices.empty());
}

TEST(EngineTest, EachStatusOfAnEngineHasItsKindAndItsWords) {
  const std::pair<int, ErrorKind> cases[] = {
      {400, ErrorKind::kInvalid},     {401, ErrorKind::kDenied},  {403, ErrorKind::kDenied},
      {404, ErrorKind::kNotFound},    {409, ErrorKind::kInvalid}, {500, ErrorKind::kInternal},
      {503, ErrorKind::kUnavailable}, {418, ErrorKind::kInvalid},
  };
  for (const auto& [status, kind] : cases) {
    FakeEngine fake(Always(FakeEngine::Failure(status, "words of the engine")));
    auto started = ConnectTo(fake).Start("c");
    ASSERT_FALSE(started.ok());
    EXPECT_EQ(started.error().kind, kind) << status;
    EXPECT_EQ(started.error().message, "starting the container c: words of the engine");
  }
  FakeEngine wordless(Always({.status = 500}));
  EXPECT_NE(ConnectTo(wordless).Start("c").error().message.find("500"), std::string::npos);
  FakeEngine full(Always(FakeEngine::Failure(500, "write /x: no space left on device")));
  EXPECT_EQ(ConnectTo(full).Start("c").error().kind, ErrorKind::kUnavailable);
}

TEST(EngineTest, AnAnswerThatIsCutIsUnavailableAndNeverAnEmptyList) {
  FakeEngine fake(Always(
      {.body = "[{\"Id\":\"a\"}", .headers = {{"Content-Length", "100"}}, .with_length = false}));
  Engine engine = ConnectTo(fake);
  EXPECT_EQ(engine.List("x").error().kind, ErrorKind::kUnavailable);
  EXPECT_EQ(engine.ListImages("x").error().kind, ErrorKind::kUnavailable);
  FakeEngine garbage(Always(FakeEngine::Json("nonsense")));
  EXPECT_EQ(ConnectTo(garbage).List("x").error().kind, ErrorKind::kCorrupt);
  EXPECT_EQ(ConnectTo(garbage).Find("x").error().kind, ErrorKind::kCorrupt);
}

TEST(EngineTest, ImagesAreFoundByNamesWithSlashes) {
  FakeEngine fake(Always(FakeEngine::Json(
      R"({"Id":"sha256:ab","RepoTags":["localhost/a/b:1","<none>:<none>"],"Size":7,
          "Architecture":"amd64","Os":"linux","Created":"2017-09-08T00:58:01.611105Z",
          "Config":{"User":"me","Env":["A=b=c","EMPTY=","NONE"],"Labels":{"x":"y"}}})")));
  Engine engine = ConnectTo(fake);
  auto image = engine.FindImage("host:5000/a/b:1");
  ASSERT_TRUE(image.ok()) << image.error().message;
  ASSERT_TRUE(image->has_value());
  EXPECT_EQ(Last(fake).target, "/v1.41/images/host%3A5000/a/b%3A1/json");
  EXPECT_EQ((*image)->id, "sha256:ab");
  EXPECT_EQ((*image)->tags, std::vector<std::string>{"a/b:1"});
  EXPECT_EQ((*image)->size, 7u);
  EXPECT_EQ((*image)->user, "me");
  EXPECT_EQ((*image)->created_us, 1504832281611105);
  ASSERT_EQ((*image)->env.size(), 3u);
  EXPECT_EQ((*image)->env[0], (std::pair<std::string, std::string>("A", "b=c")));
  EXPECT_EQ((*image)->labels[0], (std::pair<std::string, std::string>("x", "y")));

  FakeEngine without(nullptr);
  auto absent = ConnectTo(without).FindImage("a");
  ASSERT_TRUE(absent.ok());
  EXPECT_FALSE(absent->has_value());
}

TEST(EngineTest, ListsAskForTheLabelAndForStoppedOnes) {
  FakeEngine fake([](const FakeRequest& request) {
    if (request.path == "/images/json") {
      return FakeEngine::Json(R"([{"Id":"cd","RepoTags":null,"Created":5,"Labels":{"k":"v"}}])");
    }
    if (request.path == "/containers/json") {
      return FakeEngine::Json(R"([{"Id":"c1","Names":["/one"],"ImageID":"sha256:x","State":"exited",
                                   "Labels":{"k":"v"}},{"Id":"c2","Names":[],"State":"paused"}])");
    }
    return FakeAnswer{.status = 0};
  });
  Engine engine = ConnectTo(fake);
  auto images = engine.ListImages("k=v");
  ASSERT_TRUE(images.ok());
  ASSERT_EQ(images->size(), 1u);
  EXPECT_EQ(images->front().id, "sha256:cd");
  EXPECT_EQ(images->front().created_us, 5'000'000);
  EXPECT_EQ(Last(fake).query.at("filters"), R"({"label":["k=v"]})");
  auto containers = engine.List("k");
  ASSERT_TRUE(containers.ok());
  ASSERT_EQ(containers->size(), 2u);
  EXPECT_EQ(Last(fake).query.at("all"), "1");
  EXPECT_EQ(Last(fake).query.at("filters"), R"({"label":["k"]})");
  EXPECT_EQ(containers->front().name, "one");
  EXPECT_FALSE(containers->front().running);
  EXPECT_TRUE(containers->back().running) << "paused is not ended";
}

TEST(EngineTest, AContainerIsReadAsItIs) {
  FakeEngine fake(Always(FakeEngine::Json(
      R"({"Id":"abc","Name":"/n","Image":"sha256:i","Config":{"Labels":{"k":"v"}},
          "State":{"Status":"exited","Running":false,"Pid":0,"ExitCode":137,"OOMKilled":true,
                   "Error":"why"}})")));
  auto found = ConnectTo(fake).Find("n");
  ASSERT_TRUE(found.ok());
  const Container& container = found->value();
  EXPECT_EQ(container.id, "abc");
  EXPECT_EQ(container.name, "n");
  EXPECT_EQ(container.image_id, "sha256:i");
  EXPECT_EQ(container.status, "exited");
  EXPECT_FALSE(container.running);
  EXPECT_EQ(container.exit_code, 137);
  EXPECT_TRUE(container.out_of_memory);
  EXPECT_EQ(container.error, "why");
  FakeEngine without(nullptr);
  auto absent = ConnectTo(without).Find("n");
  ASSERT_TRUE(absent.ok());
  EXPECT_FALSE(absent->has_value());
}

TEST(EngineTest, CreateSendsTheConfigurationAsItIs) {
  FakeEngine fake([](const FakeRequest& request) {
    return request.path == "/containers/create"
               ? FakeEngine::Json(R"({"Id":"new","Warnings":[]})", 201)
               : FakeAnswer{.status = 0};
  });
  json::Object config;
  config["Image"] = "a:1";
  config["HostConfig"] = json::Object{{"ShmSize", 1}};
  auto id = ConnectTo(fake).Create("na me", config);
  ASSERT_TRUE(id.ok());
  EXPECT_EQ(*id, "new");
  const FakeRequest request = Last(fake);
  EXPECT_EQ(request.method, "POST");
  EXPECT_EQ(request.query.at("name"), "na me");
  EXPECT_EQ(request.headers.at("content-type"), "application/json");
  EXPECT_EQ(Body(request), config);
}

TEST(EngineTest, ATakenNameIsInvalidAlsoWherePodmanSaysItIsItsOwnFault) {
  for (const int status : {409, 500}) {
    FakeEngine fake(Always(FakeEngine::Failure(status, "that name is already in use")));
    EXPECT_EQ(ConnectTo(fake).Create("n", {}).error().kind, ErrorKind::kInvalid);
  }
  FakeEngine no_id(Always(FakeEngine::Json("{}", 201)));
  EXPECT_EQ(ConnectTo(no_id).Create("n", {}).error().kind, ErrorKind::kCorrupt);
}

TEST(EngineTest, StoppingAndRemovingTwiceIsSuccessAndRealFailuresAreNot) {
  const std::pair<int, const char*> harmless[] = {
      {404, "No such container: c"}, {409, "Container c is not running"}, {204, ""}};
  for (const auto& [status, words] : harmless) {
    FakeEngine fake(Always(FakeEngine::Failure(status, words)));
    EXPECT_TRUE(ConnectTo(fake).Kill("c", SIGTERM).ok()) << status;
  }
  FakeEngine podman(Always(FakeEngine::Failure(500, "can only kill running containers. c is in")));
  EXPECT_TRUE(ConnectTo(podman).Kill("c", SIGTERM).ok());
  FakeEngine broken(Always(FakeEngine::Failure(500, "driver failed")));
  EXPECT_FALSE(ConnectTo(broken).Kill("c", SIGTERM).ok());
  EXPECT_FALSE(ConnectTo(broken).Remove("c").ok());
  EXPECT_FALSE(ConnectTo(broken).RemoveImage("c").ok());

  FakeEngine absent(Always(FakeEngine::Failure(404, "No such container: c")));
  EXPECT_TRUE(ConnectTo(absent).Remove("c").ok());
  EXPECT_EQ(Last(absent).query.at("force"), "1");
  EXPECT_EQ(Last(absent).query.at("v"), "1");
  EXPECT_EQ(Last(absent).method, "DELETE");
  EXPECT_TRUE(ConnectTo(absent).RemoveImage("c").ok());
  FakeEngine busy(
      Always(FakeEngine::Failure(409, "removal of container c is already in progress")));
  EXPECT_TRUE(ConnectTo(busy).Remove("c").ok());
  FakeEngine used(Always(FakeEngine::Failure(409, "image is being used by running container")));
  EXPECT_EQ(ConnectTo(used).RemoveImage("c").error().kind, ErrorKind::kInvalid);
  FakeEngine running(Always({.status = 304}));
  EXPECT_TRUE(ConnectTo(running).Start("c").ok());
}

TEST(EngineTest, AnImageIsMadeWithItsConfigurationOnBothEngines) {
  json::Object config;
  config["Labels"] = json::Object{{"a", "b \"c\""}};
  config["Env"] = json::Array{"X=1 2"};
  config["Cmd"] = json::Array{};
  for (const char* component : {"Engine", "Podman Engine"}) {
    FakeEngine fake([component](const FakeRequest& request) {
      if (request.path == "/version") return FakeEngine::Version("1.41", "1.24", component);
      return FakeEngine::Json(R"({"Id":"0123"})", 201);
    });
    auto id = ConnectTo(fake).Commit("c", "tenon/env", "k", "why, and how", config);
    ASSERT_TRUE(id.ok());
    EXPECT_EQ(*id, "sha256:0123");
    const FakeRequest request = Last(fake);
    EXPECT_EQ(request.path, "/commit");
    EXPECT_EQ(request.query.at("container"), "c");
    EXPECT_EQ(request.query.at("repo"), "tenon/env");
    EXPECT_EQ(request.query.at("tag"), "k");
    EXPECT_EQ(request.query.at("comment"), "why, and how");
    EXPECT_EQ(request.query.at("pause"), "0");
    EXPECT_EQ(Body(request), config);
    EXPECT_EQ(request.query.contains("changes"), component != std::string_view("Engine"));
  }
  EXPECT_EQ(DockerfileChanges(config),
            (std::vector<std::string>{"ENV X=\"1 2\"", "LABEL a=\"b \"c\"\"", "CMD []"}));
  EXPECT_EQ(DockerfileChanges({{"Env", json::Array{"X=a\nCMD evil"}}, {"User", "5:6"}}),
            (std::vector<std::string>{"ENV X=\"a CMD evil\"", "USER 5:6"}));
}

TEST(EngineTest, ImageNamesComeApart) {
  const auto split = [](std::string_view name) {
    const ImageName parts = SplitImageName(name);
    return parts.repository + "|" + parts.version;
  };
  EXPECT_EQ(split("debian"), "debian|latest");
  EXPECT_EQ(split("debian:12"), "debian|12");
  EXPECT_EQ(split("host:5000/a/b"), "host:5000/a/b|latest");
  EXPECT_EQ(split("host:5000/a/b:c"), "host:5000/a/b|c");
  EXPECT_EQ(split("a/b@sha256:ef"), "a/b|sha256:ef");
  EXPECT_EQ(split("h:1/a:2@sha256:ef"), "h:1/a|sha256:ef");
}

TEST(EngineTest, TimesOfBothEnginesAreRead) {
  EXPECT_EQ(ParseTime("1970-01-01T00:00:01Z"), 1'000'000);
  EXPECT_EQ(ParseTime("2017-09-08T01:58:01.611105999+01:00"), 1504832281611105);
  EXPECT_EQ(ParseTime("2017-09-07T19:58:01.6-05:00"), 1504832281600000);
  EXPECT_EQ(ParseTime("0001-01-01T00:00:00Z"), std::nullopt);
  EXPECT_EQ(ParseTime("yesterday"), std::nullopt);
  EXPECT_EQ(ParseTime(""), std::nullopt);
}

}  // namespace
}  // namespace tenon::docker
