// SPDX-License-Identifier: Apache-2.0
// Features of Azure ML Workbench that Tenon does not have: one sentence on each, and what to do
// instead.
#ifndef TENON_CLI_PARSE_NOT_HERE_H_
#define TENON_CLI_PARSE_NOT_HERE_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/parse/command_line.h"

namespace tenon::cli {

struct NotHere {
  std::vector<std::string_view> words;  // "service", or "project delete"
  std::string_view sentence;
  std::string_view instead;
  bool az_only = false;  // only under `az ml`; `tenon` does not reject the word
};

const std::vector<NotHere>& AllNotHere();

// The row whose words match the beginning of `words`; options are skipped. Empty if there is none.
std::optional<NotHere> FindNotHere(const std::vector<std::string>& words, Program program);

// Prints the row. Returns the exit code: 0 if `words` ask for --help, else that of a usage error.
int PrintNotHere(const NotHere& absent, const std::vector<std::string>& words);

// An error if the script is a data preparation file of the Workbench, which can't be run.
std::optional<Error> NotHereFile(std::string_view script);

}  // namespace tenon::cli

#endif  // TENON_CLI_PARSE_NOT_HERE_H_
