// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <memory>

#include "cli/command.h"
#include "cli/parse/options.h"
#include "cli/print/print.h"
#include "cli/projects/config_files.h"
#include "cli/runs/take_way.h"
#include "cli/targets/host_name.h"
#include "engine/run/runs.h"

namespace tenon::cli {
namespace {

bool AtTerminal() { return ::isatty(STDIN_FILENO) == 1 && ::isatty(STDOUT_FILENO) == 1; }

// Runs a command, or opens a shell, on the machine itself.
Result<int> EnterMachine(Session& session, const std::string& target,
                         const std::vector<std::string>& words) {
  TENON_TRY(engine::Machine * machine, MachineNamed(session, target));
  TENON_TRY(const engine::WayIn way, machine->door().Enter(words, AtTerminal()));
  return TakeWay(way);
}

bool IsTarget(const Session& session, const std::string& name) {
  const auto project = OpenFiles(session);
  return project.ok() && project::ConfigFile(*project, name, ".compute");
}

// Runs a command, or opens a shell, where the run's script is. Its terminal, signals and exit code
// are those of the command. A name that is no run may be a target.
Result<int> Enter(Session& session, const std::string& run, const std::vector<std::string>& words) {
  auto found = session.ResolveRun(run);
  if (!found.ok() && found.error().kind == ErrorKind::kNotFound && IsTarget(session, run)) {
    return EnterMachine(session, run, words);
  }
  TENON_TRY(const std::string run_id, std::move(found));
  TENON_TRY(engine::Context * context, session.Context());
  const bool tty = AtTerminal();
  TENON_TRY(const std::string host, engine::HostOfRun(*context, run_id));
  TENON_TRY(engine::Machine * machine, context->At(host));
  TENON_TRY(const std::vector<std::string> command,
            machine->services().EnterCommand(run_id, tty, words));
  TENON_TRY(const engine::WayIn way, machine->door().Enter(command, tty));
  return TakeWay(way);
}

constexpr const char* kTargetHelp = "On that machine itself, in your home there, not in a run";

// Removes "-t NAME" from the front and returns the name; "" if it does not stand there. The parser
// can't have this option, because it would swallow a `--` after it.
std::string TakeTarget(std::vector<std::string>* words) {
  if (words->empty()) return "";
  const std::string first = words->front();
  if (first.starts_with("--target=")) {
    words->erase(words->begin());
    return first.substr(first.find('=') + 1);
  }
  if ((first != "-t" && first != "--target") || words->size() < 2) return "";
  std::string target = (*words)[1];
  words->erase(words->begin(), words->begin() + 2);
  return target;
}

}  // namespace

Command ExecCommand() {
  return {{{"exec"}},
          "Run a command where a run's script is, or on a machine",
          "That is in the run's container, or in its folder; with the name of a target, or -t "
          "TARGET, on that machine itself, in your home there. In a container the command is the "
          "script's user, in the script's working directory, with its variables (secrets left "
          "out). The exit code is the command's; 125 when it could not be started.",
          {"tenon exec -t my_dsvm -- nvidia-smi", "tenon exec last -- nvidia-smi",
           "tenon exec 12 -- ls -l outputs",
           "tenon exec last -- python -c 'import torch; print(torch.cuda.is_available())'"},
          [](OptionTable& table, const std::vector<std::string>&) -> Action {
            table.Usage("tenon exec [OPTIONS] RUN|TARGET [--] COMMAND [ARGUMENTS...]");
            table.RestIsTheScripts();
            return [&table](Session& session) -> Result<int> {
              std::vector<std::string> words = table.rest();
              const std::string target = TakeTarget(&words);
              if (!words.empty() && words.front().starts_with("-") && words.front() != "--") {
                return UnknownOption(table, words.front());
              }
              std::string run;
              if (target.empty()) {
                if (words.empty()) {
                  return Invalid("no run is named").WithHint("write `tenon exec last -- COMMAND`");
                }
                run = words.front();
                words.erase(words.begin());
              }
              if (!words.empty() && words.front() == "--") words.erase(words.begin());
              if (words.empty()) {
                const std::string where = target.empty() ? run : "-t " + target;
                return Invalid("no command is named")
                    .WithHint("write `tenon exec " + where + " -- COMMAND`, or `tenon shell " +
                              where + "` for a shell");
              }
              if (!target.empty()) return EnterMachine(session, target, words);
              return Enter(session, run, words);
            };
          },
          /*starts_script=*/true};
}

Command ShellCommand() {
  return {{{"shell"}},
          "Open a shell where a run's script is, or on a machine",
          "That is in the run's container, or in its folder. The run must be going on, or its "
          "container must have been kept with "
          "`submit --keep-on-fail`.",
          {"tenon shell", "tenon shell 12", "tenon shell -t my_dsvm"},
          [](OptionTable& table, const std::vector<std::string>&) -> Action {
            auto run = std::make_shared<std::string>("last");
            auto target = std::make_shared<std::string>();
            table.Add("RUN", run.get(),
                      "The run: id, number, beginning of an id, or `last`; or a target");
            table.Add("-t,--target", target.get(), kTargetHelp).Type("NAME");
            return [run, target](Session& session) {
              return target->empty() ? Enter(session, *run, {})
                                     : EnterMachine(session, *target, {});
            };
          },
          /*starts_script=*/true};
}

}  // namespace tenon::cli
