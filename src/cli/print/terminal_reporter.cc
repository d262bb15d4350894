// SPDX-License-Identifier: Apache-2.0
#include "cli/print/terminal_reporter.h"

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <utility>

#include "base/clock.h"
#include "base/text.h"
#include "cli/print/print.h"

namespace tenon::cli {
namespace {

constexpr int64_t kSlowUs = 500'000;
constexpr int64_t kRedrawUs = 100'000;
constexpr size_t kMostColumnBytes = 16;  // one character of a column with its combining marks
constexpr int64_t kTellAgainUs = 10'000'000;
constexpr int64_t kTellLinkAgainUs = 60'000'000;

std::atomic<bool> g_stop{false};
struct sigaction g_old_action;

void OnInterrupt(int) {
  if (g_stop.exchange(true)) ::_exit(130);
}

}  // namespace

InterruptWatch::InterruptWatch() {
  g_stop = false;
  struct sigaction action {};
  action.sa_handler = OnInterrupt;
  ::sigaction(SIGINT, &action, &g_old_action);
}

InterruptWatch::~InterruptWatch() { ::sigaction(SIGINT, &g_old_action, nullptr); }

const std::atomic<bool>& InterruptWatch::stop() const { return g_stop; }

TerminalReporter::~TerminalReporter() { ClearProgress(); }

void TerminalReporter::ClearProgress() {
  if (progress_shown_) WipeErrLine();
  progress_shown_ = false;
}

void TerminalReporter::Say(std::string_view line) {
  if (options_.quiet) return;
  ClearProgress();
  PrintErr((at_line_start_ ? "" : "\n") + Hanging(line) + "\n");
  at_line_start_ = true;
}

void TerminalReporter::OnRunId(const std::string& run_id) {
  run_id_ = run_id;
  if (options_.workbench) {
    PrintOut("RunId: " + run_id + "\n");
    if (options_.show_output) {
      PrintOut("\nExecuting user inputs .....\n===========================\n\n");
    }
    FlushOut();
  } else {
    Say(Styled("RunId: " + run_id, Style::kBold, ColorErr()));
  }
}

void TerminalReporter::OnStep(const run::Step& step) {
  if (step.name == "environment") {
    environment_us_ = step.duration_us;  // printed with the environment
    return;
  }
  if (!options_.steps && step.duration_us < kSlowUs) return;
  std::string line = step.name + ": " + HumanDuration(step.duration_us);
  if (!step.detail.empty()) line += " (" + step.detail + ")";
  Say(Styled(line, Style::kDim, ColorErr()));
}

void TerminalReporter::OnNotice(const run::Notice& notice) {
  const bool info = notice.level == run::Level::kInfo;
  std::string line = Styled(info                                   ? "note:"
                            : notice.level == run::Level::kWarning ? "warning:"
                                                                   : "error:",
                            info ? Style::kCyan : Style::kYellow, ColorErr());
  line += " " + notice.text;
  if (!notice.hint.empty()) line += " (" + notice.hint + ")";
  Say(line);
  if (notice.level == run::Level::kError) last_error_ = notice.text;
}

void TerminalReporter::OnState(run::State state, const std::string& reason) {
  if (state == run::State::kCancelRequested) {
    Say("stopping" + (reason.empty() ? "" : ": " + reason));
  }
}

void TerminalReporter::OnOutput(run::Stream stream, std::string_view bytes, int64_t) {
  if (!options_.show_output || bytes.empty()) return;
  ClearProgress();
  if (stream == run::Stream::kStdout) {
    PrintBytes(bytes);
    FlushOut();
    if (::isatty(STDOUT_FILENO) == 1) at_line_start_ = bytes.back() == '\n';
  } else {
    PrintErrBytes(bytes);
    at_line_start_ = bytes.back() == '\n';
  }
}

void TerminalReporter::OnGap(const run::Gap& gap) {
  Say(Styled("warning:", Style::kYellow, ColorErr()) + " recording stopped for a while (" +
      gap.reason + "): " + HumanBytes(gap.stdout_bytes + gap.stderr_bytes) + " of output and " +
      Count(gap.records, "record", "records") + " are not on record; the script went on");
}

void TerminalReporter::OnHole(uint64_t bytes) {
  Say(Styled("warning:", Style::kYellow, ColorErr()) + " " + HumanBytes(bytes) +
      " of the journal are damaged and left out");
}

void TerminalReporter::OnEnd(const run::End& end) {
  if (options_.workbench) {
    PrintOut("\nExecution Details\n=================\nRunId: " + run_id_ + "\n");
    FlushOut();
  }
  const bool good = end.state == run::State::kCompleted;
  std::string line =
      Styled(run::StateName(end.state), good ? Style::kGreen : Style::kRed, ColorErr());
  if (end.duration_us > 0) line += " after " + HumanDuration(end.duration_us);
  if (!end.reason.empty() && end.reason == last_error_) {
    line += ", as said above";  // the notice may be twenty lines of a tool's output
  } else if (!end.reason.empty()) {
    line += ": " + end.reason;
  } else if (!good && end.exit_code) {
    line += ": exit code " + std::to_string(*end.exit_code);
  }
  Say(line);
}

void TerminalReporter::OnLink(int64_t silent_us, const std::string& why) {
  if (silent_us == 0 && why.empty()) {
    if (link_lost_) Say("the host answers again");
    link_lost_ = false;
    return;
  }
  const int64_t now = SystemClock().MonotonicUs();
  std::string line = silent_us >= 1'000'000
                         ? "host silent for " + HumanDuration(silent_us / 1'000'000 * 1'000'000)
                         : "the link to the host was lost";
  // silent_us is 0 if the run does not exist yet, or if the link is not used for a run.
  line += silent_us > 0 ? "; the run goes on; trying again" : "; trying again";
  if (::isatty(STDERR_FILENO) == 1 && !options_.quiet) {
    if (now - link_told_us_ < kRedrawUs) return;
    DrawProgress(line);
  } else if (link_lost_ && now - link_told_us_ < kTellLinkAgainUs) {
    return;
  } else {
    Say(line + (why.empty() ? "" : " (" + OneLine(why) + ")"));
  }
  link_lost_ = true;
  link_told_us_ = now;
}

void TerminalReporter::OnEnvironment(const run::EnvironmentReady& environment) {
  const int64_t took_us = std::exchange(environment_us_, 0);
  // An environment that existed already and took no time is not worth a line.
  if (environment.reused && took_us < kSlowUs && !options_.steps) return;
  std::string line =
      "environment: " + std::string(environment.reused ? "there after " : "made in ") +
      HumanDuration(took_us);
  if (!environment.key.empty()) {
    line += ", " + Count(environment.packages.size(), "package", "packages");
  }
  if (environment.bytes > 0) line += ", " + HumanBytes(environment.bytes);
  Say(Styled(line + " (" + OneLine(environment.name) + ")", Style::kDim, ColorErr()));
}

bool TerminalReporter::IsProgressDue(std::string_view what, int64_t now_us) {
  if (what != progress_what_) {
    progress_what_ = what;
    progress_since_us_ = now_us;
  }
  return now_us - progress_since_us_ >= kSlowUs && now_us - progress_drawn_us_ >= kRedrawUs;
}

void TerminalReporter::DrawProgress(const std::string& line) {
  const int64_t now = SystemClock().MonotonicUs();
  progress_drawn_us_ = now;
  if (at_line_start_) {
    WipeErrLine();
  } else {
    PrintErr("\n");
  }
  PrintErr(OneLine(line));
  at_line_start_ = true;
  progress_shown_ = true;
}

void TerminalReporter::OnFarProgress(const run::Progress& progress) {
  if (options_.quiet) return;
  const int64_t now = SystemClock().MonotonicUs();
  std::string line = OneLine(progress.step);
  std::string detail = OneLine(progress.detail);
  if (progress.total > 0) {
    detail += (detail.empty() ? "" : ", ") + HumanBytes(progress.done) + " of " +
              HumanBytes(progress.total);
  } else if (progress.done > 0) {
    detail += (detail.empty() ? "" : ", ") + HumanBytes(progress.done);
  }
  line += detail.empty() ? " …" : ": " + detail;
  if (::isatty(STDERR_FILENO) == 1) {
    // The half second counts from the first step: a later step may have little to say and take
    // long.
    if (far_since_us_ == 0) far_since_us_ = now;
    (void)IsProgressDue(progress.step, now);
    if (now - far_since_us_ < kSlowUs) return;
    const int64_t took_us = now - progress_since_us_;
    if (took_us >= kSlowUs) line += ", " + HumanDuration(took_us);
    // A line longer than the terminal could not be wiped.
    const size_t width = static_cast<size_t>(std::max(20, TerminalWidth() - 1));
    if (line.size() > kMostColumnBytes * width)
      line = OneLine(line.substr(0, kMostColumnBytes * width));
    while (DisplayWidth(line) > width) {
      do line.pop_back();
      while (!IsUtf8(line));
    }
    DrawProgress(line);
    return;
  }
  if (progress.step == far_step_ && now - far_told_us_ < kTellAgainUs) return;
  far_step_ = progress.step;
  far_told_us_ = now;
  Say(line);
}

void TerminalReporter::OnProgress(std::string_view what, uint64_t done, uint64_t total) {
  if (options_.quiet || ::isatty(STDERR_FILENO) != 1) return;
  const int64_t now = SystemClock().MonotonicUs();
  if (!IsProgressDue(what, now)) return;
  std::string line = std::string(what) + " " + std::to_string(done);
  if (total > 0) line += "/" + std::to_string(total);
  DrawProgress(line + " (" + HumanDuration(now - progress_since_us_) + ")");
}

}  // namespace tenon::cli
