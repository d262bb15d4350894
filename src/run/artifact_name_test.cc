// SPDX-License-Identifier: Apache-2.0
#include "run/artifact_name.h"

#include <gtest/gtest.h>

namespace tenon::run {
namespace {

using std::string_literals::operator""s;

TEST(ArtifactNameTest, WhatARunnerRecordsLiesBelowOutputs) {
  for (const std::string& name :
       {"outputs/model.json"s, "outputs/a/b/c"s, "outputs/..."s, "outputs/.hidden"s, "outputs/a b"s,
        "outputs/\xff\xfe"s, "outputs/-rf"s, "outputs/outputs/x"s, "outputs/a\\..\\b"s,
        "outputs/" + std::string(255, 'x')}) {
    EXPECT_TRUE(IsOutputName(name)) << name;
    EXPECT_TRUE(IsArtifactName(name)) << name;
  }
}

TEST(ArtifactNameTest, NoOtherNameIsOne) {
  std::string deep = "outputs";
  for (int i = 0; i < 3000; ++i) deep += "/d";
  for (const std::string& name : {""s,
                                  "outputs"s,
                                  "outputs/"s,
                                  "Outputs/x"s,
                                  "outputsx/y"s,
                                  "/outputs/x"s,
                                  "./outputs/x"s,
                                  "outputs//x"s,
                                  "outputs/x/"s,
                                  "outputs/./x"s,
                                  "outputs/../x"s,
                                  "outputs/x/.."s,
                                  "outputs/a\0b"s,
                                  "aml_config/local.compute"s,
                                  ".bashrc"s,
                                  "../x"s,
                                  "main.py"s,
                                  "driver_log/x"s,
                                  "outputs/" + std::string(256, 'x'),
                                  deep}) {
    EXPECT_FALSE(IsOutputName(name)) << name;
    EXPECT_FALSE(IsArtifactName(name)) << name;
  }
}

TEST(ArtifactNameTest, WhatWeMakeOurselvesIsNoMachinesWord) {
  for (const std::string_view name : ArtifactsMadeHere()) {
    EXPECT_TRUE(IsArtifactName(name)) << name;
    EXPECT_FALSE(IsOutputName(name)) << name;
  }
}

TEST(ArtifactNameTest, DotPartsAreSeenWhereverTheyAre) {
  EXPECT_TRUE(HasDotPart("outputs/.git/config"));
  EXPECT_TRUE(HasDotPart("outputs/a/.envrc"));
  EXPECT_TRUE(HasDotPart(".x"));
  EXPECT_FALSE(HasDotPart("outputs/a.b/c.d"));
}

TEST(ArtifactNameTest, ForeignNamesAreTakenOutAndCounted) {
  std::vector<Artifact> files = {{"outputs/a", 1, "h", 0644},
                                 {"aml_config/local.compute", 1, "h", 0644},
                                 {"outputs/b", 1, "h", 0644},
                                 {"driver_log.txt", 1, "h", 0644}};
  std::string first;
  EXPECT_EQ(DropForeignNames(&files, &first), 2u);
  EXPECT_EQ(first, "aml_config/local.compute");
  ASSERT_EQ(files.size(), 2u);
  EXPECT_EQ(files[1].path, "outputs/b");
}

}  // namespace
}  // namespace tenon::run
