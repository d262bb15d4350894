// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_EXECUTOR_SCRIPT_H_
#define TENON_EXECUTOR_SCRIPT_H_

#include <cstdint>
#include <optional>
#include <string>

#include "base/process.h"
#include "run/event.h"

namespace tenon::executor {

struct Exit {
  ExitStatus status;
  int64_t peak_rss_bytes = 0;
  bool out_of_memory = false;  // the kernel says that it killed something of the run for memory
  std::string remark;          // what is known of the end beside the status
  bool kept = false;           // it has ended, and what it ran in stays, to be looked at

  // Told by a recorder of the script's own, and what follows with it. Of one that was killed only
  // the start may be known.
  bool told = false;
  int64_t start_us = 0;          // wall clock; 0: not known, or it was not started
  int64_t duration_us = 0;       // monotonic
  int64_t leftovers = 0;         // processes that the script left behind
  int64_t whole_peak_bytes = 0;  // of all its processes together
};

// A script that a runner has started, and everything that came of it. How it is started is for each
// implementation to say. One object per run; calls from one thread.
class Script {
 public:
  virtual ~Script() = default;

  // Becomes readable when Reap() may have something to say; -1: SIGCHLD tells, or a look now and
  // then. May change with each call of Reap().
  virtual int event_fd() const { return -1; }

  // Sends a signal to every process of the run that can be found, once each. Nobody there: nothing
  // happens.
  virtual void Signal(int signal) = 0;

  // A child of this program that is not of the run, and what it starts: neither signaled nor waited
  // for. It ends with us.
  virtual void LeaveOut(const ProcessId& /*process*/) {}

  // How the script ended, once; nullopt while it runs and ever after. Never waits. Call it when the
  // program gets SIGCHLD and now and then (repeats are harmless); it also takes leave of the
  // script's orphans.
  virtual std::optional<Exit> Reap() = 0;

  // Processes of the run that are still there, the script included.
  virtual int64_t CountLeft() = 0;

  // Ends every process of the run and says how sure that is. Waits for at most some seconds. With
  // nobody left it only looks. `thorough` looks at every process of the machine, else at what is
  // known to be complete already. Before the start: what preparing has left.
  virtual run::Proof EndAll(bool thorough) = 0;
};

}  // namespace tenon::executor

#endif  // TENON_EXECUTOR_SCRIPT_H_
