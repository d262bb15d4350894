// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "history/intake.h"
#include "history/store.h"
#include "run/state.h"

namespace tenon::history {
namespace {

// Limit on the bytes of points of all runs. Points over the limit are not kept: ReadMetrics() fails
// with kUnavailable for their run.
constexpr uint64_t kMaxPointBytes = 64u << 20;

bool Matches(const RunQuery& query, const journal::RunView& view) {
  const auto same = [](const std::string& wanted, const std::string& is) {
    return wanted.empty() || wanted == is;
  };
  const bool homeless = view.untold && view.spec.project_id.empty();
  if ((!homeless && !same(query.project_id, view.spec.project_id)) ||
      !same(query.script, view.spec.script) || !same(query.target, view.spec.target)) {
    return false;
  }
  if (view.untold && !query.include_unreadable) return false;
  if (view.hidden && !query.include_hidden) return false;
  if (!view.spec.tracked && !query.include_untracked) return false;
  if (query.unfinished_only && run::IsFinal(view.state)) return false;
  if (!query.states.empty() && std::ranges::find(query.states, view.state) == query.states.end()) {
    return false;
  }
  return std::ranges::all_of(query.tags, [&](const auto& tag) {
    const auto it = view.tags.find(tag.first);
    return it != view.tags.end() && same(tag.second, it->second);
  });
}

class MemoryStore : public HistoryStore {
 public:
  Result<journal::Place> PlaceOf(const std::string& run_id) override {
    journal::Place place;
    if (const auto it = runs_.find(run_id); it != runs_.end()) {
      for (const auto& [name, state] : it->second.segments) place[name] = state.at;
    }
    return place;
  }

  Result<journal::Cursor> Ingest(
      const std::string& run_id, const std::string& segment,
      const std::function<Result<std::optional<journal::Record>>()>& read,
      const std::function<journal::Cursor()>& cursor, uint64_t hole_bytes) override {
    const auto known = runs_.find(run_id);
    Run run = known == runs_.end() ? Run{} : known->second;  // all or nothing: work on a copy
    SegmentState& state = run.segments[segment];
    TENON_TRY(const bool changed,
              TakeRecords(state, segment, read, cursor, hole_bytes, RoomFor(segment, run.segments),
                          [&](StoredBlock block) {
                            KeepBlock(run, segment, std::move(block));
                            return Status();
                          }));
    const journal::Cursor at = state.at;
    if (!changed) return at;
    std::map<std::string, journal::SegmentFold> folds;
    for (const auto& [name, other] : run.segments) folds[name] = other.fold;
    auto view = journal::Combine(folds);
    if (view.ok()) {
      run.view = std::move(*view);
    } else if (view.error().kind != ErrorKind::kNotFound) {
      return std::move(view).error();
    }
    runs_[run_id] = std::move(run);
    return at;
  }

  Result<journal::RunView> Get(const std::string& run_id) override {
    const auto it = runs_.find(run_id);
    if (it == runs_.end() || !it->second.view) return NotFound("there is no run " + run_id);
    return *it->second.view;
  }

  Status Visit(const RunQuery& query, const std::function<Status(const RunRow&)>& visit) override {
    std::vector<const journal::RunView*> found = Find(query);
    const size_t begin = std::min(query.offset, found.size());
    const size_t count =
        query.limit == 0 ? found.size() - begin : std::min(query.limit, found.size() - begin);
    for (size_t i = begin; i < begin + count; ++i) {
      RunRow row = *found[i];
      row.steps.clear();
      row.notices.clear();
      TENON_TRY_VOID(visit(row));
    }
    return {};
  }

  Result<uint64_t> CountRuns(const RunQuery& query) override { return Find(query).size(); }

  Result<std::vector<std::string>> IdsWithPrefix(const std::string& project_id,
                                                 std::string_view prefix, size_t limit) override {
    std::vector<std::string> ids;
    for (const auto* view : Find(Everything(project_id))) {
      if (ids.size() == limit) break;
      if (view->spec.id.starts_with(prefix)) ids.push_back(view->spec.id);
    }
    return ids;
  }

