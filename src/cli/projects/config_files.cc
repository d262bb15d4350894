// SPDX-License-Identifier: Apache-2.0
#include "cli/projects/config_files.h"

#include <unistd.h>

#include "base/file.h"
#include "base/text.h"
#include "cli/print/print.h"

namespace tenon::cli {

std::optional<std::string> GivenProject(const Session& session) {
  if (session.globals.project.empty()) return std::nullopt;
  return session.globals.project;
}

Result<project::Project> OpenFiles(const Session& session) {
  TENON_TRY(const std::string cwd, CurrentFolder());
  std::optional<Error> broken;
  return project::OpenProjectToLook(cwd, GivenProject(session), &broken);
}

void PrintChanges(const Session& session, const std::vector<project::Change>& changes) {
  const auto json_or_null = [](const std::optional<std::string>& text) {
    return text ? json::Value(json::EncodeBytes(*text)) : json::Value(nullptr);
  };
  if (session.WantsJson()) {
    json::Array array;
    for (const project::Change& change : changes) {
      array.push_back(json::Object{{"key", json::EncodeBytes(change.key)},
                                   {"file", json::EncodeBytes(change.file)},
                                   {"line", change.line},
                                   {"before", json_or_null(change.before)},
                                   {"after", json_or_null(change.after)},
                                   {"changed", change.changed}});
    }
    PrintListing(session, array.size() == 1 ? array.front() : json::Value(array), Table({}));
    return;
  }
  for (const project::Change& change : changes) {
    const std::string where = OneLine(change.file) + ":" + std::to_string(change.line) + ": " +
                              OneLine(change.key) + ": ";
    if (!change.changed) {
      PrintOut(where + OneLine(change.after.value_or("not set")) + " already\n");
    } else {
      PrintOut(where + OneLine(change.before.value_or("not set")) + " → " +
               OneLine(change.after.value_or("not set")) + "\n");
    }
  }
}

Result<bool> AskYes(const std::string& question, const std::string& instead) {
  if (::isatty(STDIN_FILENO) != 1) {
    return Invalid("nothing was changed: there is no terminal to ask on")
        .WithHint(instead + " answers the question beforehand");
  }
  FlushOut();
  PrintErr(question + " [y/N] ");
  std::string answer;
  char c = 0;
  while (answer.size() < 100 && ::read(STDIN_FILENO, &c, 1) == 1 && c != '\n') answer += c;
  const std::string word = ToLower(Trim(answer));
  return word == "y" || word == "yes";
}

}  // namespace tenon::cli
