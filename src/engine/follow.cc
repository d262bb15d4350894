// SPDX-License-Identifier: Apache-2.0
#include "engine/follow.h"

#include "base/file.h"
#include "run/layout.h"

namespace tenon::engine {
namespace {

constexpr size_t kPiece = 1u << 20;
constexpr int64_t kWaitUs = 250'000;

// Passes one record on. An end is only kept: the other segments may have something to say before.
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
      if (!*end) *end = e;  // the first one counts
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
  std::visit(Visitor{record, reporter, end}, *event);
  return {};
}

// One segment, read as it grows.
class Tail {
 public:
  Tail(Context& context, std::string path, journal::Cursor after)
      : context_(context), path_(std::move(path)), decoder_(after), offset_(after.offset) {}

  // Reads and reports one piece. False: there is nothing more for now, or no such file yet.
  Result<bool> ReadOn(Reporter& reporter, std::optional<run::End>* end) {
    auto bytes = context_.host->ReadFrom(path_, offset_, kPiece);
    if (!bytes.ok() && bytes.error().kind == ErrorKind::kNotFound) return false;
    if (!bytes.ok()) return std::move(bytes).error();
    seen_ = true;
    if (bytes->empty()) return false;
    offset_ += bytes->size();
    decoder_.Feed(*bytes);
    for (;;) {
      TENON_TRY(auto record, decoder_.Next());
      for (; holes_reported_ < decoder_.holes().size(); ++holes_reported_) {
        reporter.OnHole(decoder_.holes()[holes_reported_].bytes);
      }
      if (!record) return true;
      TENON_TRY_VOID(Report(*record, reporter, end));
    }
  }
  bool HasMore() const {
    auto more = context_.host->ReadFrom(path_, offset_, 1);
    return more.ok() && !more->empty();
  }
  transport::KnownLength Known() const { return {path_, offset_}; }
  bool seen() const { return seen_; }  // the file is there
  const std::string& path() const { return path_; }
  journal::Cursor cursor() const { return decoder_.cursor(); }

 private:
  Context& context_;
  std::string path_;
  journal::Decoder decoder_;
  uint64_t offset_;
  size_t holes_reported_ = 0;
  bool seen_ = false;
};

journal::Cursor PlaceOf(const journal::Place& place, std::string_view segment) {
  auto found = place.find(std::string(segment));
  return found == place.end() ? journal::Cursor{} : found->second;
}

}  // namespace

Result<Followed> Follow(Context& context, const std::string& run_id, const FollowOptions& options,
                        Reporter& reporter) {
  const run::RunFolder folder(context.home, run_id);
  Tail host(context, folder.host_segment(), PlaceOf(options.after, run::kHostSegment));
  Tail script(context, folder.script_segment(), PlaceOf(options.after, run::kScriptSegment));
  Followed followed{std::nullopt, options.after};
  auto stopped = [&] { return options.stop && options.stop->load(std::memory_order_relaxed); };

  while (!followed.end) {
    TENON_TRY(bool grew, host.ReadOn(reporter, &followed.end));
    std::optional<run::End> not_here;
    TENON_TRY(bool script_grew, script.ReadOn(reporter, &not_here));
    if (followed.end) {
      // Whoever wrote the end has waited for the script's segment to be complete.
      while (script_grew) {
        TENON_TRY(script_grew, script.ReadOn(reporter, &not_here));
      }
      reporter.OnEnd(*followed.end);
      break;
    }
    if (stopped()) break;
    if (grew || script_grew) continue;
    if (!options.wait) break;
    std::vector<transport::KnownLength> growing = {host.Known()};
    if (script.seen()) growing.push_back(script.Known());
    auto waited = context.host->WaitForGrowth(growing, kWaitUs);
    if (!waited.ok() && waited.error().kind != ErrorKind::kNotFound)
      return std::move(waited).error();
    // A runner that is alive holds its lock. Without one, what is there now is all there will be.
    auto alive = context.host->IsLocked(host.path());
    if (alive.ok() && *alive) continue;
    if (host.HasMore()) continue;
    TENON_TRY(const launch::Recovered found, context.launch->Recover(run_id));
    if (run::IsFinal(found.state) && !host.HasMore()) break;  // it had ended before `after`
  }
  followed.place[std::string(run::kHostSegment)] = host.cursor();
  followed.place[std::string(run::kScriptSegment)] = script.cursor();
  return followed;
}

}  // namespace tenon::engine
