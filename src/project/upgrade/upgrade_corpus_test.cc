// SPDX-License-Identifier: Apache-2.0
// Every conda and Spark file of the corpus must load, or be refused as the reference says. Every
// project of it is upgraded, with a reason for each change. A second plan repeats only declined
// suggestions.
#include "project/upgrade/upgrade_corpus.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <map>
#include <set>

#include "base/temp_folder.h"
#include "base/text.h"
#include "project/dependencies/conda_file.h"
#include "project/dependencies/spark_file.h"
#include "project/upgrade/upgrade.h"

namespace tenon::project {
namespace {

// Files that the Workbench could not read either, with the place of the mistake.
const std::map<std::string, std::string>& Refused() {
  static const std::map<std::string, std::string> refused = {
      {"dciborow__MachineLearningSamples-H2OSpark@74d6c5f1/aml_config/spark_dependencies.yml",
       "a blank is missing behind the colon"},
  };
  return refused;
}

struct Row {
  bool loaded = false;
  size_t items = 0;
  std::vector<std::string> notices;
  std::string why;
};

Row ReadEither(const std::string& corpus, const std::string& file) {
  Row row;
  const auto fill = [&row](const auto& result, size_t items) {
    row.loaded = result.ok();
    row.items = items;
    if (result.ok()) {
      row.notices = result->notices;
    } else {
      row.why = result.error().message;
    }
  };
  if (file.find("spark") != std::string::npos && file.find("conda") == std::string::npos) {
    const Result<SparkFile> spark = ReadSparkFile(corpus, file);
    fill(spark, spark.ok() ? spark->packages.size() : 0);
  } else {
    const Result<CondaFile> conda = ReadCondaFile(corpus, file);
    fill(conda, conda.ok() ? conda->items.size() : 0);
  }
  return row;
}

TEST(DependencyCorpus, EveryFileLoadsOrIsRefusedAsTheReferenceSays) {
  const std::string corpus = CorpusFolder();
  if (corpus.empty()) GTEST_SKIP() << "planned: the corpus of real projects is not here";
  size_t files = 0;
  for (const std::string& file : FilesBelow(corpus)) {
    if (!file.ends_with(".yml")) continue;
    ++files;
    const Row row = ReadEither(corpus, file);
    std::printf("%-8s %3zu  %s%s%s\n", row.loaded ? "loaded" : "refused", row.items, file.c_str(),
                row.why.empty() ? "" : "\n                 ", row.why.c_str());
    for (const std::string& notice : row.notices)
      std::printf("      notice   %s\n", notice.c_str());
    const auto expected = Refused().find(file);
    EXPECT_EQ(row.loaded, expected == Refused().end()) << file << ": " << row.why;
    if (expected != Refused().end()) {
      EXPECT_NE(row.why.find(expected->second), std::string::npos) << row.why;
      EXPECT_TRUE(row.why.starts_with(file + ":")) << row.why;
    }
  }
  EXPECT_GT(files, 80u);
}

// Folders with aml_config/, relative to the corpus.
std::set<std::string> Projects(const std::string& corpus) {
  std::set<std::string> projects;
  for (const std::string& file : FilesBelow(corpus)) {
    if (BaseName(DirName(file)) == "aml_config") projects.insert(DirName(DirName(file)));
  }
  return projects;
}

void Copy(const std::string& from, const std::string& to) {
  for (const std::string& file : FilesBelow(from)) {
    const std::string path = JoinPath(to, file);
    ASSERT_TRUE(MakeDirs(DirName(path)).ok());
    const Result<std::string> bytes = ReadFile(JoinPath(from, file));
    ASSERT_TRUE(bytes.ok());
    ASSERT_TRUE(WriteFileAtomically(path, *bytes, 0644, Durability::kProcess).ok());
  }
}

size_t CountBroken(const UpgradePlan& plan) {
  size_t count = 0;
  for (const UpgradeNotice& notice : plan.notices) count += notice.rule == "broken";
  return count;
}

// Applies the diff as `patch` does; "" when it does not fit.
std::string Patched(const std::string& bytes, const std::string& diff) {
  std::vector<std::string> old = Split(bytes, '\n');
  std::string out;
  size_t next = 0;
  const std::vector<std::string> lines = Split(diff, '\n');
  for (size_t i = 2; i < lines.size(); ++i) {
    const std::string& line = lines[i];
    if (line.starts_with("@@")) {
      const size_t at = std::stoul(line.substr(4));
      const bool empty = line.substr(4, line.find(' ', 4) - 4).find(",0") != std::string::npos;
      for (; next < (empty ? at : at - 1) && next < old.size(); ++next) out += old[next] + "\n";
    } else if (line.starts_with('-')) {
      if (next >= old.size() || old[next++] != line.substr(1)) return "";
    } else if (line.starts_with('+')) {
      out += line.substr(1) + "\n";
    } else if (line.starts_with('\\') && lines[i - 1].starts_with('+')) {
      out.pop_back();
    }
  }
  for (; next < old.size(); ++next) out += old[next] + (next + 1 < old.size() ? "\n" : "");
  return out;
}

struct Way {
  const char* name;
  bool modern;
  bool suggestions;
};

class UpgradeCorpus : public testing::TestWithParam<Way> {};

TEST_P(UpgradeCorpus, EveryProjectLoadsAfterwardsIsExplainedAndAtRest) {
  const std::string corpus = CorpusFolder();
  if (corpus.empty()) GTEST_SKIP() << "planned: the corpus of real projects is not here";
  size_t changes = 0;
  for (const std::string& name : Projects(corpus)) {
    SCOPED_TRACE(name);
    TempFolder folder;
    ASSERT_NO_FATAL_FAILURE(Copy(JoinPath(corpus, name), folder.path()));
    const Result<Project> project = OpenProject(folder.path(), folder.path());
    ASSERT_TRUE(project.ok()) << project.error().message;
    const UpgradeOptions options{std::nullopt, GetParam().modern};
    const Result<UpgradePlan> plan = PlanUpgrade(*project, options);
    ASSERT_TRUE(plan.ok()) << plan.error().message;
    std::vector<bool> chosen;
    for (const UpgradeChange& change : plan->changes) {
      chosen.push_back(GetParam().suggestions || !change.suggestion);
      EXPECT_FALSE(change.reason.empty());
      EXPECT_EQ(change.reason.find('{'), std::string::npos) << change.reason;
    }
    changes += chosen.size();
    const auto files = MakeUpgrade(*plan, chosen);
    ASSERT_TRUE(files.ok()) << files.error().message;
    for (const UpgradedFile& file : *files) {
      std::printf("%s/%s", name.c_str(), file.diff.c_str() + 4);
      for (const std::string& line : Split(file.diff, '\n')) {
        if (!line.starts_with("@@")) continue;
        EXPECT_GT(line.size(), line.rfind("@@") + 12) << line;
      }
      // The diff hides lines with a password, so only other files can be patched.
      if (!file.file.ends_with(".compute")) {
        EXPECT_EQ(Patched(file.before, file.diff), file.after) << file.diff;
      }
    }
    const Status written = WriteUpgrade(*project, *files);
    ASSERT_TRUE(written.ok()) << written.error().message;
    const Result<UpgradePlan> again = PlanUpgrade(*project, options);
    ASSERT_TRUE(again.ok());
    EXPECT_EQ(CountBroken(*again), CountBroken(*plan));
    for (const UpgradeChange& change : again->changes) {
      EXPECT_TRUE(change.suggestion && !GetParam().suggestions)
          << change.file << ":" << change.line << " " << change.before << " -> " << change.after;
    }
  }
  EXPECT_GT(changes, 100u);
}

INSTANTIATE_TEST_SUITE_P(All, UpgradeCorpus,
                         testing::Values(Way{"Sure", false, false}, Way{"All", false, true},
                                         Way{"ModernSure", true, false},
                                         Way{"ModernAll", true, true}),
                         [](const auto& way) { return std::string(way.param.name); });

}  // namespace
}  // namespace tenon::project
