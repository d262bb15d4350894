// SPDX-License-Identifier: Apache-2.0

#include "base/file.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/parse/options.h"
#include "cli/print/print.h"
#include "cli/projects/config_files.h"
#include "project/check.h"

namespace tenon::cli {
namespace {

using project::Checked;
using project::Finding;

json::Object ToJson(const Checked& checked) {
  json::Array findings;
  for (const Finding& finding : checked.findings) {
    findings.push_back(json::Object{{"level", project::LevelName(finding.level)},
                                    {"file", json::EncodeBytes(finding.file)},
                                    {"line", finding.line},
                                    {"column", finding.column},
                                    {"text", json::EncodeBytes(finding.text)},
                                    {"hint", json::EncodeBytes(finding.hint)}});
  }
  return {{"project", json::EncodeBytes(checked.name)},
          {"folder", json::EncodeBytes(checked.root)},
          {"files", checked.files},
          {"errors", checked.Count(Finding::Level::kError)},
          {"warnings", checked.Count(Finding::Level::kWarning)},
          {"findings", std::move(findings)}};
}

std::string Place(const Finding& finding) {
  std::string place = OneLine(finding.file);
  if (finding.line > 0) {
    place += ":" + std::to_string(finding.line) + ":" + std::to_string(finding.column);
  }
  return place;
}

// Prints findings like a compiler, so that editors can jump to them.
void PrintFindings(const Checked& checked) {
  const bool color = ColorOut();
  for (const Finding& finding : checked.findings) {
    const Style style = finding.level == Finding::Level::kError     ? Style::kRed
                        : finding.level == Finding::Level::kWarning ? Style::kYellow
                                                                    : Style::kDim;
    const std::string place = Place(finding);
    PrintOut((place.empty() ? "" : place + ": ") +
             Styled(std::string(project::LevelName(finding.level)) + ":", style, color) + " " +
             Hanging(finding.text) + "\n");
    if (!finding.hint.empty()) PrintOut("    " + Hanging(finding.hint) + "\n");
  }
  PrintOut(Count(checked.files, "file", "files") +
           " checked: " + Count(checked.Count(Finding::Level::kError), "error", "errors") + ", " +
           Count(checked.Count(Finding::Level::kWarning), "warning", "warnings") + "\n");
}

Result<int> Act(Session& session) {
  TENON_TRY(const std::string cwd, CurrentFolder());
  TENON_TRY(const Checked checked, project::CheckProject(cwd, GivenProject(session)));
  if (session.WantsJson() || !session.globals.output.empty()) {
    Table table({{"Level"}, {"Place"}, {"Text"}, {"Hint"}});
    for (const Finding& finding : checked.findings) {
      table.Add({std::string(project::LevelName(finding.level)), Place(finding),
                 OneLine(finding.text), OneLine(finding.hint)});
    }
    PrintListing(session, ToJson(checked), table);
  } else {
    PrintFindings(checked);
  }
  return checked.Count(Finding::Level::kError) > 0 ? 1 : 0;
}

}  // namespace

Command ConfigCheckCommand() {
  return {{{"config", "check"}},
          "Judge the files of the project",
          "Reads every target, run configuration and dependency file, each on its own, and says "
          "what is wrong, where, and what to write instead. Nothing is changed and no machine is "
          "contacted. Exit code 1 when there is an error, else 0.",
          {"tenon config check", "tenon config check --json"},
          [](OptionTable&, const std::vector<std::string>&) -> Action {
            return [](Session& session) { return Act(session); };
          }};
}

}  // namespace tenon::cli
