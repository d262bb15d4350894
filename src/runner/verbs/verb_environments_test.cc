// SPDX-License-Identifier: Apache-2.0
#include "runner/verbs/verb_environments.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <set>

#include "base/temp_folder.h"
#include "docker/fake_engine.h"
#include "journal/writer.h"
#include "runner/environment/environments.h"
#include "runner/verbs/request.h"
#include "runner/verbs/verb_sweep.h"

namespace tenon::runner {
namespace {

using docker::FakeAnswer;
using docker::FakeEngine;
using docker::FakeRequest;

const std::string kKey(32, 'a');
const std::string kOther(32, 'b');

// A home with runs and environments, and an engine that has images and containers.
class KeptThings : public testing::Test {
 protected:
  KeptThings() : engine_([this](const FakeRequest& request) { return Serve(request); }) {}

  FakeAnswer Serve(const FakeRequest& request) {
    const std::lock_guard lock(mutex_);
    if (request.path == "/containers/json") return FakeEngine::Json(Containers(request));
    if (request.path == "/images/json") return FakeEngine::Json(Images(request));
    const bool image = request.path.starts_with("/images/");
    if (!image && !request.path.starts_with("/containers/")) return {.status = 0};
    std::string name = request.path.substr(image ? 8 : 12);
    if (name.ends_with("/json")) name.resize(name.size() - 5);
    if (image && request.method == "DELETE" && images_.contains(name)) {
      if (refuse_) return FakeEngine::Failure(409, "image is being used by a container");
      images_.erase(name);
      return FakeEngine::Json("[]");
    }
    if (!image && request.method == "DELETE" && containers_.erase(name) > 0) {
      return {.status = 204};
    }
    return {.status = 0};
  }

  std::string Images(const FakeRequest& request) {
    json::Array list;
    for (const auto& [name, home] : images_) {
      const bool untagged = name.starts_with("sha256:");
      const std::string key = untagged ? kKey : name.substr(name.rfind(':') + 1);
      if (request.query.at("filters").find("tenon.key=" + key) == std::string::npos) continue;
      json::Array tags;
      if (!untagged) tags.push_back(json::Value(name));
      list.push_back(
          json::Object{{"Id", untagged ? name : "sha256:" + name},
                       {"RepoTags", std::move(tags)},
                       {"Labels", json::Object{{"tenon.home", home}, {"tenon.key", key}}}});
    }
    return json::Print(list);
  }

  // Lists only containers with the label that was asked for, as an engine does.
  std::string Containers(const FakeRequest& request) {
    EXPECT_NE(request.query.at("filters").find("tenon.home=" + home_.path()), std::string::npos);
    json::Array list;
    for (const auto& [id, labels] : containers_) {
      json::Object object{{"Id", id}, {"Names", json::Array{"/" + id}}, {"State", "running"}};
      json::Object names{{"tenon.home", home_.path()}};
      for (const auto& [label, value] : labels) names[label] = value;
      object["Labels"] = std::move(names);
      list.push_back(std::move(object));
    }
    return json::Print(list);
  }

  void Made(const std::string& key, const std::string& socket) {
    EnvironmentRecord record;
    record.ready.key = key;
    record.ready.kind = socket.empty() ? "folder" : "image";
    record.ready.name = socket.empty() ? environments_.prefix(key) : "tenon/env:" + key;
    record.ready.bytes = 1000;
    record.socket = socket;
    record.created_us = 5;
    ASSERT_TRUE(environments_.Save(record).ok());
    const std::lock_guard lock(mutex_);
    if (!socket.empty()) images_[record.ready.name] = home_.path();
  }

  // Makes the run's segment. The run goes on as long as the caller has the writer.
  Result<journal::Writer> Run(const std::string& id, const std::string& key = "") {
    const run::RunFolder folder{run::Home(home_.path()), id};
    EXPECT_TRUE(MakeDirs(folder.path()).ok());
    if (!key.empty()) {
      EXPECT_TRUE(environments_.MarkUsed(key, id).ok());
    }
    auto writer =
        journal::Writer::Open({folder.host_segment(), NewUuid(), "host", &SystemClock(), false});
    if (writer.ok()) {
      EXPECT_TRUE(writer->Append(run::RunnerStarted{}).ok());
    }
    return writer;
  }
  void EndedRun(const std::string& id, const std::string& key = "") {
    auto writer = Run(id, key);
    ASSERT_TRUE(writer.ok());
    ASSERT_TRUE(writer->AppendLast(run::End{}).ok());
  }

