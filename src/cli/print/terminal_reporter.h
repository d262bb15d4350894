// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_CLI_PRINT_TERMINAL_REPORTER_H_
#define TENON_CLI_PRINT_TERMINAL_REPORTER_H_

#include <atomic>
#include <string>
#include <string_view>

#include "engine/reporter.h"

namespace tenon::cli {

// Shows a run to a person. The script's output and error go unchanged to standard output and error;
// Tenon's messages go to standard error. On a terminal, work that takes over half a second gets a
// progress line. Without a terminal, each step of the host gets a line when it begins and another
// every ten seconds.
class TerminalReporter : public engine::Reporter {
 public:
  struct Options {
    bool quiet = false;       // errors only
    bool show_output = true;  // print the script's output
    bool workbench = false;   // print the Workbench's frame around the output, on standard output
    bool steps = false;       // show every step, not only slow ones
  };
  explicit TerminalReporter(Options options) : options_(options) {}
  ~TerminalReporter() override;

  void OnRunId(const std::string& run_id) override;
  void OnStep(const run::Step& step) override;
  void OnNotice(const run::Notice& notice) override;
  void OnState(run::State state, const std::string& reason) override;
  void OnOutput(run::Stream stream, std::string_view bytes, int64_t time_us) override;
  void OnEnvironment(const run::EnvironmentReady& environment) override;
  void OnFarProgress(const run::Progress& progress) override;
  void OnGap(const run::Gap& gap) override;
  void OnHole(uint64_t bytes) override;
  void OnEnd(const run::End& end) override;
  void OnLink(int64_t silent_us, const std::string& why) override;
  void OnProgress(std::string_view what, uint64_t done, uint64_t total) override;

 private:
  void Say(std::string_view line);
  void ClearProgress();
  // Records when a piece of work began. True once it has lasted long enough to be shown.
  bool IsProgressDue(std::string_view what, int64_t now_us);
  void DrawProgress(const std::string& line);

  Options options_;
  std::string run_id_;
  std::string last_error_;  // text of the last notice that was an error
  std::string progress_what_;
  int64_t progress_since_us_ = 0;
  int64_t progress_drawn_us_ = 0;
  bool progress_shown_ = false;
  int64_t far_since_us_ = 0;    // when the host first reported a step
  std::string far_step_;        // not on a terminal: the step last printed
  int64_t far_told_us_ = 0;     // when it was printed
  int64_t environment_us_ = 0;  // how long the step "environment" took
  bool link_lost_ = false;      // and this was printed
  int64_t link_told_us_ = 0;    // when it was last printed
  bool at_line_start_ = true;   // of standard error; messages start on a new line
};

// While it lives, the first Ctrl-C sets `stop`; a second one ends the program with 130.
class InterruptWatch {
 public:
  InterruptWatch();
  ~InterruptWatch();
  const std::atomic<bool>& stop() const;
};

}  // namespace tenon::cli

#endif  // TENON_CLI_PRINT_TERMINAL_REPORTER_H_
