// SPDX-License-Identifier: Apache-2.0
// The answer to a --query, shown as `az` showed it: JSON, or a table or lines made of whatever the
// answer is.
#ifndef TENON_CLI_PRINT_QUERIED_H_
#define TENON_CLI_PRINT_QUERIED_H_

#include <string>

#include "base/json.h"
#include "cli/print/print.h"
#include "cli/session.h"

namespace tenon::cli {

// A row per element, a column per member in the order of their first appearance, with a capital
// letter; members that are lists or objects are left out. Lists have Column1, Column2 …, anything
// else stands under Result. A single value is a table of one row.
Table QueriedTable(const json::Value& value);

// A line per element, members or elements between tabs; null and objects are blank, of a list only
// its length is said.
std::string QueriedTsv(const json::Value& value);

// Searches with the session's query and prints. A failure is left in session.query_error.
void PrintQueried(const Session& session, const json::Value& value);

}  // namespace tenon::cli

#endif  // TENON_CLI_PRINT_QUERIED_H_
