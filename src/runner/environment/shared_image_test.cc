// SPDX-License-Identifier: Apache-2.0
#include "runner/environment/shared_image.h"

#include <gtest/gtest.h>

#include <map>
#include <mutex>

#include "docker/fake_engine.h"

namespace tenon::runner {
namespace {

using docker::FakeAnswer;
using docker::FakeEngine;
using docker::FakeRequest;

const std::string kKey(32, 'a');
const std::string kName = "tenon/env:" + kKey;
const std::string kOurs = "/home/ann/.tenon";
const std::string kTheirs = "/home/bob/.tenon";

MadeEnvironment Made() {
  MadeEnvironment made;
  made.python_version = "3.11.7";
  made.installed = {{"numpy", "1.26.4", "pip \"quoted\""}};
  made.bytes = 1000;
  return made;
}

// A fake engine that can name images and remove them by id.
class SharedImageTest : public testing::Test {
 protected:
  SharedImageTest() : fake_([this](const FakeRequest& request) { return Serve(request); }) {
    auto engine = docker::Engine::Connect(fake_.socket());
    EXPECT_TRUE(engine.ok());
    engine_.emplace(std::move(*engine));
  }

  FakeAnswer Serve(const FakeRequest& request) {
    const std::lock_guard lock(mutex_);
    if (!request.path.starts_with("/images/")) return {.status = 0};
    std::string name = request.path.substr(8);
    if (name.ends_with("/tag")) {
      names_[request.query.at("repo") + ":" + request.query.at("tag")] =
          name.substr(0, name.size() - 4);
      return {.status = 201};
    }
    const bool look = name.ends_with("/json");
    if (look) name.resize(name.size() - 5);
    if (names_.contains(name)) name = names_[name];
    if (!images_.contains(name)) return FakeEngine::Failure(404, "no such image");
    if (!look) {
      images_.erase(name);
      return FakeEngine::Json("[]");
    }
    json::Array tags;
    for (const auto& [tag, id] : names_) {
      if (id == name) tags.push_back(json::Value(tag));
    }
    return FakeEngine::Json(json::Print(json::Object{
        {"Id", name}, {"RepoTags", tags}, {"Config", json::Object{{"Labels", images_[name]}}}}));
  }

  void Image(const std::string& id, const std::string& home, bool tells = true) {
    json::Object labels{
        {kLabelKind, "environment"}, {kLabelKey, kKey}, {kLabelHome, json::Value(home)}};
    if (tells) labels[kLabelMade] = MadeLabel(Made());
    images_[id] = std::move(labels);
  }
  Result<std::optional<SharedImage>> Name(const std::string& id, bool anew = false) {
    return NameImage(*engine_, id, kKey, kOurs, anew);
  }

  std::mutex mutex_;
  std::map<std::string, json::Object> images_;
  std::map<std::string, std::string> names_;
  FakeEngine fake_;
  std::optional<docker::Engine> engine_;
};

TEST_F(SharedImageTest, WhatIsInAnImageCanBeReadFromIt) {
  const auto read = ReadMadeLabel(MadeLabel(Made()));
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(json::Print(read->ToJson()), json::Print(Made().ToJson()));
  EXPECT_EQ(MadeLabel(Made()).find('"'), std::string::npos) << "Podman takes no quotes";
  for (const char* label : {"", "zz", "00", "28b52ffd"}) EXPECT_FALSE(ReadMadeLabel(label));
}

TEST_F(SharedImageTest, TheFirstHomeGivesTheName) {
  Image("sha256:1", kOurs);
  const auto theirs = Name("sha256:1");
  ASSERT_TRUE(theirs.ok());
  EXPECT_FALSE(theirs->has_value());
  EXPECT_EQ(names_, (std::map<std::string, std::string>{{kName, "sha256:1"}}));
}

TEST_F(SharedImageTest, AnImageThatAnotherHomeHasNamedMeanwhileIsTakenAndOursGoes) {
  Image("sha256:1", kTheirs);
  names_[kName] = "sha256:1";
  Image("sha256:2", kOurs);
  const auto theirs = Name("sha256:2");
  ASSERT_TRUE(theirs.ok() && theirs->has_value());
  EXPECT_EQ((*theirs)->id, "sha256:1");
  EXPECT_EQ((*theirs)->made.installed.at(0).name, "numpy");
  EXPECT_EQ(names_.at(kName), "sha256:1");
  EXPECT_EQ(names_.at(ImageNameOfHome(kKey, kOurs)), "sha256:1") << "it stays while we use it";
  EXPECT_FALSE(images_.contains("sha256:2"));
}

TEST_F(SharedImageTest, ANameIsNotTakenFromAnImageOfAnotherHome) {
  for (const bool tells : {true, false}) {
    names_.clear();
    Image("sha256:1", kTheirs, tells);
    names_[kName] = "sha256:1";
    Image("sha256:2", kOurs);
    const auto theirs = Name("sha256:2", /*anew=*/tells);
    ASSERT_TRUE(theirs.ok());
    EXPECT_FALSE(theirs->has_value());
    EXPECT_EQ(names_.at(kName), "sha256:1");
    EXPECT_EQ(names_.at(ImageNameOfHome(kKey, kOurs)), "sha256:2");
  }
}

TEST_F(SharedImageTest, OurOwnNameMovesToWhatWeMakeAnew) {
  Image("sha256:1", kOurs);
  names_[kName] = "sha256:1";
  Image("sha256:2", kOurs);
  ASSERT_TRUE(Name("sha256:2", /*anew=*/true).ok());
  EXPECT_EQ(names_.at(kName), "sha256:2");
}

TEST_F(SharedImageTest, AnImageOfThatNameThatIsNoEnvironmentIsNotShared) {
  images_["sha256:1"] = json::Object{{"other", "label"}};
  names_[kName] = "sha256:1";
  const auto found = FindShared(*engine_, kKey);
  ASSERT_TRUE(found.ok());
  EXPECT_FALSE(found->has_value());
}

}  // namespace
}  // namespace tenon::runner
