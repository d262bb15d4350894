// SPDX-License-Identifier: Apache-2.0
#include "engine/run/follow.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <memory>
#include <span>

#include "base/file.h"
#include "engine/host/machine.h"
#include "engine/outputs/fetch.h"
#include "engine/run/runs.h"
#include "journal/segments.h"
#include "run/layout.h"

namespace tenon::engine {
namespace {

constexpr size_t kPiece = 1u << 20;
constexpr int64_t kWaitUs = 250'000;
// How often, and after which pause, to look for the rest of a finished run that another process of
// ours copies.
constexpr int kOthersLooks = 100;
constexpr int64_t kOthersPauseUs = 100'000;
constexpr int64_t kSliceUs = 100'000;  // how soon a pause notices `stop`

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

// Reads one segment as it grows.
class Tail {
 public:
  Tail(Context& context, std::string segment, std::string path, journal::Cursor after)
      : context_(context),
        segment_(std::move(segment)),
        path_(std::move(path)),
        decoder_(after),
        offset_(after.offset) {}

  // Reads and reports one piece. Returns false when there is nothing more for now, or no file yet.
  // If the piece has an end, `end` gets it.
  Result<bool> ReadOn(Reporter& reporter, std::optional<run::End>* end) {
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
  // Reports records that begin at `before` without reading them from the file. Does nothing if the
  // tail is at another place; ReadOn() reports the records then.
  Status Take(journal::Cursor before, std::span<const journal::Record> records,
              journal::Cursor after, Reporter& reporter, std::optional<run::End>* end) {
    if (decoder_.cursor() != before || decoder_.pending() > 0) return {};
    decoder_ = journal::Decoder(after);
    offset_ = after.offset;
    holes_reported_ = 0;
    seen_ = true;
    for (const journal::Record& record : records) Tell(record, reporter, end);
    return {};
  }
  // To be called after the file was cut. The file has, or will have, other records. All are read
  // again; those that were reported already are skipped.
  void BeginAnew() {
    told_ = std::max(told_, decoder_.cursor().record);
    decoder_ = journal::Decoder();
    offset_ = 0;
    holes_reported_ = 0;
  }
  bool HasMore() const {
    auto more = context_.host->ReadFrom(path_, offset_, 1);
    return more.ok() && !more->empty();
  }
  transport::KnownLength Known() const { return {path_, offset_}; }
  bool seen() const { return seen_; }  // the file exists
  const std::string& segment() const { return segment_; }
  journal::Cursor cursor() const { return decoder_.cursor(); }

 private:
  void Tell(const journal::Record& record, Reporter& reporter, std::optional<run::End>* end) {
    if (record.number > told_) Report(segment_, record, reporter, end);
  }
  bool BeginAnewIfCut() {
    struct stat st {};
    if (::stat(path_.c_str(), &st) != 0 || static_cast<uint64_t>(st.st_size) >= offset_) {
      return false;
    }
    BeginAnew();
    return true;
  }

  Context& context_;
  std::string segment_, path_;
  journal::Decoder decoder_;
  uint64_t offset_;
  uint64_t told_ = 0;  // highest record number read before the file was cut
  size_t holes_reported_ = 0;
  bool seen_ = false;
};

journal::Cursor PlaceOf(const journal::Place& place, std::string_view segment) {
  auto found = place.find(std::string(segment));
  return found == place.end() ? journal::Cursor{} : found->second;
}

// Retries while the link to another machine comes and goes: reports the link's state, and pauses
// twice as long each time.
class Patience {
 public:
  Patience(const Context& context, Reporter& reporter)
      : context_(context), reporter_(reporter), heard_us_(Now()) {}

  // The link stands; nothing has come over it for `silent_us`.
  void Heard(int64_t silent_us) {
    if (silent_us >= kSilenceShownUs) {
      told_ = true;
      return reporter_.OnLink(silent_us, "");
    }
    // If nothing has come since the link broke, it may break again at once, so the pause stays as
    // it is.
    if (Now() - silent_us < broken_us_) return;
    heard_us_ = Now();
    if (told_) reporter_.OnLink(0, "");
    told_ = false;
    pause_us_ = kFirstPauseUs;
  }
  // The link broke. Begins a pause before the next try.
  void Broken(const Error& error) {
    told_ = true;
    broken_us_ = Now();
    reporter_.OnLink(Now() - heard_us_, error.message);
    PauseFor(pause_us_);
    pause_us_ = std::min(pause_us_ * 2, kLongestPauseUs);
  }
  // Uses the system clock, even if the context has a test clock: the pauses are real.
  void PauseFor(int64_t us) { until_us_ = SystemClock().MonotonicUs() + us; }
  // When the pause ends.
  int64_t until_us() const { return until_us_; }

