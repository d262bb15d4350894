// SPDX-License-Identifier: Apache-2.0
// The verb `probe`: what a machine offers, for people and for decisions (docs/runner.md). Nothing
// here fails because something is missing; that is what is told.
#ifndef TENON_RUNNER_VERBS_VERB_PROBE_H_
#define TENON_RUNNER_VERBS_VERB_PROBE_H_

#include <string>

#include "base/json.h"
#include "base/process.h"

namespace tenon::runner {

json::Object Probe(const std::string& home);

// Its parts. `environment` is the login environment; `root` is "/" but for tests.
json::Array ProbeEngines(const Environment& environment);
void ProbeGpus(const Environment& environment, json::Object* answer);
void ProbePythons(const Environment& environment, json::Object* answer);

// Whether what a login leaves running is killed when it ends.
struct KillsAtLogout {
  std::string answer = "unknown";  // "yes", "no"
  std::string reason;
};
KillsAtLogout LookAtLogout(const std::string& root, const std::string& user, bool is_root);

// KillUserProcesses of the text of a logind.conf: "yes", "no", or "" when it does not say.
// `defaults`: also as the comments name them.
std::string KillsOf(std::string_view text, bool defaults);

}  // namespace tenon::runner

#endif  // TENON_RUNNER_VERBS_VERB_PROBE_H_
