// SPDX-License-Identifier: Apache-2.0
#include "engine/space/environments.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "base/json.h"
#include "base/temp_folder.h"
#include "engine/run/runs.h"
#include "engine/space/space.h"
#include "journal/writer.h"
#include "launch/fake_launch.h"
#include "transport/local_host.h"

namespace tenon::engine {
namespace {

const std::string kKey = "0123456789abcdef0123456789abcdef";
const std::string kNear = "0123999999abcdef0123456789abcdef";

run::ListedEnvironment Environment(const std::string& key, std::vector<std::string> runs = {},
                                   bool in_use = false) {
  run::ListedEnvironment one;
  one.record.ready.key = key;
  one.record.ready.bytes = 1000;
  one.runs = std::move(runs);
  one.in_use = in_use;
  return one;
}

TEST(FindEnvironmentTest, BeginningsOfKeysAreUnderstoodUnlessSeveralFit) {
  const std::vector<run::ListedEnvironment> list = {Environment(kKey), Environment(kNear)};
  EXPECT_EQ((*FindEnvironment(list, "01234"))->record.ready.key, kKey);
  EXPECT_EQ((*FindEnvironment(list, "01239"))->record.ready.key, kNear);
  EXPECT_EQ((*FindEnvironment(list, "0123999999ABCDEF"))->record.ready.key, kNear);
  const auto several = FindEnvironment(list, "0123");
  ASSERT_FALSE(several.ok());
  EXPECT_EQ(several.error().kind, ErrorKind::kInvalid);
  EXPECT_NE(several.error().message.find("0123456789ab, 0123999999ab"), std::string::npos);
  const auto typo = FindEnvironment(list, "0123456788");
  ASSERT_FALSE(typo.ok());
  EXPECT_EQ(typo.error().kind, ErrorKind::kNotFound);
  EXPECT_NE(typo.error().hint.find("0123456789ab"), std::string::npos) << typo.error().hint;
  EXPECT_FALSE(FindEnvironment(list, "").ok());
  EXPECT_EQ(FindEnvironment({}, "ffff").error().kind, ErrorKind::kNotFound);
}

TEST(DiffPackagesTest, NamesAreComparedAsIndexesDo) {
  const std::vector<run::InstalledPackage> before = {
      {"NumPy", "1.0", "pypi"}, {"ruamel.yaml", "0.17", "pypi"}, {"gone", "3", ""}};
  const std::vector<run::InstalledPackage> after = {
      {"numpy", "1.1", "conda-forge"}, {"ruamel_yaml", "0.17", ""}, {"added", "2", ""}};
  const auto changes = DiffPackages(before, after);
  ASSERT_EQ(changes.size(), 3u);
  EXPECT_EQ(changes[0].name + changes[0].before + ">" + changes[0].after, "added>2");
  EXPECT_EQ(changes[1].name + changes[1].before + ">" + changes[1].after, "gone3>");
  EXPECT_EQ(changes[2].name + changes[2].before + ">" + changes[2].after, "numpy1.0>1.1");
  EXPECT_TRUE(DiffPackages(before, before).empty());
}

TEST(DiffPackagesTest, ANameThatIsInstalledTwiceIsNotComparedWithOneOfTheTwo) {
  const std::vector<run::InstalledPackage> twice = {{"a", "2", "conda"}, {"a", "1", "pypi"}};
  const std::vector<run::InstalledPackage> other_order = {{"a", "1", "pypi"}, {"a", "2", "conda"}};
  EXPECT_TRUE(DiffPackages(twice, other_order).empty());
  const auto changes = DiffPackages(twice, {{"a", "2", "conda"}});
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_EQ(changes[0].before, "1, 2");
}

// A fake launch, whose runs leave a folder as runners do.
class EnvironmentsTest : public testing::Test {
 protected:
  EnvironmentsTest() {
    context_.host = &host_;
    context_.launch = &launch_;
    context_.services = &services_;
    context_.clock = &clock_;
    context_.version = "test";
    EXPECT_TRUE(MakeDirs(project_).ok());
    EXPECT_TRUE(WriteFileAtomically(project_ + "/main.py", "", 0644, Durability::kProcess).ok());
    launch_.on_start = [this](const launch::StartRequest& request) { return Carry(request.spec); };
  }

  Status Carry(const run::RunSpec& spec) {
    const run::RunFolder folder(context_.home, spec.id);
    TENON_TRY_VOID(MakeDirs(folder.work()));
    TENON_TRY_VOID(WriteFileAtomically(folder.spec(),
                                       json::Print(json::Object{{"spec", spec.ToJson()}}), 0644,
                                       Durability::kProcess));
    TENON_TRY(auto writer,
              journal::Writer::Open({folder.host_segment(), spec.key, "host", &clock_, false}));
    run::EnvironmentReady ready;
    ready.key = kKey;
    ready.packages = {{"numpy", "1.0", "pypi"}};
    TENON_TRY_VOID(writer.Append(ready));
    run::End end;
    end.state = run::State::kCompleted;
    end.exit_code = 0;
    TENON_TRY_VOID(writer.Append(end));
    return {};
  }