 private:
  static constexpr int64_t kFirstPauseUs = 50'000, kLongestPauseUs = 15'000'000;
  static constexpr int64_t kSilenceShownUs = 15'000'000;
  int64_t Now() const { return context_.clock->MonotonicUs(); }

  const Context& context_;
  Reporter& reporter_;
  int64_t heard_us_;
  int64_t broken_us_ = 0;
  int64_t pause_us_ = kFirstPauseUs;
  int64_t until_us_ = 0;
  bool told_ = false;
};

// Reports once when a stopped process keeps records from coming, and once when it goes on.
class StopWatch {
 public:
  StopWatch(const std::string& run_id, Reporter& reporter) : run_id_(run_id), reporter_(reporter) {}
  void Look(const std::optional<RunFeed::Stopped>& stopped) {
    if (stopped == told_) return;
    const bool here = stopped ? stopped->here : told_->here;
    told_ = stopped;
    if (stopped) {
      reporter_.OnStuck(StoppedNotice(run_id_, *stopped));
    } else {
      reporter_.OnStuck({run::Level::kInfo,
                         here ? "the process that copies its journal goes on"
                              : "the runner of " + run_id_ + " goes on",
                         ""});
    }
  }

 private:
  const std::string run_id_;
  Reporter& reporter_;
  std::optional<RunFeed::Stopped> told_;
};

}  // namespace

// Follows one run, wherever it runs. What it reports is read from our own run folder, which the
// run's feed fills.
//
//   reading ◄──► recovering: nobody writes any more, and there is no end
//      └ the end ──► taking the rest ──► fetching outputs ──► over
class Following::Follower {
 public:
  Follower(Context& context, const std::string& run_id, const FollowOptions& options,
           Machine& machine, Reporter& reporter)
      : context_(context),
        run_id_(run_id),
        options_(options),
        machine_(machine),
        reporter_(reporter),
        feed_(machine.runs().Feed(run_id, Sink())),
        patience_(context, reporter),
        stop_watch_(run_id_, reporter) {
    AddTail(std::string(run::kHostSegment));
  }

  Result<bool> Step(int64_t wait_us) {
    idle_ = false;
    const int64_t pause = patience_.until_us() - SystemClock().MonotonicUs();
    if (pause > 0 && !Stopped()) {
      ::usleep(static_cast<useconds_t>(std::min({pause, wait_us, kSliceUs})));
      return true;
    }
    switch (phase_) {
      case Phase::kReading:
        TENON_TRY_VOID(Read(wait_us));
        break;
      case Phase::kRecovering:
        TENON_TRY_VOID(Recover());
        break;
      case Phase::kTakingRest:
        TENON_TRY_VOID(TakeRest());
        break;
      case Phase::kFetching:
        Fetch();
        break;
      case Phase::kOver:
        break;
    }
    return phase_ != Phase::kOver;
  }

  int fd() const { return feed_->fd(); }
  int64_t due_us() const {
    const int64_t now = SystemClock().MonotonicUs();
    if (patience_.until_us() > now) return patience_.until_us();
    return idle_ && !feed_->HasNews() ? now + kWaitUs : now;
  }
  Followed reached() const {
    Followed followed{phase_ == Phase::kOver ? end_ : std::nullopt, options_.after};
    for (const Tail& tail : tails_) followed.place[tail.segment()] = tail.cursor();
    return followed;
  }

 private:
  enum class Phase { kReading, kRecovering, kTakingRest, kFetching, kOver };

  bool Stopped() const { return options_.stop && options_.stop->load(std::memory_order_relaxed); }

  Status Read(int64_t wait_us) {
    TENON_TRY(const bool grew, host().ReadOn(reporter_, &end_));
    TENON_TRY(const bool others_grew, ReadOthers());
    if (end_) {
      // The writer of the end has waited until its other segments were complete. If it has none,
      // the end is the last record of all.
      if (end_->other_segments == 0) return ConcludeWith(/*whole=*/true);
      phase_ = Phase::kTakingRest;
      return {};
    }
    if (Stopped()) phase_ = Phase::kOver;
    if (Stopped() || grew || others_grew) return {};
    if (options_.wait || !feed_->CaughtUp()) return Wait(wait_us);
    // New segments may have come with the last piece.
    TENON_TRY(const bool more, ReadOthers(/*look=*/true));
    if (!more) phase_ = Phase::kOver;
    return {};
  }

