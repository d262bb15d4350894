// SPDX-License-Identifier: Apache-2.0
#include "runner/supervise/recorder.h"

#include <fcntl.h>

#include <algorithm>
#include <variant>

#include "base/file.h"
#include "base/text.h"
#include "journal/format.h"

namespace tenon::runner {
namespace {

constexpr int64_t kRetryUs = 100'000;
// A text larger than this is cut, because a record holds no more.
constexpr size_t kLongestText = journal::kMaxPayload - 4096;

size_t StreamIndex(run::Stream stream) { return stream == run::Stream::kStdout ? 0 : 1; }

void CutText(run::MetricBlock& block) {
  for (run::MetricPoint& point : block.points) {
    auto* text = std::get_if<std::string>(&point.value);
    if (text != nullptr && text->size() > kLongestText) text->resize(kLongestText);
  }
}

uint64_t CountPoints(const std::vector<run::MetricBlock>& blocks) {
  uint64_t points = 0;
  for (const run::MetricBlock& block : blocks) points += block.points.size();
  return points;
}

}  // namespace

Recorder::Recorder(journal::Writer writer, const std::vector<std::string>& secrets,
                   std::string log_path, const Clock& clock)
    : writer_(std::move(writer)),
      masker_(secrets),
      stream_maskers_{Masker(secrets), Masker(secrets)},
      log_path_(std::move(log_path)),
      clock_(clock) {}

bool Recorder::Ready() {
  if (!gap_due_) return true;
  int64_t now = clock_.MonotonicUs();
  if (now < retry_at_us_) return false;
  if (!AnythingLost() || writer_.Append(gap_).ok()) {
    gap_ = {};
    gap_due_ = false;
    return true;
  }
  retry_at_us_ = now + kRetryUs;
  return false;
}

bool Recorder::AnythingLost() const {
  return gap_.stdout_bytes + gap_.stderr_bytes + gap_.records > 0;
}

void Recorder::Lost(const Error& error) {
  if (!gap_due_) gap_.reason = masker_.Mask(error.message);
  gap_due_ = true;
  retry_at_us_ = clock_.MonotonicUs() + kRetryUs;
}

bool Recorder::Append(run::Event event) {
  MaskEvent(event);
  if (Ready()) {
    auto appended = writer_.Append(event);
    if (appended.ok()) return true;
    Lost(appended.error());
  }
  ++gap_.records;
  return false;
}

bool Recorder::AppendState(run::State state, std::string reason) {
  run::Event event = run::StateChange{state, std::move(reason)};
  MaskEvent(event);
  if (Ready() && writer_.Append(event).ok()) return true;
  return writer_.AppendLast(event).ok();
}

bool Recorder::AppendMetrics(std::vector<run::MetricBlock> blocks, uint64_t* written) {
  if (blocks.empty()) return true;
  if (!Ready()) return false;
  run::Event event = run::Metrics{std::move(blocks)};
  MaskEvent(event);
  auto& masked = std::get<run::Metrics>(event).blocks;
  if (run::EncodeMetricBlocks(masked).size() <= journal::kMaxPayload) {
    auto appended = writer_.Append(event);
    if (!appended.ok()) Lost(appended.error());
    if (appended.ok() && written != nullptr) *written += CountPoints(masked);
    return appended.ok();
  }
  // Too long for one record: halve the blocks, then the points of the last block.
  std::vector<run::MetricBlock> first, second;
  if (masked.size() > 1) {
    auto middle = masked.begin() + static_cast<ptrdiff_t>(masked.size() / 2);
    first.assign(std::make_move_iterator(masked.begin()), std::make_move_iterator(middle));
    second.assign(std::make_move_iterator(middle), std::make_move_iterator(masked.end()));
  } else if (masked[0].points.size() > 1) {
    auto& points = masked[0].points;
    auto middle = points.begin() + static_cast<ptrdiff_t>(points.size() / 2);
    // Only the second half gets the block's position: a crash between the two halves repeats the
    // first one and loses nothing.
    first.push_back({masked[0].series, "", 0, {points.begin(), middle}});
    second.push_back(
        {masked[0].series, masked[0].source, masked[0].position, {middle, points.end()}});
  } else {
    CutText(masked[0]);
    const bool appended = writer_.Append(event).ok();
    if (appended && written != nullptr) *written += CountPoints(masked);
    return appended;
  }
  return AppendMetrics(std::move(first), written) && AppendMetrics(std::move(second), written);
}

void Recorder::LosePoints(uint64_t points) {
  if (points == 0) return;
  if (!gap_due_) gap_.reason = "no space for metrics";
  gap_due_ = true;
  gap_.records += points;
  run::Event notice = run::Notice{
      run::Level::kError,
      Count(points, "point that the script logged is", "points that the script logged are") +
          " not on record: there was no space for " + (points == 1 ? "it" : "them"),
      ""};
  MaskEvent(notice);
  (void)writer_.AppendLast(notice).ok();
}

void Recorder::AppendOutput(run::Stream stream, std::string_view bytes) {
  Masker& masker = stream_maskers_[StreamIndex(stream)];
  if (masker.empty()) return WriteOutput(stream, bytes);
  WriteOutput(stream, masker.Feed(bytes));
}

void Recorder::FlushOutput(run::Stream stream) {
  Masker& masker = stream_maskers_[StreamIndex(stream)];
  if (masker.holding()) WriteOutput(stream, masker.Flush());
}

void Recorder::WriteOutput(run::Stream stream, std::string_view bytes) {
  if (bytes.empty()) return;
  if (Ready()) {
    size_t written = 0;
    auto appended = writer_.AppendOutput(stream, bytes, &written);
    if (appended.ok()) return;
    bytes.remove_prefix(written);
    Lost(appended.error());
  }
  (stream == run::Stream::kStdout ? gap_.stdout_bytes : gap_.stderr_bytes) += bytes.size();
}

std::string Recorder::CheckSegment() {
  const std::string change = writer_.CheckAndMend();
  if (change.empty()) return "";
  std::string words = "another program has changed the record of this run: " + change;
  run::Event notice = run::Notice{run::Level::kError, words, ""};
  (void)writer_.AppendLast(notice).ok();
  return words;
}

bool Recorder::AppendLast(run::Event event) {
  if (gap_due_ && AnythingLost() && writer_.AppendLast(gap_).ok()) {
    gap_ = {};
    gap_due_ = false;
  }
  MaskEvent(event);
  auto appended = writer_.AppendLast(event);
  if (!appended.ok()) Log("the end could not be recorded: " + appended.error().message);
  return appended.ok();
}

void Recorder::MaskEvent(run::Event& event) const {
  if (masker_.empty()) return;
  auto mask = [this](std::string& text) { text = masker_.Mask(text); };
  if (auto* state = std::get_if<run::StateChange>(&event)) mask(state->reason);
  if (auto* step = std::get_if<run::Step>(&event)) mask(step->detail);
  if (auto* progress = std::get_if<run::Progress>(&event)) mask(progress->detail);
  if (auto* ended = std::get_if<run::ScriptEnded>(&event)) mask(ended->problem);
  if (auto* end = std::get_if<run::End>(&event)) {
    mask(end->reason);
    if (end->proof) mask(end->proof->remark);
  }
  if (auto* ready = std::get_if<run::EnvironmentReady>(&event)) {
    for (std::string* text : {&ready->name, &ready->base, &ready->file}) mask(*text);
    for (run::InstalledPackage& package : ready->packages) mask(package.source);
  }
  if (auto* notice = std::get_if<run::Notice>(&event)) {
    mask(notice->text);
    mask(notice->hint);
  }
  if (auto* script = std::get_if<run::ScriptStarted>(&event)) {
    for (std::string& word : script->argv) mask(word);
  }
  if (auto* parameters = std::get_if<run::Parameters>(&event)) {
    for (auto& [name, value] : parameters->values) {
      mask(name);
      mask(value);
    }
  }
  if (auto* samples = std::get_if<run::Samples>(&event)) {
    for (run::SampleBlock& block : samples->blocks) {
      mask(block.subject);
      for (run::SampleColumn& column : block.columns) mask(column.name);
    }
  }
  if (auto* artifacts = std::get_if<run::Artifacts>(&event)) {
    for (run::Artifact& file : artifacts->files) mask(file.path);
  }
  if (auto* metrics = std::get_if<run::Metrics>(&event)) {
    for (run::MetricBlock& block : metrics->blocks) {
      mask(block.series);
      for (run::MetricPoint& point : block.points) {
        if (auto* text = std::get_if<std::string>(&point.value)) mask(*text);
      }
    }
  }
}

void Recorder::Log(std::string_view text) {
  auto fd = OpenFile(log_path_, O_WRONLY | O_CREAT | O_APPEND, 0600);
  if (!fd.ok()) return;
  (void)WriteAll(fd->get(), FormatUtc(clock_.NowUs()) + " " + masker_.Mask(text) + "\n").ok();
}

}  // namespace tenon::runner
