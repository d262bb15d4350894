// SPDX-License-Identifier: Apache-2.0
#include "runner/supervise/record_script.h"

#include <signal.h>

#include <utility>

#include "base/poll_loop.h"
#include "executor/cgroup.h"
#include "journal/writer.h"
#include "runner/supervise/script_run.h"
#include "runner/supervise/syncer.h"

namespace tenon::runner {
namespace {

constexpr int kNotStartedCode = 125;
constexpr int64_t kTickUs = 200'000;
// No limit of our own: the process that asks this program to stop kills it when it will not wait
// any longer.
constexpr int64_t kNoGraceLimitUs = int64_t{3600} * 24 * 365 * 1'000'000;

class Life {
 public:
  Life(ScriptOfOurs what, Recorder& recorder, Syncer& syncer, PollLoop& loop)
      : what_(std::move(what)),
        recorder_(recorder),
        syncer_(syncer),
        loop_(loop),
        process_(what_.run_key, what_.part),
        script_(
            loop, recorder, syncer, process_, what_.leftover_grace_us,
            [this](const ScriptRun::Over& over) { OnOver(over); }, SystemClock()) {}

  // Returns the exit code.
  int Run() {
    if (auto started = Start(); !started.ok()) return NotStarted(started.error());
    Tick();
    loop_.Run();
    return code_;
  }
  void OnSignal(int signal) {
    if (signal == SIGCHLD) return script_.Look();
    script_.AskToStop(kNoGraceLimitUs);
  }

 private:
  Status Start() {
    TENON_TRY(executor::ProcessRequest request, what_.find(recorder_));
    const auto start = [&](const OpenStreams& open) -> Result<std::optional<run::ScriptStarted>> {
      TENON_TRY(const Streams streams, open());
      request.stdout_fd = streams.stdout_fd;
      request.stderr_fd = streams.stderr_fd;
      TENON_TRY(const pid_t pid, process_.Start(request));
      return std::optional(executor::StartedAs(pid, std::move(request.argv)));
    };
    TENON_TRY_VOID(script_.Start(start, what_.metrics));
    syncer_.SyncNow([](const Status&) {});
    return {};
  }

  int NotStarted(const Error& error) {
    if (!error.hint.empty()) {
      recorder_.Append(run::Notice{run::Level::kError, error.message, error.hint});
    }
    run::ScriptEnded ended;
    ended.exit_code = kNotStartedCode;
    ended.problem = error.message;
    recorder_.AppendLast(std::move(ended));
    (void)recorder_.writer().Sync().ok();
    return code_ = kNotStartedCode;
  }

  void Tick() {
    script_.Pump();
    loop_.AddTimer(kTickUs, [this] { Tick(); });
  }

  void OnOver(const ScriptRun::Over& over) {
    run::ScriptEnded ended;
    ended.exit_code = over.exit.status.code;
    ended.signal = over.exit.status.signal;
    ended.out_of_memory = over.exit.out_of_memory;
    ended.peak_rss_bytes = over.exit.peak_rss_bytes;
    // Only if everything that shares our memory limit belongs to the script.
    if (what_.part == executor::Part::kWhole) {
      const executor::GroupMemory memory = executor::OwnGroupMemory();
      ended.out_of_memory = ended.out_of_memory || memory.out_of_memory;
      if (memory.out_of_memory && memory.peak_bytes > 0) ended.peak_rss_bytes = memory.peak_bytes;
    }
    ended.start_us = over.exit.start_us;
    ended.duration_us = over.exit.duration_us;
    ended.leftovers = over.exit.leftovers;
    (void)recorder_.CheckSegment();
    recorder_.AppendLast(std::move(ended));
    (void)recorder_.writer().Sync().ok();
    code_ = over.exit.status.AsShell();
    loop_.Stop();
  }

  const ScriptOfOurs what_;
  Recorder& recorder_;
  Syncer& syncer_;
  PollLoop& loop_;
  executor::ProcessScript process_;
  ScriptRun script_;
  int code_ = kNotStartedCode;
};

}  // namespace

Result<int> RecordScript(UniqueFd segment, ScriptOfOurs script) {
  journal::Writer::Options options;
  options.path = "/proc/self/fd/" + std::to_string(segment.get());
  options.run_key = script.run_key;
  options.segment = script.segment;
  options.reserve = true;
  options.reserve_beside = false;  // we have no folder to put it in
  TENON_TRY(journal::Writer writer, journal::Writer::Open(options));
  segment.Reset();  // the writer has opened it itself
  PollLoop loop;
  Life* life = nullptr;
  TENON_TRY_VOID(
      loop.HandleSignals({SIGCHLD, SIGTERM, SIGINT}, [&](int signal) { life->OnSignal(signal); }));
  Recorder recorder(std::move(writer), script.secrets, "/dev/null");
  Syncer syncer(recorder.writer());
  Life carried_out(std::move(script), recorder, syncer, loop);
  life = &carried_out;
  // The segment is closed when this returns. A process that gets its lock then knows that
  // everything is recorded.
  return carried_out.Run();
}

}  // namespace tenon::runner
