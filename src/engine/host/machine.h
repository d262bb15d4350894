// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_ENGINE_HOST_MACHINE_H_
#define TENON_ENGINE_HOST_MACHINE_H_

#include <functional>
#include <string>

#include "base/json.h"
#include "base/result.h"
#include "engine/data/machine_files.h"
#include "engine/host/hosts.h"
#include "engine/host/machine_door.h"
#include "engine/host/machine_runs.h"
#include "launch/host_services.h"
#include "launch/launch.h"
#include "run/layout.h"
#include "transport/host.h"

namespace tenon::engine {

class Reporter;

// The result of a start.
struct Handover {
  Result<launch::Started> started;
  // With an Error: one try may have reached the machine, so the run may be going on.
  bool unclear = false;
  // The machine keeps the run's records and may lose them, so the client records that the machine
  // took the run over (kHandOver).
  bool to_be_noted = false;
};

// A place that runs go to: this machine, or another one. Callers never ask which: where two
// machines differ, there is a function, or a value that is empty for one of them. Context::At()
// returns machines; the Context owns them. One thread at a time uses a machine and its parts.
class Machine {
 public:
  // The parts of a machine. The pointers are valid as long as the machine is.
  struct Parts {
    transport::Host* host = nullptr;
    launch::Launch* launch = nullptr;
    launch::HostServices* services = nullptr;
    run::Home home{""};
  };

  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;
  virtual ~Machine() = default;

  transport::Host& host() const { return *parts_.host; }
  launch::Launch& launch() const { return *parts_.launch; }
  launch::HostServices& services() const { return *parts_.services; }
  // The machine's Tenon home.
  const run::Home& home() const { return parts_.home; }
  // The state of the link to the machine. Contacts nobody.
  transport::LinkState link() const;

  // What is remembered of the machine (engine/host/hosts.h). Nothing is remembered of this machine:
  // its record and id are empty.
  const HostRecord& known() const { return known_; }
  // Changes known() and the record's file. Fails with kNotFound or kInvalid when the machine has no
  // file; known() is changed all the same.
  Status Remember(const std::function<void(HostRecord&)>& change);

  // Prepares the machine for the next calls, as far as that takes no longer than a login. Errors
  // are not reported; the next use of the machine reports them. May do nothing.
  virtual void Open() = 0;
  // Starts a run on the machine and sends the tree that the run needs. A lost link is tried again a
  // few times, which `reporter` hears; no try starts a run twice. If the run's records come over a
  // link, the first of them are requested together with the start.
  virtual Handover Start(launch::StartRequest request, Reporter& reporter) = 0;

  // What the machine has of runs, its files that belong to no run, and the way in. They live as
  // long as the machine.
  virtual MachineRuns& runs() = 0;
  virtual MachineFiles& files() = 0;
  virtual MachineDoor& door() = 0;

  // Asks what the machine offers, and remembers the answer if the machine is remembered. Takes up
  // to half a minute.
  virtual Result<json::Object> Probe() = 0;
  // Whether the machine may have something at this path, as far as is known without asking it.
  // False saves the question; and asking would make a home where there is none.
  virtual bool MayHave(const std::string& path) const = 0;

 protected:
  // `near_home`: the home that remembers machines. `known`: what it remembers of the machine.
  Machine(run::Home near_home, HostRecord known);
  void Use(Parts parts) { parts_ = std::move(parts); }

  HostRecord known_;

 private:
  run::Home near_home_;
  Parts parts_;
};

}  // namespace tenon::engine

#endif  // TENON_ENGINE_HOST_MACHINE_H_
