// SPDX-License-Identifier: Apache-2.0
// Reads every conda file of the corpus (real projects of 2017) as packages: what is asked for, left
// out or refused. Prints the table to the test's output.
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <map>
#include <string>

#include "base/text.h"
#include "project/dependencies/packages.h"
#include "project/upgrade/upgrade_corpus.h"

namespace tenon::project {
namespace {

bool IsCondaFile(const std::string& path) {
  const std::string name = ToLower(BaseName(path));
  return name.ends_with(".yml") && name.find("dependencies") != std::string::npos &&
         name.find("spark") == std::string::npos;
}

TEST(PackagesCorpus, EveryCondaFileGivesPackages) {
  if (CorpusFolder().empty()) GTEST_SKIP() << "planned: the corpus of real projects is not here";
  const std::string corpus = std::filesystem::canonical(CorpusFolder()).string();
  size_t files = 0, packages = 0;
  std::map<std::string, std::string> refused;
  std::string dropped;
  for (const std::string& path : FilesBelow(corpus)) {
    if (!IsCondaFile(path)) continue;
    ++files;
    const Result<ReadPackagesResult> read = ReadPackages(corpus, {path, Origin::Option("-d")});
    if (!read.ok()) {
      refused[path] = read.error().message + " | " + read.error().hint;
      continue;
    }
    EXPECT_EQ(read->packages.file, path);
    for (const auto* list : {&read->packages.conda, &read->packages.pip}) {
      for (const run::Package& package : *list) {
        ++packages;
        EXPECT_TRUE(package.where.starts_with(path + ":")) << package.where;
        EXPECT_NE(package.text, "");
        EXPECT_EQ(package.text.find("azuremldownloads"), std::string::npos) << package.where;
        EXPECT_NE(package.name, "azureml-requirements") << package.where;
        EXPECT_NE(package.name, "pickle") << package.where;
      }
    }
    EXPECT_TRUE(read->packages.pip_options.empty()) << path;
    for (const std::string& notice : read->notices) dropped += notice + "\n";
  }
  for (const auto& [path, why] : refused)
    std::printf("REFUSED %s: %s\n", path.c_str(), why.c_str());
  std::printf("%s%zu files, %zu packages, %zu refused\n", dropped.c_str(), files, packages,
              refused.size());
  EXPECT_GE(files, 45u);
  EXPECT_GE(packages, 200u);
  EXPECT_TRUE(refused.empty());
}

}  // namespace
}  // namespace tenon::project
