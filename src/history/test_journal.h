// SPDX-License-Identifier: Apache-2.0
// Journals made for tests: records in memory, or segment files.
#ifndef TENON_HISTORY_TEST_JOURNAL_H_
#define TENON_HISTORY_TEST_JOURNAL_H_

#include <gtest/gtest.h>
#include <stdlib.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/file.h"
#include "history/codec.h"
#include "history/store.h"
#include "journal/format.h"
#include "journal/writer.h"
#include "run/event.h"
#include "run/layout.h"

namespace tenon::history {

// A folder in the system's temporary folder; the destructor removes it.
class TestFolder {
 public:
  TestFolder() {
    std::string pattern = testing::TempDir() + "tenon-history-XXXXXX";
    EXPECT_NE(::mkdtemp(pattern.data()), nullptr);
    path_ = pattern;
  }
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;
  ~TestFolder() { EXPECT_TRUE(RemoveTree(path_).ok()); }
  const std::string& path() const { return path_; }
  std::string operator/(std::string_view name) const { return JoinPath(path_, name); }

 private:
  std::string path_;
};

template <typename T>
T Must(Result<T> result) {
  if (!result.ok()) {
    ADD_FAILURE() << result.error().message;
    abort();  // the test cannot go on
  }
  return std::move(result).value();
}
inline void Must(const Status& status) { ASSERT_TRUE(status.ok()) << status.error().message; }

inline run::Submitted SubmittedOf(const std::string& id, int64_t number,
                                  const std::string& project_id = "p") {
  run::Submitted submitted;
  run::RunSpec& spec = submitted.spec;
  spec.key = "01234567-89ab-4def-8123-456789abcdef";
  spec.id = id;
  spec.number = number;
  spec.project = "digits";
  spec.project_id = project_id;
  spec.user = "ada";
  spec.user_id = "6f9619ff-8b86-4011-b42d-00c04fc964ff";
  spec.script = "train.py";
  spec.arguments = {"--rate", "0.1"};
  spec.parameters = {{"rate", "0.1"}};
  spec.tree = spec.kept_tree = std::string(64, 'a');
  spec.target = spec.target_type = spec.run_configuration = "local";
  spec.python = "python3";
  spec.environment = {{"A", "b"}};
  spec.git_commit = std::string(40, 'c');
  submitted.client = "0011223344556677";
  submitted.tenon_version = "0.1.0";
  return submitted;
}

inline run::Metrics MetricsOf(const std::map<std::string, std::vector<run::MetricValue>>& series,
                              int64_t first_step = 0) {
  run::Metrics metrics;
  for (const auto& [name, values] : series) {
    run::MetricBlock& block = metrics.blocks.emplace_back();
    block.series = name;
    block.source = "1.1";
    block.position = 17;
    for (const auto& value : values) {
      const auto step = first_step + static_cast<int64_t>(block.points.size());
      block.points.push_back({step, 1'500'000'000'000'000 + step, value});
    }
  }
  return metrics;
}

inline run::End EndOf(run::State state = run::State::kCompleted, int exit_code = 0) {
  run::End end;
  end.state = state;
  end.exit_code = exit_code;
  end.peak_rss_bytes = 1 << 20;
  end.start_us = 1'500'000'000'200'000;
  end.duration_us = 4'892'389;
  end.proof = run::Proof{"scan", 0, 0, 0, "", "no GPU on this machine"};
  return end;
}

// Sets members one by one: GCC 12 warns about strings in nested braces when it optimises.
inline ProcessId ProcessOf(pid_t pid, uint64_t start_ticks) {
  ProcessId process;
  process.pid = pid;
  process.start_ticks = start_ticks;
  process.boot_id = "boot";
  return process;
}
inline run::RunnerStarted RunnerOf(pid_t pid, uint64_t start_ticks) {
  run::RunnerStarted runner;
  runner.process = ProcessOf(pid, start_ticks);
  runner.host = "here";
  runner.version = "0.1.0";
  runner.protocol = 1;
  return runner;
}
inline run::ScriptStarted ScriptOf(pid_t pid, std::vector<std::string> argv) {
  run::ScriptStarted script;
  script.process = ProcessOf(pid, 100);
  script.argv = std::move(argv);
  return script;
}

using Events = std::vector<run::Event>;

inline Events NearEvents(const std::string& id, int64_t number) {
  return {SubmittedOf(id, number), run::Step{"snapshot", 1200, "3 files, 2 KB"},
          run::Notice{run::Level::kWarning, "`python` was not found", "python3 is used"}};
}

inline Events HostEvents(int points = 3) {
  std::vector<run::MetricValue> loss, more;
  for (int i = 0; i < points; ++i) {
    loss.emplace_back(1.0 / (i + 1));
    more.emplace_back(int64_t{i});
  }
  return {RunnerOf(4711, 99),
          run::StateChange{run::State::kPreparing, ""},
          ScriptOf(4712, {"python3", "train.py"}),
          run::StateChange{run::State::kRunning, ""},
          run::Output{run::Stream::kStdout, "epoch 1\n"},
          MetricsOf({{"loss", loss}, {"seen", more}}),
          run::Output{run::Stream::kStderr, "warning\n"},
          MetricsOf({{"loss", {0.01, 0.02}}}, points),
          run::Artifacts{{{"outputs/model.json", 812, std::string(64, 'b'), 0644}},
                         std::string(64, 'd')},
          EndOf()};
}

// A segment in memory, with the offsets that its file would have.
class MadeSegment {
 public:
  explicit MadeSegment(const Events& events, int64_t first_us = 1'500'000'000'000'000,
                       uint64_t first_number = 1) {
    uint64_t offset = journal::kFileHeaderSize;
    for (const run::Event& event : events) {
      Entry& entry = entries_.emplace_back();
      entry.payload = run::EncodeEvent(event);
      offset += journal::kRecordHeaderSize + entry.payload.size();
      const auto index = entries_.size() - 1;
      entry.record = {first_number + index,
                      first_us + static_cast<int64_t>(index) * 100'000,
                      static_cast<uint8_t>(run::TypeOf(event)),
                      {}};
      entry.end = offset;
    }
  }
  size_t size() const { return entries_.size(); }
  journal::Cursor end_of(size_t count) const {
    return count == 0 ? journal::Cursor{}
                      : journal::Cursor{entries_[count - 1].record.number, entries_[count - 1].end};
  }
  // Puts `bytes` of damage before record `index` (from 0), which moves it and all records after it.
  void Damage(size_t index, uint64_t bytes) {
    for (size_t i = index; i < entries_.size(); ++i) entries_[i].end += bytes;
  }

  // Ingests the records [begin, end) into a store.
  Result<journal::Cursor> Give(HistoryStore& store, const std::string& run_id,
                               const std::string& segment, size_t begin, size_t end,
                               uint64_t hole_bytes = 0) const {
    size_t next = begin;
    return store.Ingest(
        run_id, segment,
        [&]() -> Result<std::optional<journal::Record>> {
          if (next >= std::min(end, entries_.size())) return std::optional<journal::Record>();
          journal::Record record = entries_[next].record;
          record.payload = entries_[next++].payload;
          return std::optional<journal::Record>(record);
        },
        [&] { return end_of(next); }, hole_bytes);
  }
  Result<journal::Cursor> GiveAll(HistoryStore& store, const std::string& run_id,
                                  const std::string& segment) const {
    return Give(store, run_id, segment, 0, size());
  }

 private:
  struct Entry {
    std::string payload;
    journal::Record record;
    uint64_t end = 0;
  };
  std::vector<Entry> entries_;
};

inline std::string IdOf(int64_t number) {
  return "digits_" + std::to_string(1'500'000'000'000 + number);
}

// Ingests a whole finished run. Its times follow from its number: a larger number is newer.
inline void GiveRun(HistoryStore& store, int64_t number, const Events& more_near = {}) {
  Events near = NearEvents(IdOf(number), number);
  near.insert(near.end(), more_near.begin(), more_near.end());
  const int64_t begin = 1'500'000'000'000'000 + number * 10'000'000;
  Must(MadeSegment(near, begin).GiveAll(store, IdOf(number), "near-a"));
  Must(MadeSegment(HostEvents(), begin + 1'000'000).GiveAll(store, IdOf(number), "host"));
}

// Writes a segment file as a runner or client would.
inline void WriteSegment(const std::string& run_folder, const std::string& segment,
                         const Events& events, int64_t first_us = 1'500'000'000'000'000) {
  FakeClock clock;
  clock.now_us = first_us;
  Must(MakeDirs(run_folder));
  journal::Writer::Options options;
  options.path = run::RunFolder(run_folder).segment(segment);
  options.run_key = "01234567-89ab-4def-8123-456789abcdef";
  options.segment = segment;
  options.clock = &clock;
  auto writer = Must(journal::Writer::Open(options));
  for (const run::Event& event : events) {
    Must(writer.Append(event));
    clock.Advance(100'000);
  }
}

// Everything that a store knows of a run, as bytes to compare.
inline std::string Everything(HistoryStore& store, const std::string& run_id) {
  const journal::RunView view = Must(store.Get(run_id));
  std::string all = EncodeRow(view) + EncodeDetail(view);
  for (const auto& [segment, cursor] : Must(store.PlaceOf(run_id))) {
    all +=
        segment + ":" + std::to_string(cursor.record) + "@" + std::to_string(cursor.offset) + "\n";
  }
  Must(store.ReadMetrics(run_id, "", [&](const std::string& series, const run::MetricPoint& point) {
    all += series + " " + std::to_string(point.step) + " " + std::to_string(point.time_us) + " " +
           run::FormatMetric(point.value) + "\n";
    return Status();
  }));
  return all;
}

inline std::vector<std::string> Ids(const std::vector<RunRow>& rows) {
  std::vector<std::string> ids;
  for (const RunRow& row : rows) ids.push_back(row.spec.id);
  return ids;
}

}  // namespace tenon::history

#endif  // TENON_HISTORY_TEST_JOURNAL_H_
