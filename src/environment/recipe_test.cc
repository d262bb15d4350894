// SPDX-License-Identifier: Apache-2.0
#include "environment/recipe.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/text.h"

namespace tenon::environment {
namespace {

class RecipeTest : public testing::Test {
 protected:
  RecipeTest() {
    packages_.file = "c.yml";
    packages_.format = "conda";
    packages_.pip = {{"six==1.16", "six", "c.yml:5"}};
    found_.interpreters = {{"/usr/bin/python3", "3.11.2", true, true, true},
                           {"/opt/python3.6", "3.6.15", true, true, true}};
    found_.uv = "/tools/uv";
    places_ = {"/p", "", "/cache", "/scratch", "/project", ""};
  }

  Recipe Good() {
    auto recipe = MakeRecipe(packages_, found_, places_);
    EXPECT_TRUE(recipe.ok()) << (recipe.ok() ? "" : recipe.error().message);
    return recipe.ok() ? *recipe : Recipe();
  }
  Error Bad() {
    auto recipe = MakeRecipe(packages_, found_, places_);
    EXPECT_FALSE(recipe.ok());
    return recipe.ok() ? Error() : recipe.error();
  }
  static std::string Command(const RecipeStep& step) { return Join(step.argv, " "); }
  static std::string File(const RecipeStep& step) {
    return step.files.empty() ? "" : step.files[0].second;
  }
  void AskForConda() {
    packages_.conda = {{"numpy=1.12", "numpy", "c.yml:3", "numpy"},
                       {"pytorch", "pytorch", "c.yml:4", "torch"}};
  }

