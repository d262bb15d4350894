// SPDX-License-Identifier: Apache-2.0
#include "history/intake.h"

#include <algorithm>

#include "journal/format.h"
#include "run/event.h"

namespace tenon::history {
namespace {

Status SplitMetrics(const journal::Record& record,
                    const std::function<Status(StoredBlock block)>& on_block) {
  auto blocks = run::DecodeMetricBlocks(record.payload);
  // The record is whole, but its payload cannot be decoded. The fold has already made a notice of
  // it.
  if (!blocks.ok()) return {};
  if (blocks->size() == 1) {
    return on_block(
        {std::move((*blocks)[0].series), record.number, 0, std::string(record.payload)});
  }
  for (size_t i = 0; i < blocks->size(); ++i) {
    run::MetricBlock& block = (*blocks)[i];
    // Only the runner needs to know where the points came from.
    block.source.clear();
    block.position = 0;
    std::string series = block.series;
    std::vector<run::MetricBlock> alone;
    alone.push_back(std::move(block));
    TENON_TRY_VOID(on_block({std::move(series), record.number, i, run::EncodeMetricBlocks(alone)}));
  }
  return {};
}

uint64_t BytesLostBefore(const journal::Record& record, uint64_t last_end, uint64_t end) {
  const uint64_t begin = std::max<uint64_t>(last_end, journal::kFileHeaderSize);
  const uint64_t whole = begin + journal::kRecordHeaderSize + record.payload.size();
  return end > whole ? end - whole : 0;
}

}  // namespace

uint64_t RoomFor(const std::string& segment, const std::map<std::string, SegmentState>& segments) {
  uint64_t others = 0;
  for (const auto& [name, state] : segments) {
    if (name != segment) others += state.fold.held;
  }
  return journal::kMaxHeld - std::min(journal::kMaxHeld, others);
}

Result<bool> TakeRecords(SegmentState& state, std::string_view segment,
                         const std::function<Result<std::optional<journal::Record>>()>& read,
                         const std::function<journal::Cursor()>& cursor, uint64_t hole_bytes,
                         uint64_t most, const std::function<Status(StoredBlock block)>& on_block) {
  bool changed = false;
  while (true) {
    TENON_TRY(const std::optional<journal::Record> record, read());
    if (!record) break;
    if (record->number <= state.at.record) continue;
    const uint64_t end = cursor().offset;
    // The bytes counted as `tail` are no longer at the end.
    state.fold.hole_bytes -= state.tail;
    state.tail = 0;
    state.fold.hole_bytes += BytesLostBefore(*record, state.at.offset, end);
    TENON_TRY_VOID(state.fold.Apply(*record, segment, most));
    if (record->type == static_cast<uint8_t>(run::EventType::kMetrics)) {
      TENON_TRY_VOID(SplitMetrics(*record, on_block));
    }
    state.at = {record->number, end};
    changed = true;
  }
  // A caller that has read less than the stored place does not know the end.
  if (cursor().record >= state.at.record && hole_bytes != state.tail) {
    state.fold.hole_bytes += hole_bytes - state.tail;
    state.tail = hole_bytes;
    changed = true;
  }
  return changed;
}

Status VisitPoints(
    const std::string& series, std::string_view data,
    const std::function<Status(const std::string& series, const run::MetricPoint& point)>& visit) {
  TENON_TRY(const auto blocks, run::DecodeMetricBlocks(data));
  for (const run::MetricBlock& block : blocks) {
    for (const run::MetricPoint& point : block.points) TENON_TRY_VOID(visit(series, point));
  }
  return {};
}

}  // namespace tenon::history
