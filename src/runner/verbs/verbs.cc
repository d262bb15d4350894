// SPDX-License-Identifier: Apache-2.0
#include "runner/verbs/verbs.h"

#include <unistd.h>

#include <algorithm>

#include "base/error_json.h"
#include "base/file.h"
#include "base/process.h"
#include "docker/dial.h"
#include "run/verbs.h"
#include "runner/agent/verb_serve.h"
#include "runner/container/init.h"
#include "runner/environment/build_inside.h"
#include "runner/supervise/rank.h"
#include "runner/verbs/exec.h"
#include "runner/verbs/login_shell.h"
#include "runner/verbs/small_verbs.h"
#include "runner/verbs/verb_collect.h"
#include "runner/verbs/verb_environments.h"
#include "runner/verbs/verb_hosted.h"
#include "runner/verbs/verb_probe.h"
#include "runner/verbs/verb_sweep.h"
#include "runner/verbs/verb_watch_idle.h"

namespace tenon::runner {
namespace {

constexpr int kAnswered = 0, kFailed = 1, kUsage = 2;

template <Described T>
Result<json::Object> Told(const Result<T>& answer) {
  if (!answer.ok()) return answer.error();
  return run::ToJsonObject(*answer);
}

// Reads a request and has `act(home, request)` answer it.
template <Described T, typename F>
Result<json::Object> AnswerTo(std::string_view text, F act) {
  TENON_TRY(const Asked<T> asked, ParseRequest<T>(text));
  return Told(act(asked.home, asked.what));
}

Result<json::Object> Answer(std::string_view verb, const std::string& version) {
  TENON_TRY(std::string text, ReadRequest(STDIN_FILENO));
  if (verb == run::kVerbStart) {
    TENON_TRY(StartRequest request, ParseStart(text));
    // The text holds secrets, which must not be in the supervisor's memory twice.
    text.assign(text.size(), '\0');
    return Start(std::move(request), version);
  }
  if (verb == run::kVerbCancel) {
    return AnswerTo<run::CancelRequest>(text, [&](const auto& home, const auto& request) {
      return Cancel({home, request.run_id}, request, version);
    });
  }
  if (verb == run::kVerbEndLost) {
    return AnswerTo<run::EndLostRequest>(text, [](const auto& home, const auto& request) {
      return EndLost({home, request.run_id}, request);
    });
  }
  if (verb == run::kVerbEnvironments) {
    return AnswerTo<run::EnvironmentsRequest>(text, AnswerEnvironments);
  }
  if (verb == run::kVerbSweep) return AnswerTo<run::SweepRequest>(text, Sweep);
  if (verb == run::kVerbHosted) return AnswerTo<run::HostedRequest>(text, AnswerHosted);
  if (verb == run::kVerbWatchIdle) return AnswerTo<run::WatchIdleRequest>(text, WatchIdle);
  if (verb == run::kVerbProbe) {
    TENON_TRY(const std::string home, ParseHome(text));
    return Probe(home);
  }
  TENON_TRY(const RunName run, ParseRunName(text));
  return verb == run::kVerbCollect ? Told(CollectLeft(run)) : Told(Recover(run, version));
}

constexpr std::string_view kVerbs[] = {
    run::kVerbStart,   run::kVerbCancel,       run::kVerbRecover, run::kVerbEndLost,
    run::kVerbCollect, run::kVerbEnvironments, run::kVerbSweep,   run::kVerbProbe,
    run::kVerbHosted,  run::kVerbWatchIdle,    run::kVerbVersion};

bool IsVerb(std::string_view verb) {
  return std::find(std::begin(kVerbs), std::end(kVerbs), verb) != std::end(kVerbs);
}

// A user who may become root without a password reaches engines that only root and a group may use.
void OfferSudoToEngines() {
  const std::string path = GetVariable(CurrentEnvironment(), "PATH", "/usr/bin:/bin");
  if (::geteuid() == 0 || !FindProgram("sudo", path)) return;
  std::vector<std::vector<std::string>> helpers = {
      {"sudo", "-n", OurProgram(), run::kVerbDial, "{}"}};
  // For a home that root may not read, and for a sudo rule that allows only docker.
  if (FindProgram("docker", path)) {
    helpers.push_back({"sudo", "-n", "docker", "-H", "unix://{}", "system", "dial-stdio"});
  }
  docker::SetDialHelpers(std::move(helpers));
}

}  // namespace

int RunVerb(const std::vector<std::string>& words, const std::string& version) {
  if (auto code = RunSmallVerb(words)) return *code;
  OfferSudoToEngines();
  if (!words.empty() && words[0] == run::kVerbExec) return RunExec(words);
  if (!words.empty() && words[0] == run::kVerbRank) return RunRank(words);
  const std::string verb = words.size() == 1 ? words[0] : "";
  // These run as the first process of a container, where nobody waits for a greeting.
  if (verb == run::kVerbInit) return RunInit();
  if (verb == run::kVerbBuild) return RunBuildInside();
  if (!WriteAll(STDOUT_FILENO, run::HelloLine(version)).ok()) return kFailed;
  if (verb == run::kVerbServe) return Serve(STDIN_FILENO, STDOUT_FILENO);
  if (!IsVerb(verb)) {
    (void)WriteAll(
        STDERR_FILENO,
        "usage: tenon-runner start|cancel|recover|end-lost|collect|environments|sweep|probe|hosted|"
        "watch-idle|serve|version\n")
        .ok();
    return kUsage;
  }
  if (verb == run::kVerbVersion) return kAnswered;
  auto answer = Answer(verb, version);
  json::Object object;
  if (answer.ok()) {
    object = std::move(*answer);
  } else {
    object["error"] = ErrorToJson(answer.error());
  }
  bool written = WriteAll(STDOUT_FILENO, json::Print(object) + "\n").ok();
  return answer.ok() && written ? kAnswered : kFailed;
}

}  // namespace tenon::runner
