// SPDX-License-Identifier: Apache-2.0
#include "engine/run/follow.h"

#include <unistd.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <memory>

#include "engine/host/machine.h"
#include "engine/outputs/fetch.h"
#include "engine/run/patience.h"
#include "engine/run/runs.h"
#include "engine/run/tail.h"
#include "journal/segments.h"
#include "run/layout.h"

namespace tenon::engine {
namespace {

constexpr int64_t kWaitUs = 250'000;
// How often, and after which pause, to look for the rest of a finished run that another process of
// ours copies.
constexpr int kOthersLooks = 100;
constexpr int64_t kOthersPauseUs = 100'000;
constexpr int64_t kSliceUs = 100'000;  // how soon a pause notices `stop`

journal::Cursor PlaceOf(const journal::Place& place, std::string_view segment) {
  auto found = place.find(std::string(segment));
  return found == place.end() ? journal::Cursor{} : found->second;
}

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
