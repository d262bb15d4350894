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

// What became of a start.
struct Handover {
  Result<launch::Started> started;
  // Of an Error: one try may have got through, so the run may go on there.
  bool unclear = false;
  // The machine keeps the run's records, and may lose them: that it took the run over is to be
  // recorded here (kHandOver).
  bool to_be_noted = false;
};

// A place that runs go to: this machine, or another one. Nobody asks which: where two machines
// differ there is a verb, or a value that is empty for one of them. Context::At() gives machines;
// the Context owns them. One thread at a time uses a machine and what it is made of.
class Machine {
 public:
  // What a machine is made of. The pointers are good as long as the machine is.
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
  // The Tenon home there.
  const run::Home& home() const { return parts_.home; }
  // How the link to it is. Contacts nobody.
  transport::LinkState link() const;

  // What is remembered of it here (engine/host/hosts.h). Of this machine nothing is: the record is
  // empty, its id too.
  const HostRecord& known() const { return known_; }
  // Changes that, and the file it is kept in. kNotFound and kInvalid: it is in no file; it is
  // changed all the same.
  Status Remember(const std::function<void(HostRecord&)>& change);

  // Gets ready for what is asked next, as far as that needs no wait for more than a login. What
  // goes wrong is said when the machine is used. Nothing to do for one that always is.
  virtual void Open() = 0;
  // Gets a run going there, with the tree it needs. A lost link is tried again a few times, which
  // `reporter` hears of; no try starts a run twice. With a run whose records come over a link, the
  // first of them are asked for in the same breath.
  virtual Handover Start(launch::StartRequest request, Reporter& reporter) = 0;

  // What it has of runs, the files there that are no run's, and the way onto it. They live as long
  // as the machine.
  virtual MachineRuns& runs() = 0;
  virtual MachineFiles& files() = 0;
  virtual MachineDoor& door() = 0;

  // Asks what the machine offers, and remembers the answer if the machine is remembered at all.
  // Takes up to half a minute.
  virtual Result<json::Object> Probe() = 0;
  // Whether there may be something at this path there, as far as that is known without asking the
  // machine. False saves the question, and making a home where none is.
  virtual bool MayHave(const std::string& path) const = 0;

 protected:
  // `near_home`: where machines are remembered. `known`: of this one, so far.
  Machine(run::Home near_home, HostRecord known);
  void Use(Parts parts) { parts_ = std::move(parts); }

  HostRecord known_;

 private:
  run::Home near_home_;
  Parts parts_;
};

}  // namespace tenon::engine

#endif  // TENON_ENGINE_HOST_MACHINE_H_
