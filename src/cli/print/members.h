// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_CLI_PRINT_MEMBERS_H_
#define TENON_CLI_PRINT_MEMBERS_H_

#include "base/json.h"
#include "cli/print/print.h"
#include "cli/session.h"

namespace tenon::cli {

// An object as a table of its members, one a row; those of inner objects as "outer.inner". Null is
// blank, lists are one line of JSON.
Table MembersTable(const json::Object& object);

// Prints one object the way -o asks for: JSON, or its members.
void PrintMembers(const Session& session, const json::Object& object);

}  // namespace tenon::cli

#endif  // TENON_CLI_PRINT_MEMBERS_H_