  Result<std::optional<std::string>> IdOfNumber(const std::string& project_id,
                                                int64_t number) override {
    for (const auto* view : Find(Everything(project_id))) {
      if (view->spec.number == number) return std::optional<std::string>(view->spec.id);
    }
    return std::optional<std::string>();
  }

  Result<int64_t> LastNumber(const std::string& project_id) override {
    int64_t last = 0;
    for (const auto* view : Find(Everything(project_id))) last = std::max(last, view->spec.number);
    return last;
  }

  Status ReadMetrics(const std::string& run_id, const std::string& name,
                     const std::function<Status(const std::string& series,
                                                const run::MetricPoint& point)>& visit) override {
    const auto it = runs_.find(run_id);
    if (it == runs_.end()) return {};
    if (it->second.points_left_out) {
      return Unavailable("the points of " + run_id + " do not fit into memory")
          .WithHint("make the Tenon home writable, so that the index can be kept there");
    }
    for (const auto& [key, data] : it->second.blocks) {
      if (!name.empty() && std::get<0>(key) != name) continue;
      TENON_TRY_VOID(VisitPoints(std::get<0>(key), data, visit));
    }
    return {};
  }

  Status SetUnreadable(const std::string& run_id, const std::string& why,
                       const journal::RunView& known) override {
    const auto it = runs_.find(run_id);
    const bool told = it != runs_.end() && it->second.view && !it->second.view->untold;
    if (!told && why.empty()) {
      if (it != runs_.end() && it->second.view) runs_.erase(it);
      return {};
    }
    Run& run = runs_[run_id];
    if (!told) {
      run.view = known;
      run.view->untold = true;
    }
    run.view->unreadable = why;
    return {};
  }

  Status Delete(const std::string& run_id) override {
    const auto run = runs_.find(run_id);
    if (run == runs_.end()) return {};
    for (const auto& [key, data] : run->second.blocks) point_bytes_ -= CostOf(key, data);
    runs_.erase(run);
    return {};
  }

  Status Clear() override {
    runs_.clear();
    point_bytes_ = 0;
    complete_ = false;
    seen_ = {};
    return {};
  }

  Result<bool> NeedsRebuild() override { return !complete_; }
  Status MarkRebuilt() override {
    complete_ = true;
    return {};
  }

  Result<Seen> LastSeen() override { return seen_; }
  Status MarkSeen(const Seen& now, const std::optional<Seen>& before) override {
    if (!before || *before == seen_) seen_ = now;
    return {};
  }

 private:
  using BlockKey = std::tuple<std::string, std::string, uint64_t, uint64_t>;
  struct Run {
    std::map<std::string, SegmentState> segments;
    std::map<BlockKey, std::string> blocks;
    bool points_left_out = false;
    std::optional<journal::RunView> view;
  };

  void KeepBlock(Run& run, const std::string& segment, StoredBlock block) {
    const BlockKey key{block.series, segment, block.record, block.block};
    const uint64_t cost = CostOf(key, block.data);
    if (point_bytes_ + cost > kMaxPointBytes) {
      run.points_left_out = true;
      return;
    }
    if (run.blocks.emplace(key, std::move(block.data)).second) point_bytes_ += cost;
  }
  static uint64_t CostOf(const BlockKey& key, const std::string& data) {
    return sizeof(BlockKey) + std::get<0>(key).size() + data.size();
  }

  static RunQuery Everything(const std::string& project_id) {
    RunQuery query;
    query.project_id = project_id;
    query.include_hidden = query.include_untracked = query.include_unreadable = true;
    return query;
  }

  // Newest first.
  std::vector<const journal::RunView*> Find(const RunQuery& query) const {
    std::vector<const journal::RunView*> found;
    for (const auto& [id, run] : runs_) {
      if (run.view && Matches(query, *run.view)) found.push_back(&*run.view);
    }
    std::ranges::sort(found, [](const auto* a, const auto* b) {
      return std::tie(a->created_us, a->spec.id) > std::tie(b->created_us, b->spec.id);
    });
    return found;
  }

  std::map<std::string, Run> runs_;
  uint64_t point_bytes_ = 0;
  bool complete_ = false;
  Seen seen_;
};

}  // namespace

std::unique_ptr<HistoryStore> MakeMemoryStore() { return std::make_unique<MemoryStore>(); }

}  // namespace tenon::history
