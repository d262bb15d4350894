// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_ENGINE_CONTEXT_H_
#define TENON_ENGINE_CONTEXT_H_

#include <functional>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "history/store.h"
#include "launch/host_services.h"
#include "launch/launch.h"
#include "launch/runner_calls.h"
#include "run/layout.h"
#include "snapshot/store/object_store.h"
#include "transport/host.h"

namespace tenon::engine {

class Machine;
class OtherMachines;

// What every engine function works with. Made once per program; the pointers outlive the calls.
//
// Threads: one thread at a time uses a context, its machines, feeds and stores, and hears its
// reporters. Who wants to do two things at once has a context for each (make_another): contexts of
// one home share nothing but the disk, where locks keep them apart, as they keep programs apart.
// What a thread of the engine's own may use it gets by value (`indexing`,
// engine/run/ask_machines.h). `ask_user` of another thread's context is called on that thread.
struct Context {
  explicit Context(run::Home where);
  ~Context();

  run::Home home;
  // What this machine is made of.
  transport::Host* host = nullptr;
  launch::Launch* launch = nullptr;
  launch::HostServices* services = nullptr;
  const Clock* clock = nullptr;
  std::string version;
  // How other machines are reached. Null: this program reaches none.
  OtherMachines* others = nullptr;
  // The same; kDenied when there is none.
  Result<OtherMachines*> Others() const;
  // Asks the user something that ssh wants to know, without showing what is typed. nullopt: no
  // answer. Empty: nobody is there to ask.
  std::function<std::optional<std::string>(const std::string& prompt)> ask_user;

  // Makes a context of the same home for another thread. Empty: there can be no other.
  std::function<std::unique_ptr<Context>()> make_another;

  // A machine by its id (engine/host/hosts.h); "" is this one. Lives as long as this object, and a
  // repeat gives the same. Nothing is contacted that was reached before; a machine that was not is
  // asked who it is. kNotFound: no such host.
  Result<Machine*> At(const std::string& host_id);

  // Opened when first asked for. A history that cannot be opened is an Error each time.
  Result<history::HistoryStore*> History();
  Result<snapshot::ObjectStore*> Objects();
  // This client's id: 16 hex digits in <home>/client-id, made when first asked for.
  Result<std::string> ClientId();

  // Owned when MakeLocalContext made them.
  std::unique_ptr<transport::Host> owned_host;
  std::unique_ptr<launch::RunnerCalls> owned_calls;
  std::unique_ptr<launch::Launch> owned_launch;
  std::unique_ptr<launch::HostServices> owned_services;
  std::unique_ptr<history::HistoryStore> history_store;
  std::unique_ptr<snapshot::ObjectStore> object_store;
  std::string client_id;
  std::map<std::string, std::unique_ptr<Machine>> machines;  // by id
  std::future<void> indexing;  // of the run that was submitted last, beside everything else
};

// A context for this machine: runs start here, with the runner that is embedded in this program.
// `others` outlives it.
std::unique_ptr<Context> MakeLocalContext(std::string home, std::string version,
                                          OtherMachines* others = nullptr);

// SHA-256 of the runner inside this program, 64 hex digits: the name hosts keep it under.
std::string RunnerHash();

// Makes the home with its folders, readable by the user alone. kDenied or kUnavailable naming it.
Status EnsureHome(const run::Home& home);

}  // namespace tenon::engine

#endif  // TENON_ENGINE_CONTEXT_H_
