// SPDX-License-Identifier: Apache-2.0
// Prints the result of a --query as `az` printed it: as JSON, as a table or as lines.
#ifndef TENON_CLI_PRINT_QUERIED_H_
#define TENON_CLI_PRINT_QUERIED_H_

#include <string>

#include "base/json.h"
#include "cli/print/print.h"
#include "cli/session.h"

namespace tenon::cli {

// The result as a table with a row per element. The columns are the members in order of first
// appearance, capitalized; members that are lists or objects are left out. The columns of lists are
// Column1, Column2 …, and that of any other value is Result. A single value is a table of one row.
Table QueriedTable(const json::Value& value);

// The result as lines, one per element, with members or elements separated by tabs. Null and
// objects are blank; of a list only the length is shown.
std::string QueriedTsv(const json::Value& value);

// Runs the session's query and prints the result. Stores a failure in session.query_error.
void PrintQueried(const Session& session, const json::Value& value);

}  // namespace tenon::cli

#endif  // TENON_CLI_PRINT_QUERIED_H_
