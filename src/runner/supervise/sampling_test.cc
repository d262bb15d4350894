// SPDX-License-Identifier: Apache-2.0
#include "runner/supervise/sampling.h"

#include <gtest/gtest.h>

#include <utility>

#include "base/temp_folder.h"
#include "runner/supervise/process_executor.h"
#include "runner/supervise/test_run.h"

namespace tenon::runner {
namespace {

std::string Watts(int64_t value) {
  return EncodeFrame({}, run::EncodeSampleBlocks({{"GPU-1", {1000}, {{"power_mw", {value}}}}}));
}

// Runs the script as a process, with samplers beside it.
class MeasuredExecutor : public ProcessExecutor {
 public:
  MeasuredExecutor(const StartRequest& request, std::vector<Sampler> samplers)
      : ProcessExecutor(request, {}), samplers_(std::move(samplers)) {}
  std::vector<Sampler> Samplers() const override { return samplers_; }

 private:
  std::vector<Sampler> samplers_;
};

class SamplingTest : public testing::Test, protected TestRun {
 protected:
  // A sampler that prints these bytes, starts a child, makes a file that says so, and runs for
  // ever.
  Sampler Printing(const std::string& bytes, const std::string& name = "gpu") {
    const std::string file = temp_ / name;
    EXPECT_TRUE(WriteFileAtomically(file, bytes, 0644, Durability::kProcess).ok());
    return {name,
            {"/bin/sh", "-c", "cat \"$0\"; sleep 600 & : >\"$0.printed\"; wait", file},
            CurrentEnvironment()};
  }
  // Sets a script that ends when these samplers have printed.
  void SetScriptThatWaitsFor(const std::vector<std::string>& names) {
    std::string text;
    for (const std::string& name : names) {
      text += "while [ ! -e '" + (temp_ / name) + ".printed' ]; do sleep 0.01; done\n";
    }
    SetScript("main.sh", text);
  }
  void MustRun(std::vector<Sampler> samplers) {
    TestRun::Run(std::make_unique<MeasuredExecutor>(request, std::move(samplers)));
  }
  std::vector<run::Event> EventsOf(const std::string& segment) {
    std::vector<run::Event> events;
    auto reader = journal::Reader::Open(Folder().segment(segment));
    EXPECT_TRUE(reader.ok());
    while (reader.ok()) {
      auto record = reader->Next();
      if (!record.ok() || !*record) break;
      auto event = run::DecodeEvent((*record)->type, (*record)->payload);
      EXPECT_TRUE(event.ok() && event->has_value());
      events.push_back(std::move(**event));
    }
    return events;
  }

