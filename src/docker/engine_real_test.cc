// SPDX-License-Identifier: Apache-2.0
// Tests against a real engine. TENON_TEST_ENGINE_SOCKET names its socket, TENON_TEST_ENGINE_IMAGE
// an image that it has and that has /bin/sh ("bb:1"). Skipped without the first.
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>

#include <algorithm>

#include "base/file.h"
#include "base/temp_folder.h"
#include "base/text.h"
#include "docker/engine.h"
#include "docker/tar.h"

namespace tenon::docker {
namespace {

std::string FromEnvironment(const char* name, const char* otherwise) {
  const char* value = ::getenv(name);
  return value && *value ? value : otherwise;
}

class RealEngineTest : public testing::Test {
 protected:
  void SetUp() override {
    const std::string socket = FromEnvironment("TENON_TEST_ENGINE_SOCKET", "");
    if (socket.empty()) GTEST_SKIP() << "planned: TENON_TEST_ENGINE_SOCKET is not set";
    auto engine = Engine::Connect(socket);
    ASSERT_TRUE(engine.ok()) << engine.error().message;
    engine_ = std::make_unique<Engine>(*std::move(engine));
  }
  void TearDown() override {
    if (!engine_) return;
    auto containers = engine_->List(kLabel + "=" + mark_);
    ASSERT_TRUE(containers.ok()) << containers.error().message;
    for (const Container& container : *containers) {
      EXPECT_TRUE(engine_->Remove(container.id).ok());
      EXPECT_TRUE(engine_->Remove(container.id).ok()) << "twice";
    }
    EXPECT_TRUE(engine_->List(kLabel + "=" + mark_)->empty());
  }

