// SPDX-License-Identifier: Apache-2.0
#include "runner/metrics/metric_pump.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>

#include "runner/supervise/collect.h"

namespace tenon::runner {
namespace {

// Limits the rounds, so that a script that logs without pause does not block the loop's other work.
constexpr int kRoundsAtATime = 8;

}  // namespace

MetricPump::MetricPump(MetricFiles files, PollLoop& loop, Recorder& recorder, Syncer& syncer,
                       UniqueFd event)
    : files_(std::move(files)),
      loop_(loop),
      recorder_(recorder),
      syncer_(syncer),
      synced_event_(std::make_shared<UniqueFd>(std::move(event))) {}

Result<std::unique_ptr<MetricPump>> MetricPump::Open(const std::string& folder, PollLoop& loop,
                                                     Recorder& recorder, Syncer& syncer) {
  TENON_TRY(MetricFiles files, MetricFiles::Open(folder));
  UniqueFd event(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!event.valid()) return FromErrno("make an event", errno);
  std::unique_ptr<MetricPump> pump(
      new MetricPump(std::move(files), loop, recorder, syncer, std::move(event)));
  MetricPump* self = pump.get();
  if (self->files_.wake_fd() >= 0) {
    loop.AddFd(self->files_.wake_fd(), [self] {
      self->files_.DrainWake();
      self->Pump();
    });
  }
  loop.AddFd(self->synced_event_->get(), [self] { self->OnSynced(); });
  return pump;
}

MetricPump::~MetricPump() {
  if (files_.wake_fd() >= 0) loop_.RemoveFd(files_.wake_fd());
  loop_.RemoveFd(synced_event_->get());
}

void MetricPump::Pump() {
  if (waiting_for_disk_) return;
  bool sync_wanted = false;
  for (int i = 0; i < kRoundsAtATime; ++i) {
    auto round = files_.Poll();
    if (!round.ok()) return recorder_.Log("reading metrics: " + round.error().message);
    for (std::string& text : round->notices) {
      recorder_.Append(run::Notice{run::Level::kWarning, std::move(text), ""});
    }
    bool any = !round->blocks.empty();
    if (!recorder_.AppendMetrics(std::move(round->blocks))) return;  // Poll returns them again
    recorder_.LosePoints(round->dropped);
    files_.Commit();
    if (any) syncer_.MarkDirty();
    sync_wanted = sync_wanted || round->sync_wanted;
    if (!round->more) break;
  }
  if (!sync_wanted) return;
  waiting_for_disk_ = true;
  syncer_.SyncNow([event = synced_event_](const Status& status) {
    uint64_t word = status.ok() ? 1 : 2;
    ssize_t ignored = ::write(event->get(), &word, sizeof word);
    (void)ignored;
  });
}

void MetricPump::OnSynced() {
  uint64_t word = 0;
  if (::read(synced_event_->get(), &word, sizeof word) != sizeof word) return;
  waiting_for_disk_ = false;
  if (word == 1) files_.MarkSynced();
  Pump();
}

bool MetricPump::Finish() { return CollectMetrics(files_, recorder_, /*keep_text=*/true); }

}  // namespace tenon::runner
