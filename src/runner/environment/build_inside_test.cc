// SPDX-License-Identifier: Apache-2.0
#include "runner/environment/build_inside.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/file.h"
#include "base/temp_folder.h"
#include "runner/environment/pins.h"

namespace tenon::runner {
namespace {

class Heard : public BuildReporter {
 public:
  void OnStep(const run::Step& step) override { words.push_back("step " + step.name); }
  void OnProgress(const std::string& step, const std::string& detail, uint64_t done,
                  uint64_t total) override {
    words.push_back("progress " + step + " " + detail + " " + std::to_string(done) + "/" +
                    std::to_string(total));
  }
  void OnOutput(std::string_view bytes) override {
    words.push_back("output " + std::string(bytes));
  }
  std::vector<std::string> words;
};

const char* const kTold =
    "{\"step\":{\"name\":\"venv\",\"duration_us\":5}}\n"
    "{\"progress\":{\"step\":\"pip\",\"detail\":\"x\",\"done\":1,\"total\":2}}\n"
    "not JSON at all\n"
    "{\"output\":\"words\"}\n"
    "{\"made\":{\"python\":\"/p/bin/python\",\"python_version\":\"3.11.2\"}}\n";

TEST(BuildAnswer, LinesAreUnderstoodHoweverTheStreamIsCut) {
  const std::string told = kTold;
  for (size_t size : {size_t{1}, size_t{7}, told.size()}) {
    Heard heard;
    BuildAnswer answer(heard);
    for (size_t at = 0; at < told.size(); at += size) {
      answer.Feed(std::string_view(told).substr(at, size));
    }
    EXPECT_EQ(heard.words,
              (std::vector<std::string>{"step venv", "progress pip x 1/2", "output words"}));
    ASSERT_TRUE(answer.result().has_value());
    ASSERT_TRUE(answer.result()->ok());
    EXPECT_EQ((*answer.result())->python_version, "3.11.2");
  }
}

TEST(BuildAnswer, NothingIsMadeBeforeItIsSaid) {
  Heard heard;
  BuildAnswer answer(heard);
  answer.Feed("{\"made\":{\"python\":\"/p\"}}");  // no line end: it may be cut off
  EXPECT_FALSE(answer.result().has_value());
  answer.Feed("\n");
  EXPECT_TRUE(answer.result().has_value());
}

TEST(BuildAnswer, AFailureComesWithItsHint) {
  Heard heard;
  BuildAnswer answer(heard);
  answer.Feed("{\"error\":{\"kind\":\"invalid\",\"message\":\"f.yml:7: no\",\"hint\":\"try\"}}\n");
  ASSERT_TRUE(answer.result().has_value());
  ASSERT_FALSE(answer.result()->ok());
  EXPECT_EQ(answer.result()->error().message, "f.yml:7: no");
  EXPECT_EQ(answer.result()->error().hint, "try");
}

TEST(BuildJob, SecretsTravelInItAndComeBack) {
  BuildJob build;
  build.job.prefix = "/opt/tenon/env";
  build.job.environment = {{"TOKEN", "hunter2-hunter2"}};
  build.job.masked = {"hunter2-hunter2"};
  build.user = {5, 6, {}};
  build.user_name = "ann";
  auto back = BuildJob::FromText(build.ToText());
  ASSERT_TRUE(back.ok()) << back.error().message;
  EXPECT_EQ(back->job.environment, build.job.environment);
  EXPECT_EQ(back->job.masked, build.job.masked);
  EXPECT_EQ(back->user.uid, 5u);
  EXPECT_EQ(back->user_name, "ann");
  EXPECT_FALSE(BuildJob::FromText("{}").ok());
}

TEST(Pins, OnlyWhatCameFromAnIndexIsPinned) {
  TempFolder home;
  ASSERT_TRUE(SavePins(home.path(), "k",
                       {{"numpy", "1.26.0", "pypi"}, {"x", "1", "conda-forge"}, {"y", "2", ""}})
                  .ok());
  EXPECT_EQ(ReadFile(PinsFile(home.path(), "k")).value(), "numpy==1.26.0\n");
  run::Packages packages;
  ApplyPins("", &packages);
  EXPECT_TRUE(packages.pip_options.empty());
  ApplyPins("/pins.txt", &packages);
  ASSERT_EQ(packages.pip_options.size(), 1u);
  EXPECT_EQ(packages.pip_options[0].text, "--constraint /pins.txt");
}

}  // namespace
}  // namespace tenon::runner