  json::Object Remove(std::vector<std::string> keys, bool dry_run = false) {
    auto answer = AnswerEnvironments(home_.path(), {std::move(keys), dry_run});
    EXPECT_TRUE(answer.ok());
    return answer.ok() ? run::ToJsonObject(*answer) : json::Object();
  }
  json::Object Swept(std::vector<std::string> runs, bool all = false, bool dry_run = false) {
    auto answer = Sweep(home_.path(), {std::move(runs), all, dry_run});
    EXPECT_TRUE(answer.ok());
    return answer.ok() ? run::ToJsonObject(*answer) : json::Object();
  }
  static std::vector<std::string> Texts(const json::Object& answer, const char* member) {
    std::vector<std::string> texts;
    for (const json::Value& value : *json::GetArray(answer, member)) {
      texts.push_back(value.is_string() ? std::string(value.get_string())
                                        : json::GetString(value.get_object(), "name") + ": " +
                                              json::GetString(value.get_object(), "why"));
    }
    std::sort(texts.begin(), texts.end());
    return texts;
  }
  bool HasImage(const std::string& key) {
    const std::lock_guard lock(mutex_);
    return images_.contains("tenon/env:" + key);
  }
  std::set<std::string> ContainerNames() {
    const std::lock_guard lock(mutex_);
    std::set<std::string> names;
    for (const auto& [name, labels] : containers_) names.insert(name);
    return names;
  }

