// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_CLI_PRINT_MEMBERS_H_
#define TENON_CLI_PRINT_MEMBERS_H_

#include "base/json.h"
#include "cli/print/print.h"
#include "cli/session.h"

namespace tenon::cli {

// A table with a row for each member of an object; members of inner objects are called
// "outer.inner". Null is blank, and a list is one line of JSON.
Table MembersTable(const json::Object& object);

// Prints one object as -o says: as JSON, or as a table of its members.
void PrintMembers(const Session& session, const json::Object& object);

}  // namespace tenon::cli

#endif  // TENON_CLI_PRINT_MEMBERS_H_
