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

// One call of the program: its global options, the process environment and the engine's context.
// The context is made when first asked for, so that `--version` and `--help` touch nothing.
class Session {
 public:
  // `others`: how other machines are reached; null: they can't be.
  explicit Session(engine::OtherMachines* others = nullptr);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  Globals globals;
  Environment environment;

  // The home: $TENON_HOME, else ~/.tenon. kInvalid if neither can be determined.
  Result<std::string> HomePath() const;
  Result<engine::Context*> Context();

  // The project of --project or of the current folder. nullopt: the folder is in no project;
  // commands on runs then cover all projects.
  struct Project {
    std::string root;
    std::string name;
    std::string id;
  };
  Result<std::optional<Project>> FindProject();
  // The project id for queries; "" outside of a project.
  Result<std::string> ProjectId();
  // Finds a run by the name that the user typed and returns its id. Updates the index first.
  Result<std::string> ResolveRun(const std::string& name);

  // Whether the answer is needed as JSON: to print it, or to apply --query to it.
  bool WantsJson() const { return query || PrintsJson(); }
  bool PrintsJson() const {
    return globals.json || globals.output == "json" || globals.output == "jsonc";
  }

  // The parsed --query. PrintListing() applies it and sets the two members below.
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