  TempFolder home_;
  Environments environments_{home_.path()};
  std::mutex mutex_;                           // guards what the engine has
  std::map<std::string, std::string> images_;  // home by name, or by id for an image without a name
  std::map<std::string, std::map<std::string, std::string>> containers_;
  bool refuse_ = false;
  FakeEngine engine_;
};

using Strings = std::vector<std::string>;

TEST_F(KeptThings, AnEnvironmentIsListedWithItsRunsAndRemovedWithItsImage) {
  Made(kKey, engine_.socket());
  Made(kOther, "");
  ASSERT_TRUE(MakeDirs(environments_.prefix(kOther) + "/bin").ok());
  EndedRun("proj_1", kKey);
  json::Object answer = Remove({});
  ASSERT_EQ(json::GetArray(answer, "environments")->size(), 2u);
  auto listed =
      ListedEnvironment::FromJson(json::GetArray(answer, "environments")->front().get_object());
  ASSERT_TRUE(listed.ok());
  EXPECT_EQ(listed->record.ready.key, kKey);
  EXPECT_EQ(listed->runs, Strings{"proj_1"});
  EXPECT_FALSE(listed->in_use);
  EXPECT_GT(listed->last_used_us, 5);

  answer = Remove({kKey, kOther}, /*dry_run=*/true);
  EXPECT_EQ(Texts(answer, "removed"), (Strings{kKey, kOther}));
  EXPECT_EQ(answer["bytes_freed"].to_number<int>(), 2000);
  EXPECT_TRUE(HasImage(kKey));
  EXPECT_EQ(json::GetArray(answer, "environments")->size(), 2u);

  answer = Remove({kKey, kOther});
  EXPECT_EQ(Texts(answer, "removed"), (Strings{kKey, kOther}));
  EXPECT_TRUE(json::GetArray(answer, "environments")->empty());
  EXPECT_FALSE(HasImage(kKey));
  EXPECT_FALSE(Exists(environments_.folder(kOther)));
  EXPECT_EQ(Texts(Remove({kKey}), "removed"), Strings{kKey}) << "a repeat answers alike";
}

TEST_F(KeptThings, WhatALiveRunUsesIsKept) {
  Made(kKey, engine_.socket());
  {
    auto live = Run("proj_1", kKey);
    ASSERT_TRUE(live.ok());
    EXPECT_EQ(Texts(Remove({kKey}), "kept"), Strings{kKey + ": a run that goes on uses it"});
    EXPECT_TRUE(HasImage(kKey));
    EXPECT_EQ(json::GetArray(Remove({}), "environments")->size(), 1u);
    ASSERT_TRUE(live->AppendLast(run::End{}).ok());
  }
  EXPECT_EQ(Texts(Remove({kKey}), "removed"), Strings{kKey});
}

TEST_F(KeptThings, WhatIsBeingMadeAnewIsKept) {
  Made(kKey, engine_.socket());
  auto lock = FileLock::Take(environments_.folder(kKey) + ".lock", false);
  ASSERT_TRUE(lock.ok());
  EXPECT_EQ(Texts(Remove({kKey}), "kept"), Strings{kKey + ": it is being made anew"});
  EXPECT_TRUE(HasImage(kKey));
}

TEST_F(KeptThings, AnEngineThatIsAwayOrRefusesLeavesTheRecord) {
  Made(kKey, engine_.socket());
  refuse_ = true;
  auto kept = Texts(Remove({kKey}), "kept");
  ASSERT_EQ(kept.size(), 1u);
  EXPECT_NE(kept[0].find("being used by a container"), std::string::npos) << kept[0];
  EXPECT_EQ(json::GetArray(Remove({}), "environments")->size(), 1u);
  engine_.Stop();
  kept = Texts(Remove({kKey}), "kept");
  ASSERT_EQ(kept.size(), 1u);
  EXPECT_NE(kept[0].find(engine_.socket()), std::string::npos) << kept[0];
  EXPECT_EQ(json::GetArray(Remove({}), "environments")->size(), 1u);
}

TEST_F(KeptThings, AnImageThatAnotherHomeHasMadeSinceIsLeftToIt) {
  Made(kKey, engine_.socket());
  images_["tenon/env:" + kKey] = "/home/other/.tenon";
  EXPECT_EQ(Texts(Remove({kKey}), "removed"), Strings{kKey});
  EXPECT_TRUE(HasImage(kKey));
}

TEST_F(KeptThings, OlderImagesWithoutANameGoToo) {
  Made(kKey, engine_.socket());
  images_["sha256:old"] = home_.path();
  images_["sha256:not-ours"] = "/home/other/.tenon";
  images_["mine/derived:" + kKey] = home_.path();
  EXPECT_EQ(Texts(Remove({kKey}), "removed"), Strings{kKey});
  EXPECT_EQ(images_.size(), 2u);
  EXPECT_TRUE(images_.contains("sha256:not-ours") && images_.contains("mine/derived:" + kKey));
}

TEST_F(KeptThings, WhatAKilledRemovalOrBuildHasLeftIsTidiedUp) {
  Made(kKey, engine_.socket());
  ASSERT_TRUE(environments_.SetAside(kKey).ok());
  ASSERT_TRUE(MakeDirs(environments_.prefix(kOther)).ok());
  const std::string building(32, 'c');
  ASSERT_TRUE(MakeDirs(environments_.prefix(building)).ok());
  auto lock = FileLock::Take(environments_.folder(building) + ".lock", false);
  ASSERT_TRUE(lock.ok());
  EXPECT_TRUE(json::GetArray(Remove({}), "environments")->empty());
  Remove({std::string(32, 'd')});
  EXPECT_EQ(json::GetArray(Remove({}), "environments")->size(), 1u);
  EXPECT_FALSE(Exists(environments_.folder(kOther)));
  EXPECT_TRUE(Exists(environments_.prefix(building)));
}

TEST(EnvironmentsRequestTest, AKeyThatIsAPathIsRefused) {
  EXPECT_FALSE(
      ParseRequest<run::EnvironmentsRequest>(R"({"protocol":1,"home":"/h","remove":["../runs"]})")
          .ok());
  EXPECT_FALSE(ParseRequest<run::EnvironmentsRequest>(R"({"protocol":1,"home":"h"})").ok());
  EXPECT_FALSE(
      ParseRequest<run::EnvironmentsRequest>(R"({"protocol":1,"home":"/h","remove":"all"})").ok());
  EXPECT_TRUE(ParseRequest<run::EnvironmentsRequest>(R"({"protocol":1,"home":"/h"})").ok());
}

TEST_F(KeptThings, ContainersOfRunsThatAreOverAreSweptAndOthersAreNot) {
  Made(kKey, engine_.socket());  // so that the engine is known
  EndedRun("proj_1");
  EndedRun("proj_2");
  auto live = Run("proj_3");
  ASSERT_TRUE(live.ok());
  containers_ = {{"over", {{"tenon.kind", "run"}, {"tenon.run", "proj_1"}}},
                 {"not-meant", {{"tenon.kind", "run"}, {"tenon.run", "proj_2"}}},
                 {"live", {{"tenon.kind", "run"}, {"tenon.run", "proj_3"}}},
                 {"of-a-deleted-run", {{"tenon.kind", "run"}, {"tenon.run", "proj_9"}}},
                 {"strange", {{"tenon.run", "proj_1"}}}};
  const Strings runs = {"proj_1", "proj_3"};
  json::Object answer = Swept(runs, false, /*dry_run=*/true);
  EXPECT_EQ(Texts(answer, "removed"), (Strings{"of-a-deleted-run", "over"}));
  EXPECT_EQ(ContainerNames().size(), 5u);
  answer = Swept(runs);
  EXPECT_EQ(Texts(answer, "removed"), (Strings{"of-a-deleted-run", "over"}));
  EXPECT_EQ(Texts(answer, "kept"), Strings{"live: its run goes on"});
  EXPECT_EQ(ContainerNames(), (std::set<std::string>{"live", "not-meant", "strange"}));
  Swept({}, /*all=*/true);
  EXPECT_EQ(ContainerNames(), (std::set<std::string>{"live", "strange"}));
}

TEST_F(KeptThings, ABuildThatSomebodyWatchesIsNotSwept) {
  Made(kKey, engine_.socket());
  EndedRun("proj_1");
  containers_ = {
      {"build", {{"tenon.kind", "build"}, {"tenon.run", "proj_1"}, {"tenon.key", kOther}}}};
  {
    auto lock = FileLock::Take(environments_.folder(kOther) + ".lock", false);
    ASSERT_TRUE(lock.ok());
    EXPECT_EQ(Texts(Swept({"proj_1"}), "kept"),
              Strings{"build: an environment is being made in it"});
  }
  EXPECT_EQ(Texts(Swept({"proj_1"}), "removed"), Strings{"build"});
  EXPECT_TRUE(ContainerNames().empty());
}

TEST_F(KeptThings, AnEngineThatOnlyARunKnowsIsSwept) {
  const run::RunFolder folder{run::Home(home_.path()), "proj_1"};
  {
    auto writer = Run("proj_1");
    ASSERT_TRUE(writer.ok());
    ASSERT_TRUE(
        writer->Append(run::ContainerMade{"id", "left", "bb:1", "Docker", engine_.socket()}).ok());
    ASSERT_TRUE(writer->AppendLast(run::End{}).ok());
  }
  ASSERT_TRUE(WriteFileAtomically(folder.script_segment(), "", 0644, Durability::kProcess).ok());
  containers_ = {{"left", {{"tenon.kind", "run"}, {"tenon.run", "proj_1"}}}};
  EXPECT_EQ(Texts(Swept({"proj_1"}), "removed"), Strings{"left"});
  engine_.Stop();
  const auto kept = Texts(Swept({"proj_1"}), "kept");
  ASSERT_EQ(kept.size(), 1u);
  EXPECT_NE(kept[0].find(engine_.socket()), std::string::npos);
}

TEST_F(KeptThings, AnEngineThatOnlyTheMarkOfARunNamesIsAskedAndThenForgotten) {
  EndedRun("proj_1");
  const std::string mark = run::RunFolder(run::Home(home_.path()), "proj_1").engine_mark();
  ASSERT_TRUE(WriteFileAtomically(mark, engine_.socket(), 0600, Durability::kProcess).ok());
  containers_["c"] = {{"tenon.kind", "run"}, {"tenon.run", "proj_1"}};
  EXPECT_EQ(Texts(Swept({"proj_1"}, false, /*dry_run=*/true), "removed"), Strings{"c"});
  EXPECT_TRUE(Exists(mark));
  EXPECT_EQ(Texts(Swept({"proj_1"}), "removed"), Strings{"c"});
  EXPECT_FALSE(Exists(mark));
}

TEST_F(KeptThings, AContainerWithTheOnlyCopyOfOutputsIsKept) {
  auto writer = Run("proj_1");
  ASSERT_TRUE(writer.ok());
  run::End end;
  end.outputs_left = true;
  ASSERT_TRUE(writer->AppendLast(end).ok());
  const std::string mark = run::RunFolder(run::Home(home_.path()), "proj_1").engine_mark();
  ASSERT_TRUE(WriteFileAtomically(mark, engine_.socket(), 0600, Durability::kProcess).ok());
  containers_["c"] = {{"tenon.kind", "run"}, {"tenon.run", "proj_1"}};
  const json::Object answer = Swept({"proj_1"});
  EXPECT_TRUE(Texts(answer, "removed").empty());
  EXPECT_NE(Texts(answer, "kept").at(0).find("runs collect proj_1"), std::string::npos);
  EXPECT_TRUE(Exists(mark));
  EXPECT_EQ(ContainerNames(), std::set<std::string>{"c"});
}

}  // namespace
}  // namespace tenon::runner
