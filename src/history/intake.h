// SPDX-License-Identifier: Apache-2.0
// What every store does with the records it is handed: skip the known, fold the new, count what was
// lost between them.
#ifndef TENON_HISTORY_INTAKE_H_
#define TENON_HISTORY_INTAKE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "journal/fold.h"
#include "journal/reader.h"
#include "run/metric.h"

namespace tenon::history {

// What a store keeps of one segment. `fold.hole_bytes` counts `tail` too: the bytes after the last
// record that are no record, of a segment without a writer.
struct SegmentState {
  journal::Cursor at;
  uint64_t tail = 0;
  journal::SegmentFold fold;
};

// One block of points of a series, in a form of its own that DecodeMetricBlocks() reads.
struct StoredBlock {
  std::string series;
  uint64_t record = 0;
  uint64_t block = 0;  // index in the record
  std::string data;
};

// Brings `state` forward as HistoryStore::Ingest() promises. Metric blocks of new records go to
// `on_block`. `most`: what state.fold.held may come to (journal::kMaxHeld less what the run's other
// segments hold). Returns whether anything has changed. After an Error `state` is to be thrown
// away.
//
// Holes between records are found from the cursors (what lies between the end of one record and the
// beginning of the next), so they count once whoever brings the records, and how often.
Result<bool> TakeRecords(SegmentState& state, std::string_view segment,
                         const std::function<Result<std::optional<journal::Record>>()>& read,
                         const std::function<journal::Cursor()>& cursor, uint64_t hole_bytes,
                         uint64_t most, const std::function<Status(StoredBlock block)>& on_block);
// The room that the other segments leave to one.
uint64_t RoomFor(const std::string& segment, const std::map<std::string, SegmentState>& segments);

// The points of one StoredBlock.
Status VisitPoints(
    const std::string& series, std::string_view data,
    const std::function<Status(const std::string& series, const run::MetricPoint& point)>& visit);

}  // namespace tenon::history

#endif  // TENON_HISTORY_INTAKE_H_
