// SPDX-License-Identifier: Apache-2.0
// Fuzzes what a host may send, with the functions that the client uses: frames, and in them errors
// and segments of a journal; records with right checksums, compressed so that a few bytes become
// many; artifacts. The options of the fuzzer limit the memory (scripts/lib/run_tests.py), so that
// anything that grows without a limit is found. For objects and trees see
// snapshot/transfer/host_tree_fuzz.cc.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "base/compress.h"
#include "base/error_json.h"
#include "base/frames.h"
#include "base/fuzz_input.h"
#include "history/codec.h"
#include "history/store.h"
#include "journal/fold.h"
#include "journal/format.h"
#include "journal/reader.h"
#include "run/environment_record.h"

namespace tenon::history {
namespace {

constexpr const char* kKey = "6ba7b810-9dad-41d1-80b4-00c04fd430c8";
// Limits on the size of all records of one input together. An input need not go far beyond the
// limits under test. An input of kMostGrown takes most of a second, so only a few are made; the
// others have at most kUsuallyGrown.
constexpr size_t kMostGrown = 20u << 20, kUsuallyGrown = 64u << 10;
// The kind of an input: its first byte modulo 4.
constexpr uint8_t kFrames = 0, kLargeRecords = 1, kSegment = 2, kRecords = 3;
constexpr unsigned kOneIsLargeOf = 64;
constexpr size_t kMostRecords = 64;

std::string RightRecord(uint64_t number, uint8_t type, std::string_view payload) {
  journal::RecordHeader header{0, static_cast<uint32_t>(payload.size()), number, 0, type};
  std::string bytes(journal::kRecordHeaderSize, '\0');
  journal::EncodeRecordHeader(header, bytes.data());
  header.crc = journal::RecordCrc(bytes.data(), payload);
  journal::EncodeRecordHeader(header, bytes.data());
  return bytes.append(payload);
}

std::string Header(const std::string& segment) {
  return *journal::EncodeFileHeader({kKey, segment, 0, ""});
}

// Ingests `bytes`, a whole segment, into the store.
void IngestSegment(HistoryStore& store, const std::string& segment, std::string_view bytes) {
  journal::Decoder decoder;
  decoder.Feed(bytes);
  decoder.Settle();
  const auto read = [&] { return decoder.Next(); };
  (void)store
      .Ingest(
          "run", segment, read, [&] { return decoder.cursor(); }, 0)
      .ok();
  TENON_CHECK(decoder.holes().size() <= journal::kMaxHoles + 1);
}

void AskEverything(HistoryStore& store) {
  const auto view = store.Get("run");
  if (!view.ok()) return;
  journal::RunView again;
  TENON_CHECK(DecodeRow(EncodeRow(*view), again).ok());
  TENON_CHECK(DecodeDetail(EncodeDetail(*view), again).ok());
  TENON_CHECK(again.artifacts.size() == view->artifacts.size());
  TENON_CHECK(again.files_left_out == view->files_left_out);
  const auto visit = [](const std::string&, const run::MetricPoint&) { return Status(); };
  (void)store.ReadMetrics("run", "", visit).ok();
}

std::string Submitted() {
  run::Submitted submitted;
  submitted.spec.key = kKey;
  submitted.spec.id = "run";
  submitted.spec.project_id = "project";
  submitted.client = "client";
  return run::EncodeEvent(submitted);
}

void IngestHost(std::string_view host) {
  const auto store = MakeMemoryStore();
  IngestSegment(*store, "near-client", Header("near-client") + RightRecord(1, 1, Submitted()));
  IngestSegment(*store, "host", host);
  AskEverything(*store);
}

// head + middle × count + tail, as one zstd frame if the input asks for it: a few bytes become
// many.
std::string Grown(FuzzInput& in, bool metrics, size_t& left) {
  const std::string_view head = in.Bytes(in.Byte());
  const std::string_view middle = in.Bytes(in.Byte());
  const std::string_view tail = in.Bytes(in.Byte());
  const size_t wanted = in.Number() << in.Byte() % 8;
  const size_t count = middle.empty() ? 0 : std::min(wanted, left / middle.size());
  left -= count * middle.size();
  std::string text(head);
  for (size_t i = 0; i < count; ++i) text += middle;
  text += tail;
  if (in.Byte() & 1) return text.substr(0, journal::kMaxPayload);
  const std::string frame = Compress(text);
  return (metrics ? '\1' + frame : frame).substr(0, journal::kMaxPayload);
}

void Records(FuzzInput in, size_t left) {
  std::string host = Header("host");
  for (size_t number = 1; number <= kMostRecords && !in.empty(); ++number) {
    const auto type = static_cast<uint8_t>(in.Byte() % 18);
    host += RightRecord(number, type, Grown(in, type == 5, left));
  }
  IngestHost(host);
}

void Frames(FuzzInput in) {
  FrameReader reader(in.Byte() & 1 ? "ready\n" : "");
  const size_t piece = in.Number() + 1;
  std::string journal;
  while (!in.empty()) {
    reader.Feed(in.Bytes(piece));
    for (;;) {
      auto frame = reader.Next();
      if (!frame.ok()) return IngestHost(journal);
      if (!*frame) break;
      (void)ErrorFromJson((*frame)->head);
      (void)run::EnvironmentRecord::FromJson((*frame)->head).ok();
      journal += (*frame)->body;
    }
  }
  IngestHost(journal);
}

}  // namespace
}  // namespace tenon::history

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned seed) {
  using namespace tenon::history;
  size = LLVMFuzzerMutate(data, size, max_size);
  if (size > 0 && (data[0] % 4 == kLargeRecords || data[0] % 4 == kRecords)) {
    data[0] = seed % kOneIsLargeOf == 0 ? kLargeRecords : kRecords;
  }
  return size;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tenon::history;
  if (size == 0) return 0;
  tenon::FuzzInput in(data + 1, size - 1);
  switch (data[0] % 4) {
    case kFrames:
      Frames(in);
      break;
    case kLargeRecords:
      Records(in, kMostGrown);
      break;
    case kSegment:
      IngestHost(in.Rest());
      break;
    default:
      Records(in, kUsuallyGrown);
  }
  return 0;
}
