// SPDX-License-Identifier: Apache-2.0
// The verb `probe`: tells what a machine offers, for people and for decisions (docs/runner.md).
// Never fails because something is missing: the answer says so.
#ifndef TENON_RUNNER_VERBS_VERB_PROBE_H_
#define TENON_RUNNER_VERBS_VERB_PROBE_H_

#include <string>

#include "base/json.h"
#include "base/process.h"

namespace tenon::runner {

json::Object Probe(const std::string& home);

// Parts of the answer. `environment` is the login environment; `root` is "/" except in tests.
json::Array ProbeEngines(const Environment& environment);
void ProbeGpus(const Environment& environment, json::Object* answer);
void ProbePythons(const Environment& environment, json::Object* answer);

// Whether processes that a login leaves running are killed when the login ends.
struct KillsAtLogout {
  std::string answer = "unknown";  // or "yes", "no"
  std::string reason;
};
KillsAtLogout LookAtLogout(const std::string& root, const std::string& user, bool is_root);

// The value of KillUserProcesses in the text of a logind.conf: "yes", "no", or "" when the text
// does not say. `defaults`: also reads lines that are commented out, which name the defaults.
std::string KillsOf(std::string_view text, bool defaults);

}  // namespace tenon::runner

#endif  // TENON_RUNNER_VERBS_VERB_PROBE_H_
