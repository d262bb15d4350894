// SPDX-License-Identifier: Apache-2.0
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <memory>

#include "base/file.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/parse/options.h"
#include "cli/print/print.h"
#include "cli/program/az.h"

namespace tenon::cli {
namespace {

struct Options {
  std::string folder;
  bool force = false;
};

std::string Path(const Session& session) {
  const auto found = session.environment.find("PATH");
  return found == session.environment.end() ? "" : found->second;
}

bool SameFile(const std::string& a, const std::string& b) {
  struct stat first, second;
  return ::stat(a.c_str(), &first) == 0 && ::stat(b.c_str(), &second) == 0 &&
         first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

// The path by which the script can find this program later: the `tenon` on the PATH, which may be a
// link that a later version keeps, else the path of this program.
Result<std::string> OwnPath(const Session& session) {
  const auto on_path = FindProgram("tenon", Path(session));
  if (on_path && on_path->front() == '/' && SameFile(*on_path, "/proc/self/exe")) return *on_path;
  return ReadLink("/proc/self/exe");
}

void SayWhatIsFoundFirst(const Session& session, const std::string& path) {
  const auto first = FindProgram("az", Path(session));
  if (first && SameFile(*first, path)) return;
  PrintErr(first ? "note: " + OneLine(*first) + " comes before it on the PATH\n"
                 : "note: " + OneLine(DirName(path)) + " is not on the PATH\n");
}

Result<int> Act(Session& session, const Options& options) {
  TENON_TRY_VOID(MakeDirs(options.folder));
  const std::string path = JoinPath(options.folder, "az");
  if (Exists(path) && !IsOurAz(path) && !options.force) {
    return Denied(OneLine(path) + " is there already and is not tenon's")
        .WithHint("choose a folder that comes before that one on the PATH; --force replaces it");
  }
  TENON_TRY(const std::string tenon, OwnPath(session));
  TENON_TRY_VOID(WriteFileAtomically(path, AzScript(tenon), 0755, Durability::kPowerLoss));
  const auto other = FindOtherAz(session.environment);
  if (session.WantsJson()) {
    json::Object answer{{"path", json::EncodeBytes(path)}, {"tenon", json::EncodeBytes(tenon)}};
    answer["passes_on_to"] = other ? json::Value(json::EncodeBytes(*other)) : json::Value(nullptr);
    PrintValue(session, answer);
    return 0;
  }
  PrintOut(OneLine(path) + "\n");
  FlushOut();
  PrintErr("it starts " + OneLine(tenon) + "; when that is moved, the tenon on the PATH\n" +
           (other ? "what is not Workbench's goes to " + OneLine(*other) + "\n"
                  : "there is no other az on the PATH, so it knows Workbench's commands only\n"));
  SayWhatIsFoundFirst(session, path);
  return 0;
}

}  // namespace

Command InstallAzCommand() {
  return {{{"install-az"}},
          "Write a program `az` that does what Azure ML Workbench's did",
          "`az ml experiment submit`, `az ml history list` and the other commands of Workbench are "
          "carried out by tenon and print JSON; everything else is passed on to the next az on the "
          "PATH, if there is one. DIR has to come before that one's folder.",
          {"tenon install-az ~/.local/bin", "az ml history list -o table"},
          [](OptionTable& table, const std::vector<std::string>&) -> Action {
            auto options = std::make_shared<Options>();
            table.Add("DIR", &options->folder, "The folder; made if needed").Required();
            table.Flag("--force", &options->force, "Replace a program az that is not tenon's");
            return [options](Session& session) { return Act(session, *options); };
          }};
}

}  // namespace tenon::cli
