// SPDX-License-Identifier: Apache-2.0
// What Azure ML Workbench had and Tenon has not, said in one sentence each, with what to do
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
  bool az_only = false;  // under our own name the word is free, or means something else
};

const std::vector<NotHere>& AllNotHere();

// The row whose words these begin with; options before and between them are passed over.
std::optional<NotHere> FindNotHere(const std::vector<std::string>& words, Program program);

// Says it and returns the exit code: 0 when the words ask for --help, else that of a usage error.
int PrintNotHere(const NotHere& absent, const std::vector<std::string>& words);

// A script that is a file of the Workbench's data preparation and can't be run.
std::optional<Error> NotHereFile(std::string_view script);

}  // namespace tenon::cli

#endif  // TENON_CLI_PARSE_NOT_HERE_H_
