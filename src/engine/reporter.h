// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_ENGINE_REPORTER_H_
#define TENON_ENGINE_REPORTER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "run/event.h"

namespace tenon::engine {

// Hears what happens in a run, in order. How it is drawn is up to the implementation: terminal,
// JSON lines, live stream. The engine calls it on the thread that called the engine; no call may
// block for long. Every function does nothing by default, so an implementation overrides only what
// it shows.
class Reporter {
 public:
  virtual ~Reporter() = default;

  // Where the current call comes from: a record of a segment. With an empty `segment` it comes from
  // this process and is in no journal.
  struct Origin {
    std::string_view segment;
    uint64_t record = 0;  // 0: damage between two records
    int64_t time_us = 0;
  };
  const Origin& origin() const { return origin_; }
  // While this object lives, origin() returns the given origin.
  class From {
   public:
    From(Reporter& reporter, const Origin& origin) : reporter_(reporter) {
      reporter_.SetOrigin(origin);
    }
    From(const From&) = delete;
    From& operator=(const From&) = delete;
    ~From() { reporter_.SetOrigin({}); }

   private:
    Reporter& reporter_;
  };

  virtual void OnRunId(const std::string& /*run_id*/) {}
  virtual void OnStep(const run::Step& /*step*/) {}
  virtual void OnNotice(const run::Notice& /*notice*/) {}
  // Explains why nothing new comes. Found while waiting, so it is in no journal.
  virtual void OnStuck(const run::Notice& notice) { OnNotice(notice); }
  virtual void OnState(run::State /*state*/, const std::string& /*reason*/) {}
  virtual void OnOutput(run::Stream /*stream*/, std::string_view /*bytes*/, int64_t /*time_us*/) {}
  virtual void OnEnvironment(const run::EnvironmentReady& /*environment*/) {}
  virtual void OnFarProgress(const run::Progress& /*progress*/) {}
  virtual void OnGap(const run::Gap& /*gap*/) {}
  virtual void OnHole(uint64_t /*bytes*/) {}
  virtual void OnEnd(const run::End& /*end*/) {}
  // The link to the run's machine. Silent: nothing came for `silent_us`, `why` is empty; the run
  // goes on. Back again: 0 and an empty `why`. Lost: `why` is the reason, for people; `silent_us`
  // says since when nothing came, 0 if that is not known.
  virtual void OnLink(int64_t /*silent_us*/, const std::string& /*why*/) {}
  // Progress of long work in this process. `what` stays the same for one piece of work; `total` 0:
  // not known. Calls are frequent: show one only when the work has lasted half a second.
  virtual void OnProgress(std::string_view /*what*/, uint64_t /*done*/, uint64_t /*total*/) {}

 protected:
  virtual void SetOrigin(const Origin& origin) { origin_ = origin; }

 private:
  Origin origin_;
};

// Passes every call on to another reporter. A subclass overrides the calls it wants to see.
class PassingReporter : public Reporter {
 public:
  // `to` must outlive this object.
  explicit PassingReporter(Reporter& to) : to_(to) {}

  void OnRunId(const std::string& run_id) override { to_.OnRunId(run_id); }
  void OnStep(const run::Step& step) override { to_.OnStep(step); }
  void OnNotice(const run::Notice& notice) override { to_.OnNotice(notice); }
  void OnStuck(const run::Notice& notice) override { to_.OnStuck(notice); }
  void OnState(run::State state, const std::string& reason) override { to_.OnState(state, reason); }
  void OnOutput(run::Stream stream, std::string_view bytes, int64_t time_us) override {
    to_.OnOutput(stream, bytes, time_us);
  }
  void OnEnvironment(const run::EnvironmentReady& ready) override { to_.OnEnvironment(ready); }
  void OnFarProgress(const run::Progress& progress) override { to_.OnFarProgress(progress); }
  void OnGap(const run::Gap& gap) override { to_.OnGap(gap); }
  void OnHole(uint64_t bytes) override { to_.OnHole(bytes); }
  void OnEnd(const run::End& end) override { to_.OnEnd(end); }
  void OnLink(int64_t silent_us, const std::string& why) override { to_.OnLink(silent_us, why); }
  void OnProgress(std::string_view what, uint64_t done, uint64_t total) override {
    to_.OnProgress(what, done, total);
  }

 protected:
  void SetOrigin(const Origin& origin) override {
    Reporter::SetOrigin(origin);
    from_.reset();
    if (!origin.segment.empty()) from_.emplace(to_, origin);
  }

 private:
  Reporter& to_;
  std::optional<From> from_;
};

}  // namespace tenon::engine

#endif  // TENON_ENGINE_REPORTER_H_
