// SPDX-License-Identifier: Apache-2.0
#include "runner/verbs.h"

#include <unistd.h>

#include "base/file.h"
#include "run/verbs.h"
#include "runner/build_inside.h"
#include "runner/exec.h"
#include "runner/init.h"
#include "runner/verb_environments.h"
#include "runner/verb_sweep.h"

namespace tenon::runner {
namespace {

constexpr int kAnswered = 0, kFailed = 1, kUsage = 2;

Result<json::Object> Answer(std::string_view verb, const std::string& version) {
  TENON_TRY(std::string text, ReadRequest(STDIN_FILENO));
  if (verb == run::kVerbStart) {
    TENON_TRY(StartRequest request, ParseStart(text));
    // Secrets are in it: it is not to stay in the supervisor's memory twice.
    text.assign(text.size(), '\0');
    return Start(std::move(request), version);
  }
  if (verb == run::kVerbCancel) {
    TENON_TRY(CancelRequest request, ParseCancel(text));
    return Cancel(request, version);
  }
  if (verb == run::kVerbEnvironments) {
    TENON_TRY(EnvironmentsRequest request, ParseEnvironments(text));
    return AnswerEnvironments(request);
  }
  if (verb == run::kVerbSweep) {
    TENON_TRY(SweepRequest request, ParseSweep(text));
    return Sweep(request);
  }
  TENON_TRY(RunName run, ParseRecover(text));
  return Recover(run, version);
}

bool IsVerb(std::string_view verb) {
  return verb == run::kVerbStart || verb == run::kVerbCancel || verb == run::kVerbRecover ||
         verb == run::kVerbEnvironments || verb == run::kVerbSweep || verb == run::kVerbVersion;
}

}  // namespace

int RunVerb(const std::vector<std::string>& words, const std::string& version) {
  if (!words.empty() && words[0] == run::kVerbExec) return RunExec(words);
  const std::string verb = words.size() == 1 ? words[0] : "";
  // As the first process of a container; nobody waits for a greeting there.
  if (verb == run::kVerbInit) return RunInit();
  if (verb == run::kVerbBuild) return RunBuildInside();
  if (!WriteAll(STDOUT_FILENO, run::HelloLine(version)).ok()) return kFailed;
  if (!IsVerb(verb)) {
    (void)WriteAll(STDERR_FILENO,
                   "usage: tenon-runner start|cancel|recover|environments|sweep|version\n")
        .ok();
    return kUsage;
  }
  if (verb == run::kVerbVersion) return kAnswered;
  auto answer = Answer(verb, version);
  json::Object object;
  if (answer.ok()) {
    object = std::move(*answer);
  } else {
    object["error"] = run::ErrorToJson(answer.error());
  }
  bool written = WriteAll(STDOUT_FILENO, json::Print(object) + "\n").ok();
  return answer.ok() && written ? kAnswered : kFailed;
}

}  // namespace tenon::runner
