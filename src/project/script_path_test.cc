// SPDX-License-Identifier: Apache-2.0
#include "project/script_path.h"

#include <sys/stat.h>
#include <unistd.h>

#include "project/temp_project.h"

namespace tenon::project {
namespace {

class ScriptTest : public TempProject {
 protected:
  void SetUp() override {
    TempProject::SetUp();
    WriteLocal();
    Write("code/sub/score.py", "");
  }
  std::string Find(const std::string& cwd, const std::string& typed) {
    const Result<std::string> found = FileInProject(root_, cwd, typed, "the script");
    return found.ok() ? *found : Complaint(found.error());
  }
};

TEST_F(ScriptTest, PathsStartWhereTheUserStands) {
  EXPECT_EQ(Find(root_, "train.py"), "train.py");
  EXPECT_EQ(Find(root_, "./train.py"), "train.py");
  EXPECT_EQ(Find(root_ + "/code", "sub/score.py"), "code/sub/score.py");
  EXPECT_EQ(Find(root_ + "/code/sub", "../../train.py"), "train.py");
  EXPECT_EQ(Find(root_ + "/code", root_ + "//train.py"), "train.py");
}

TEST_F(ScriptTest, OutsideTheProjectPathsStartAtItsRoot) {
  EXPECT_EQ(Find(top_, "train.py"), "train.py");
  EXPECT_EQ(Find(top_, "myproject/train.py"), "train.py");
}

TEST_F(ScriptTest, BackSlashesAreSeparatorsUnlessAFileHasThem) {
  EXPECT_EQ(Find(root_, ".\\code\\sub\\score.py"), "code/sub/score.py");
  Write("odd\\name.py", "");
  EXPECT_EQ(Find(root_, "odd\\name.py"), "odd\\name.py");
}

TEST_F(ScriptTest, ProjectReachedThroughASymlinkIsTheSameProject) {
  ASSERT_EQ(symlink(root_.c_str(), (top_ + "/alias").c_str()), 0);
  EXPECT_EQ(Find(top_ + "/alias/code", "sub/score.py"), "code/sub/score.py");
  EXPECT_EQ(Find(root_, top_ + "/alias/train.py"), "train.py");
}

TEST_F(ScriptTest, ScriptThatIsASymlinkKeepsItsOwnName) {
  ASSERT_EQ(symlink("code/sub/score.py", (root_ + "/latest.py").c_str()), 0);
  EXPECT_EQ(Find(root_, "latest.py"), "latest.py");
}

TEST_F(ScriptTest, OutsideTheProjectIsRefused) {
  ASSERT_TRUE(WriteFileAtomically(top_ + "/x.py", "", 0644, Durability::kProcess).ok());
  const std::string want = "` is outside the project " + root_ +
                           " | copy it into the project: only the project's folder is taken along";
  EXPECT_EQ(Find(root_, "../x.py"), "invalid: the script `../x.py" + want);
  EXPECT_EQ(Find(root_, "/etc/passwd"), "invalid: the script `/etc/passwd" + want);
  ASSERT_TRUE(MakeDirs(root_ + "2").ok());
  ASSERT_TRUE(WriteFileAtomically(root_ + "2/x.py", "", 0644, Durability::kProcess).ok());
  EXPECT_EQ(Find(root_, "../myproject2/x.py"), "invalid: the script `../myproject2/x.py" + want);
}

TEST_F(ScriptTest, MissingScriptGuessesTheNearest) {
  const std::string start = "not_found: the script `";
  EXPECT_EQ(Find(root_, "trian.py"), start + "trian.py` is not there | did you mean `train.py`?");
  EXPECT_EQ(Find(root_, "score.py"),
            start + "score.py` is not there | did you mean `code/sub/score.py`?");
  EXPECT_EQ(Find(root_ + "/code", "train.py"),
            start + "train.py` is not there | did you mean `../train.py`?");
  EXPECT_EQ(Find(root_, "code/sub/scor.py"),
            start + "code/sub/scor.py` is not there | did you mean `code/sub/score.py`?");
  EXPECT_EQ(Find(root_, "entirely_different"),
            start + "entirely_different` is not there | paths start at " + root_);
}

TEST_F(ScriptTest, FoldersAndPipesAreNoScripts) {
  EXPECT_EQ(Find(root_, "code"), "invalid: the script `code` is a folder | ");
  EXPECT_EQ(Find(root_, "."), "invalid: the script `.` is a folder | ");
  ASSERT_EQ(mkfifo((root_ + "/pipe.py").c_str(), 0600), 0);
  EXPECT_EQ(Find(root_, "pipe.py"), "invalid: the script `pipe.py` is not a regular file | ");
}

TEST_F(ScriptTest, NamesWithControlCharactersAreShownSafely) {
  EXPECT_EQ(Find(root_, "a\x1b[2J.py").find('\x1b'), std::string::npos);
}

// ---- Without a script ------------------------------------------------------------------------

TEST_F(ScriptTest, ArgumentVectorIsUsedWhenNoScriptIsNamed) {
  Write("aml_config/local.runconfig",
        "Framework: Python\nTarget: local\nArgumentVector: [code/sub/score.py, --n, 5, \"a b\"]\n");
  Request request = Submit("");
  request.cwd = root_ + "/code";
  const Resolved resolved = MustResolve(request);
  EXPECT_EQ(resolved.script.value, "code/sub/score.py");
  EXPECT_EQ(resolved.script.origin.Text(), "aml_config/local.runconfig:3:18");
  EXPECT_EQ(resolved.arguments.value, (std::vector<std::string>{"--n", "5", "a b"}));
}

TEST_F(ScriptTest, ArgumentVectorIsIgnoredWhenAScriptIsNamed) {
  Write("aml_config/local.runconfig",
        "Framework: Python\nTarget: local\nArgumentVector: [code/sub/score.py, --n]\n");
  const Resolved resolved = MustResolve(Submit());
  EXPECT_EQ(resolved.script.value, "train.py");
  EXPECT_TRUE(resolved.arguments.value.empty());
}

TEST_F(ScriptTest, NeitherScriptNorArgumentVector) {
  const std::string want = "invalid: no script is named | name one: `tenon submit train.py`";
  EXPECT_EQ(Complaint(Submit("")), want);
  Write("aml_config/local.runconfig", "Framework: Python\nTarget: local\nArgumentVector: null\n");
  EXPECT_EQ(Complaint(Submit("")), want);
}

TEST_F(ScriptTest, MissingScriptOfTheArgumentVectorNamesItsLine) {
  Write("aml_config/local.runconfig",
        "Framework: Python\nTarget: local\nArgumentVector:\n- trian.py\n");
  EXPECT_EQ(Complaint(Submit("")),
            "not_found: aml_config/local.runconfig:4:3: ArgumentVector: the script `trian.py` is "
            "not there "
            "| did you mean `train.py`?");
}

TEST_F(ScriptTest, RunConfigurationGivenAsScript) {
  EXPECT_EQ(Complaint(Submit("aml_config/local.runconfig")),
            "invalid: `aml_config/local.runconfig` is a run configuration, not a script | "
            "write `-c local` and then a script");
}

TEST_F(ScriptTest, CondaFileOptionMustExistAndIsSaidToHaveNoEffectOnLocal) {
  Request request = Submit();
  request.conda_file = "aml_config/gpu.yml";
  EXPECT_EQ(Complaint(request).substr(0, 63),
            "not_found: -d: the file `aml_config/gpu.yml` is not there | pat");
  Write("aml_config/gpu.yml", "name: x\n");
  const Resolved resolved = MustResolve(request);
  EXPECT_EQ(resolved.conda_file.value, "aml_config/gpu.yml");
  EXPECT_EQ(resolved.conda_file.origin.Text(), "option -d");
  ASSERT_EQ(resolved.notices.size(), 1u);
  EXPECT_EQ(resolved.notices[0],
            "-d has no effect: a target of type local uses its own Python as it is unless it "
            "says userManagedEnvironment: false");
}

}  // namespace
}  // namespace tenon::project
