// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "base/file.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/parse/command_line.h"
#include "cli/parse/man_page.h"
#include "cli/parse/options.h"
#include "cli/print/print.h"

namespace tenon::cli {
namespace {

Result<int> Act(Session& session, const std::string& folder) {
  Session unused;
  const CommandLine all(unused, Program::kTenon);
  TENON_TRY_VOID(MakeDirs(folder));
  json::Array written;
  Table table({{"File"}});
  for (const ManPage& page : MakeManPages(all.root(), AllCommands())) {
    const std::string path = JoinPath(folder, page.file);
    TENON_TRY_VOID(WriteFileAtomically(path, page.text, 0644, Durability::kProcess));
    written.emplace_back(json::EncodeBytes(path));
    table.Add({OneLine(path)});
  }
  if (session.WantsJson()) {
    PrintValue(session, written);
  } else {
    PrintData(table.ToTsv());
  }
  return 0;
}

}  // namespace

Command ManCommand() {
  return {{{"man"}},
          "Write the manual pages into a folder",
          "One page for tenon and one for each command. `man` finds them when the folder is "
          "share/man/man1 beside the bin that is on the PATH.",
          {"tenon man ~/.local/share/man/man1", "man tenon-submit"},
          [](OptionTable& table, const std::vector<std::string>&) -> Action {
            auto folder = std::make_shared<std::string>();
            table.Add("DIR", folder.get(), "The folder; made if needed").Required();
            return [folder](Session& session) { return Act(session, *folder); };
          }};
}

}  // namespace tenon::cli
