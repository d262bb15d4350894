// SPDX-License-Identifier: Apache-2.0
#include "engine/own_runs.h"

#include <utility>

#include "engine/disk_feed.h"

namespace tenon::engine {

std::unique_ptr<RunFeed> OwnRuns::Feed(const std::string& run_id, FeedSink sink) {
  return std::make_unique<DiskFeed>(context_, run_id, std::move(sink));
}

}  // namespace tenon::engine
