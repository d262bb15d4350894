// SPDX-License-Identifier: Apache-2.0
// What every store does with records it is given: skip those it knows, fold the new ones, count the
// bytes lost between them.
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

// What a store keeps of one segment. `tail` is the number of bytes after the last record that are
// no record, in a segment without a writer. `fold.hole_bytes` includes `tail`.
struct SegmentState {
  journal::Cursor at;
  uint64_t tail = 0;
  journal::SegmentFold fold;
};

// One block of points of a series. `data` is what VisitPoints() reads.
struct StoredBlock {
  std::string series;
  uint64_t record = 0;
  uint64_t block = 0;  // index in the record
  std::string data;
};

// Applies new records to `state` as HistoryStore::Ingest() promises. Metric blocks of new records
// go to `on_block`. `most` is the limit for state.fold.held (see RoomFor()). Returns whether
// anything changed. After an Error the caller must discard `state`.
//
// Holes between records are computed from the cursors: the bytes between the end of one record and
// the beginning of the next. So each hole counts once, however often and by whomever the records
// are brought.
Result<bool> TakeRecords(SegmentState& state, std::string_view segment,
                         const std::function<Result<std::optional<journal::Record>>()>& read,
                         const std::function<journal::Cursor()>& cursor, uint64_t hole_bytes,
                         uint64_t most, const std::function<Status(StoredBlock block)>& on_block);
// journal::kMaxHeld less what the other segments of the run hold.
uint64_t RoomFor(const std::string& segment, const std::map<std::string, SegmentState>& segments);

// Calls `visit` with each point of one StoredBlock. Stops at the first Error of `visit` and returns
// it. kCorrupt when `data` is damaged.
Status VisitPoints(
    const std::string& series, std::string_view data,
    const std::function<Status(const std::string& series, const run::MetricPoint& point)>& visit);

}  // namespace tenon::history

#endif  // TENON_HISTORY_INTAKE_H_
