// SPDX-License-Identifier: Apache-2.0
#include "project/upgrade/upgrade.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <set>

#include "base/file.h"
#include "base/text.h"
#include "project/dependencies/wheel.h"
#include "project/temp_project.h"
#include "project/upgrade/upgrade_check.h"
#include "project/upgrade/upgrade_match.h"
#include "project/upgrade/upgrade_table.h"
#include "run/pypi_names.h"

namespace tenon::project {
namespace {

CondaFile MustRead(const std::string& bytes) {
  Result<CondaFile> file = ParseCondaFile("c.yml", bytes);
  if (!file.ok()) {
    ADD_FAILURE() << file.error().message;
    return std::move(ParseCondaFile("c.yml", "")).value();
  }
  return std::move(file).value();
}

// "before -> after" for each change, with "?" in front of suggestions.
std::string Text(const std::vector<UpgradeChange>& changes) {
  std::string text;
  for (const UpgradeChange& change : changes) {
    EXPECT_FALSE(change.reason.empty()) << change.rule;
    EXPECT_EQ(change.reason.find('{'), std::string::npos) << change.reason;
    EXPECT_GT(change.line, 0) << change.rule;
    text +=
        std::string(change.suggestion ? "? " : "") + change.before + " -> " + change.after + "\n";
  }
  return text;
}

// The changes to a file with that Python and that pip item.
std::string Pip(const std::string& python, const std::string& item, const CondaUse& use = {}) {
  const CondaFile file =
      MustRead("dependencies:\n- python=" + python + "\n- pip:\n  - " + item + "\n");
  return Text(PlanCondaFile(file, use).changes);
}

CondaUse Gpu(bool script_1x = false) {
  CondaUse use;
  use.on_gpu = true;
  if (script_1x) {
    use.scripts = {1, "", "t.py:1", "t.py:2"};
  }
  return use;
}

CondaUse Modern(bool gpu = false) {
  CondaUse use;
  use.modern = true;
  use.on_gpu = gpu;
  return use;
}

std::string Notices(const CondaPlan& plan) {
  std::string text;
  for (const UpgradeNotice& notice : plan.notices) text += notice.rule + " ";
  return text;
}

// ---- The table -----------------------------------------------------------------------------

TEST(UpgradeTable, EveryRowSaysWhyAndIsNamedOnce) {
  std::set<std::string_view> ids;
  for (const UpgradeRow& row : UpgradeRows()) {
    EXPECT_TRUE(ids.insert(row.id).second) << row.id;
    EXPECT_FALSE(row.match.empty()) << row.id;
    EXPECT_EQ(row.action == UpgradeAction::kKeep, row.reason.empty()) << row.id;
    EXPECT_EQ(row.action == UpgradeAction::kReplace, !row.write.empty()) << row.id;
  }
}

TEST(UpgradeTable, WheelRangesOfAPackageRise) {
  std::set<std::string_view> finished;
  const WheelRange* last = nullptr;
  for (const WheelRange& range : WheelRanges()) {
    if (last != nullptr && last->package == range.package) {
      EXPECT_LT(CompareVersions(last->from, range.from), 0) << range.package << range.from;
    } else {
      EXPECT_TRUE(finished.insert(range.package).second) << range.package;
    }
    last = &range;
  }
  EXPECT_EQ(FindWheel("tensorflow", "1.4", 6), HasWheel::kYes);
  EXPECT_EQ(FindWheel("tensorflow", "1.4", 7), HasWheel::kNo);
  EXPECT_EQ(FindWheel("tensorflow", "1.15.5", 7), HasWheel::kYes);
  EXPECT_EQ(FindWheel("tensorflow-gpu", "2.12.0", 8), HasWheel::kNo);
  EXPECT_EQ(FindWheel("nothing", "1", 6), HasWheel::kUnknown);
}

TEST(UpgradeTable, PatternsMatchWholeTexts) {
  EXPECT_TRUE(MatchesPattern("microsoft/*", "Microsoft/mmlspark:plus-0.9.9"));
  EXPECT_FALSE(MatchesPattern("microsoft/*", "notmicrosoft/x"));
  EXPECT_TRUE(MatchesPattern("*a*b", "xxaxxbab"));
  EXPECT_FALSE(MatchesPattern("*a*b", "xxaxxba"));
  EXPECT_TRUE(MatchesPattern("*", ""));
}

// ---- Python --------------------------------------------------------------------------------

TEST(UpgradePython, OldOnesBecome36AndOthersStay) {
  EXPECT_EQ(Pip("3.5.2", "numpy"), "python=3.5.2 -> python=3.6\n");
  EXPECT_EQ(Pip("3.6.3", "numpy"), "");
  EXPECT_EQ(Pip("3.7", "numpy"), "");
  EXPECT_EQ(Pip("2.7", "numpy"), "");
  EXPECT_EQ(Text(PlanCondaFile(MustRead("dependencies:\n- python>=3.5\n"), {}).changes), "");
}

TEST(UpgradePython, MissingOneIsTheNewestThatThePinsHaveWheelsFor) {
  const auto plan = [](const std::string& items) {
    return Text(PlanCondaFile(MustRead("dependencies:\n" + items), {}).changes);
  };
  EXPECT_EQ(plan("- numpy=1.12.1\n"), " -> python=3.6\n");
  EXPECT_EQ(plan("- numpy=1.19.5\n- pandas=0.25.2\n"), " -> python=3.8\n");
  EXPECT_EQ(plan("- numpy\n"), " -> python=3.12\n");
  EXPECT_EQ(plan("- numpy=1.19.5\n- strange=1.0\n"), "?  -> python=3.6\n");
  EXPECT_EQ(plan("- numpy=1.11.0\n"), " -> python=3.6\n");  // 3.5 would be changed again
  EXPECT_EQ(plan("- python\n- tensorflow=1.15.5\n"), "python -> python=3.7\n");
  EXPECT_EQ(plan("- pip:\n  - cntk==2.7\n"), " -> python=3.6\n");
  EXPECT_EQ(plan(""), "");
}

TEST(UpgradePython, Modern) {
  EXPECT_EQ(Pip("3.5.2", "numpy==1.14.0", Modern()),
            "python=3.5.2 -> python=3.12\nnumpy==1.14.0 -> numpy\n");
  EXPECT_EQ(Pip("3.12", "numpy==1.26.4", Modern()), "");
  EXPECT_EQ(Pip("3.12", "mine==0.1", Modern()), "");
  EXPECT_EQ(Pip("3.6", "tensorflow==1.4.0", Modern()),
            "python=3.6 -> python=3.12\ntensorflow==1.4.0 -> tensorflow\n");
  EXPECT_EQ(Pip("3.6", "tensorflow", Modern(true)),
            "python=3.6 -> python=3.12\ntensorflow -> tensorflow[and-cuda]\n");
  EXPECT_EQ(Pip("3.6", "tensorflow-gpu==1.4", Modern()),
            "python=3.6 -> python=3.12\ntensorflow-gpu==1.4 -> tensorflow[and-cuda]\n");
  EXPECT_EQ(Pip("3.6", "azure-ml-api-sdk==0.1.0a11", Modern()),
            "python=3.6 -> python=3.12\nazure-ml-api-sdk==0.1.0a11 -> \n");
}

TEST(UpgradePython, ModernCannotTakeCntkAlong) {
  const CondaFile file = MustRead("dependencies:\n- python=3.5.2\n- pip:\n  - cntk==2.7\n");
  const CondaPlan plan = PlanCondaFile(file, Modern());
  EXPECT_EQ(Text(plan.changes), "python=3.5.2 -> python=3.6\n");
  EXPECT_NE(Notices(plan).find("modern-cntk"), std::string::npos);
}

// ---- TensorFlow ----------------------------------------------------------------------------

TEST(UpgradeTensorFlow, GpuPackageWithoutVersion) {
  EXPECT_EQ(Pip("3.6", "tensorflow-gpu"), "? tensorflow-gpu -> tensorflow-gpu==1.15.5\n");
  EXPECT_EQ(Pip("3.6", "tensorflow-gpu", Gpu(true)), "tensorflow-gpu -> tensorflow-gpu==1.15.5\n");
  CondaUse use_2x = Gpu();
  use_2x.scripts = {1, "", "t.py:1", ""};
  EXPECT_EQ(Pip("3.6", "tensorflow-gpu", use_2x), "? tensorflow-gpu -> tensorflow-gpu==2.6.2\n");
  EXPECT_EQ(Pip("3.7", "tensorflow-gpu", use_2x), "? tensorflow-gpu -> tensorflow-gpu==2.11.0\n");
  EXPECT_EQ(Pip("3.8", "tensorflow-gpu"), "tensorflow-gpu -> tensorflow[and-cuda]\n");
}

TEST(UpgradeTensorFlow, PinsThatHaveWheelsStay) {
  EXPECT_EQ(Pip("3.6", "tensorflow-gpu==1.4.0"), "");
  EXPECT_EQ(Pip("3.8", "tensorflow-gpu==2.4.0"), "");
  EXPECT_EQ(Pip("3.8", "tensorflow-gpu==1.4.0"), "tensorflow-gpu==1.4.0 -> tensorflow[and-cuda]\n");
  EXPECT_EQ(Pip("3.6", "tensorflow==1.4.0"), "");
}

TEST(UpgradeTensorFlow, CpuPackageOnAGpuTarget) {
  EXPECT_EQ(Pip("3.6", "tensorflow==1.4.0", Gpu()), "tensorflow==1.4.0 -> tensorflow-gpu==1.4.0\n");
  EXPECT_EQ(Pip("3.6", "tensorflow==1.15.5", Gpu()), "");
  EXPECT_EQ(Pip("3.6", "tensorflow", Gpu(true)), "tensorflow -> tensorflow-gpu==1.15.5\n");
  EXPECT_EQ(Pip("3.6", "tensorflow", Gpu()), "? tensorflow -> tensorflow-gpu==1.15.5\n");
  EXPECT_EQ(Pip("3.10", "tensorflow", Gpu()), "tensorflow -> tensorflow[and-cuda]\n");
  EXPECT_EQ(Pip("3.10", "tensorflow==2.15.0", Gpu()),
            "tensorflow==2.15.0 -> tensorflow[and-cuda]==2.15.0\n");
  EXPECT_EQ(Pip("3.10", "tensorflow[and-cuda]", Gpu()), "");
  CondaUse both = Gpu();
  both.on_cpu = true;
  EXPECT_EQ(Pip("3.6", "tensorflow==1.4.0", both),
            "? tensorflow==1.4.0 -> tensorflow-gpu==1.4.0\n");
}

TEST(UpgradeTensorFlow, ReleaseOfTheIndexGoesUnderPip) {
  const CondaFile file = MustRead("dependencies:\n- python=3.6\n- tensorflow=1.4\n- pip:\n  - a\n");
  const UpgradePlan plan{
      PlanCondaFile(file, Gpu()).changes, {}, {{"c.yml", file.document.bytes()}}};
  EXPECT_EQ(Text(plan.changes), "tensorflow=1.4 -> tensorflow-gpu==1.4\n");
  const auto made = MakeUpgrade(plan, {true});
  ASSERT_TRUE(made.ok()) << made.error().message;
  EXPECT_EQ(made->at(0).after,
            "dependencies:\n- python=3.6\n- pip:\n  - a\n  - tensorflow-gpu==1.4\n");

  const CondaFile alone = MustRead("dependencies:\n- python=3.6\n- tensorflow-gpu # GPU\n");
  const UpgradePlan second{
      PlanCondaFile(alone, Gpu(true)).changes, {}, {{"c.yml", alone.document.bytes()}}};
  const auto moved = MakeUpgrade(second, {true});
  ASSERT_TRUE(moved.ok()) << moved.error().message;
  const CondaFile after = MustRead(moved->at(0).after);
  ASSERT_EQ(after.items.size(), 2u);
  EXPECT_TRUE(after.items[1].in_pip);
  EXPECT_EQ(after.items[1].text, "tensorflow-gpu==1.15.5");
  EXPECT_EQ(Text(PlanCondaFile(after, Gpu(true)).changes), "");
}

// ---- CNTK and other wheels -----------------------------------------------------------------

TEST(UpgradeCntk, WheelsOfCntkAi) {
  const std::string host = "https://cntk.ai/PythonWheel/";
  const std::string tail = "/cntk-2.1-cp35-cp35m-linux_x86_64.whl";
  EXPECT_EQ(Pip("3.6", host + "CPU-Only" + tail), host + "CPU-Only" + tail + " -> cntk==2.7\n");
  EXPECT_EQ(Pip("3.6", host + "GPU" + tail), host + "GPU" + tail + " -> cntk-gpu==2.7\n");
  EXPECT_EQ(Pip("3.6", host + "GPU/cntk-2.1-cp35-cp35m-win_amd64.whl"),
            host + "GPU/cntk-2.1-cp35-cp35m-win_amd64.whl -> cntk-gpu==2.7\n");
  EXPECT_EQ(Pip("3.9", host + "GPU" + tail),
            "python=3.9 -> python=3.6\n" + host + "GPU" + tail + " -> cntk-gpu==2.7\n");
  EXPECT_EQ(Pip("3.6", "cntk==2.4"), "cntk==2.4 -> cntk==2.7\n");
  EXPECT_EQ(Pip("3.6", "cntk==2.6"), "");
}

TEST(UpgradeCntk, OneBitSgdTellsItsLicenceHistory) {
  const CondaFile file = MustRead(
      "dependencies:\n- python=3.5.2\n- pip:\n"
      "  - https://cntk.ai/PythonWheel/GPU-1bit-SGD/cntk-2.1-cp35-cp35m-linux_x86_64.whl\n");
  const CondaPlan plan = PlanCondaFile(file, Gpu());
  EXPECT_NE(Text(plan.changes).find("cntk-gpu==2.7"), std::string::npos);
  EXPECT_TRUE(plan.cuda10);
  ASSERT_EQ(Notices(plan), "cntk-1bit-wheel ");
  EXPECT_NE(plan.notices[0].text.find("non-commercial"), std::string::npos);
  EXPECT_NE(plan.notices[0].text.find("MIT"), std::string::npos);
  EXPECT_NE(plan.notices[0].text.find("several processes"), std::string::npos);
  EXPECT_EQ(plan.notices[0].line, 4);
}

TEST(UpgradeWheels, OtherSystemsAndOtherPythons) {
  EXPECT_EQ(Pip("3.6", "https://h/a_b-1.2-cp36-cp36m-win_amd64.whl"),
            "? https://h/a_b-1.2-cp36-cp36m-win_amd64.whl -> a_b==1.2\n");
  EXPECT_EQ(Pip("3.6", "https://h/scikit_learn-0.19.1-cp36-cp36m-win_amd64.whl"),
            "https://h/scikit_learn-0.19.1-cp36-cp36m-win_amd64.whl -> scikit_learn==0.19.1\n");
  EXPECT_EQ(Pip("3.6", "https://h/a-1.2-cp35-cp35m-linux_x86_64.whl"),
            "? https://h/a-1.2-cp35-cp35m-linux_x86_64.whl -> a==1.2\n");
  EXPECT_EQ(Pip("3.6", "https://h/a-1.2-py3-none-any.whl"), "");
  EXPECT_EQ(Pip("3.6",
                "http://download.pytorch.org/whl/cu80/torch-0.3.1-cp35-cp35m-linux_x86_64"
                ".whl"),
            "? http://download.pytorch.org/whl/cu80/torch-0.3.1-cp35-cp35m-linux_x86_64.whl -> "
            "torch==1.0.0\n");
}

TEST(UpgradeWheels, AWheelOfUnknownMakeIsNeverReplacedByANamesakeUnasked) {
  const CondaFile file = MustRead(
      "dependencies:\n- python=3.6\n- pip:\n"
      "  - https://acme.example/jasper-1.0-cp36-cp36m-win_amd64.whl\n");
  const CondaPlan plan = PlanCondaFile(file, {});
  ASSERT_EQ(plan.changes.size(), 1u);
  EXPECT_TRUE(plan.changes[0].suggestion);
  EXPECT_NE(plan.changes[0].reason.find("is not known"), std::string::npos)
      << plan.changes[0].reason;
}

TEST(UpgradePackages, EveryRowThatMovesACondaPackageToPipIsAboutAKnownProject) {
  for (const UpgradeRow& row : UpgradeRows()) {
    const bool moves = row.subject == UpgradeSubject::kPackage &&
                       row.action == UpgradeAction::kReplace &&
                       (row.status == UpgradeStatus::kChecked || row.status == UpgradeStatus::kRan);
    if (!moves) continue;
    for (const std::string& name : Split(row.match, ' ')) {
      EXPECT_NE(run::PypiName(name), "") << row.id;
    }
    EXPECT_EQ(row.write.find("{name}"), std::string_view::npos) << row.id;
    EXPECT_TRUE(run::IsKnownOnPypi(row.write.substr(0, row.write.find_first_of("=[{")))) << row.id;
  }
}

TEST(UpgradePackages, WhatIsGoneGoes) {
  EXPECT_EQ(Pip("3.6", "azureml-requirements"), "azureml-requirements -> \n");
  EXPECT_EQ(Pip("3.6", "json"), "json -> \n");
  EXPECT_EQ(Pip("3.6", "ipykernel==4.6.1"), "");
  EXPECT_EQ(Pip("3.6", "horovod==0.1"), "");
  const std::string wheel =
      "https://azuremldownloads.blob.core.windows.net/wheels/latest/"
      "azureml.assets-1.0.0-py3-none-any.whl?sv=1&sig=a%2Fb";
  EXPECT_EQ(Pip("3.6", wheel), wheel + " -> \n");
  EXPECT_EQ(Pip("3.6", "--index-url https://azuremldownloads.azureedge.net/python-repository/p"),
            "--index-url https://azuremldownloads.azureedge.net/python-repository/p -> \n");
  EXPECT_EQ(Pip("3.6", "--index-url https://mirror.example/simple"), "");
  EXPECT_EQ(Pip("3.6", "azure-ml-api-sdk==0.1.0a11#0.1.0a9"),
            "? azure-ml-api-sdk==0.1.0a11#0.1.0a9 -> azure-ml-api-sdk==0.1.0a11\n");
  EXPECT_EQ(Pip("3.6", "git+git://github.com/fchollet/keras.git"),
            "? git+git://github.com/fchollet/keras.git -> "
            "git+https://github.com/fchollet/keras.git\n");
}

// ---- The check -----------------------------------------------------------------------------

TEST(CheckDependencies, NamesTheLineOfAWindowsWheel) {
  const CondaFile file = MustRead(
      "dependencies:\n- python=3.5.2\n- pip:\n"
      "  - https://cntk.ai/PythonWheel/GPU-1bit-SGD/cntk-2.1-cp35-cp35m-win_amd64.whl\n"
      "  - https://h/b-1-cp36-cp36m-linux_x86_64.whl\n  - os\n  - numpy\n");
  const std::vector<DependencyFinding> findings = CheckDependencies(file);
  std::string text;
  for (const DependencyFinding& finding : findings) {
    text += std::to_string(finding.line) + ":" + std::to_string(finding.column) + " " +
            finding.rule + "\n";
  }
  EXPECT_EQ(text,
            "2:3 python-3.5\n4:5 wheel-system\n4:5 cntk-1bit-wheel\n5:5 wheel-python\n6:5 "
            "standard-library\n");
  EXPECT_NE(findings[1].text.find("a wheel for Windows"), std::string::npos);
  EXPECT_EQ(findings[1].level, DependencyFinding::Level::kError);
}

// ---- Whole projects ------------------------------------------------------------------------

class UpgradeProject : public TempProject {
 protected:
  Project Open() {
    Result<Project> project = OpenProject(root_, std::nullopt);
    if (!project.ok()) ADD_FAILURE() << project.error().message;
    return std::move(project).value();
  }
  UpgradePlan Plan(const UpgradeOptions& options = {}) {
    Result<UpgradePlan> plan = PlanUpgrade(Open(), options);
    if (!plan.ok()) {
      ADD_FAILURE() << plan.error().message;
      return {};
    }
    return std::move(plan).value();
  }
  // Makes the changes and writes them; without suggestions if `suggestions` is false.
  std::string Apply(const UpgradePlan& plan, bool suggestions) {
    std::vector<bool> chosen;
    for (const UpgradeChange& change : plan.changes) {
      chosen.push_back(suggestions || !change.suggestion);
    }
    const auto files = MakeUpgrade(plan, chosen);
    if (!files.ok()) return files.error().message;
    std::string diff;
    for (const UpgradedFile& file : *files) diff += file.diff;
    const Status written = WriteUpgrade(Open(), *files);
    return written.ok() ? diff : written.error().message;
  }
  std::string Read(const std::string& file) {
    return ReadFile(JoinPath(root_, file)).value_or("(none)");
  }
  // The files of the walkthrough of 2017 after step B.
  void WriteWalk() {
    Write("aml_config/my_dsvm.compute",
          "address: 203.0.113.7\r\nbaseDockerImage: microsoft/mmlspark:plus-gpu-0.7.91\r\n"
          "password: secret\r\ntype: remotedocker\r\nusername: me\r\n");
    Write("aml_config/my_dsvm.runconfig", "ArgumentVector:\n- $file\nTarget: my_dsvm\n");
    Write("aml_config/conda_dependencies.yml",
          "name: project_environment\ndependencies:\n  - python=3.5.2\n  # TensorFlow\n"
          "  - pip:\n    - tensorflow-gpu\n    - azureml-requirements   # gone");
    Write("train.py", "import tensorflow as tf\nwith tf.Session() as s:\n  pass\n");
  }
};

TEST_F(UpgradeProject, TheWalkIsRepairedLineByLine) {
  WriteWalk();
  const UpgradePlan plan = Plan();
  EXPECT_EQ(Text(plan.changes),
            "python=3.5.2 -> python=3.6\n"
            "tensorflow-gpu -> tensorflow-gpu==1.15.5\n"
            "azureml-requirements -> \n"
            "? baseDockerImage: microsoft/mmlspark:plus-gpu-0.7.91 -> baseDockerImage: "
            "nvidia/cuda:10.0-cudnn7-runtime-ubuntu18.04\n"
            "?  -> nvidiaDocker: true\n"
            " -> Framework: Python\n");
  const std::string diff = Apply(plan, true);
  EXPECT_EQ(Read("aml_config/my_dsvm.compute"),
            "address: 203.0.113.7\r\nbaseDockerImage: "
            "nvidia/cuda:10.0-cudnn7-runtime-ubuntu18.04\r\n"
            "password: secret\r\ntype: remotedocker\r\nusername: me\r\nnvidiaDocker: true\r\n");
  EXPECT_EQ(Read("aml_config/my_dsvm.runconfig"),
            "ArgumentVector:\n- $file\nTarget: my_dsvm\nFramework: Python\n");
  EXPECT_EQ(
      Read("aml_config/conda_dependencies.yml").find("tensorflow-gpu==1.15.5") == std::string::npos,
      false);
  EXPECT_NE(diff.find("@@ -3 +3 @@ no current tool"), std::string::npos) << diff;
  EXPECT_NE(diff.find("@@ -5,0 +6 @@ suggestion: the image is made for a GPU"), std::string::npos)
      << diff;
  EXPECT_EQ(Text(Plan().changes), "");
}

TEST_F(UpgradeProject, SuggestionsLeftOutStaySuggestions) {
  WriteWalk();
  Apply(Plan(), false);
  EXPECT_NE(Read("aml_config/my_dsvm.compute").find("microsoft/mmlspark"), std::string::npos);
  for (const UpgradeChange& change : Plan().changes) EXPECT_TRUE(change.suggestion);
}

TEST_F(UpgradeProject, FrameworkFollowsTheScripts) {
  Write("aml_config/a.runconfig", "{\"Target\": \"local\", \"ArgumentVector\": [\"$file\"]}");
  EXPECT_EQ(Text(Plan().changes), "?  -> Framework: Python\n");
  Write("code/a.py", "# import pyspark\nimport os, sys\n");
  EXPECT_EQ(Text(Plan().changes), " -> Framework: Python\n");
  Write("code/b.py", "import os, pyspark.sql as ps\n");
  EXPECT_EQ(Text(Plan().changes), " -> Framework: PySpark\n");
  Apply(Plan(), false);
  EXPECT_EQ(Read("aml_config/a.runconfig"),
            "{\"Target\": \"local\", \"ArgumentVector\": [\"$file\"], \"Framework\": \"PySpark\"}");
}

TEST_F(UpgradeProject, ImagesForSparkForPythonAndOfPrivateAccounts) {
  Write("main.py", "x = 1\n");
  for (const char* framework : {"Python", "PySpark"}) {
    Write("aml_config/d.runconfig", "Target: d\nFramework: " + std::string(framework) + "\n");
    Write("aml_config/d.compute", "type: localdocker\nbaseDockerImage: \"microsoft/mmlspark\"\n");
    const std::string image =
        framework == std::string("Python") ? "ubuntu:22.04" : "apache/spark-py";
    EXPECT_EQ(Text(Plan().changes),
              "? baseDockerImage: microsoft/mmlspark -> baseDockerImage: " + image + "\n");
  }
  Write("aml_config/d.compute", "type: docker\nbaseDockerImage:\n");
  Write("aml_config/d.runconfig", "Target: d\nFramework: Python\n");
  EXPECT_EQ(Text(Plan().changes), "? baseDockerImage: null -> baseDockerImage: ubuntu:22.04\n");
  Write("aml_config/d.compute", "type: docker\nbaseDockerImage: jordo/ml\n");
  EXPECT_EQ(Text(Plan().changes), "");
  ASSERT_EQ(Plan().notices.size(), 1u);
  EXPECT_EQ(Plan().notices[0].rule, "image-private");
}

TEST_F(UpgradeProject, OneRunConfigurationLeavesTheOthersAlone) {
  WriteWalk();
  Write("aml_config/other.runconfig", "Target: local\nCondaDependenciesFile: other.yml\n");
  Write("other.yml", "dependencies:\n- python=3.5.2\n");
  const UpgradePlan plan = Plan({"other", false});
  EXPECT_EQ(Text(plan.changes), " -> Framework: Python\npython=3.5.2 -> python=3.6\n");
  const Result<UpgradePlan> none = PlanUpgrade(Open(), {"othr", false});
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(Complaint(none.error()),
            "not_found: there is no run configuration `othr` | did you mean `other`?");
}

TEST_F(UpgradeProject, BrokenFilesAreLeftAloneAndTheOthersNot) {
  WriteWalk();
  Write("aml_config/bad.compute", "type: localdocker\n\tbaseDockerImage: microsoft/mmlspark\n");
  Write("aml_config/bad.runconfig", "{\"Target\": \"a\" \"Framework\": \"Python\"}");
  const UpgradePlan plan = Plan();
  EXPECT_EQ(plan.changes.size(), 6u);
  int broken = 0;
  for (const UpgradeNotice& notice : plan.notices) broken += notice.rule == "broken";
  EXPECT_EQ(broken, 2);
}

TEST_F(UpgradeProject, EmptiedPipPartGoesAndTheDiffExplainsEveryLine) {
  Write("aml_config/conda_dependencies.yml",
        "dependencies:\n- python=3.6\n- pip:\n  - azureml-requirements\n  - os\n- numpy\n");
  const std::string diff = Apply(Plan(), false);
  EXPECT_EQ(Read("aml_config/conda_dependencies.yml"), "dependencies:\n- python=3.6\n- numpy\n");
  size_t hunks = 0;
  for (const std::string& line : Split(diff, '\n')) {
    if (!line.starts_with("@@")) continue;
    ++hunks;
    EXPECT_GT(line.size(), line.rfind("@@ ") + 10) << line;
  }
  EXPECT_EQ(hunks, 3u) << diff;
}

TEST_F(UpgradeProject, DiffOfAOneLineFileHidesThePassword) {
  Write("aml_config/v.compute",
        "{\"type\": \"virtualmachine\", \"password\": \"hunter2\", \"baseDockerImage\": "
        "\"microsoft/mmlspark:plus-gpu-0.9.9\"}");
  const UpgradePlan plan = Plan();
  ASSERT_EQ(plan.changes.size(), 2u);
  const auto files = MakeUpgrade(plan, {true, true});
  ASSERT_TRUE(files.ok());
  EXPECT_EQ(files->at(0).diff.find("hunter2"), std::string::npos) << files->at(0).diff;
  EXPECT_NE(files->at(0).after.find("hunter2"), std::string::npos);
}

TEST_F(UpgradeProject, NothingIsWrittenWhenOneFileHasChanged) {
  WriteWalk();
  const UpgradePlan plan = Plan();
  const auto files = MakeUpgrade(plan, std::vector<bool>(plan.changes.size(), true));
  ASSERT_TRUE(files.ok());
  ASSERT_EQ(files->size(), 3u);
  Write("aml_config/my_dsvm.runconfig", "Target: local\n");
  const std::string compute = Read("aml_config/my_dsvm.compute");
  const Status written = WriteUpgrade(Open(), *files);
  ASSERT_FALSE(written.ok());
  EXPECT_EQ(written.error().kind, ErrorKind::kUnavailable);
  EXPECT_EQ(Read("aml_config/my_dsvm.compute"), compute);
  EXPECT_EQ(Read("aml_config/my_dsvm.runconfig"), "Target: local\n");
  EXPECT_EQ(ListDir(root_ + "/aml_config")->size(), 3u);  // no temporary files are left
}

TEST_F(UpgradeProject, ModeAndLinkOfAFileAreKept) {
  Write("aml_config/conda_dependencies.yml", "");
  Write("shared.yml", "dependencies:\n- python=3.5.2\n");
  const std::string link = root_ + "/aml_config/conda_dependencies.yml";
  ASSERT_EQ(::unlink(link.c_str()), 0);
  ASSERT_EQ(::symlink("../shared.yml", link.c_str()), 0);
  ASSERT_EQ(::chmod((root_ + "/shared.yml").c_str(), 0600), 0);
  Apply(Plan(), false);
  EXPECT_EQ(Read("shared.yml"), "dependencies:\n- python=3.6\n");
  EXPECT_TRUE(ReadLink(link).ok());
  struct stat info;
  ASSERT_EQ(::stat((root_ + "/shared.yml").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
}

TEST(UpgradeScripts, TellsTensorFlow1xFrom2x) {
  const auto facts = [](const std::string& bytes) {
    ScriptFacts out;
    InspectScript("s.py", bytes, &out);
    return out;
  };
  EXPECT_EQ(facts("import tensorflow as tf\nx = tf.placeholder(tf.float32)\n").tensorflow_1x,
            "s.py:2");
  EXPECT_EQ(facts("import tensorflow as tf\ns = tf.compat.v1.Session()\n").tensorflow_1x, "");
  EXPECT_EQ(facts("import tensorflow as tf\n# tf.Session()\n").tensorflow, "s.py:1");
  EXPECT_EQ(facts("# tf.Session()\nself.tf.Session()\n").tensorflow_1x, "");
  EXPECT_EQ(facts("import tensorflow_probability\n").tensorflow, "");
  EXPECT_EQ(facts("from pyspark.sql import SparkSession\n").spark, "s.py:1");
  EXPECT_EQ(facts("import pysparks\n").spark, "");
}

}  // namespace
}  // namespace tenon::project
