// SPDX-License-Identifier: Apache-2.0
// Solves and installs real conda packages with py-rattler, from a channel that the test makes.
#include <gtest/gtest.h>

#include "base/source_tree.h"
#include "runner/environment/environment_job.h"
#include "runner/environment/tools.h"

namespace tenon::runner {
namespace {

// Adds a package that knows its prefix to the channel of the end-to-end tests.
constexpr const char* kMakeChannel = R"PY(
import hashlib, json, pathlib, sys
sys.path.insert(0, sys.argv[1])
sys.dont_write_bytecode = True
import channel
made = channel.Channel(pathlib.Path(sys.argv[2]))
made.add_python("%d.%d.%d" % sys.version_info[:3])
made.add_module("tenon-lab", "1.0")
made.add_module("tenon-lab", "2.0")
made.add_module("tenon-old", "1.0", depends=["python", "tenon-lab <2"])
made.add("tenon-native", "1.0", "linux-64", {})
prefix = "/opt/" + "placeholder_" * 20
text = prefix + "\n"
index = made._index["linux-64"]["tenon-native-1.0-0.tar.bz2"]
path = {"_path": "share/tenon-native/where", "path_type": "hardlink", "file_mode": "text",
        "prefix_placeholder": prefix, "size_in_bytes": len(text),
        "sha256": hashlib.sha256(text.encode()).hexdigest()}
data = channel._package({"info/index.json": json.dumps(index), "info/files": path["_path"] + "\n",
                         "info/paths.json": json.dumps({"paths": [path], "paths_version": 1}),
                         path["_path"]: text}, {})
(made.folder / "linux-64" / "tenon-native-1.0-0.tar.bz2").write_bytes(data)
index.update(md5=hashlib.md5(data).hexdigest(), sha256=hashlib.sha256(data).hexdigest(),
             size=len(data))
made.write()
print(made.url)
)PY";

class StageCondaTest : public EnvironmentJobTest {
 protected:
  StageCondaTest() {
    // Hides this machine's micromamba, mamba and conda, because these tests are about py-rattler.
    std::vector<std::string> path;
    for (const std::string& folder : Split(job_.environment["PATH"], ':')) {
      if (FindCondaTool({{"PATH", folder}}).empty()) path.push_back(folder);
    }
    job_.environment["PATH"] = Join(path, ":");
    job_.packages.channels = {SharedChannel()};
    job_.packages.conda = {{"tenon-lab=1.0", "tenon-lab", "aml_config/c.yml:5"},
                           {"tenon-native", "tenon-native", "aml_config/c.yml:6"}};
  }

  // "" when it could not be made.
  static const std::string& SharedChannel() {
    static TempFolder folder;
    static std::string channel = [] {
      auto made = RunAndCapture(
          {"/usr/bin/python3", "-c", kMakeChannel, SourcePath("tests/hosts"), folder / "channel"},
          "/");
      return made.ok() ? std::string(Trim(made->out)) : "";
    }();
    return channel;
  }

  void NeedRattler() {
    if (SharedChannel().empty()) GTEST_SKIP() << "no /usr/bin/python3 to make a channel with";
    static std::atomic<bool> never = false;
    static TempFolder scratch;
    static Result<std::string> rattler = EnsureRattler({SharedTools(), job_.environment, {}, never},
                                                       SharedUv().ok() ? Uv() : "", scratch.path());
    if (!rattler.ok()) GTEST_SKIP() << rattler.error().message;
  }

