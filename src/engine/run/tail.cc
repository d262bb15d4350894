// SPDX-License-Identifier: Apache-2.0
#include "engine/run/tail.h"

#include <sys/stat.h>

#include <algorithm>
#include <variant>

namespace tenon::engine {
namespace {

constexpr size_t kPiece = 1u << 20;

// Reports one record. An end is only kept in `end`, because records of other segments are reported
// before it. A record that can't be decoded becomes a notice.
void Report(std::string_view segment, const journal::Record& record, Reporter& reporter,
            std::optional<run::End>* end) {
  const Reporter::From from(reporter, {segment, record.number, record.time_us});
  const auto event = run::DecodeEvent(record.type, record.payload);
  if (!event.ok()) {
    reporter.OnNotice({run::Level::kWarning,
                       "record " + std::to_string(record.number) +
                           " of the journal cannot be understood: " + event.error().message,
                       ""});
    return;
  }
  if (!*event) return;
  struct Visitor {
    const journal::Record& record;
    Reporter& reporter;
    std::optional<run::End>* end;
    void operator()(const run::StateChange& e) { reporter.OnState(e.state, e.reason); }
    void operator()(const run::Step& e) { reporter.OnStep(e); }
    void operator()(const run::Output& e) { reporter.OnOutput(e.stream, e.bytes, record.time_us); }
    void operator()(const run::Metrics&) {}
    void operator()(const run::Parameters&) {}
    void operator()(const run::Samples&) {}
    void operator()(const run::HandedOver&) {}
    void operator()(const run::Notice& e) { reporter.OnNotice(e); }
    void operator()(const run::Gap& e) { reporter.OnGap(e); }
    void operator()(const run::End& e) {
      if (!*end) *end = e;  // the first end counts
    }
    void operator()(const run::Submitted&) {}
    void operator()(const run::Artifacts&) {}
    void operator()(const run::RunnerStarted&) {}
    void operator()(const run::ScriptStarted&) {}
    void operator()(const run::ScriptEnded&) {}
    void operator()(const run::EnvironmentReady& e) { reporter.OnEnvironment(e); }
    void operator()(const run::ContainerMade&) {}
    void operator()(const run::Progress& e) { reporter.OnFarProgress(e); }
    void operator()(const run::Annotation&) {}
  };
  std::visit(Visitor{record, reporter, end}, **event);
}

}  // namespace

Result<bool> Tail::ReadOn(Reporter& reporter, std::optional<run::End>* end) {
  auto bytes = context_.host->ReadFrom(path_, offset_, kPiece);
  if (!bytes.ok() && bytes.error().kind == ErrorKind::kNotFound) return false;
  if (!bytes.ok()) return std::move(bytes).error();
  seen_ = true;
  if (bytes->empty()) return BeginAnewIfCut();
  offset_ += bytes->size();
  decoder_.Feed(*bytes);
  for (;;) {
    TENON_TRY(auto record, decoder_.Next());
    for (; holes_reported_ < decoder_.holes().size(); ++holes_reported_) {
      const Reporter::From from(reporter, {segment_, 0, 0});
      reporter.OnHole(decoder_.holes()[holes_reported_].bytes);
    }
    if (!record) return true;
    Tell(*record, reporter, end);
  }
}

Status Tail::Take(journal::Cursor before, std::span<const journal::Record> records,
                  journal::Cursor after, Reporter& reporter, std::optional<run::End>* end) {
  if (decoder_.cursor() != before || decoder_.pending() > 0) return {};
  decoder_ = journal::Decoder(after);
  offset_ = after.offset;
  holes_reported_ = 0;
  seen_ = true;
  for (const journal::Record& record : records) Tell(record, reporter, end);
  return {};
}

void Tail::BeginAnew() {
  told_ = std::max(told_, decoder_.cursor().record);
  decoder_ = journal::Decoder();
  offset_ = 0;
  holes_reported_ = 0;
}

bool Tail::HasMore() const {
  auto more = context_.host->ReadFrom(path_, offset_, 1);
  return more.ok() && !more->empty();
}

void Tail::Tell(const journal::Record& record, Reporter& reporter, std::optional<run::End>* end) {
  if (record.number > told_) Report(segment_, record, reporter, end);
}

bool Tail::BeginAnewIfCut() {
  struct stat st {};
  if (::stat(path_.c_str(), &st) != 0 || static_cast<uint64_t>(st.st_size) >= offset_) {
    return false;
  }
  BeginAnew();
  return true;
}

}  // namespace tenon::engine
