// SPDX-License-Identifier: Apache-2.0
#include "engine/feed/disk_feed.h"

#include <fcntl.h>

#include <utility>

#include "base/durable.h"
#include "base/file.h"
#include "base/waiting.h"
#include "run/layout.h"

namespace tenon::engine {
namespace {

// The kernel may take ten milliseconds to say who holds a lock. So it is asked only when a runner
// has been silent for a while.
constexpr int64_t kRunnerEveryUs = 2'000'000;

}  // namespace

DiskFeed::DiskFeed(Context& context, const std::string& run_id, FeedSink sink)
    : context_(context),
      segment_(run::RunFolder(context.home, run_id).host_segment()),
      sink_(std::move(sink)),
      look_again_us_(context.clock->MonotonicUs() + kRunnerEveryUs) {}

Result<RunFeed::Heard> DiskFeed::Wait(int64_t timeout_us) {
  const auto read = sink_.read ? sink_.read() : std::vector<transport::KnownLength>();
  auto waited = context_.host->WaitForGrowth(read, timeout_us);
  if (!waited.ok() && waited.error().kind != ErrorKind::kNotFound) {
    return std::move(waited).error();
  }
  // A live runner holds the lock. Without a lock, no more records will come than the file has now.
  const auto locked = context_.host->IsLocked(segment_);
  alive_ = locked.ok() && *locked;
  if (alive_) return waited.ok() && *waited ? Heard::kMore : Heard::kNothing;
  const auto more = read.empty() ? Result<std::string>("")
                                 : context_.host->ReadFrom(read.front().path, read.front().size, 1);
  return more.ok() && !more->empty() ? Heard::kMore : Heard::kEnded;
}

Result<RunFeed::Heard> DiskFeed::CatchUp() {
  alive_ = false;
  if (!Exists(segment_)) return Heard::kUnknown;
  TENON_TRY(alive_, context_.host->IsLocked(segment_));
  look_again_us_ = 0;
  return alive_ ? Heard::kMore : Heard::kEnded;
}

// The runner syncs the end after writing it, and the end is to be reported only once it is on disk.
// If the disk fails, the runner reports that.
void DiskFeed::AwaitDisk() {
  if (auto file = OpenFile(segment_, O_RDONLY); file.ok()) (void)DurableFdatasync(file->get());
}

std::optional<RunFeed::Stopped> DiskFeed::stopped() {
  const int64_t now = context_.clock->MonotonicUs();
  if (!alive_ || now < look_again_us_) return stopped_;
  look_again_us_ = now + kRunnerEveryUs;
  stopped_.reset();
  const auto holder = FindLockHolder(segment_);
  if (holder && holder->stopped) stopped_ = Stopped{holder->pid, false, ""};
  return stopped_;
}

}  // namespace tenon::engine
