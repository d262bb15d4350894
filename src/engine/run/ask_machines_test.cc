// SPDX-License-Identifier: Apache-2.0
#include "engine/run/ask_machines.h"

#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <memory>
#include <mutex>
#include <new>
#include <thread>

#include "base/clock.h"

namespace tenon::engine {
namespace {

constexpr int64_t kLongUs = 60'000'000;

class Listener : public Reporter {
 public:
  void OnNotice(const run::Notice& notice) override {
    EXPECT_EQ(std::this_thread::get_id(), thread);
    notices.push_back(notice.text);
  }
  std::thread::id thread = std::this_thread::get_id();
  std::vector<std::string> notices;
};

// The home does not exist, so nothing is written anywhere.
std::unique_ptr<Context> MakeContext() {
  auto context = std::make_unique<Context>(run::Home("/nonexistent/tenon"));
  context->clock = &SystemClock();
  context->make_another = MakeContext;
  return context;
}

void AwaitNobody() {
  while (IsAskingStill()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

bool Contains(const std::vector<std::string>& all, const std::string& one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

TEST(AskMachinesTest, EveryRunIsLookedAtWithAContextOfItsMachinesOwn) {
  const auto context = MakeContext();
  Listener listener;
  std::mutex mutex;
  std::map<std::string, Context*> with;
  AskMachines(
      *context, {{"a", {"a1", "a2"}}, {"b", {"b1"}}},
      [&](Context& own, const std::string& run, Reporter& reporter) {
        const std::lock_guard<std::mutex> lock(mutex);
        with[run] = &own;
        reporter.OnNotice({run::Level::kInfo, run, ""});
      },
      listener, kLongUs);
  EXPECT_EQ(with["a1"], with["a2"]);
  EXPECT_NE(with["a1"], with["b1"]);
  EXPECT_NE(with["a1"], context.get());
  EXPECT_EQ(listener.notices.size(), 3u);
  AwaitNobody();
}

TEST(AskMachinesTest, ASilentMachineIsNamedAndTheOthersAreTold) {
  const auto context = MakeContext();
  Listener listener;
  std::promise<void> answer;
  const std::shared_future<void> answered = answer.get_future().share();
  AskMachines(
      *context, {{"silent", {"s1"}}, {"quick", {"q1"}}},
      [answered](Context&, const std::string& run, Reporter& reporter) {
        if (run == "s1") answered.wait();
        reporter.OnNotice({run::Level::kInfo, run, ""});
      },
      listener, /*patience_us=*/2'000'000);
  EXPECT_TRUE(IsAskingStill());
  EXPECT_TRUE(Contains(listener.notices, "q1"));
  ASSERT_EQ(listener.notices.size(), 2u);
  EXPECT_TRUE(listener.notices.back().starts_with("the machine silent has not answered for"))
      << listener.notices.back();
  // What comes after the return is not reported.
  answer.set_value();
  AwaitNobody();
  EXPECT_EQ(listener.notices.size(), 2u);
}

TEST(AskMachinesTest, SignsOfLifeKeepPatienceUp) {
  const auto context = MakeContext();
  Listener listener;
  AskMachines(
      *context, {{"slow", {"s1"}}},
      [](Context&, const std::string&, Reporter& reporter) {
        for (int i = 0; i < 20; ++i) {
          std::this_thread::sleep_for(std::chrono::milliseconds(100));
          reporter.OnProgress("outputs", static_cast<uint64_t>(i), 20);
        }
        reporter.OnNotice({run::Level::kInfo, "done", ""});
      },
      listener, /*patience_us=*/1'800'000);
  EXPECT_EQ(listener.notices, std::vector<std::string>{"done"});
  AwaitNobody();
}

TEST(AskMachinesTest, TheUserIsAskedOneThingAtATimeAndIsWaitedFor) {
  const auto context = MakeContext();
  int open = 0, most = 0, asked = 0;
  context->ask_user = [&](const std::string&) -> std::optional<std::string> {
    most = std::max(most, ++open);
    std::this_thread::sleep_for(std::chrono::milliseconds(1200));
    --open;
    ++asked;
    return "secret";
  };
  Listener listener;
  AskMachines(
      *context, {{"a", {"a1"}}, {"b", {"b1"}}, {"c", {"c1"}}},
      [](Context& own, const std::string& run, Reporter& reporter) {
        const auto answer = own.ask_user("Password: ");
        reporter.OnNotice({run::Level::kInfo, run + " " + answer.value_or("nothing"), ""});
      },
      listener, /*patience_us=*/1'000'000);
  EXPECT_EQ(most, 1);
  EXPECT_EQ(asked, 3);
  for (const char* run : {"a1 secret", "b1 secret", "c1 secret"}) {
    EXPECT_TRUE(Contains(listener.notices, run)) << run;
  }
  AwaitNobody();
}

TEST(AskMachinesTest, AMachineThatTakesAllMemoryHarmsNoOther) {
  const auto context = MakeContext();
  Listener listener;
  AskMachines(
      *context, {{"hostile", {"h1"}}, {"good", {"g1"}}},
      [](Context&, const std::string& run, Reporter& reporter) {
        if (run == "h1") throw std::bad_alloc();
        reporter.OnNotice({run::Level::kInfo, run, ""});
      },
      listener, kLongUs);
  EXPECT_TRUE(Contains(listener.notices, "g1"));
  EXPECT_EQ(listener.notices.size(), 2u);
  AwaitNobody();
}

}  // namespace
}  // namespace tenon::engine
