// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <algorithm>
#include <memory>

#include "base/text.h"
#include "cli/command.h"
#include "cli/parse/options.h"
#include "cli/print/print.h"
#include "cli/projects/config_files.h"
#include "project/upgrade/upgrade.h"

namespace tenon::cli {
namespace {

using project::UpgradeChange;
using project::UpgradedFile;
using project::UpgradeNotice;
using project::UpgradePlan;

struct Options {
  std::string run_configuration;
  bool modern = false;
  bool yes = false;
  bool dry_run = false;
  bool suggestions = false;
  bool no_suggestions = false;
};

std::string Place(const std::string& file, int line) {
  return OneLine(file) + (line > 0 ? ":" + std::to_string(line) : "");
}

std::string Diff(const std::vector<UpgradedFile>& files) {
  std::string diff;
  for (const UpgradedFile& file : files) diff += file.diff;
  return diff;
}

void PrintDiff(const std::string& diff) {
  if (!ColorOut()) return PrintData(diff);
  for (const std::string& line : Split(diff, '\n')) {
    if (line.empty()) continue;
    const bool header = line.starts_with("---") || line.starts_with("+++");
    const std::string text = OneLine(line);
    PrintOut((header                  ? Styled(text, Style::kBold, true)
              : line.front() == '-'   ? Styled(text, Style::kRed, true)
              : line.front() == '+'   ? Styled(text, Style::kGreen, true)
              : line.starts_with('@') ? Styled(text, Style::kCyan, true)
                                      : text) +
             "\n");
  }
}

void PrintNotices(const UpgradePlan& plan) {
  for (const UpgradeNotice& notice : plan.notices) {
    PrintErr(Place(notice.file, notice.line) + ": note: " + Hanging(notice.text) + "\n");
  }
}

std::string Says(const UpgradeChange& change) {
  if (change.before.empty()) return "add `" + OneLine(change.after) + "`";
  if (change.after.empty()) return "take `" + OneLine(change.before) + "` away";
  return "`" + OneLine(change.before) + "` → `" + OneLine(change.after) + "`";
}

size_t CountSuggestions(const UpgradePlan& plan) {
  return static_cast<size_t>(std::count_if(plan.changes.begin(), plan.changes.end(),
                                           [](const auto& change) { return change.suggestion; }));
}

// Asks about each suggestion, unless an option answers for all of them.
Result<std::vector<bool>> Ask(const UpgradePlan& plan, const Options& options) {
  std::vector<bool> chosen(plan.changes.size(), false);
  const size_t together = plan.changes.size() - (options.suggestions ? 0 : CountSuggestions(plan));
  bool sure = false;
  if (together > 0) {
    TENON_TRY(sure,
              AskYes("Make " +
                         Count(together, "change",
                               options.suggestions ? "changes" : "changes (suggestions apart)") +
                         "?",
                     "--yes"));
  }
  for (size_t i = 0; i < chosen.size(); ++i) {
    const UpgradeChange& change = plan.changes[i];
    if (!change.suggestion || options.suggestions) {
      chosen[i] = sure;
    } else if (!options.no_suggestions) {
      TENON_TRY(const bool wanted,
                AskYes(Place(change.file, change.line) + ": " + Says(change) +
                           "\n  suggestion: " + OneLine(change.reason) + ". Make it?",
                       "--suggestions"));
      chosen[i] = wanted;
    }
  }
  return chosen;
}

std::vector<bool> AnsweredBeforehand(const UpgradePlan& plan, const Options& options) {
  std::vector<bool> chosen;
  for (const UpgradeChange& change : plan.changes) {
    chosen.push_back(options.yes && !options.dry_run &&
                     (!change.suggestion || options.suggestions));
  }
  return chosen;
}

void PrintJson(const Session& session, const UpgradePlan& plan, const std::string& diff,
               const std::vector<bool>& chosen, const std::vector<UpgradedFile>& made) {
  json::Array changes;
  for (size_t i = 0; i < plan.changes.size(); ++i) {
    const UpgradeChange& change = plan.changes[i];
    changes.push_back(json::Object{{"file", json::EncodeBytes(change.file)},
                                   {"line", change.line},
                                   {"before", json::EncodeBytes(change.before)},
                                   {"after", json::EncodeBytes(change.after)},
                                   {"reason", json::EncodeBytes(change.reason)},
                                   {"rule", change.rule},
                                   {"suggestion", change.suggestion},
                                   {"applied", static_cast<bool>(chosen[i])}});
  }
  json::Array notices;
  for (const UpgradeNotice& notice : plan.notices) {
    notices.push_back(json::Object{{"file", json::EncodeBytes(notice.file)},
                                   {"line", notice.line},
                                   {"text", json::EncodeBytes(notice.text)},
                                   {"rule", notice.rule}});
  }
  json::Array files;
  for (const UpgradedFile& file : made) files.emplace_back(json::EncodeBytes(file.file));
  Table table({{"Place"}, {"Before"}, {"After"}, {"Reason"}});
  for (const UpgradeChange& change : plan.changes) {
    table.Add({Place(change.file, change.line), OneLine(change.before), OneLine(change.after),
               (change.suggestion ? "suggestion: " : "") + OneLine(change.reason)});
  }
  PrintListing(session,
               json::Object{{"changes", std::move(changes)},
                            {"notices", std::move(notices)},
                            {"diff", json::EncodeBytes(diff)},
                            {"files_changed", std::move(files)}},
               table);
}

void SayWhatHappened(const UpgradePlan& plan, const std::vector<bool>& chosen,
                     const std::vector<UpgradedFile>& made, const Options& options, bool asked) {
  for (const UpgradedFile& file : made) PrintErr("changed " + OneLine(file.file) + "\n");
  if (made.empty()) {
    PrintErr(std::string("nothing was changed") +
             (options.dry_run ? " (--dry-run)"
              : asked         ? ""
              : options.yes   ? ": these are suggestions; --suggestions makes them, too"
                              : "; --yes makes the changes, --suggestions those marked so, too") +
             "\n");
    return;
  }
  size_t left = 0;
  for (size_t i = 0; i < chosen.size(); ++i) left += plan.changes[i].suggestion && !chosen[i];
  if (left > 0 && !asked) {
    PrintErr(Count(left, "suggestion was", "suggestions were") +
             " left out; --suggestions makes them, too\n");
  }
}

Result<int> Act(Session& session, const Options& options) {
  TENON_TRY(const project::Project project, OpenFiles(session));
  project::UpgradeOptions what;
  if (!options.run_configuration.empty()) what.run_configuration = options.run_configuration;
  what.modern = options.modern;
  TENON_TRY(const UpgradePlan plan, project::PlanUpgrade(project, what));
  std::vector<bool> shown(plan.changes.size(), true);
  if (options.no_suggestions) {
    for (size_t i = 0; i < shown.size(); ++i) shown[i] = !plan.changes[i].suggestion;
  }
  TENON_TRY(const auto all, project::MakeUpgrade(plan, shown));
  const std::string diff = Diff(all);
  const bool listing = session.WantsJson() || !session.globals.output.empty();
  if (!listing) {
    PrintDiff(diff);
    FlushOut();
    PrintNotices(plan);
    if (all.empty()) {
      PrintErr("there is nothing to upgrade\n");
      return 0;
    }
  }
  const bool ask = !listing && !options.yes && !options.dry_run && ::isatty(STDIN_FILENO) == 1;
  std::vector<bool> chosen = AnsweredBeforehand(plan, options);
  if (ask) {
    TENON_TRY(chosen, Ask(plan, options));
  }
  TENON_TRY(const auto made, project::MakeUpgrade(plan, chosen));
  TENON_TRY_VOID(project::WriteUpgrade(project, made));
  if (listing) {
    PrintJson(session, plan, diff, chosen, made);
  } else {
    SayWhatHappened(plan, chosen, made, options, ask);
  }
  return 0;
}

}  // namespace

Command ConfigUpgradeCommand() {
  return {
      {{"config", "upgrade"}},
      "Write what old files name the way it is called today",
      "Much of what files of 2017 name is gone: images, wheels, packages, Pythons. This shows one "
      "diff over targets, run configurations and conda files, with the reason for each line, and "
      "asks before it changes anything. What could not be checked is a suggestion and asked for on "
      "its own. Where there is no terminal to ask on, nothing is changed without --yes.",
      {"tenon config upgrade", "tenon config upgrade --dry-run",
       "tenon config upgrade -c my_dsvm --yes", "tenon config upgrade --yes --suggestions",
       "tenon config upgrade --modern"},
      [](OptionTable& table, const std::vector<std::string>&) -> Action {
        auto options = std::make_shared<Options>();
        table
            .Add("-c,--run-configuration", &options->run_configuration,
                 "Only the files of this run configuration")
            .Type("NAME");
        table.Flag("--modern", &options->modern,
                   "Today's stack instead: Python 3.12, TensorFlow 2; scripts may need changes");
        table.Flag("-y,--yes", &options->yes, "Make the changes without asking");
        table.Flag("--dry-run", &options->dry_run, "Change nothing, show what would change");
        Option& suggestions = table.Flag("--suggestions", &options->suggestions,
                                         "Take suggestions as changes like the others");
        table.Flag("--no-suggestions", &options->no_suggestions, "Leave suggestions out")
            .Excludes(suggestions);
        return [options](Session& session) { return Act(session, *options); };
      }};
}

}  // namespace tenon::cli
