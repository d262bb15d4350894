// SPDX-License-Identifier: Apache-2.0
#include "runner/verbs/exec.h"

#include <unistd.h>

#include "base/file.h"
#include "base/text.h"
#include "runner/supervise/executor.h"
#include "runner/supervise/facts.h"
#include "runner/verbs/request.h"

namespace tenon::runner {
namespace {

constexpr int kNotStartedCode = 125;

Result<int> Exec(const std::vector<std::string>& words) {
  if (words.size() < 4) {
    return Invalid("usage: tenon-runner exec HOME RUN tty|plain [COMMAND...], or port PORT");
  }
  StartRequest request;
  request.run = {words[1], words[2]};
  if (request.run.home.empty() || request.run.home[0] != '/' ||
      !run::IsValidRunId(request.run.run_id)) {
    return Invalid("exec: not a run: " + words[2]);
  }
  const Door door = words[3] == "tty"    ? Door::kTty
                    : words[3] == "port" ? Door::kPort
                                         : Door::kPlain;
  std::vector<std::string> command(words.begin() + 4, words.end());
  if (door == Door::kPort && command.size() != 1) return Invalid("exec: one port is needed");
  const run::RunFolder folder = request.run.Folder();
  TENON_TRY(request.spec, ReadSpec(folder.spec()));
  TENON_TRY(const Facts facts, ReadFacts(folder.host_segment()));
  TENON_TRY(const auto executor, MakeExecutor(request, facts));
  return executor->Enter(door, std::move(command));
}

}  // namespace

int RunExec(const std::vector<std::string>& words) {
  auto code = Exec(words);
  if (code.ok()) return *code;
  std::string text = "error: " + ForTerminal(code.error().message) + "\n";
  if (!code.error().hint.empty()) text += "\nhint: " + ForTerminal(code.error().hint) + "\n";
  (void)WriteAll(STDERR_FILENO, text).ok();
  return kNotStartedCode;
}

}  // namespace tenon::runner
