// SPDX-License-Identifier: Apache-2.0
#include "version.h"

#include "base/text.h"
#include "cli/command.h"
#include "cli/print/print.h"
#include "engine/context.h"
#include "run/verbs.h"

namespace tenon::cli {
namespace {

Result<int> Act(Session& session) {
  TENON_TRY(const std::string home, session.HomePath());
  const std::string runner = engine::RunnerHash();
  if (session.WantsJson()) {
    PrintListing(session,
                 json::Object{{"tenon", TENON_VERSION},
                              {"protocol", run::kProtocol},
                              {"runner", runner},
                              {"home", json::EncodeBytes(home)}},
                 Table({}));
    return 0;
  }
  PrintOut("tenon     " TENON_VERSION "\nprotocol  " + std::to_string(run::kProtocol) +
           "\nrunner    " + runner.substr(0, 12) + "\nhome      " + OneLine(home) + "\n");
  return 0;
}

}  // namespace

Command VersionCommand() {
  return {{{"version"}},
          "Show the version, that of the runner's protocol, and where the record is",
          "",
          {"tenon version", "tenon version --json"},
          [](OptionTable&, const std::vector<std::string>&) -> Action { return Act; }};
}

}  // namespace tenon::cli
