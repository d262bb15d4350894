// SPDX-License-Identifier: Apache-2.0
// Every conda and Spark file of the corpus: loaded, or refused as the reference says.
#include "project/upgrade_corpus.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <map>

#include "project/conda_file.h"
#include "project/spark_file.h"

namespace tenon::project {
namespace {

// Files that the product could not read either, and where the mistake is.
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

}  // namespace
}  // namespace tenon::project
