// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_RUNNER_SUPERVISE_SYNCER_H_
#define TENON_RUNNER_SUPERVISE_SYNCER_H_

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "journal/writer.h"

namespace tenon::runner {

// Syncs a journal to disk on a thread of its own, so that no other thread has to wait: at most once
// a second after the journal has grown, or at once when somebody waits for it.
class Syncer {
 public:
  explicit Syncer(journal::Writer& writer);  // must outlive this object and not move
  ~Syncer();                                 // calls all waiting `done`, then ends the thread
  Syncer(const Syncer&) = delete;
  Syncer& operator=(const Syncer&) = delete;

  void MarkDirty();  // the journal has grown
  // Syncs at once, then calls `done` on the syncer's thread with the result.
  void SyncNow(std::function<void(const Status&)> done);

 private:
  void Run();

  journal::Writer& writer_;
  std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_.
  bool dirty_ = false;
  bool stop_ = false;
  std::vector<std::function<void(const Status&)>> waiting_;

  std::thread thread_;  // last: it uses the members above
};

}  // namespace tenon::runner

#endif  // TENON_RUNNER_SUPERVISE_SYNCER_H_
