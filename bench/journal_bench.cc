// SPDX-License-Identifier: Apache-2.0
// How fast a segment is written, read and followed, each beside the same bytes through a plain
// file.
//
//   journal_bench DIR [MEGABYTES [ROUNDS]]      defaults: 1024 5
//
// Prints one JSON object per measure: seconds (median, min, max over the rounds, taken in turns),
// what it was compared with, and the ratio of the medians.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/file.h"
#include "journal/reader.h"
#include "journal/writer.h"

namespace tenon {
namespace {

constexpr size_t kPiece = 64u << 10;
constexpr const char* kKey = "6ba7b810-9dad-41d1-80b4-00c04fd430c8";

struct Work {
  std::string folder;
  uint64_t bytes;
  std::string piece;  // what is written again and again

  std::string segment() const { return JoinPath(folder, "host.tj"); }
  std::string plain() const { return JoinPath(folder, "plain"); }
};

void Expect(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "journal_bench: %s failed\n", what);
  std::exit(1);
}

journal::Writer OpenWriter(const Work& work) {
  auto writer = journal::Writer::Open(
      {.path = work.segment(), .run_key = kKey, .segment = "host", .reserve = true});
  Expect(writer.ok(), "open");
  return std::move(*writer);
}

void WriteSegment(const Work& work) {
  journal::Writer writer = OpenWriter(work);
  for (uint64_t done = 0; done < work.bytes; done += kPiece) {
    Expect(writer.AppendOutput(run::Stream::kStdout, work.piece).ok(), "append");
  }
}

void WritePlain(const Work& work) {
  auto fd = OpenFile(work.plain(), O_WRONLY | O_CREAT | O_TRUNC);
  Expect(fd.ok(), "open");
  for (uint64_t done = 0; done < work.bytes; done += kPiece) {
    Expect(WriteAll(fd->get(), work.piece).ok(), "write");
  }
}

// Reads what is there; returns the bytes of output.
uint64_t Drain(journal::Reader& reader) {
  uint64_t bytes = 0;
  for (;;) {
    auto record = reader.Next();
    Expect(record.ok(), "read");
    if (!*record) return bytes;
    bytes += (*record)->payload.size() - 1;
  }
}

void ReadSegment(const Work& work) {
  auto reader = journal::Reader::Open(work.segment());
  Expect(reader.ok() && Drain(*reader) == work.bytes && reader->holes().empty(), "read");
}

void ReadPlain(const Work& work) {
  auto fd = OpenFile(work.plain(), O_RDONLY);
  Expect(fd.ok(), "open");
  std::string buffer(1u << 20, '\0');
  uint64_t done = 0;
  for (;;) {
    auto got = ReadAt(fd->get(), buffer, done);
    Expect(got.ok(), "read");
    if (*got == 0) break;
    done += *got;
  }
  Expect(done == work.bytes, "read");
}

// A reader on another thread gets every byte while the writer writes.
void FollowSegment(const Work& work) {
  journal::Writer writer = OpenWriter(work);
  std::thread follower([&] {
    auto reader = journal::Reader::Open(work.segment());
    Expect(reader.ok(), "open");
    for (uint64_t seen = 0; seen < work.bytes; seen += Drain(*reader)) std::this_thread::yield();
  });
  for (uint64_t done = 0; done < work.bytes; done += kPiece) {
    Expect(writer.AppendOutput(run::Stream::kStdout, work.piece).ok(), "append");
  }
  follower.join();
}

double Seconds(const std::function<void(const Work&)>& run, const Work& work, bool fresh) {
  if (fresh) {
    Expect(RemoveFile(work.segment()).ok() && RemoveFile(work.plain()).ok(), "remove");
  }
  const int64_t start = SystemClock().MonotonicUs();
  run(work);
  return static_cast<double>(SystemClock().MonotonicUs() - start) / 1e6;
}

struct Spread {
  double median, min, max;
};

Spread Of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return {values[values.size() / 2], values.front(), values.back()};
}

void Report(const char* what, const Work& work, const std::vector<double>& ours,
            const char* against, const std::vector<double>& theirs) {
  const Spread a = Of(ours), b = Of(theirs);
  std::printf(
      "{\"measure\": \"%s\", \"bytes\": %llu, \"n\": %zu, \"median_s\": %.3f, \"min_s\": %.3f, "
      "\"max_s\": %.3f, \"against\": \"%s\", \"against_median_s\": %.3f, \"against_min_s\": %.3f, "
      "\"against_max_s\": %.3f, \"ratio\": %.2f}\n",
      what, static_cast<unsigned long long>(work.bytes), ours.size(), a.median, a.min, a.max,
      against, b.median, b.min, b.max, a.median / b.median);
  std::fflush(stdout);
}