  TempFolder temp_;
};

TEST_F(SamplingTest, WhatIsMeasuredLiesInASegmentOfItsOwnAndIsNoPartOfTheScript) {
  SetScriptThatWaitsFor({"gpu", "host"});
  MustRun({Printing(Watts(70) + Watts(80)), Printing(Watts(5), "host")});
  EXPECT_EQ(end().state, run::State::kCompleted) << end().reason;
  EXPECT_EQ(end().other_segments, 2);
  EXPECT_EQ(end().proof->left, 0);
  EXPECT_EQ(end().proof->ended, 0);
  EXPECT_TRUE(notices.empty()) << notices[0];
  EXPECT_EQ(others, (std::vector<std::string>{"sampler-gpu", "sampler-host"}));
  const auto events = EventsOf("sampler-gpu");
  ASSERT_EQ(events.size(), 2u);
  const auto& second = std::get<run::Samples>(events[1]);
  ASSERT_EQ(second.blocks.size(), 1u);
  EXPECT_EQ(second.blocks[0].subject, "GPU-1");
  EXPECT_EQ(second.blocks[0].columns[0].values, std::vector<int64_t>{80});
}

TEST_F(SamplingTest, ItIsOverWithTheScriptAndNothingOfItIsLeft) {
  SetScriptThatWaitsFor({"gpu"});
  MustRun({Printing(Watts(1))});
  const std::string mine = temp_ / "gpu";
  const auto left =
      RunAndCapture({"/bin/sh", "-c", "cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' ' '"}, "");
  ASSERT_TRUE(left.ok());
  EXPECT_EQ(left->out.find(mine), std::string::npos);
}

TEST_F(SamplingTest, AScriptThatLeavesProcessesIsFoundOutBesideASampler) {
  SetScriptThatWaitsFor({"gpu"});
  SetScript("main.sh", "while [ ! -e '" + (temp_ / "gpu") +
                           ".printed' ]; do sleep 0.01; done\n"
                           "sleep 600 & exit 3\n");
  request.spec.grace_us = 200'000;
  MustRun({Printing(Watts(1))});
  EXPECT_EQ(end().exit_code, 3);
  EXPECT_EQ(end().proof->left, 0);
  EXPECT_EQ(end().proof->ended, 1);
}

TEST_F(SamplingTest, NonsenseFromASamplerHarmsNobody) {
  const std::vector<std::string> kNonsense = {"what", std::string(1 << 20, 'x'),
                                              EncodeFrame({}, "no blocks"),
                                              Watts(1) + std::string(64, '\0')};
  for (const std::string& nonsense : kNonsense) {
    request.run.run_id = request.spec.id =
        "proj_" + std::to_string(ends.size() + others.size() + 2);
    ASSERT_TRUE(MakeDirs(Folder().path()).ok());
    ends.clear();
    // The sampler may be killed before it says that it has printed.
    SetScript("main.sh", "exit 0\n");
    MustRun({Printing(nonsense)});
    EXPECT_EQ(end().state, run::State::kCompleted);
  }
}

TEST_F(SamplingTest, OneThatCannotBeStartedOrEndsIsTold) {
  SetScript("main.sh", "exit 0\n");
  MustRun({{"gpu", {"/nowhere/sampler"}, {}}, {"../host", {"/bin/true"}, {}}});
  EXPECT_EQ(end().state, run::State::kCompleted);
  ASSERT_EQ(notices.size(), 2u);
  EXPECT_NE(notices[0].find("nothing is measured by gpu"), std::string::npos) << notices[0];

  PollLoop loop;
  const auto ends_at_once =
      Sampling::Start({"short", {"/bin/sh", "-c", "exit 1"}, CurrentEnvironment()}, Folder(),
                      request.spec.key, {}, loop);
  ASSERT_TRUE(ends_at_once.ok());
  std::vector<run::Event> events;
  for (int i = 0; i < 10'000 && events.empty(); ++i) {
    loop.RunOnce(1000);
    events = EventsOf("sampler-short");
  }
  ASSERT_EQ(events.size(), 1u);
  EXPECT_NE(std::get<run::Notice>(events[0]).text.find("it has ended"), std::string::npos);
}

TEST_F(SamplingTest, ARunnerThatComesLaterGoesOnAndThePauseIsAGap) {
  PollLoop loop;
  for (const int64_t watts : {1, 2}) {
    const auto sampling =
        Sampling::Start(Printing(Watts(watts)), Folder(), request.spec.key, {}, loop);
    ASSERT_TRUE(sampling.ok()) << sampling.error().message;
    const size_t wanted = watts == 1 ? 1 : 3;
    for (int i = 0; i < 10'000 && EventsOf("sampler-gpu").size() < wanted; ++i) loop.RunOnce(1000);
  }
  const auto events = EventsOf("sampler-gpu");
  ASSERT_EQ(events.size(), 3u);
  EXPECT_NE(std::get<run::Gap>(events[1]).reason.find("nothing was measured"), std::string::npos);
  EXPECT_EQ(std::get<run::Samples>(events[2]).blocks[0].columns[0].values, std::vector<int64_t>{2});
}

TEST_F(SamplingTest, SecretsAreMaskedInItsWords) {
  PollLoop loop;
  {
    const auto sampling =
        Sampling::Start(Printing(EncodeFrame({{"notice", "the word is hunter2-hunter2\x1b[2J"}})),
                        Folder(), request.spec.key, {"hunter2-hunter2"}, loop);
    ASSERT_TRUE(sampling.ok());
    for (int i = 0; i < 10'000 && EventsOf("sampler-gpu").empty(); ++i) loop.RunOnce(1000);
  }
  const auto events = EventsOf("sampler-gpu");
  ASSERT_EQ(events.size(), 1u);
  const std::string text = std::get<run::Notice>(events[0]).text;
  EXPECT_EQ(text.find("hunter2"), std::string::npos);
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
}

}  // namespace
}  // namespace tenon::runner