  // The feed calls these later, when all members exist.
  FeedSink Sink() {
    FeedSink sink;
    sink.on_records = [this](std::string_view segment, journal::Cursor before, auto records,
                             journal::Cursor after) -> Status {
      if (segment == run::kHostSegment) {
        return host().Take(before, records, after, reporter_, &end_);
      }
      std::optional<run::End> not_here;
      return TailOf(segment).Take(before, records, after, reporter_, &not_here);
    };
    sink.on_cut = [this] {
      for (Tail& tail : tails_) tail.BeginAnew();
    };
    sink.read = [this] {
      std::vector<transport::KnownLength> read;
      for (const Tail& tail : tails_) {
        if (&tail == &host() || tail.seen()) read.push_back(tail.Known());
      }
      return read;
    };
    return sink;
  }

  Tail& host() { return tails_.front(); }
  Tail& AddTail(std::string segment) {
    std::string path = run::RunFolder(context_.home, run_id_).segment(segment);
    const journal::Cursor after = PlaceOf(options_.after, segment);
    return tails_.emplace_back(context_, std::move(segment), std::move(path), after);
  }
  Tail& TailOf(std::string_view segment) {
    const auto found = std::ranges::find(tails_, segment, &Tail::segment);
    return found != tails_.end() ? *found : AddTail(std::string(segment));
  }

  // Reads a piece of each segment except the host's. Looks for new segments every kWaitUs, at once
  // with `look`, and, when the end is known, whenever there was nothing to read.
  Result<bool> ReadOthers(bool look = false) {
    bool grew = false;
    for (size_t i = 1; i < tails_.size(); ++i) {
      std::optional<run::End> not_here;
      TENON_TRY(const bool more, tails_[i].ReadOn(reporter_, &not_here));
      grew = grew || more;
    }
    const int64_t now = context_.clock->MonotonicUs();
    if (!look && now - listed_us_ < kWaitUs && (grew || !end_)) return grew;
    listed_us_ = now;
    const size_t before = tails_.size();
    for (const auto& name : journal::FarSegments(run::RunFolder(context_.home, run_id_))) {
      TailOf(name);
    }
    return grew || tails_.size() > before;
  }

  // Tries `act` once. False: the link broke, and the next step tries again.
  Result<bool> Try(const std::function<Status()>& act) {
    auto done = act();
    if (!done.ok() && options_.wait && feed_->MayMend(done.error())) {
      patience_.Broken(done.error());
      return false;
    }
    if (!done.ok()) return std::move(done).error();
    if (options_.wait) patience_.Heard(0);
    return true;
  }

  // The end is known. What can't be fetched any more does not change it.
  Status TakeRest() {
    if (Stopped()) return ConcludeWith(/*whole=*/false);
    bool whole = false;
    const auto done = Try([&]() -> Status {
      TENON_TRY(whole, feed_->TakeRest());
      return {};
    });
    if (done.ok() && !*done) return {};
    if (whole) return ConcludeWith(/*whole=*/true);
    if (done.ok() && ++looks_ < kOthersLooks) {
      patience_.PauseFor(kOthersPauseUs);
      return {};
    }
    reporter_.OnNotice({run::Level::kWarning,
                        done.ok() ? "another process still copies the end of its output"
                                  : done.error().message + "; this is what was last heard",
                        "`tenon logs " + run_id_ + "` tries again"});
    return ConcludeWith(/*whole=*/false);
  }

  Status ConcludeWith(bool whole) {
    for (bool more = true; more;) {
      TENON_TRY(more, ReadOthers());
    }
    phase_ = Phase::kFetching;
    if (!whole) Finish();
    return {};
  }

  void Fetch() {
    if (Stopped()) return Finish();
    const auto fetched = Try([&]() -> Status {
      auto done = machine_.runs().FetchOutputs(run_id_, reporter_);
      if (done.ok() || !machine_.link().stands) return done;
      Error error = std::move(done).error();
      // The link stands, so the problem is another one, such as a full disk here or there. Waiting
      // does not solve that.
      if (error.kind == ErrorKind::kUnavailable) error.kind = ErrorKind::kDenied;
      return error;
    });
    if (fetched.ok() && !*fetched) return;
    if (!fetched.ok()) {
      reporter_.OnNotice({run::Level::kWarning,
                          "the outputs could not be fetched: " + fetched.error().message,
                          "`tenon history download -r " + run_id_ + "` tries again"});
    }
    Finish();
  }

  void Finish() {
    if (options_.wait) feed_->AwaitDisk();
    phase_ = Phase::kOver;
    reporter_.OnEnd(*end_);
  }

  // Ends a follow that does not wait, with the records that this home has.
  void StopAt(const Error& error) {
    reporter_.OnNotice(
        {run::Level::kWarning, error.message + "; this is what was last heard", error.hint});
    phase_ = Phase::kOver;
  }