run::MetricBlock SmoothSeries(size_t points) {
  run::MetricBlock block{"loss", "1-abcdef01.0", 64, {}};
  double loss = 3;
  uint64_t x = 1;
  for (size_t i = 0; i < points; ++i) {
    x = x * 6364136223846793005u + 1442695040888963407u;
    loss = loss * 0.999999 + 1e-3 * (static_cast<double>(x >> 40) / (1 << 24) - 0.5);
    const auto step = static_cast<int64_t>(i);
    run::MetricPoint& point = block.points.emplace_back();
    point.step = step;
    point.time_us = 1'500'000'000'000'000 + 2 * step + static_cast<int64_t>(x >> 63);
    point.value = loss;
  }
  return block;
}

void MeasureMetrics(const Work& work, int rounds) {
  constexpr size_t kPoints = 1'000'000, kPerRecord = 32'768;
  const run::MetricBlock all = SmoothSeries(kPoints);
  std::vector<run::Metrics> records;
  for (size_t at = 0; at < kPoints; at += kPerRecord) {
    run::MetricBlock block = all;
    block.points.assign(
        all.points.begin() + static_cast<ptrdiff_t>(at),
        all.points.begin() + static_cast<ptrdiff_t>(std::min(kPoints, at + kPerRecord)));
    records.push_back({{std::move(block)}});
  }
  std::vector<double> write, read;
  uint64_t size = 0;
  for (int i = 0; i < rounds; ++i) {
    write.push_back(Seconds(
        [&](const Work& w) {
          journal::Writer writer = OpenWriter(w);
          for (const run::Metrics& record : records) Expect(writer.Append(record).ok(), "append");
          size = writer.size();
        },
        work, true));
    read.push_back(Seconds(
        [&](const Work& w) {
          auto reader = journal::Reader::Open(w.segment());
          Expect(reader.ok(), "open");
          size_t points = 0;
          for (;;) {
            auto record = reader->Next();
            Expect(record.ok(), "read");
            if (!*record) break;
            auto event = run::DecodeEvent((*record)->type, (*record)->payload);
            Expect(event.ok() && event->has_value(), "decode");
            points += std::get<run::Metrics>(**event).blocks[0].points.size();
          }
          Expect(points == kPoints, "read");
        },
        work, false));
  }
  const Spread w = Of(write), r = Of(read);
  std::printf(
      "{\"measure\": \"metrics\", \"points\": %zu, \"n\": %d, \"write_points_per_s\": %.0f, "
      "\"write_min\": %.0f, \"write_max\": %.0f, \"read_points_per_s\": %.0f, "
      "\"bytes_per_point\": %.2f}\n",
      kPoints, rounds, kPoints / w.median, kPoints / w.max, kPoints / w.min, kPoints / r.median,
      static_cast<double>(size) / kPoints);
}

void Run(const Work& work, int rounds) {
  std::map<std::string, std::vector<double>> times;
  for (int i = 0; i < rounds; ++i) {
    times["follow"].push_back(Seconds(FollowSegment, work, true));
    times["write plain"].push_back(Seconds(WritePlain, work, true));
    times["append"].push_back(Seconds(WriteSegment, work, true));
    times["read"].push_back(Seconds(ReadSegment, work, false));
    Expect(RemoveFile(work.segment()).ok(), "remove");
    WritePlain(work);
    times["read plain"].push_back(Seconds(ReadPlain, work, false));
  }
  Report("append", work, times["append"], "write(2) of the same pieces", times["write plain"]);
  Report("read", work, times["read"], "read(2) of the same bytes", times["read plain"]);
  Report("append while followed", work, times["follow"], "write(2) of the same pieces",
         times["write plain"]);
  MeasureMetrics(work, rounds);
  Expect(RemoveFile(work.segment()).ok() && RemoveFile(work.plain()).ok(), "remove");
}

}  // namespace
}  // namespace tenon

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: journal_bench DIR [MEGABYTES [ROUNDS]]\n");
    return 2;
  }
  tenon::Work work{argv[1], 1024, std::string(tenon::kPiece, '\0')};
  if (argc > 2) work.bytes = std::strtoull(argv[2], nullptr, 10);
  work.bytes <<= 20;
  const int rounds = argc > 3 ? std::atoi(argv[3]) : 5;
  if (work.bytes == 0 || rounds < 1) return 2;
  for (size_t i = 0; i < work.piece.size(); ++i) work.piece[i] = static_cast<char>(i * 131 >> 2);
  tenon::Run(work, rounds);
  return 0;
}