  std::string Ran(const std::string& project_id, const std::string& target) {
    SubmitRequest request;
    request.folder.root = project_;
    request.spec.project = "proj";
    request.spec.project_id = project_id;
    request.spec.script = "main.py";
    request.spec.target = target;
    request.spec.executor = run::ExecutorKind::kContainer;
    auto id = Submit(context_, std::move(request), silent_);
    EXPECT_TRUE(id.ok());
    if (id.ok()) launch_.SetState(*id, run::State::kCompleted);
    return id.ok() ? *id : "";
  }
  CleanResult Clean(const std::string& project_id, const std::string& target, bool dry_run) {
    CleanOptions options;
    options.project_id = project_id;
    options.target = target;
    options.containers = true;
    options.dry_run = dry_run;
    auto result = CleanTarget(context_, options, silent_);
    EXPECT_TRUE(result.ok());
    return result.ok() ? *result : CleanResult();
  }

  TempFolder temp_;
  std::string project_ = temp_ / "proj";
  FakeClock clock_;
  transport::LocalHost host_;
  launch::FakeLaunch launch_;
  launch::FakeServices services_{launch_};
  Reporter silent_;
  Context context_{run::Home(temp_ / "home")};
};

TEST_F(EnvironmentsTest, LookingMakesNoHome) {
  launch_.FailNext(Internal("nobody was to be asked"));
  auto listed = ListEnvironments(context_);
  ASSERT_TRUE(listed.ok());
  EXPECT_TRUE(listed->empty());
  EXPECT_FALSE(Exists(context_.home.root()));
}

TEST_F(EnvironmentsTest, PreparingRunsNothingAndIsNotListed) {
  SubmitRequest request;
  request.folder.root = project_;
  request.spec.project = "proj";
  request.spec.project_id = "p";
  request.spec.script = "main.py";
  request.spec.arguments = {"--rate", "1"};
  request.spec.target = "docker";
  auto prepared = PrepareEnvironment(context_, std::move(request), nullptr, silent_);
  ASSERT_TRUE(prepared.ok()) << prepared.error().message;
  ASSERT_TRUE(prepared->end && prepared->environment);
  EXPECT_EQ(prepared->environment->key, kKey);
  ASSERT_EQ(launch_.starts.size(), 1u);
  const run::RunSpec& spec = launch_.starts[0].spec;
  EXPECT_TRUE(spec.only_prepare);
  EXPECT_EQ(spec.script, "");
  EXPECT_TRUE(spec.arguments.empty() && spec.parameters.empty());
  EXPECT_EQ(ResolveRun(context_, "p", "last").error().kind, ErrorKind::kNotFound);
  RerunRequest again;
  again.run_id = prepared->run_id;
  EXPECT_FALSE(Rerun(context_, again, silent_).ok());
}

TEST_F(EnvironmentsTest, CleaningTakesWhatThisProjectAloneHasUsed) {
  const std::string ours = Ran("ours", "docker"), elsewhere = Ran("ours", "other");
  const std::string theirs = Ran("theirs", "docker");
  const std::string shared(32, 'b'), live(32, 'c'), of_other_target(32, 'd');
  services_.environments = {
      Environment(kKey, {ours, elsewhere}), Environment(shared, {ours, theirs}),
      Environment(live, {ours}, /*in_use=*/true), Environment(of_other_target, {elsewhere})};
  ASSERT_TRUE(MakeDirs(context_.home.environments()).ok());
  services_.containers = {{"left", ours}, {"not-ours", theirs}};
  CleanResult would = Clean("ours", "docker", /*dry_run=*/true);
  EXPECT_EQ(would.environments, std::vector<std::string>{kKey});
  EXPECT_EQ(services_.environments.size(), 4u);
  EXPECT_EQ(services_.containers.size(), 2u);

  CleanResult result = Clean("ours", "docker", false);
  EXPECT_EQ(result.work_folders, 1u);
  EXPECT_EQ(result.containers, std::vector<std::string>{"left"});
  EXPECT_EQ(result.environments, std::vector<std::string>{kKey});
  ASSERT_EQ(result.kept.size(), 1u);
  EXPECT_EQ(result.kept[0].name, live);
  EXPECT_EQ(services_.environments.size(), 3u);
  EXPECT_EQ(services_.containers.count("not-ours"), 1u);
  EXPECT_GE(result.bytes_freed, 1000u);
}

TEST_F(EnvironmentsTest, ARerunMakesAnewOnlyWhenAskedTo) {
  const std::string first = Ran("ours", "docker");
  RerunRequest request;
  request.run_id = first;
  request.refresh_environment = request.keep_on_fail = true;
  request.gpus = "2";
  auto second = Rerun(context_, request, silent_);
  ASSERT_TRUE(second.ok());
  const run::RunSpec spec = launch_.starts.back().spec;
  EXPECT_TRUE(spec.refresh_environment && spec.keep_on_fail && spec.container.gpus_from_option);
  EXPECT_EQ(spec.container.gpus, "2");
  request = {};
  request.run_id = *second;
  ASSERT_TRUE(Rerun(context_, request, silent_).ok());
  EXPECT_FALSE(launch_.starts.back().spec.refresh_environment);
  EXPECT_EQ(launch_.starts.back().spec.container.gpus, "2");
}

}  // namespace
}  // namespace tenon::engine
