// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_CLI_SESSION_H_
#define TENON_CLI_SESSION_H_

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/process.h"
#include "base/result.h"
#include "engine/context.h"
#include "engine/reporter.h"
#include "jmespath/jmespath.h"

namespace tenon::cli {

class OptionTable;

// Options that every command takes.
struct Globals {
  std::string output;  // "", json, jsonc, table, tsv
  bool json = false;   // --json, the same as -o json
  std::string query;   // --query, as typed
  bool debug = false;
  std::string project;  // --project
};

// One call of the program: what was typed globally, the process environment, and the engine's
// context (made when first asked for, so that `--version` and `--help` touch nothing).
class Session {
 public:
  // `others`: how other machines are reached; null: not at all.
  explicit Session(engine::OtherMachines* others = nullptr);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  Globals globals;
  Environment environment;

  // $TENON_HOME, else ~/.tenon. kInvalid when neither can be known.
  Result<std::string> HomePath() const;
  Result<engine::Context*> Context();

  // The project of the current folder (or --project). nullopt: not inside one; commands on runs
  // then work on all projects.
  struct Project {
    std::string root;
    std::string name;
    std::string id;
  };
  Result<std::optional<Project>> FindProject();
  // The id for queries: the project's, or "" outside of one.
  Result<std::string> ProjectId();
  // A run by the name the user gave. Brings the index up to date first.
  Result<std::string> ResolveRun(const std::string& name);

  // Whether the answer has to be made as JSON: to be printed so, or to be asked with --query.
  bool WantsJson() const { return query || PrintsJson(); }
  bool PrintsJson() const {
    return globals.json || globals.output == "json" || globals.output == "jsonc";
  }

  // --query, understood. PrintListing applies it and notes how that went.
  std::optional<jmespath::Expression> query;
  mutable bool query_used = false;
  mutable std::optional<Error> query_error;

 private:
  engine::OtherMachines* others_;
  std::unique_ptr<engine::Context> context_;
};

// Adds -o/--output, --json, --query, --debug, --project to a command.
void AddGlobalOptions(OptionTable& table, Globals* globals);

}  // namespace tenon::cli

#endif  // TENON_CLI_SESSION_H_