  run::Packages packages_;
  Found found_;
  Places places_;
};

TEST_F(RecipeTest, PipLinesAloneNeedNoConda) {
  Recipe recipe = Good();
  ASSERT_EQ(recipe.steps.size(), 3u);
  EXPECT_EQ(Command(recipe.steps[0]), "/tools/uv venv --python /usr/bin/python3 /p");
  EXPECT_EQ(Command(recipe.steps[1]),
            "/tools/uv pip install --python /p/bin/python -r /scratch/requirements.txt");
  EXPECT_EQ(File(recipe.steps[1]), "six==1.16\n");
  EXPECT_EQ(recipe.steps[1].env["UV_LINK_MODE"], "copy");
  EXPECT_EQ(recipe.steps[1].env["UV_CACHE_DIR"], "/cache/uv");
  EXPECT_EQ(recipe.steps[0].env["UV_PYTHON_DOWNLOADS"], "never");
  EXPECT_EQ(recipe.python, "/p/bin/python");
}

TEST_F(RecipeTest, APythonOfACondaFileHasPipWhereItCanBeHad) {
  packages_.format = "conda";
  packages_.pip_options = {{"--pre", "", ""}, {"--index-url http://i/", "", ""}};
  Recipe recipe = Good();
  ASSERT_EQ(recipe.steps.size(), 3u);
  EXPECT_EQ(Command(recipe.steps[2]),
            "/tools/uv pip install --python /p/bin/python -r /scratch/pip.txt --prerelease allow");
  EXPECT_EQ(File(recipe.steps[2]), "--index-url http://i/\npip\nsetuptools<81\n");
  EXPECT_EQ(recipe.steps[2].if_fails, IfFails::kGoOn);
  EXPECT_EQ(recipe.steps[1].if_fails, IfFails::kStop);
  packages_.pip.clear();
  EXPECT_EQ(Good().steps.size(), 1u) << "no index has been asked for anything";
}

TEST_F(RecipeTest, WithoutUvVenvAndPip) {
  found_.uv = "";
  Recipe recipe = Good();
  ASSERT_EQ(recipe.steps.size(), 2u);
  EXPECT_EQ(Command(recipe.steps[0]), "/usr/bin/python3 -m venv /p");
  EXPECT_TRUE(Command(recipe.steps[1]).starts_with("/p/bin/python -m pip install "));
  EXPECT_EQ(recipe.steps[1].env["PIP_CACHE_DIR"], "/cache/pip");
  // Debian's Python without python3-venv.
  found_.interpreters[0].has_ensurepip = false;
  recipe = Good();
  EXPECT_EQ(Command(recipe.steps[0]), "/usr/bin/python3 -m venv --without-pip /p");
  EXPECT_TRUE(Command(recipe.steps[1])
                  .starts_with("/usr/bin/python3 -m pip --python /p/bin/python install "));
  found_.interpreters[0].has_pip = false;
  EXPECT_NE(Bad().hint.find("python3-venv"), std::string::npos);
}

TEST_F(RecipeTest, OptionsAndPathsReachTheTool) {
  packages_.pip_options = {{"--index-url https://i/simple", "", ""},
                           {"--trusted-host h", "", ""},
                           {"--pre", "", ""},
                           {"--find-links wheels", "", ""},
                           {"-f https://w", "", ""}};
  packages_.pip = {{"./wheels/a.whl", "a", ""},
                   {"b @ https://x/b.whl", "b", ""},
                   {"git+https://g/r", "", ""},
                   {"/azureml-share/m.whl", "", ""},
                   {"wheels/c-1.whl", "c", ""}};
  Recipe recipe = Good();
  EXPECT_EQ(File(recipe.steps[1]),
            "--index-url https://i/simple\n--find-links /project/wheels\n-f https://w\n"
            "/project/wheels/a.whl\nb @ https://x/b.whl\ngit+https://g/r\n"
            "/azureml-share/m.whl\n/project/wheels/c-1.whl\n");
  EXPECT_TRUE(Command(recipe.steps[1]).ends_with("--allow-insecure-host h --prerelease allow"))
      << Command(recipe.steps[1]);
  found_.uv = "";
  EXPECT_NE(File(Good().steps[1]).find("--trusted-host h\n--pre\n"), std::string::npos);
}

TEST_F(RecipeTest, APythonThatIsNotThereIsSoughtInOrder) {
  packages_.python = "=3.12";
  packages_.python_where = "c.yml:2";
  Recipe recipe = Good();
  EXPECT_EQ(recipe.steps[0].if_fails, IfFails::kNoManagedPython);
  EXPECT_EQ(recipe.steps[0].env["UV_PYTHON_DOWNLOADS"], "automatic");
  EXPECT_TRUE(recipe.steps[0].env["UV_PYTHON_INSTALL_DIR"].starts_with("/p/"))
      << "it must travel with the environment";
  found_.no_managed_python = true;
  EXPECT_TRUE(Good().wants_rattler);
  found_.rattler_python = "/r/python";
  recipe = Good();
  ASSERT_EQ(recipe.steps.size(), 2u) << "one prefix, one pip step";
  EXPECT_EQ(recipe.steps[0].tool, Tool::kRattler);
  EXPECT_NE(File(recipe.steps[0]).find("\"python=3.12\""), std::string::npos);
  found_.no_channel = true;
  Error error = Bad();
  EXPECT_EQ(error.kind, ErrorKind::kNotFound);
  EXPECT_TRUE(error.message.starts_with("c.yml:2: python=3.12")) << error.message;
  EXPECT_NE(error.message.find("3.11.2"), std::string::npos) << "what is there";
  EXPECT_NE(error.hint.find("tenon config upgrade"), std::string::npos);
}

TEST_F(RecipeTest, AnOldPythonIsNotAskedOfUvInVain) {
  packages_.python = "=3.5.2";
  EXPECT_TRUE(Good().wants_rattler);
}

TEST_F(RecipeTest, CondaPackagesByTheToolThatIsThere) {
  AskForConda();
  packages_.channels = {"defaults", "nodefaults", "pytorch"};
  found_.conda_tool = "/usr/bin/micromamba";
  Recipe recipe = Good();
  ASSERT_EQ(recipe.steps.size(), 2u);
  EXPECT_EQ(Command(recipe.steps[0]),
            "/usr/bin/micromamba create --yes --prefix /p --override-channels "
            "--channel https://repo.anaconda.com/pkgs/main --channel "
            "https://repo.anaconda.com/pkgs/r --channel pytorch python numpy=1.12 pytorch");
  EXPECT_EQ(recipe.steps[1].name, "pip packages");
  EXPECT_EQ(recipe.steps[0].if_fails, IfFails::kMayBeNoChannel);
  EXPECT_TRUE(recipe.notices.empty());
  // Without uv, the prefix needs pip.
  found_.uv = "";
  EXPECT_TRUE(Command(Good().steps[0]).ends_with(" pip"));
}

TEST_F(RecipeTest, CondaForgeWhenNoChannelIsNamed) {
  EXPECT_EQ(Channels(packages_), std::vector<std::string>{"conda-forge"});
}

TEST_F(RecipeTest, WithoutAChannelPypiStandsInWithOneNotice) {
  AskForConda();
  packages_.conda.push_back({"six=1.0", "six", "c.yml:9", "six"});
  packages_.conda.push_back({"pip", "pip", "c.yml:10"});
  found_.no_channel = true;
  Recipe recipe = Good();
  EXPECT_EQ(File(recipe.steps[1]), "numpy==1.12.*\ntorch\nsix==1.16\n")
      << "a package in both parts is the pip line's";
  ASSERT_EQ(recipe.notices.size(), 1u);
  EXPECT_NE(recipe.notices[0].text.find("numpy==1.12.*, torch"), std::string::npos);
  ASSERT_EQ(recipe.pip.size(), 3u);
  EXPECT_EQ(recipe.pip[1].where, "c.yml:4") << "a failure names the conda line";
  packages_.conda.push_back({"openmpi", "openmpi", "c.yml:11"});
  EXPECT_TRUE(Bad().message.starts_with("c.yml:11: openmpi"));
}

TEST_F(RecipeTest, ANameThatIsNotKnownToBeTheSameProjectIsRefusedWithItsLine) {
  AskForConda();
  packages_.conda.push_back({"jasper=2.0", "jasper", "c.yml:11"});
  packages_.conda.push_back({"tk", "tk", "c.yml:12"});
  found_.no_channel = true;
  const Error error = Bad();
  EXPECT_EQ(error.kind, ErrorKind::kNotFound);
  EXPECT_TRUE(error.message.starts_with("c.yml:11: jasper=2.0 is a conda package"))
      << error.message;
  EXPECT_NE(error.message.find("\nc.yml:12: tk: the same"), std::string::npos) << error.message;
  EXPECT_EQ(error.message.find("numpy"), std::string::npos) << error.message;
  EXPECT_NE(error.hint.find("- pip:"), std::string::npos) << error.hint;
}

TEST_F(RecipeTest, AStagedPrefixIsCopiedAndNothingIsSolvedAgain) {
  AskForConda();
  places_.staged = "/staged";
  found_.interpreters.clear();
  Recipe recipe = Good();
  ASSERT_EQ(recipe.steps.size(), 2u);
  EXPECT_EQ(recipe.steps[0].tool, Tool::kCopy);
  EXPECT_TRUE(Command(recipe.steps[1]).starts_with("/tools/uv pip install --python /p/bin/python"));
}

TEST_F(RecipeTest, StagingSolvesForThePlaceWhereItWillLie) {
  AskForConda();
  places_.final_prefix = "/opt/env";
  found_.rattler_python = "/r/python";
  auto recipe = MakeCondaRecipe(packages_, found_, places_);
  ASSERT_TRUE(recipe.ok());
  ASSERT_EQ(recipe->steps.size(), 1u) << "pip has its turn where the prefix will lie";
  EXPECT_NE(File(recipe->steps[0]).find("\"alternative_prefix\":\"/opt/env\""), std::string::npos);
}

TEST_F(RecipeTest, NoToolForCondaPackagesIsSaidWithTheLine) {
  AskForConda();
  found_.no_rattler = true;
  Error error = Bad();
  EXPECT_EQ(error.kind, ErrorKind::kNotFound);
  EXPECT_TRUE(error.message.starts_with("c.yml:3: conda packages")) << error.message;
}

TEST_F(RecipeTest, ALockFileIsSyncedFromACopy) {
  packages_ = {};
  packages_.format = "uv-lock";
  packages_.file = "sub/pyproject.toml";
  packages_.files = {{"sub/pyproject.toml", "1"}, {"sub/uv.lock", "2"}};
  packages_.python = ">=3.8";
  Recipe recipe = Good();
  ASSERT_EQ(recipe.steps.size(), 1u);
  EXPECT_EQ(Command(recipe.steps[0]),
            "/tools/uv sync --frozen --no-install-project --no-dev --project "
            "/scratch/project/sub --python /usr/bin/python3");
  EXPECT_EQ(recipe.steps[0].env["UV_PROJECT_ENVIRONMENT"], "/p");
  ASSERT_EQ(recipe.steps[0].copies.size(), 2u);
  EXPECT_EQ(recipe.steps[0].copies[1].second, "/scratch/project/sub/uv.lock");
  found_.uv = "";
  EXPECT_EQ(Bad().kind, ErrorKind::kNotFound);
}

TEST_F(RecipeTest, AVersionNobodyUnderstandsNamesItsLine) {
  packages_.python = "=three";
  packages_.python_where = "c.yml:2";
  EXPECT_TRUE(Bad().message.starts_with("c.yml:2: "));
}

}  // namespace
}  // namespace tenon::environment
