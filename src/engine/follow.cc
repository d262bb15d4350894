// SPDX-License-Identifier: Apache-2.0
#include "engine/follow.h"

#include "base/file.h"
#include "run/layout.h"

namespace tenon::engine {
namespace {

constexpr size_t kPiece = 1u << 20;
constexpr int64_t kWaitUs = 250'000;

// Passes one record on; sets `end` when it is the last of the run.
Status Report(const journal::Record& record, Reporter& reporter, std::optional<run::End>* end) {
  TENON_TRY(auto event, run::DecodeEvent(record.type, record.payload));
  if (!event) return {};
  struct Visitor {
    const journal::Record& record;
    Reporter& reporter;
    std::optional<run::End>* end;
    void operator()(const run::StateChange& e) { reporter.OnState(e.state, e.reason); }
    void operator()(const run::Step& e) { reporter.OnStep(e); }
    void operator()(const run::Output& e) { reporter.OnOutput(e.stream, e.bytes, record.time_us); }
    void operator()(const run::Metrics& e) { reporter.OnMetrics(e); }
    void operator()(const run::Notice& e) { reporter.OnNotice(e); }
    void operator()(const run::Gap& e) { reporter.OnGap(e); }
    void operator()(const run::End& e) {
      if (*end) return;  // the first one counts
      *end = e;
      reporter.OnEnd(e);
    }
    void operator()(const run::Submitted&) {}
    void operator()(const run::Artifacts&) {}
    void operator()(const run::RunnerStarted&) {}
    void operator()(const run::ScriptStarted&) {}
    void operator()(const run::Annotation&) {}
  };
  std::visit(Visitor{record, reporter, end}, *event);
  return {};
}

}  // namespace

Result<Followed> Follow(Context& context, const std::string& run_id, const FollowOptions& options,
                        Reporter& reporter) {
  const std::string path = run::RunFolder(context.home, run_id).host_segment();
  Followed followed{std::nullopt, options.after};
  journal::Decoder decoder(options.after);
  uint64_t offset = options.after.offset;
  size_t holes_reported = 0;
  auto stopped = [&] { return options.stop && options.stop->load(std::memory_order_relaxed); };

  while (!followed.end) {
    auto bytes = context.host->ReadFrom(path, offset, kPiece);
    if (!bytes.ok() && bytes.error().kind != ErrorKind::kNotFound) return std::move(bytes).error();
    if (bytes.ok() && !bytes->empty()) {
      offset += bytes->size();
      decoder.Feed(*bytes);
      while (true) {
        TENON_TRY(auto record, decoder.Next());
        for (; holes_reported < decoder.holes().size(); ++holes_reported) {
          reporter.OnHole(decoder.holes()[holes_reported].bytes);
        }
        if (!record) break;
        TENON_TRY_VOID(Report(*record, reporter, &followed.end));
      }
      followed.place = decoder.cursor();
      if (stopped()) break;
      continue;
    }
    if (!options.wait || stopped()) break;
    auto waited = context.host->WaitForGrowth(path, offset, kWaitUs);
    if (!waited.ok() && waited.error().kind != ErrorKind::kNotFound)
      return std::move(waited).error();
    // A runner that is alive holds its lock. Without one, what is there now is all there will be.
    auto alive = context.host->IsLocked(path);
    if (alive.ok() && *alive) continue;
    auto more = context.host->ReadFrom(path, offset, 1);
    if (more.ok() && !more->empty()) continue;
    TENON_TRY(const launch::Recovered found, context.launch->Recover(run_id));
    more = context.host->ReadFrom(path, offset, 1);
    if (run::IsFinal(found.state) && (!more.ok() || more->empty()))
      break;  // it had ended before `after`
  }
  followed.place = decoder.cursor();
  return followed;
}

}  // namespace tenon::engine
