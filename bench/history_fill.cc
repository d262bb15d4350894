// SPDX-License-Identifier: Apache-2.0
// Makes a home whose history has many runs, and times listings of it.
//
//   history_fill HOME fill N         N more runs straight into the index
//   history_fill HOME folders N      N more runs as run folders; `tenon history rebuild` takes them
//   in history_fill HOME list [LIMIT]   one listing, as a program that does nothing else; CPU and
//   time history_fill HOME rebuild        the index from the run folders
#include <sys/resource.h>

#include <charconv>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "base/file.h"
#include "history/store.h"
#include "journal/format.h"
#include "journal/writer.h"
#include "run/event.h"
#include "run/layout.h"

namespace tenon {
namespace {

constexpr int64_t kFirstUs = 1'700'000'000'000'000;
constexpr const char* kBoot = "b6f8a7d0-0000-4000-8000-000000000000";
constexpr const char* kProjectId = "6f9619ff-8b86-4011-b42d-00c04fc964ff";

std::string IdOf(int64_t number) {
  return "digits_" + std::to_string(kFirstUs / 1000 + number * 60'000);
}

// What a small run on `local` writes: two parameters, four series, two outputs.
std::vector<run::Event> NearEvents(int64_t number) {
  run::Submitted submitted;
  run::RunSpec& spec = submitted.spec;
  spec.key = "01234567-89ab-4def-8123-456789abcdef";
  spec.id = IdOf(number);
  spec.number = number;
  spec.project = "digits";
  spec.project_id = kProjectId;
  spec.user = "ada";
  spec.user_id = "0f9619ff-8b86-4011-b42d-00c04fc964ff";
  spec.script = number % 5 == 0 ? "evaluate.py" : "train.py";
  spec.arguments = {"--rate", "0.1", "--epochs", "5"};
  spec.parameters = {{"rate", "0.1"}, {"epochs", "5"}};
  spec.tree = spec.kept_tree = std::string(64, 'a');
  spec.target = spec.target_type = spec.run_configuration = "local";
  spec.python = "python3";
  spec.git_commit = std::string(40, 'c');
  spec.git_branch = "main";
  submitted.client = "0011223344556677";
  submitted.tenon_version = "0.1.0";
  return {submitted, run::Step{"snapshot", 1200, "12 files, 48 KB"}};
}

std::vector<run::Event> HostEvents(int64_t number, int64_t begin_us) {
  run::Metrics metrics;
  for (const char* name : {"loss", "accuracy", "validation loss", "validation accuracy"}) {
    run::MetricBlock& block = metrics.blocks.emplace_back();
    block.series = name;
    for (int step = 0; step < 5; ++step) {
      run::MetricPoint& point = block.points.emplace_back();
      point.step = step;
      point.time_us = begin_us + step;
      point.value = 1.0 / static_cast<double>(number + step);
    }
  }
  run::End end;
  end.state = number % 7 == 0 ? run::State::kFailed : run::State::kCompleted;
  end.exit_code = number % 7 == 0 ? 1 : 0;
  end.start_us = begin_us;
  end.duration_us = 4'892'389;
  end.proof = run::Proof{"scan", 0, 0, 0, "", "no GPU on this machine"};
  std::vector<run::Event> events;
  run::RunnerStarted& runner =
      std::get<run::RunnerStarted>(events.emplace_back(run::RunnerStarted()));
  runner.process.pid = 4711;
  runner.process.boot_id = kBoot;
  runner.host = "here";
  runner.version = "0.1.0";
  runner.protocol = 1;
  run::ScriptStarted& script =
      std::get<run::ScriptStarted>(events.emplace_back(run::ScriptStarted()));
  script.process.pid = 4712;
  script.process.boot_id = kBoot;
  script.argv = {"python3", "train.py", "--rate", "0.1"};
  events.emplace_back(run::StateChange{run::State::kRunning, ""});
  events.emplace_back(
      run::Output{run::Stream::kStdout, "epoch 1\nepoch 2\nepoch 3\nepoch 4\nepoch 5\n"});
  events.emplace_back(std::move(metrics));
  events.emplace_back(run::Artifacts{{{"outputs/model.json", 81'200, std::string(64, 'b'), 0644},
                                      {"outputs/picture.png", 12'000, std::string(64, 'd'), 0644}},
                                     std::string(64, 'e')});
  events.emplace_back(std::move(end));
  return events;
}

Status Give(history::HistoryStore& store, const std::string& run_id, const std::string& segment,
            const std::vector<run::Event>& events, int64_t first_us) {
  journal::Cursor at{0, journal::kFileHeaderSize};
  std::string payload;
  const auto read = [&]() -> Result<std::optional<journal::Record>> {
    if (at.record == events.size()) return std::optional<journal::Record>();
    const run::Event& event = events[at.record];
    payload = run::EncodeEvent(event);
    at.offset += journal::kRecordHeaderSize + payload.size();
    ++at.record;
    return std::optional<journal::Record>({at.record, first_us + static_cast<int64_t>(at.record),
                                           static_cast<uint8_t>(run::TypeOf(event)), payload});
  };
  TENON_TRY_VOID(store.Ingest(
      run_id, segment, read, [&] { return at; }, 0));
  return {};
}

Status Fill(const std::string& home, int64_t count) {
  TENON_TRY_VOID(MakeDirs(home, 0700));
  TENON_TRY(auto store, history::OpenHistory(home));
  TENON_TRY(const int64_t last, store->LastNumber(kProjectId));
  for (int64_t number = last + 1; number <= last + count; ++number) {
    const int64_t begin_us = kFirstUs + number * 60'000'000;
    TENON_TRY_VOID(
        Give(*store, IdOf(number), "near-0011223344556677", NearEvents(number), begin_us));
    TENON_TRY_VOID(Give(*store, IdOf(number), std::string(run::kHostSegment),
                        HostEvents(number, begin_us), begin_us + 20'000));
  }
  return {};
}

Status WriteSegment(const std::string& path, const std::string& segment,
                    const std::vector<run::Event>& events, int64_t first_us) {
  FakeClock clock;
  clock.now_us = first_us;
  journal::Writer::Options options;
  options.path = path;
  options.run_key = "01234567-89ab-4def-8123-456789abcdef";
  options.segment = segment;
  options.clock = &clock;
  TENON_TRY(auto writer, journal::Writer::Open(options));
  for (const run::Event& event : events) {
    TENON_TRY_VOID(writer.Append(event));
    clock.Advance(1000);
  }
  return {};
}

Status FillFolders(const std::string& root, int64_t count) {
  const run::Home home(root);
  int64_t last = 0;
  if (auto names = ListDir(home.runs()); names.ok()) last = static_cast<int64_t>(names->size());
  for (int64_t number = last + 1; number <= last + count; ++number) {
    const run::RunFolder folder(home, IdOf(number));
    const int64_t begin_us = kFirstUs + number * 60'000'000;
    TENON_TRY_VOID(MakeDirs(folder.path(), 0700));
    TENON_TRY_VOID(WriteSegment(folder.near_segment("0011223344556677"), "near-0011223344556677",
                                NearEvents(number), begin_us));
    TENON_TRY_VOID(WriteSegment(folder.host_segment(), std::string(run::kHostSegment),
                                HostEvents(number, begin_us), begin_us + 20'000));
  }
  return {};
}

int64_t CpuUs() {
  struct rusage usage;
  ::getrusage(RUSAGE_SELF, &usage);
  const auto us = [](const timeval& time) { return time.tv_sec * 1'000'000 + time.tv_usec; };
  return us(usage.ru_utime) + us(usage.ru_stime);
}

Status List(const std::string& home, int64_t limit) {
  const int64_t begin = SystemClock().MonotonicUs();
  TENON_TRY(auto store, history::OpenHistory(home));
  const int64_t opened = SystemClock().MonotonicUs();
  history::RunQuery query;
  query.project_id = kProjectId;
  query.limit = static_cast<size_t>(limit);
  TENON_TRY(const auto rows, store->List(query));
  const int64_t end = SystemClock().MonotonicUs();
  // CPU counts from the program's start, so it holds the loading of the program too.
  std::printf("%zu rows: open %.2f ms, list %.2f ms, CPU of the whole program %.2f ms\n",
              rows.size(), static_cast<double>(opened - begin) / 1000,
              static_cast<double>(end - opened) / 1000, static_cast<double>(CpuUs()) / 1000);
  return {};
}

Status Rebuild(const std::string& root) {
  const run::Home home(root);
  const int64_t begin = SystemClock().MonotonicUs();
  TENON_TRY(const std::string path, history::IndexPath(root));
  TENON_TRY(auto store, history::RecreateSqliteStore(path));
  TENON_TRY(const auto result, history::RebuildHistory(*store, home.runs(), {}));
  store.reset();
  const auto seconds = static_cast<double>(SystemClock().MonotonicUs() - begin) / 1e6;
  std::printf("%llu runs in %.2f s\n", static_cast<unsigned long long>(result.runs), seconds);
  return {};
}

Status Run(const std::vector<std::string>& arguments) {
  const std::string home = arguments.size() > 0 ? arguments[0] : "";
  const std::string verb = arguments.size() > 1 ? arguments[1] : "";
  int64_t number = 0;
  if (arguments.size() > 2) {
    const std::string& text = arguments[2];
    if (std::from_chars(text.data(), text.data() + text.size(), number).ec != std::errc()) {
      return Invalid("not a number: " + text);
    }
  }
  if (verb == "fill") return Fill(home, number);
  if (verb == "folders") return FillFolders(home, number);
  if (verb == "list") return List(home, number);
  if (verb == "rebuild") return Rebuild(home);
  return Invalid("usage: history_fill HOME fill|folders|list|rebuild [N]");
}

}  // namespace
}  // namespace tenon

int main(int argc, char** argv) {
  const tenon::Status status = tenon::Run({argv + 1, argv + argc});
  if (status.ok()) return 0;
  std::fprintf(stderr, "history_fill: %s\n", status.error().message.c_str());
  return 1;
}