  Status Wait(int64_t wait_us) {
    auto heard = feed_->Wait(wait_us);
    if (!heard.ok() && !options_.wait) {
      if (!end_) StopAt(heard.error());
      return {};
    }
    if (!heard.ok()) {
      if (!feed_->MayMend(heard.error())) return std::move(heard).error();
      patience_.Broken(heard.error());
      return {};
    }
    patience_.Heard(feed_->SilentUs());
    stop_watch_.Look(feed_->stopped());
    idle_ = *heard == RunFeed::Heard::kNothing;
    const bool unknown = *heard == RunFeed::Heard::kUnknown;
    // A run that is waiting for its turn has no records yet.
    if (unknown && HandleOf(context_, run_id_).launch.empty()) {
      return NotFound("the host has no run " + run_id_)
          .WithHint("it was never started there, or what the host kept of it was removed");
    }
    const bool over = *heard == RunFeed::Heard::kEnded || unknown;
    if (over && !end_) phase_ = Phase::kRecovering;
    return {};
  }

  Status Recover() {
    phase_ = Phase::kReading;
    if (Stopped()) return {};
    const auto done = Try([this] { return RecoverIt(); });
    if (!done.ok() && !options_.wait && feed_->MayMend(done.error())) {
      StopAt(done.error());
      return {};
    }
    if (!done.ok()) return done.error();
    if (!*done) phase_ = Phase::kRecovering;
    return {};
  }

  Status RecoverIt() {
    const auto found = machine_.launch().Recover(run_id_, HandleOf(context_, run_id_));
    if (!found.ok() && found.error().kind == ErrorKind::kNotFound) {
      return machine_.runs().LostRun(run_id_, found.error());
    }
    if (!found.ok()) return found.error();
    if (!run::IsFinal(found->state)) {
      GoesOn(*found);
      return {};
    }
    // The end may have been written meanwhile: by another client, or by this one before the link
    // broke.
    TENON_TRY_VOID(feed_->CatchUp());
    // No more records: the run's end lies before `after`.
    if (!end_ && !host().HasMore()) phase_ = Phase::kOver;
    return {};
  }

  // The launch says that the run goes on, even if the feed saw no writer.
  void GoesOn(const run::Recovered& found) {
    if (found.waiting != waiting_ && !found.waiting.empty()) {
      reporter_.OnStuck({run::Level::kInfo, "waiting: " + found.waiting, ""});
    }
    waiting_ = found.waiting;
    if (!options_.wait) phase_ = Phase::kOver;
    patience_.PauseFor(kWaitUs);
  }

  Context& context_;
  const std::string run_id_;
  const FollowOptions options_;
  Machine& machine_;
  Reporter& reporter_;
  std::unique_ptr<RunFeed> feed_;
  Patience patience_;
  StopWatch stop_watch_;
  std::deque<Tail> tails_;             // the host's first
  int64_t listed_us_ = INT64_MIN / 2;  // when the run's folder was last looked at for segments
  std::optional<run::End> end_;
  Phase phase_ = Phase::kReading;
  bool idle_ = false;    // the last step found nothing to do
  int looks_ = 0;        // how often the rest was looked for while another process copies it
  std::string waiting_;  // what the run waits for, as the launch said last
};

Following::Following(std::unique_ptr<Follower> follower) : follower_(std::move(follower)) {}
Following::Following(Following&&) noexcept = default;
Following& Following::operator=(Following&&) noexcept = default;
Following::~Following() = default;
Result<bool> Following::Step(int64_t wait_us) { return follower_->Step(wait_us); }
int Following::fd() const { return follower_->fd(); }
int64_t Following::due_us() const { return follower_->due_us(); }
Followed Following::reached() const { return follower_->reached(); }

Result<Following> Following::Begin(Context& context, const std::string& run_id,
                                   const FollowOptions& options, Reporter& reporter) {
  TENON_TRY(const auto spec, SubmittedSpec(context, run_id));
  const std::string host = spec ? spec->host : std::string();
  // A run whose outputs were fetched is read from this home, even if its machine is gone.
  auto machine = context.At(OutputsFetched(context, run_id) ? "" : host);
  const bool detached = !machine.ok() && machine.error().kind == ErrorKind::kNotFound;
  if (detached && !options.wait) {
    reporter.OnNotice({run::Level::kWarning,
                       machine.error().message + "; this is what was last heard",
                       machine.error().hint});
    machine = context.At("");
  }
  if (!machine.ok()) return std::move(machine).error();
  return Following(std::make_unique<Follower>(context, run_id, options, **machine, reporter));
}

Result<Followed> Follow(Context& context, const std::string& run_id, const FollowOptions& options,
                        Reporter& reporter) {
  TENON_TRY(Following following, Following::Begin(context, run_id, options, reporter));
  for (bool more = true; more;) {
    TENON_TRY(more, following.Step(kWaitUs));
  }
  return following.reached();
}

}  // namespace tenon::engine
