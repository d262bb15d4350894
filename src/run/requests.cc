// SPDX-License-Identifier: Apache-2.0
#include "run/requests.h"

#include "run/layout.h"
#include "run/members.h"

namespace tenon::run {
namespace {

void CheckRunId(Members& in, const std::string& id, const std::string& said) {
  if (!IsValidRunId(id)) in.FailWith(said + " is no run id");
}

}  // namespace

void CancelRequest::Check(Members& in) const {
  CheckRunId(in, run_id, "run_id");
  if (grace_us && *grace_us < 0) in.FailWith("grace_us is no time");
}

void EndLostRequest::Check(Members& in) const {
  CheckRunId(in, run_id, "run_id");
  // The key becomes part of a folder's name. An empty key would stand for every run.
  if (key.empty() || key.find('/') != std::string::npos) in.FailWith("it names no run key");
}

void EnvironmentsRequest::Check(Members& in) const {
  // The keys become paths.
  for (const std::string& key : remove) {
    if (!IsEnvironmentKey(key)) in.FailWith(key + " is no key");
  }
}

void HostedRequest::Check(Members& in) const {
  if (keep_us < 0) in.FailWith("keep_us is no time");
  // The ids become paths.
  for (const std::string& id : remove) CheckRunId(in, id, id);
}

void WatchIdleRequest::Check(Members& in) const {
  if (command.find('\0') != std::string::npos) in.FailWith("the command has a NUL in it");
}

}  // namespace tenon::run
