// SPDX-License-Identifier: Apache-2.0
// From what is remembered about another machine to a place where runs go on.
#ifndef TENON_ENGINE_REACH_H_
#define TENON_ENGINE_REACH_H_

#include <memory>
#include <string>

#include "base/result.h"
#include "engine/context.h"
#include "engine/hosts.h"
#include "launch/direct_launch.h"
#include "launch/runner_services.h"
#include "transport/ssh.h"
#include "transport/ssh_host.h"

namespace tenon::engine {

// For those above who name commands there.
using transport::QuoteForAnyShell;

struct Reached {
  HostRecord record;
  std::unique_ptr<transport::Ssh> ssh;
  std::unique_ptr<transport::SshHost> host;
  std::unique_ptr<launch::RunnerCalls> calls;
  std::unique_ptr<launch::DirectLaunch> launch;
  std::unique_ptr<launch::RunnerServices> services;
  run::Home home{""};  // there
  std::string ahead;   // the run whose journal already comes over the link; "" = none
};

// What may be told to ssh when it asks: the host's secrets from the store, and the user.
transport::SshSecrets SecretsFor(Context& context, const HostRecord& host);

// Reaches a machine whose key is pinned (kDenied when it is not). One that was reached before is
// not contacted yet: the first call does that. One that was not gets a runner and is asked what it
// offers (`probe`), and the answers are remembered if the host is recorded.
Result<std::unique_ptr<Reached>> Reach(Context& context, const HostRecord& host);
// The same with secrets that are not in the store.
Result<std::unique_ptr<Reached>> ReachWith(Context& context, const HostRecord& host,
                                           transport::SshSecrets secrets);

// Asks again what the machine offers and remembers it.
Result<json::Object> Probe(Context& context, Reached& reached);

// The environment a script begins with on that machine: that of a login there.
Environment LoginEnvironment(const HostRecord& host);

}  // namespace tenon::engine

#endif  // TENON_ENGINE_REACH_H_
