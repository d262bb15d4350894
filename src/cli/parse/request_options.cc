// SPDX-License-Identifier: Apache-2.0
#include "cli/parse/request_options.h"

#include <pwd.h>
#include <unistd.h>

#include <optional>

#include "base/file.h"
#include "base/text.h"
#include "cli/parse/options.h"
#include "cli/print/print.h"
#include "cli/projects/config_files.h"

namespace tenon::cli {
namespace {

std::optional<std::string> Given(const std::string& text) {
  return text.empty() ? std::nullopt : std::optional<std::string>(text);
}

}  // namespace

void AddTargetOptions(OptionTable& table, RequestOptions* options) {
  table
      .Add("-c,--run-configuration", &options->run_configuration,
           "Name of a .runconfig file in aml_config/ (local)")
      .Type("NAME");
  table.Add("-t,--target", &options->target, "Name of a .compute file, instead of the one it names")
      .Type("NAME");
}

void AddDependencyOptions(OptionTable& table, RequestOptions* options) {
  table
      .Add("-d,--conda-dependencies", &options->conda_file,
           "What the environment holds: a conda file, requirements.txt or pyproject.toml")
      .Type("FILE");
  table.Add("-s,--spark-dependencies", &options->spark_file, "The environment's Spark file")
      .Type("FILE");
}

void AddEnvironmentOptions(OptionTable& table, EnvironmentOptions* options) {
  table.Flag("--refresh", &options->refresh,
             "Make the environment anew, with the newest packages that the files allow");
  table.Flag("--keep-on-fail", &options->keep_on_fail,
             "Keep the container of a script that fails, to look around in it");
}

Result<project::Request> MakeRequest(const Session& session, const RequestOptions& options) {
  project::Request request;
  TENON_TRY(request.cwd, CurrentFolder());
  request.project_dir = GivenProject(session);
  request.run_configuration = Given(options.run_configuration);
  request.target = Given(options.target);
  request.conda_file = Given(options.conda_file);
  request.spark_file = Given(options.spark_file);
  return request;
}

std::string UserName(const Session& session) {
  if (const passwd* entry = ::getpwuid(::geteuid())) return entry->pw_name;
  const auto user = session.environment.find("USER");
  return user != session.environment.end() ? user->second : "uid" + std::to_string(::geteuid());
}

void PrintNotices(const project::Resolved& resolved) {
  for (const std::string& notice : resolved.notices) {
    PrintErr("note: " + Hanging(notice) + "\n");
  }
}

void PrintExplanation(const Session& session, const project::Resolved& resolved) {
  Table table({{"Setting"}, {"Value"}, {"From"}});
  json::Array rows;
  for (const project::Explanation& row : project::Explain(resolved)) {
    table.Add({row.setting, row.value, row.origin});
    rows.push_back(json::Object{{"setting", json::EncodeBytes(row.setting)},
                                {"value", json::EncodeBytes(row.value)},
                                {"origin", json::EncodeBytes(row.origin)}});
  }
  PrintListing(session, rows, table);
}

}  // namespace tenon::cli