  json::Object Config(const std::string& script) const {
    json::Object config;
    config["Image"] = image_;
    config["Cmd"] = json::Array{"/bin/sh", "-c", json::Value(script)};
    config["Labels"] = json::Object{{kLabel, json::Value(mark_)}};
    config["AttachStdout"] = true;
    config["AttachStderr"] = true;
    json::Object host{{"NetworkMode", "none"}};
    const json::Object files{{"Name", "nofile"}, {"Soft", 1024}, {"Hard", 1024}};
    const json::Object processes{{"Name", "nproc"}, {"Soft", 4096}, {"Hard", 4096}};
    host["Ulimits"] = json::Array{files, processes};
    config["HostConfig"] = host;
    return config;
  }
  std::string Create(const json::Object& config) {
    auto id = engine_->Create("tenon-test-" + mark_ + "-" + std::to_string(++count_), config);
    EXPECT_TRUE(id.ok()) << id.error().message;
    return id.ok() ? *id : "";
  }
  int WaitFor(const std::string& container) {
    auto waiting = engine_->Wait(container);
    EXPECT_TRUE(waiting.ok()) << waiting.error().message;
    for (int i = 0; waiting.ok() && i < 100; ++i) {
      auto code = (*waiting)->Poll();
      EXPECT_TRUE(code.ok()) << code.error().message;
      if (!code.ok()) return -1;
      if (*code) return **code;
      pollfd item{(*waiting)->fd(), POLLIN, 0};
      EXPECT_EQ(::poll(&item, 1, 60'000), 1);
    }
    return -1;
  }
  struct Output {
    std::string out, err;
  };
  static Output ReadFrames(Stream& stream) {
    Output output;
    FrameDecoder decoder([&](int which, std::string_view bytes) {
      (which == 1 ? output.out : output.err) += bytes;
    });
    EXPECT_TRUE(decoder.Feed(stream.buffered).ok());
    char piece[4096];
    for (ssize_t n; (n = ::read(stream.fd.get(), piece, sizeof piece)) > 0;) {
      EXPECT_TRUE(decoder.Feed({piece, static_cast<size_t>(n)}).ok());
    }
    EXPECT_TRUE(decoder.AtFrameEnd());
    return output;
  }

  inline static const std::string kLabel = "tenon.test";
  const std::string mark_ = RandomHex(4);
  const std::string image_ = FromEnvironment("TENON_TEST_ENGINE_IMAGE", "bb:1");
  std::unique_ptr<Engine> engine_;
  int count_ = 0;
};

TEST_F(RealEngineTest, TellsAboutItselfAndItsImages) {
  EXPECT_FALSE(engine_->version().version.empty());
  auto info = engine_->Info();
  ASSERT_TRUE(info.ok()) << info.error().message;
  EXPECT_FALSE(info->architecture.empty());
  EXPECT_FALSE(info->runtimes.empty());
  auto image = engine_->FindImage(image_);
  ASSERT_TRUE(image.ok()) << image.error().message;
  ASSERT_TRUE(image->has_value());
  EXPECT_TRUE((*image)->id.starts_with("sha256:"));
  EXPECT_GT((*image)->created_us, 0);
  auto again = engine_->FindImage((*image)->id);
  ASSERT_TRUE(again.ok() && again->has_value());
  auto absent = engine_->FindImage("tenon-test/absent:" + mark_);
  ASSERT_TRUE(absent.ok()) << absent.error().message;
  EXPECT_FALSE(absent->has_value());
}

TEST_F(RealEngineTest, OutputErrorInputAndExitCodeOfAContainer) {
  json::Object config = Config("read line; echo got $line; echo oops >&2; exit 3");
  config["AttachStdin"] = true;
  config["OpenStdin"] = true;
  config["StdinOnce"] = true;
  const std::string id = Create(config);
  auto stream = engine_->Attach(id, true);
  ASSERT_TRUE(stream.ok()) << stream.error().message;
  auto started = engine_->Start(id);
  ASSERT_TRUE(started.ok()) << started.error().message;
  ASSERT_TRUE(WriteAll(stream->fd.get(), "secret\n").ok());
  ASSERT_EQ(::shutdown(stream->fd.get(), SHUT_WR), 0);
  const Output output = ReadFrames(*stream);
  EXPECT_EQ(output.out, "got secret\n");
  EXPECT_EQ(output.err, "oops\n");
  EXPECT_EQ(WaitFor(id), 3);
  EXPECT_EQ(WaitFor(id), 3) << "also when it has ended long since";
  auto found = engine_->Find(id);
  ASSERT_TRUE(found.ok() && found->has_value());
  EXPECT_EQ((*found)->exit_code, 3);
  EXPECT_FALSE((*found)->running);
  EXPECT_TRUE(engine_->Kill(id, SIGKILL).ok()) << "one that has ended";
  EXPECT_TRUE(engine_->Remove(id).ok());
  EXPECT_TRUE(engine_->Kill(id, SIGKILL).ok()) << "one that is gone";
  auto gone = engine_->Find(id);
  ASSERT_TRUE(gone.ok()) << gone.error().message;
  EXPECT_FALSE(gone->has_value());
}

TEST_F(RealEngineTest, KillingEndsAWaitAndASecondStartIsHarmless) {
  const std::string id = Create(Config("trap '' TERM; while :; do sleep 1; done"));
  ASSERT_TRUE(engine_->Start(id).ok());
  EXPECT_TRUE(engine_->Start(id).ok());
  auto found = engine_->Find(id);
  ASSERT_TRUE(found.ok() && found->has_value());
  EXPECT_TRUE((*found)->running);
  EXPECT_GT((*found)->pid, 0);
  auto waiting = engine_->Wait(id);
  ASSERT_TRUE(waiting.ok());
  EXPECT_FALSE((*waiting)->Poll()->has_value());
  EXPECT_TRUE(engine_->Kill(id, SIGKILL).ok());
  EXPECT_EQ(WaitFor(id), 137);
}

TEST_F(RealEngineTest, NamesThatAreTakenAndImagesThatAreNotThere) {
  const std::string name = "tenon-test-" + mark_ + "-same";
  ASSERT_TRUE(engine_->Create(name, Config("true")).ok());
  auto second = engine_->Create(name, Config("true"));
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().kind, ErrorKind::kInvalid) << second.error().message;
  json::Object config = Config("true");
  config["Image"] = "tenon-test/absent:" + mark_;
  auto absent = engine_->Create("tenon-test-" + mark_ + "-absent", config);
  ASSERT_FALSE(absent.ok());
  EXPECT_EQ(absent.error().kind, ErrorKind::kNotFound) << absent.error().message;
  EXPECT_EQ(engine_->Start("tenon-test-absent-" + mark_).error().kind, ErrorKind::kNotFound);
  EXPECT_EQ(engine_->Attach("tenon-test-absent-" + mark_, false).error().kind,
            ErrorKind::kNotFound);
  EXPECT_TRUE(engine_->RemoveImage("tenon-test/absent:" + mark_).ok());
}

TEST_F(RealEngineTest, ArchivesGoInAndComeOut) {
  TempFolder from, to;
  ASSERT_TRUE(MakeDirs(from / "deep/er").ok());
  const std::string long_name(180, 'n');
  const std::string big(3'000'001, 'b');
  ASSERT_TRUE(
      WriteFileAtomically(from / ("deep/" + long_name), "long", 0640, Durability::kProcess).ok());
  ASSERT_TRUE(WriteFileAtomically(from / "deep/er/big", big, 0755, Durability::kProcess).ok());
  ASSERT_EQ(::symlink("er/big", (from / "deep/link").c_str()), 0);
  const std::string id =
      Create(Config("ls -ln /azureml-run/deep/er; ln /azureml-run/deep/er/big "
                    "/azureml-run/hard; echo made > /azureml-run/new"));
  TarWriter writer(from.path(), "azureml-run/", 12345, 23456);
  auto put = engine_->PutArchive(id, "/", [&] { return writer.Next(); });
  ASSERT_TRUE(put.ok()) << put.error().message;
  auto stream = engine_->Attach(id, false);
  ASSERT_TRUE(stream.ok());
  ASSERT_TRUE(engine_->Start(id).ok());
  const Output output = ReadFrames(*stream);
  EXPECT_EQ(WaitFor(id), 0) << output.err;
  EXPECT_NE(output.out.find("12345"), std::string::npos) << output.out;
  EXPECT_NE(output.out.find("23456"), std::string::npos) << output.out;

  TarExtractor extractor(to.path(), 1);
  auto got = engine_->GetArchive(id, "/azureml-run",
                                 [&](std::string_view piece) { return extractor.Feed(piece); });
  ASSERT_TRUE(got.ok()) << got.error().message;
  auto finished = extractor.Finish();
  ASSERT_TRUE(finished.ok()) << finished.error().message;
  EXPECT_EQ(*ReadFile(to / ("deep/" + long_name)), "long");
  EXPECT_EQ(*ReadFile(to / "deep/er/big"), big);
  EXPECT_EQ(*ReadFile(to / "hard"), big);
  EXPECT_EQ(*ReadFile(to / "new"), "made\n");
  EXPECT_EQ(*ReadLink(to / "deep/link"), "er/big");

  const auto ignore = [](std::string_view) { return Status(); };
  EXPECT_EQ(engine_->GetArchive(id, "/absent", ignore).error().kind, ErrorKind::kNotFound);
  TarWriter again(from.path(), "", 0, 0);
  auto nowhere = engine_->PutArchive(id, "/absent/folder", [&] { return again.Next(); });
  // Podman makes the folder.
  if (engine_->version().name == "Docker") {
    ASSERT_FALSE(nowhere.ok());
    EXPECT_EQ(nowhere.error().kind, ErrorKind::kNotFound) << nowhere.error().message;
  }
}

TEST_F(RealEngineTest, AnImageIsMadeOfAContainer) {
  const std::string id = Create(Config("echo inside > /made"));
  ASSERT_TRUE(engine_->Start(id).ok());
  ASSERT_EQ(WaitFor(id), 0);
  json::Object config;
  config["Labels"] = json::Object{{"tenon.test.image", json::Value(mark_)}, {"said", "a \"b\" $c"}};
  config["Env"] = json::Array{"TENON_TEST=x y"};
  config["Cmd"] = json::Array{"/bin/sh", "-c", "cat /made"};
  auto image = engine_->Commit(id, "tenon-test/made", mark_, "a test", config);
  ASSERT_TRUE(image.ok()) << image.error().message;
  auto found = engine_->FindImage("tenon-test/made:" + mark_);
  ASSERT_TRUE(found.ok() && found->has_value());
  EXPECT_EQ((*found)->id, *image);
  EXPECT_EQ((*found)->tags, std::vector<std::string>{"tenon-test/made:" + mark_});
  const auto has = [](const auto& pairs, const std::string& key, const std::string& value) {
    return std::find(pairs.begin(), pairs.end(), std::pair(key, value)) != pairs.end();
  };
  EXPECT_TRUE(has((*found)->labels, "said", "a \"b\" $c"));
  EXPECT_TRUE(has((*found)->env, "TENON_TEST", "x y"));
  auto list = engine_->ListImages("tenon.test.image=" + mark_);
  ASSERT_TRUE(list.ok());
  ASSERT_EQ(list->size(), 1u);
  EXPECT_EQ(list->front().id, *image);
  EXPECT_TRUE(engine_->RemoveImage("tenon-test/made:" + mark_).ok());
  EXPECT_TRUE(engine_->RemoveImage("tenon-test/made:" + mark_).ok());
  EXPECT_FALSE((*engine_->FindImage("tenon-test/made:" + mark_)).has_value());
}

TEST_F(RealEngineTest, ACommandInALiveContainer) {
  const std::string id = Create(Config("while :; do sleep 1; done"));
  ASSERT_TRUE(engine_->Start(id).ok());
  json::Object config;
  config["Cmd"] = json::Array{"/bin/sh", "-c", "echo in; echo err >&2; exit 5"};
  config["AttachStdout"] = true;
  config["AttachStderr"] = true;
  auto exec = engine_->CreateExec(id, config);
  ASSERT_TRUE(exec.ok()) << exec.error().message;
  auto stream = engine_->StartExec(*exec, false);
  ASSERT_TRUE(stream.ok()) << stream.error().message;
  const Output output = ReadFrames(*stream);
  EXPECT_EQ(output.out, "in\n");
  EXPECT_EQ(output.err, "err\n");
  auto code = engine_->ExecExitCode(*exec);
  ASSERT_TRUE(code.ok()) << code.error().message;
  EXPECT_EQ(*code, 5);
}

TEST_F(RealEngineTest, AnImageNobodyHasCanNotBePulled) {
  auto status = engine_->Pull("127.0.0.1:1/tenon-test:" + mark_, nullptr, nullptr);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().kind, ErrorKind::kUnavailable) << status.error().message;
}

}  // namespace
}  // namespace tenon::docker