  std::string Text(const std::string& path) {
    return std::string(Trim(ReadFile(path).value_or("not there")));
  }
};

#define NEED_RATTLER() \
  NeedRattler();       \
  if (IsSkipped()) return

TEST_F(StageCondaTest, CondaAndPipPackagesLieInOnePrefix) {
  NEED_RATTLER();
  AddWheel("tenon-demo", "1.2", "aml_config/c.yml:9");
  auto made = Make();
  ASSERT_TRUE(made.ok()) << made.error().message;
  EXPECT_EQ(VersionOf(*made, "tenon-lab"), "1.0");
  EXPECT_EQ(VersionOf(*made, "tenon-native"), "1.0");
  EXPECT_EQ(VersionOf(*made, "tenon-demo"), "1.2");
  EXPECT_EQ(VersionOf(*made, "python"), made->python_version);
  EXPECT_EQ(Ask(*made, "import sys, tenon_lab, tenon_demo; print(sys.prefix)"), job_.prefix);
  EXPECT_EQ(Text(job_.prefix + "/share/tenon-native/where"), job_.prefix);
  for (const run::InstalledPackage& package : made->installed) {
    if (package.name != "tenon-lab") continue;
    EXPECT_NE(package.source.find("channel"), std::string::npos) << package.source;
  }
  EXPECT_TRUE(made->notices.empty());
}

TEST_F(StageCondaTest, AStagedPrefixKnowsWhereItWillLie) {
  NEED_RATTLER();
  EnvironmentJob staging = job_;
  staging.prefix = folder_ / "staged";
  Status staged = StageConda(staging, job_.prefix, reporter_, stop_);
  ASSERT_TRUE(staged.ok()) << staged.error().message;
  EXPECT_EQ(Text(staging.prefix + "/share/tenon-native/where"), job_.prefix);

  // The second machine has no channel and no py-rattler.
  job_.staged = staging.prefix;
  job_.packages.channels = {"file:///nonexistent"};
  AddWheel("tenon-demo", "1.2", "aml_config/c.yml:9");
  auto made = Make();
  ASSERT_TRUE(made.ok()) << made.error().message;
  EXPECT_EQ(VersionOf(*made, "tenon-lab"), "1.0");
  EXPECT_EQ(VersionOf(*made, "tenon-demo"), "1.2");
  EXPECT_EQ(Ask(*made, "import sys, tenon_lab, tenon_demo; print(sys.prefix)"), job_.prefix);
  EXPECT_TRUE(Exists(staging.prefix)) << "a second build needs it again";
}

TEST_F(StageCondaTest, AConflictShowsTheSolversWordsAndTheLine) {
  NEED_RATTLER();
  job_.packages.conda = {{"tenon-lab=2.0", "tenon-lab", "aml_config/c.yml:5"},
                         {"tenon-old", "tenon-old", "aml_config/c.yml:6"}};
  auto made = Make();
  ASSERT_FALSE(made.ok());
  const std::string& message = made.error().message;
  EXPECT_TRUE(message.starts_with("aml_config/c.yml:")) << message;
  EXPECT_NE(message.find("tenon-old"), std::string::npos) << message;
  EXPECT_NE(message.find("tenon-lab <2"), std::string::npos) << message;
  EXPECT_NE(message.find("cannot be installed because"), std::string::npos) << message;
  EXPECT_EQ(made.error().kind, ErrorKind::kInvalid);
  EXPECT_FALSE(Exists(job_.prefix));
}

TEST_F(StageCondaTest, APackageNoChannelHasIsAnErrorNotAPackageFromElsewhere) {
  NEED_RATTLER();
  job_.packages.conda = {{"six", "six", "aml_config/c.yml:5", "six"}};
  auto made = Make();
  ASSERT_FALSE(made.ok()) << "six came from PyPI although the channel answered";
  EXPECT_TRUE(made.error().message.starts_with("aml_config/c.yml:5: six could not be installed"))
      << made.error().message;
}

TEST_F(StageCondaTest, WithoutAnyChannelPypiStandsInAndSaysSo) {
  NEED_RATTLER();
  job_.packages.channels = {"http://127.0.0.1:9/channel"};
  job_.packages.conda = {{"six=1.16", "six", "aml_config/c.yml:5", "six"}};
  auto made = Make();
  ASSERT_TRUE(made.ok()) << made.error().message;
  EXPECT_EQ(VersionOf(*made, "six"), "1.16.0");
  ASSERT_EQ(made->notices.size(), 1u);
  EXPECT_NE(made->notices[0].text.find("six==1.16.*"), std::string::npos) << made->notices[0].text;

  job_.packages.conda = {{"openmpi", "openmpi", "aml_config/c.yml:8"}};
  auto impossible = Make();
  ASSERT_FALSE(impossible.ok());
  EXPECT_TRUE(impossible.error().message.starts_with("aml_config/c.yml:8: openmpi"))
      << impossible.error().message;
  EXPECT_NE(impossible.error().message.find("127.0.0.1:9"), std::string::npos)
      << "which channel: " << impossible.error().message;
}

TEST_F(StageCondaTest, StagingWithoutAnyChannelSaysThatAndNothingElse) {
  NEED_RATTLER();
  job_.packages.channels = {"http://127.0.0.1:9/channel"};
  Status staged = StageConda(job_, "/opt/env", reporter_, stop_);
  ASSERT_FALSE(staged.ok());
  EXPECT_EQ(staged.error().kind, ErrorKind::kUnavailable);
  EXPECT_TRUE(staged.error().message.starts_with("no conda channel could be reached"))
      << staged.error().message;
  EXPECT_EQ(staged.error().reason, kNoChannel);
  EXPECT_FALSE(Exists(job_.prefix));
}

TEST_F(StageCondaTest, APythonThatIsNowhereHereIsAskedOfTheChannel) {
  NEED_RATTLER();
  // Too old for uv to fetch, so that only the channel is left.
  job_.packages.conda.clear();
  job_.packages.python = "=3.4";
  job_.packages.python_where = "aml_config/c.yml:3";
  auto made = Make();
  ASSERT_FALSE(made.ok());
  EXPECT_TRUE(made.error().message.starts_with("aml_config/c.yml:3: python=3.4"))
      << made.error().message;
  EXPECT_NE(made.error().message.find("No candidates were found for python"), std::string::npos)
      << "the channel was not asked: " << made.error().message;
}

}  // namespace
}  // namespace tenon::runner
