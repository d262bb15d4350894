// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_RUNNER_SUPERVISE_HANDOVER_H_
#define TENON_RUNNER_SUPERVISE_HANDOVER_H_

#include <mutex>
#include <vector>

#include "base/fd.h"
#include "run/event.h"

namespace tenon::runner {

// Passes events from a worker to the thread that writes the journal.
class Handover {
 public:
  Handover();
  Handover(const Handover&) = delete;
  Handover& operator=(const Handover&) = delete;

  void Put(run::Event event);              // any thread
  void Wake();                             // any thread: makes fd() readable without an event
  std::vector<run::Event> TakeAll();       // in order; fd() is not readable afterwards
  int fd() const { return event_.get(); }  // -1 if none could be made

 private:
  UniqueFd event_;
  std::mutex mutex_;
  std::vector<run::Event> events_;  // guarded by mutex_
};

}  // namespace tenon::runner

#endif  // TENON_RUNNER_SUPERVISE_HANDOVER_H_
