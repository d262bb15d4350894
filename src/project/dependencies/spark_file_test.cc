// SPDX-License-Identifier: Apache-2.0
#include "project/dependencies/spark_file.h"

#include <gtest/gtest.h>

namespace tenon::project {
namespace {

SparkFile MustRead(std::string bytes) {
  Result<SparkFile> file = ParseSparkFile("s.yml", std::move(bytes));
  if (!file.ok()) {
    ADD_FAILURE() << file.error().message;
    return std::move(ParseSparkFile("s.yml", "")).value();
  }
  return std::move(file).value();
}

std::string Complaint(std::string bytes) {
  const Result<SparkFile> file = ParseSparkFile("s.yml", std::move(bytes));
  return file.ok() ? "(accepted)" : file.error().message + " | " + file.error().hint;
}

TEST(SparkFile, TemplateWithTabsAndNumbers) {
  const SparkFile file = MustRead(
      "configuration:\n  \"spark.app.name\":\t\"Azure ML Experiment\"\n"
      "  \"spark.yarn.maxAppAttempts\": 1\n  maximizeResourceAllocation: 'true'\n  spark.x:\n"
      "repositories:\n  - \"https://mmlspark.azureedge.net/maven\"\n"
      "packages:\n  #\tcomment\n  - group: \"com.microsoft.ml.spark\"\n    artifact: "
      "\"mmlspark_2.11\"\n"
      "    version: 0.9\nversion: 2\n");
  ASSERT_EQ(file.configuration.size(), 4u);
  EXPECT_EQ(file.configuration[0].first, "spark.app.name");
  EXPECT_EQ(file.configuration[0].second.value, "Azure ML Experiment");
  EXPECT_EQ(file.configuration[1].second.value, "1");
  EXPECT_EQ(file.configuration[1].second.origin.Text(), "s.yml:3:32");
  EXPECT_EQ(file.configuration[2].second.value, "true");
  EXPECT_EQ(file.configuration[3].second.value, "");
  ASSERT_EQ(file.packages.size(), 1u);
  EXPECT_EQ(file.packages[0].Coordinates(), "com.microsoft.ml.spark:mmlspark_2.11:0.9");
  ASSERT_EQ(file.repositories.size(), 1u);
  EXPECT_EQ(file.version, 2);
  EXPECT_TRUE(file.notices.empty());
}

TEST(SparkFile, EmptyPartsAskForNothing) {
  for (const char* bytes :
       {"", "# nothing\n", "configuration: {}\nrepositories:\npackages: []\n"}) {
    const SparkFile file = MustRead(bytes);
    EXPECT_TRUE(file.configuration.empty() && file.repositories.empty() && file.packages.empty());
    EXPECT_FALSE(file.version.has_value());
  }
}

TEST(SparkFile, OtherFormsPointAtTheLine) {
  EXPECT_EQ(Complaint("packages:\n- group: g\n  artifact: a\n"),
            "s.yml:2:3: packages: `version` is missing | write `version: \"value\"`");
  EXPECT_EQ(Complaint("packages:\n- g:a:1\n"),
            "s.yml:2:3: packages: expected group, artifact and version, found text | write `- "
            "{group: \"g\", artifact: \"a\", version: \"1.0\"}`");
  EXPECT_EQ(Complaint("configuration:\n- a\n"),
            "s.yml:2:1: configuration: expected names with values, found a list | write one "
            "`\"spark.executor.cores\": 2` per line below `configuration:`");
  EXPECT_EQ(Complaint("version: two\n"),
            "s.yml:1:10: version: expected a whole number | write `version: 2`");
  EXPECT_EQ(Complaint("configuration:\n  \"spark.app.name\":\"x\"\n").substr(0, 8), "s.yml:2:");
  const SparkFile file = MustRead("package:\n- a\n");
  ASSERT_EQ(file.notices.size(), 1u);
  EXPECT_EQ(file.notices[0],
            "s.yml:1:1: unknown key `package` is ignored; did you mean "
            "`packages`?");
}

}  // namespace
}  // namespace tenon::project
