// SPDX-License-Identifier: Apache-2.0
#include "engine/run/ask_machines.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "base/clock.h"
#include "engine/host/hosts.h"

namespace tenon::engine {
namespace {

std::atomic<int> threads_left{0};

// What the threads of one call report. Shared by them and the caller; the last one frees it.
struct Told {
  struct OfMachine {
    std::string host, run;  // `run` is one of its runs
    int64_t heard_us = 0;   // when it last gave a sign of life
    bool done = false;
  };

  std::mutex mutex;
  std::condition_variable changed;
  // Guarded by `mutex`.
  std::deque<std::function<void(Reporter&)>> calls;
  std::vector<OfMachine> machines;
  bool abandoned = false;  // the caller has returned
  int asking = 0;          // questions that the user has not answered yet

  // Held while the user answers a question: one question at a time.
  std::mutex question;
};

// Queues its calls for the caller's thread.
class QueuedReporter : public Reporter {
 public:
  QueuedReporter(Told& told, size_t machine, const Clock& clock)
      : told_(told), machine_(machine), clock_(clock) {}

  void OnRunId(const std::string& run_id) override {
    Put([run_id](Reporter& to) { to.OnRunId(run_id); });
  }
  void OnStep(const run::Step& step) override {
    Put([step](Reporter& to) { to.OnStep(step); });
  }
  void OnNotice(const run::Notice& notice) override {
    Put([notice](Reporter& to) { to.OnNotice(notice); });
  }
  void OnStuck(const run::Notice& notice) override {
    Put([notice](Reporter& to) { to.OnStuck(notice); });
  }
  void OnState(run::State state, const std::string& reason) override {
    Put([state, reason](Reporter& to) { to.OnState(state, reason); });
  }
  // With several machines, nobody could tell which link is meant. So this counts as a sign of life
  // only.
  void OnLink(int64_t silent_us, const std::string&) override {
    if (silent_us == 0) Put(nullptr);
  }
  void OnProgress(std::string_view what, uint64_t done, uint64_t total) override {
    Put([what = std::string(what), done, total](Reporter& to) {
      to.OnProgress(what, done, total);
    });
  }

  void Put(std::function<void(Reporter&)> call) {
    const std::lock_guard<std::mutex> lock(told_.mutex);
    told_.machines[machine_].heard_us = clock_.MonotonicUs();
    if (told_.abandoned || !call) return;
    told_.calls.push_back(std::move(call));
    told_.changed.notify_one();
  }

 private:
  Told& told_;
  const size_t machine_;
  const Clock& clock_;
};

// Asks the user ssh's questions one at a time, and none after the caller has returned.
auto InTurn(std::shared_ptr<Told> told, const Clock& clock,
            std::function<std::optional<std::string>(const std::string&)> ask) {
  return [told = std::move(told), &clock,
          ask = std::move(ask)](const std::string& prompt) -> std::optional<std::string> {
    const auto count = [&](int change) {
      const std::lock_guard<std::mutex> lock(told->mutex);
      told->asking += change;
      // While the user thinks, no machine counts as silent.
      const int64_t now_us = clock.MonotonicUs();
      for (Told::OfMachine& machine : told->machines) machine.heard_us = now_us;
      told->changed.notify_one();
      return !told->abandoned;
    };
    count(1);
    std::optional<std::string> answer;
    {
      const std::lock_guard<std::mutex> one(told->question);
      const bool wanted = count(0);
      if (wanted) answer = ask(prompt);
    }
    count(-1);
    return answer;
  };
}

std::string NameOf(const Context& context, const std::string& host) {
  const auto record = ReadHost(context.home, host);
  return record.ok() ? record->target + " (" + record->address + ")" : "the machine " + host;
}

void AskOne(Context& context, const RunsOfMachine& machine, size_t index, const LookAtRun& look,
            Told& told) {
  QueuedReporter reporter(told, index, *context.clock);
  try {
    for (const std::string& run : machine.runs) {
      look(context, run, reporter);
      reporter.Put(nullptr);
    }
  } catch (const std::exception& problem) {
    // Bad data of one machine must not end the program.
    reporter.OnNotice(
        {run::Level::kError, NameOf(context, machine.host) + ": " + problem.what(), ""});
  }
}

void TellOfSilent(const Context& context, const std::vector<Told::OfMachine>& machines,
                  int64_t patience_us, Reporter& reporter) {
  for (const Told::OfMachine& machine : machines) {
    reporter.OnNotice({run::Level::kWarning,
                       NameOf(context, machine.host) + " has not answered for " +
                           HumanDuration(patience_us) + "; its runs are shown as last heard",
                       "`tenon status " + machine.run + "` waits longer"});
  }
}

// The machines that have been silent for `patience_us`; nullopt: some machine is still waited for.
std::optional<std::vector<Told::OfMachine>> SilentOnes(const Told& told, int64_t now_us,
                                                       int64_t patience_us) {
  std::vector<Told::OfMachine> silent;
  for (const Told::OfMachine& machine : told.machines) {
    if (machine.done) continue;
    if (told.asking > 0 || now_us - machine.heard_us < patience_us) return std::nullopt;
    silent.push_back(machine);
  }
  return silent;
}

}  // namespace

bool IsAskingStill() { return threads_left.load() > 0; }

void AskMachines(Context& context, const std::vector<RunsOfMachine>& machines,
                 const LookAtRun& look, Reporter& reporter, int64_t patience_us) {
  if (!context.make_another) {
    for (const RunsOfMachine& machine : machines) {
      for (const std::string& run : machine.runs) look(context, run, reporter);
    }
    return;
  }
  const auto told = std::make_shared<Told>();
  const int64_t begin_us = context.clock->MonotonicUs();
  for (const RunsOfMachine& machine : machines) {
    told->machines.push_back({machine.host, machine.runs.front(), begin_us});
  }
  for (size_t i = 0; i < machines.size(); ++i) {
    std::shared_ptr<Context> own = context.make_another();
    if (context.ask_user) own->ask_user = InTurn(told, *own->clock, context.ask_user);
    ++threads_left;
    std::thread([told, own = std::move(own), machine = machines[i], i, look]() mutable {
      AskOne(*own, machine, i, look, *told);
      own.reset();
      {
        const std::lock_guard<std::mutex> lock(told->mutex);
        told->machines[i].done = true;
        told->changed.notify_one();
      }
      --threads_left;
    }).detach();
  }
  std::unique_lock<std::mutex> lock(told->mutex);
  for (;;) {
    while (!told->calls.empty()) {
      const auto call = std::move(told->calls.front());
      told->calls.pop_front();
      lock.unlock();
      call(reporter);
      lock.lock();
    }
    const auto silent = SilentOnes(*told, context.clock->MonotonicUs(), patience_us);
    if (silent) {
      told->abandoned = true;
      lock.unlock();
      return TellOfSilent(context, *silent, patience_us, reporter);
    }
    told->changed.wait_for(lock, std::chrono::milliseconds(100));
  }
}

}  // namespace tenon::engine
