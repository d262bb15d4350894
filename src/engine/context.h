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

// What every engine function works with. The objects that its pointers name must outlive all calls.
//
// Threads: one thread at a time may use a context, its machines, feeds and stores. Its reporters
// are called on that thread. A caller that wants to do two things at once makes a second context
// (make_another). Contexts of one home share only the disk; locks keep them apart, as they keep two
// programs apart. A thread that the engine starts itself gets what it needs by value (`indexing`,
// engine/run/ask_machines.h). `ask_user` is called on the thread of the context that asks.
struct Context {
  explicit Context(run::Home where);
  ~Context();

  run::Home home;
  // The parts of this machine.
  transport::Host* host = nullptr;
  launch::Launch* launch = nullptr;
  launch::HostServices* services = nullptr;
  const Clock* clock = nullptr;
  std::string version;
  // Reaches other machines. Null: this program reaches none.
  OtherMachines* others = nullptr;
  // Returns `others`; fails with kDenied when it is null.
  Result<OtherMachines*> Others() const;
  // Asks the user a question of ssh's, without showing what is typed. Returns nullopt when the user
  // gives no answer. Empty function: there is nobody to ask.
  std::function<std::optional<std::string>(const std::string& prompt)> ask_user;

  // Makes a context of the same home for another thread. Empty function: it can't be done.
  std::function<std::unique_ptr<Context>()> make_another;

  // The machine with this id (engine/host/hosts.h); "" is this machine. The context owns it; a
  // second call returns the same object. A machine that was reached before is not contacted. A new
  // one is contacted and asked what it offers. Fails with kNotFound when the host is not known.
  Result<Machine*> At(const std::string& host_id);

  // Opened when first asked for. If that fails, the call returns the Error and the next call tries
  // again.
  Result<history::HistoryStore*> History();
  Result<snapshot::ObjectStore*> Objects();
  // This client's id: 16 hex digits in <home>/client-id. The first call makes the file.
  Result<std::string> ClientId();

  // Set by MakeLocalContext(); null in a context that was made otherwise.
  std::unique_ptr<transport::Host> owned_host;
  std::unique_ptr<launch::RunnerCalls> owned_calls;
  std::unique_ptr<launch::Launch> owned_launch;
  std::unique_ptr<launch::HostServices> owned_services;
  std::unique_ptr<history::HistoryStore> history_store;
  std::unique_ptr<snapshot::ObjectStore> object_store;
  std::string client_id;
  std::map<std::string, std::unique_ptr<Machine>> machines;  // by id
  std::future<void> indexing;  // adds the run submitted last to the index, in the background
};

// A context whose runs start on this machine, with the runner that is embedded in this program.
// `others` must outlive it.
std::unique_ptr<Context> MakeLocalContext(std::string home, std::string version,
                                          OtherMachines* others = nullptr);

// SHA-256 of the runner inside this program, 64 hex digits. Hosts keep the runner under this name.
std::string RunnerHash();

// Makes the home and its folders, readable by the user alone. Fails with kDenied or kUnavailable;
// the message names the folder.
Status EnsureHome(const run::Home& home);

}  // namespace tenon::engine

#endif  // TENON_ENGINE_CONTEXT_H_
