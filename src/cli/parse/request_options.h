// SPDX-License-Identifier: Apache-2.0
// The options that say how and where a script runs, for every command that has them.
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

// What was typed, without a script.
Result<project::Request> MakeRequest(const Session& session, const RequestOptions& options);

// Who submits: the login name.
std::string UserName(const Session& session);

// Notices to standard error, a line each.
void PrintNotices(const project::Resolved& resolved);
// Every setting and where it came from, as a listing.
void PrintExplanation(const Session& session, const project::Resolved& resolved);

}  // namespace tenon::cli

#endif  // TENON_CLI_PARSE_REQUEST_OPTIONS_H_
