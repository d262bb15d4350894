// SPDX-License-Identifier: Apache-2.0

#include "cli/command.h"
#include "cli/print/members.h"
#include "cli/print/run_json.h"
#include "cli/runs/run_option.h"

namespace tenon::cli {

Command HistoryLastCommand() {
  return {{{"history", "last"}},
          "Show the details of the newest run",
          "",
          {"tenon history last", "tenon history last -o json"},
          [](OptionTable&, const std::vector<std::string>&) -> Action {
            return [](Session& session) -> Result<int> {
              TENON_TRY(const journal::RunView run, RunOption().Get(session, "last"));
              PrintMembers(session, RunToJson(run));
              return 0;
            };
          }};
}

}  // namespace tenon::cli
