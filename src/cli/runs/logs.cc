// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "base/clock.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/parse/options.h"
#include "cli/print/print.h"
#include "cli/print/terminal_reporter.h"
#include "engine/outputs/artifacts.h"
#include "engine/run/follow.h"
#include "engine/run/retry.h"
#include "engine/run/runs.h"

namespace tenon::cli {
namespace {

struct Options {
  std::string run = "last";
  bool follow = false;
  std::string raw;
  bool timestamps = false;
};

// Prints one JSON object per line, for programs.
class JsonLines : public engine::Reporter {
 public:
  void OnOutput(run::Stream stream, std::string_view bytes, int64_t time_us) override {
    PrintJsonText(
        json::Print(json::Object{{"time_utc", FormatUtc(time_us)},
                                 {"stream", stream == run::Stream::kStdout ? "stdout" : "stderr"},
                                 {"text", json::EncodeBytes(bytes)}}) +
        "\n");
    FlushOut();
  }
};

// Puts before each line the time at which its first byte arrived.
class Timestamped : public engine::Reporter {
 public:
  void OnOutput(run::Stream, std::string_view bytes, int64_t time_us) override {
    while (!bytes.empty()) {
      if (line_start_) PrintOut(FormatUtc(time_us) + " ");
      const size_t end = bytes.find('\n');
      line_start_ = end != std::string_view::npos;
      const size_t n = line_start_ ? end + 1 : bytes.size();
      PrintBytes(bytes.substr(0, n));
      bytes.remove_prefix(n);
    }
    FlushOut();
  }

 private:
  bool line_start_ = true;
};

Result<int> PrintRaw(engine::Context& context, const std::string& run_id,
                     const std::string& which) {
  TENON_TRY_VOID(engine::ReadOutput(context, run_id, which != "stderr", which != "stdout",
                                    [](run::Stream, std::string_view bytes) {
                                      PrintBytes(bytes);
                                      return Status();
                                    }));
  return 0;
}

Result<int> Act(Session& session, const Options& options) {
  TENON_TRY(const std::string run_id, session.ResolveRun(options.run));
  TENON_TRY(engine::Context * context, session.Context());
  if (!options.raw.empty() && !options.follow) return PrintRaw(*context, run_id, options.raw);
  InterruptWatch interrupt;
  engine::FollowOptions follow;
  follow.wait = options.follow;
  follow.stop = &interrupt.stop();
  TerminalReporter plain({.quiet = !options.raw.empty()});
  JsonLines lines;
  Timestamped timestamped;
  engine::Reporter* reporter = &plain;
  if (session.WantsJson())
    reporter = &lines;
  else if (options.timestamps)
    reporter = &timestamped;
  TENON_TRY(const auto followed, engine::Follow(*context, run_id, follow, *reporter));
  if (options.follow && !followed.end) return 130;
  if (options.follow && followed.end->rebooted) {
    TENON_TRY_VOID(engine::RetryAfterRestart(*context, run_id, {}, *reporter));
  }
  return 0;
}

}  // namespace

Command LogsCommand() {
  return {{{"logs"}},
          "Show what a run's script printed",
          "Without -f: what is there now. Standard output and error of the script go to ours.",
          {"tenon logs", "tenon logs -f 12", "tenon logs last --raw stdout > out.txt"},
          [](OptionTable& table, const std::vector<std::string>&) -> Action {
            auto options = std::make_shared<Options>();
            table.Add("RUN", &options->run, "The run: id, number, beginning of an id, or `last`");
            table.Flag("-f,--follow", &options->follow,
                       "Go on until the run ends; Ctrl-C stops watching only");
            table
                .Add("--raw", &options->raw,
                     "The script's exact bytes on standard output: stdout, stderr, both")
                .OneOf({"stdout", "stderr", "both"})
                .Type("WHICH");
            table.Flag("--timestamps", &options->timestamps, "Put the time before each line");
            return [options](Session& session) { return Act(session, *options); };
          }};
}

}  // namespace tenon::cli
