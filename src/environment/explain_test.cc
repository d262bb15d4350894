// SPDX-License-Identifier: Apache-2.0
// Tests with the output of real tools (tests/data/tools).
#include "environment/explain.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/file.h"
#include "base/source_tree.h"

namespace tenon::environment {
namespace {

run::Package Item(const std::string& text, const std::string& name, int line) {
  return {text, name, "aml_config/conda_dependencies.yml:" + std::to_string(line)};
}

std::string Sample(const std::string& name) {
  auto text = ReadFile(SourcePath("tests/data/tools/" + name + ".txt"));
  EXPECT_TRUE(text.ok()) << name;
  return text.ok() ? *text : "";
}

Error Explain(const std::string& sample, Tool tool, std::vector<run::Package> items) {
  RecipeStep step;
  step.name = tool == Tool::kConda || tool == Tool::kRattler ? "conda packages" : "pip packages";
  step.tool = tool;
  run::Packages packages;
  packages.file = "aml_config/conda_dependencies.yml";
  (tool == Tool::kConda || tool == Tool::kRattler ? packages.conda : packages.pip) = items;
  return ExplainFailure(step, packages, packages.pip, Sample(sample), "exit code 1");
}

std::string FirstLine(const Error& error) {
  return error.message.substr(0, error.message.find('\n'));
}

constexpr const char* kFile = "aml_config/conda_dependencies.yml";

TEST(ExplainTest, TheLineThatAskedIsNamedForEveryTool) {
  std::vector<run::Package> items = {Item("six", "six", 4),
                                     Item("numpyy-of-tenon==1.0", "numpyy-of-tenon", 7)};
  for (auto [sample, tool] : {std::pair("uv-missing", Tool::kUv), {"pip-missing", Tool::kPip}}) {
    Error error = Explain(sample, tool, items);
    EXPECT_EQ(FirstLine(error),
              std::string(kFile) + ":7: numpyy-of-tenon==1.0 could not be installed (exit code 1)")
        << sample;
    EXPECT_EQ(error.kind, ErrorKind::kInvalid);
    EXPECT_NE(error.message.find("numpyy-of-tenon", error.message.find('\n')), std::string::npos)
        << "the tool's own words are missing";
    EXPECT_FALSE(error.hint.empty());
  }
  items = {Item("numpy", "numpy", 4), Item("numpyy=1.0", "numpyy", 5)};
  for (auto [sample, tool] : {std::pair("conda-missing", Tool::kConda),
                              {"micromamba-missing", Tool::kConda},
                              {"rattler-missing", Tool::kRattler}}) {
    EXPECT_EQ(FirstLine(Explain(sample, tool, items)),
              std::string(kFile) + ":5: numpyy=1.0 could not be installed (exit code 1)")
        << sample;
  }
}

TEST(ExplainTest, ANameInsideAnotherNameIsNotBlamed) {
  auto blamed = FindBlamed({Item("six", "six", 1), Item("six-more", "six-more", 2)},
                           "ERROR: No matching distribution found for six-more==2");
  ASSERT_EQ(blamed.size(), 1u);
  EXPECT_EQ(blamed[0].text, "six-more");
  blamed = FindBlamed({Item("Six_More", "Six_More", 1)},
                      "ERROR: No matching distribution found for six.more==2");
  EXPECT_EQ(blamed.size(), 1u) << "names are compared as indexes do";
}

TEST(ExplainTest, AConflictNamesBothSides) {
  std::vector<run::Package> items = {Item("six", "six", 3), Item("flask==3.0.0", "flask", 4),
                                     Item("werkzeug==0.16", "werkzeug", 9)};
  for (auto [sample, tool] : {std::pair("uv-conflict", Tool::kUv), {"pip-conflict", Tool::kPip}}) {
    std::string line = FirstLine(Explain(sample, tool, items));
    EXPECT_NE(line.find("flask==3.0.0"), std::string::npos) << line;
    EXPECT_NE(line.find("werkzeug==0.16"), std::string::npos) << line;
    EXPECT_NE(line.find(":4"), std::string::npos) << line;
    EXPECT_NE(line.find(":9"), std::string::npos) << line;
    EXPECT_EQ(line.find("six"), std::string::npos) << line;
    EXPECT_NE(line.find("could not be installed together"), std::string::npos) << line;
  }
  std::string line = FirstLine(
      Explain("rattler-conflict", Tool::kRattler,
              {Item("tenon-lab=2.0", "tenon-lab", 5), Item("tenon-old", "tenon-old", 6)}));
  EXPECT_NE(line.find("tenon-lab=2.0"), std::string::npos) << line;
  EXPECT_NE(line.find("tenon-old"), std::string::npos) << line;
}

TEST(ExplainTest, AHintFitsItsCause) {
  struct Case {
    const char* sample;
    Tool tool;
    run::Package item;
    ErrorKind kind;
    const char* hint;
  };
  const Case cases[] = {
      {"uv-wheel", Tool::kUv, Item("tensorflow==1.4.0", "tensorflow", 5), ErrorKind::kInvalid,
       "no build of that version is made for this Python"},
      {"uv-build", Tool::kUv, Item("scikit-learn==0.19.1", "scikit-learn", 5), ErrorKind::kInvalid,
       "compiled"},
      {"uv-refused", Tool::kUv, Item("six", "six", 5), ErrorKind::kUnavailable, "HTTPS_PROXY"},
      {"uv-certificate", Tool::kUv, Item("six", "six", 5), ErrorKind::kUnavailable,
       "SSL_CERT_FILE"},
      {"uv-cntk", Tool::kUv,
       Item("https://cntk.ai/PythonWheel/GPU/cntk-2.2-cp35-cp35m-linux_x86_64.whl", "cntk", 5),
       ErrorKind::kUnavailable, "tenon config upgrade"},
      {"uv-bad", Tool::kUv, Item("azure-ml-api-sdk==0.1.0a11#0.1.0a9", "azure-ml-api-sdk", 5),
       ErrorKind::kInvalid, ""},
      {"pip-bad", Tool::kPip, Item("six=1.0", "six", 5), ErrorKind::kInvalid, ""},
      {"uv-local", Tool::kUv, Item("/nonexistent/x-1.0-py3-none-any.whl", "x", 5),
       ErrorKind::kInvalid, ""},
      {"pip-build", Tool::kPip, Item("scikit-learn==0.19.1", "scikit-learn", 5),
       ErrorKind::kInvalid, ""},
  };
  for (const Case& c : cases) {
    Error error = Explain(c.sample, c.tool, {Item("pandas", "pandas", 4), c.item});
    EXPECT_EQ(error.kind, c.kind) << c.sample;
    EXPECT_NE(error.hint.find(c.hint), std::string::npos) << c.sample << ": " << error.hint;
    EXPECT_EQ(FirstLine(error),
              std::string(kFile) + ":5: " + c.item.text + " could not be installed (exit code 1)")
        << c.sample;
    EXPECT_LE(std::count(error.message.begin(), error.message.end(), '\n'), 20) << c.sample;
  }
}

TEST(ExplainTest, AFullDiskIsNobodysFault) {
  Error error = Explain("pip-full-disk", Tool::kPip, {Item("numpy==1.26.4", "numpy", 5)});
  EXPECT_EQ(error.kind, ErrorKind::kUnavailable);
  EXPECT_EQ(FirstLine(error).find("numpy"), std::string::npos) << FirstLine(error);
  EXPECT_NE(error.hint.find("disk is full"), std::string::npos);
}

TEST(ExplainTest, NoChannelIsToldFromNoPackage) {
  EXPECT_TRUE(SaysNoChannel(Sample("conda-offline")));
  EXPECT_FALSE(SaysNoChannel(Sample("conda-missing")));
  EXPECT_FALSE(SaysNoChannel(Sample("micromamba-missing")));
}

TEST(ExplainTest, LastWordsKeepTheLineThatSaysWhatFailed) {
  std::string text = "Using Python 3 environment at x\nerror: the cause\n";
  for (int i = 0; i < 50; ++i) text += "  trace " + std::to_string(i) + "\n";
  std::string words = LastWords(text, 5);
  EXPECT_TRUE(words.starts_with("error: the cause\n…\n")) << words;
  EXPECT_TRUE(words.ends_with("  trace 49")) << words;
  EXPECT_EQ(std::count(words.begin(), words.end(), '\n'), 4) << words;
}

TEST(ExplainTest, TerminalCodesAndDrawingsDoNotReachTheTerminal) {
  std::string words = LastWords("10%\r50%\r100%\n\x1b[31mred\x1b[0m\x07 text\n\n\n\nend\n");
  EXPECT_EQ(words, "100%\nred\\x07 text\n\nend");
}

}  // namespace
}  // namespace tenon::environment
