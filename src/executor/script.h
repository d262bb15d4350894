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
  bool out_of_memory = false;  // the kernel killed a process of the run because memory ran out
  std::string remark;          // what is known of the end beside the status
  bool kept = false;           // the script has ended; its container stays, to be looked at

  // Whether a recorder beside the script (the init of a container) told of the end. The members
  // below are what it told. If the recorder was killed, `start_us` alone may be known.
  bool told = false;
  int64_t start_us = 0;          // wall clock; 0: not known, or it was not started
  int64_t duration_us = 0;       // monotonic
  int64_t leftovers = 0;         // processes that the script left behind
  int64_t whole_peak_bytes = 0;  // of all its processes together
};

// A script that a runner has started, with all the processes it starts. Each implementation has its
// own way to start it. One object per run; calls from one thread.
class Script {
 public:
  virtual ~Script() = default;

  // Readable when Reap() may have something to return. -1: call Reap() on SIGCHLD and now and then.
  // May change with each call of Reap().
  virtual int event_fd() const { return -1; }

  // Sends a signal to every process of the run that can be found, once each. Does nothing when no
  // process is left.
  virtual void Signal(int signal) = 0;

  // Excludes a child of this program, with all it starts, from the run: Signal(), CountLeft() and
  // EndAll() leave it alone. The caller sees to its end.
  virtual void LeaveOut(const ProcessId& /*process*/) {}

  // Returns how the script ended, once; nullopt while it runs and ever after. Never waits. Call it
  // when the program gets SIGCHLD and now and then; repeats are harmless. It also reaps the
  // script's orphans.
  virtual std::optional<Exit> Reap() = 0;

  // How many processes of the run are alive, the script included.
  virtual int64_t CountLeft() = 0;

  // Ends every process of the run and returns how sure that is. Waits for some seconds at most.
  // When no process is left it only looks. With `thorough` it looks at every process of the
  // machine; else it trusts what is known to be complete. Before the start it ends what the
  // preparation has left.
  virtual run::Proof EndAll(bool thorough) = 0;
};

}  // namespace tenon::executor

#endif  // TENON_EXECUTOR_SCRIPT_H_
