// SPDX-License-Identifier: Apache-2.0
#include "run/requests.h"

#include "run/layout.h"
#include "run/members.h"

namespace tenon::run {
namespace {

void CheckRunId(Members& in, std::string_view key, const std::string& id) {
  if (!IsValidRunId(id)) in.Fail(key, "a run id");
}

}  // namespace

void CancelRequest::Check(Members& in) const {
  CheckRunId(in, "run_id", run_id);
  if (grace_us && *grace_us < 0) in.Fail("grace_us", "a time");
}

void EndLostRequest::Check(Members& in) const {
  CheckRunId(in, "run_id", run_id);
  // It becomes the name of a folder, and an empty one would be everybody's.
  if (key.empty() || key.find('/') != std::string::npos) in.Fail("key", "the key of a run");
}

void EnvironmentsRequest::Check(Members& in) const {
  // They become paths.
  for (const std::string& key : remove) {
    if (!IsEnvironmentKey(key)) in.Fail("remove", "keys of environments");
  }
}

void HostedRequest::Check(Members& in) const {
  if (keep_us < 0) in.Fail("keep_us", "a time");
  for (const std::string& id : remove) CheckRunId(in, "remove", id);
}

void WatchIdleRequest::Check(Members& in) const {
  if (command.find('\0') != std::string::npos) in.Fail("command", "a text without a NUL");
}

}  // namespace tenon::run
