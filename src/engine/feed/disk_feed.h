// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_ENGINE_FEED_DISK_FEED_H_
#define TENON_ENGINE_FEED_DISK_FEED_H_

#include <cstdint>
#include <string>

#include "engine/context.h"
#include "engine/feed/run_feed.h"

namespace tenon::engine {

// The records of a run whose runner writes them straight into our run folder. Nothing has to be
// copied. The lock of the segment says whether a runner still writes.
class DiskFeed : public RunFeed {
 public:
  // `context` must outlive this object.
  DiskFeed(Context& context, const std::string& run_id, FeedSink sink);

  Result<Heard> Wait(int64_t timeout_us) override;
  Result<Heard> CatchUp() override;
  bool CaughtUp() const override { return true; }
  Result<bool> IsWhole() override { return true; }
  Result<bool> TakeRest() override { return true; }
  void AwaitDisk() override;
  int fd() const override { return context_.host->growth_fd(); }
  bool MayMend(const Error&) const override { return false; }
  std::optional<Stopped> stopped() override;
  int64_t SilentUs() const override { return 0; }

 private:
  Context& context_;
  std::string segment_;  // the host's segment
  FeedSink sink_;
  bool alive_ = false;  // at the last look the segment had a writer
  std::optional<Stopped> stopped_;
  int64_t look_again_us_;  // when stopped() asks the kernel again
};

}  // namespace tenon::engine

#endif  // TENON_ENGINE_FEED_DISK_FEED_H_
