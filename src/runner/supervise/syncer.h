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

// The thread that waits for the disk, so that nobody else has to: a journal that has grown is
// synced at most once a second, or at once when somebody waits for it.
class Syncer {
 public:
  explicit Syncer(journal::Writer& writer);  // must outlive this object and stay where it is
  ~Syncer();                                 // serves who waits, then ends the thread
  Syncer(const Syncer&) = delete;
  Syncer& operator=(const Syncer&) = delete;

  void MarkDirty();  // the journal has grown
  // Syncs at once; then calls `done` on the syncer's thread, also when the disk said no.
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

  std::thread thread_;  // last: everything it uses is there when it starts
};

}  // namespace tenon::runner

#endif  // TENON_RUNNER_SUPERVISE_SYNCER_H_
