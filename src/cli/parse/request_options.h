// SPDX-License-Identifier: Apache-2.0
// The options that say how and where a script runs. Shared by all commands that have them.
#ifndef TENON_CLI_PARSE_REQUEST_OPTIONS_H_
#define TENON_CLI_PARSE_REQUEST_OPTIONS_H_

#include <string>

#include "base/result.h"
#include "cli/session.h"
#include "project/resolve.h"

namespace tenon::cli {

class OptionTable;

struct RequestOptions {
  std::string run_configuration, target, conda_file, spark_file;
};

struct EnvironmentOptions {
  bool refresh = false;       // --refresh
  bool keep_on_fail = false;  // --keep-on-fail
};

void AddTargetOptions(OptionTable& table, RequestOptions* options);      // -c, -t
void AddDependencyOptions(OptionTable& table, RequestOptions* options);  // -d, -s
void AddEnvironmentOptions(OptionTable& table, EnvironmentOptions* options);

// The request with what was typed; has no script.
Result<project::Request> MakeRequest(const Session& session, const RequestOptions& options);

// The login name of the user, who is recorded as the submitter.
std::string UserName(const Session& session);

// Prints each notice as a line on standard error.
void PrintNotices(const project::Resolved& resolved);
// Prints every setting and where it came from.
void PrintExplanation(const Session& session, const project::Resolved& resolved);

}  // namespace tenon::cli

#endif  // TENON_CLI_PARSE_REQUEST_OPTIONS_H_
