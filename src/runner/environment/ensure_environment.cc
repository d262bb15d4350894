// SPDX-License-Identifier: Apache-2.0
#include "runner/environment/ensure_environment.h"

#include <optional>
#include <utility>

#include "base/clock.h"
#include "base/text.h"
#include "runner/environment/pins.h"

namespace tenon::runner {
namespace {

Error NotPrepared(const run::RunSpec& spec) {
  return Invalid("the environment of " + ForTerminal(spec.packages.file) +
                 " has not been prepared on " + ForTerminal(spec.target) +
                 ", and PrepareEnvironment is false")
      .WithHint("`tenon experiment prepare -c " + spec.run_configuration +
                "` makes it; PrepareEnvironment: true makes it with the run");
}

class Ensure {
 public:
  Ensure(const StartRequest& request, const std::string& key, const EnvironmentKind& kind,
         Handover& handover, const std::atomic<bool>& stop)
      : spec_(request.spec),
        key_(key),
        kind_(kind),
        handover_(handover),
        stop_(stop),
        home_(request.run.home),
        environments_(request.run.home) {}

  Result<EnvironmentRecord> Run() {
    const int64_t begin = SystemClock().MonotonicUs();
    // Needs no lock: an environment is recorded only when it is complete.
    std::optional<EnvironmentRecord> record;
    if (!spec_.refresh_environment) {
      TENON_TRY(record, FindAndMark());
    }
    const bool may_make = spec_.prepare_environment;
    bool reused = record.has_value();
    if (!record && !may_make && !kind_.adopt) return NotPrepared(spec_);
    if (!record) {
      TENON_TRY(FileLock lock, environments_.Lock(
                                   key_, [this] { TellWaiting(); }, stop_));
      // Another process may have made it while this one waited for the lock.
      if (waited_ || !spec_.refresh_environment) {
        TENON_TRY(record, Find());
      }
      if (!record && kind_.adopt && !spec_.refresh_environment) {
        TENON_TRY(record, Adopt(begin));
      }
      reused = record.has_value();
      if (!record && !may_make) return NotPrepared(spec_);
      if (!record) {
        TENON_TRY(record, Make(begin));
      }
      TENON_TRY_VOID(environments_.MarkUsed(key_, spec_.id));
    }
    record->ready.reused = reused;
    handover_.Put(run::Step{"environment", SystemClock().MonotonicUs() - begin,
                            record->ready.name + (reused ? ", reused" : ", made") + ", " +
                                HumanBytes(record->ready.bytes)});
    handover_.Put(record->ready);
    return std::move(*record);
  }

 private:
  // Without the lock, another process may be removing or replacing the environment that Find()
  // returned. After the mark no process removes it any more, so look again.
  Result<std::optional<EnvironmentRecord>> FindAndMark() {
    TENON_TRY(auto record, Find());
    if (!record) return record;
    auto marked = environments_.MarkUsed(key_, spec_.id);
    TENON_TRY(auto again, environments_.Find(key_));
    if (!again) {
      environments_.UnmarkUsed(key_, spec_.id);
      return again;
    }
    if (!marked.ok()) return std::move(marked).error();
    if (again->image_id != record->image_id) return Find();
    return again;
  }

  Result<std::optional<EnvironmentRecord>> Find() {
    TENON_TRY(auto record, environments_.Find(key_));
    if (!record) return record;
    TENON_TRY(bool there, kind_.still_there(*record));
    if (there) return record;
    if (!std::exchange(told_deleted_, true)) {
      handover_.Put(run::Notice{run::Level::kInfo,
                                record->ready.name + " was deleted since it was prepared" +
                                    (spec_.prepare_environment ? "; it is made again" : ""),
                                ""});
    }
    return std::optional<EnvironmentRecord>();
  }

  void TellWaiting() {
    waited_ = true;
    handover_.Put(run::Notice{run::Level::kInfo,
                              "another run is making the same environment; waiting for it", ""});
  }

  Result<EnvironmentRecord> Make(int64_t begin_us) {
    const std::string pins = spec_.refresh_environment ? "" : PinsFile(home_, key_);
    const bool pinned = !pins.empty() && Exists(pins);
    auto made = kind_.make(pinned ? pins : "");
    if (!made.ok() && pinned && !stop_) {
      handover_.Put(run::Notice{
          run::Level::kWarning,
          "the versions of the last time could not be had; resolving anew: " + made.error().message,
          ""});
      made = kind_.make("");
    }
    if (!made.ok()) return std::move(made).error();
    return Keep(std::move(*made), begin_us);
  }

  Result<std::optional<EnvironmentRecord>> Adopt(int64_t begin_us) {
    TENON_TRY(auto found, kind_.adopt());
    if (!found) return found;
    TENON_TRY(auto kept, Keep(std::move(*found), begin_us));
    return std::optional(std::move(kept));
  }

  Result<EnvironmentRecord> Keep(EnvironmentRecord record, int64_t begin_us) {
    record.ready.key = key_;
    record.packages = spec_.packages;
    record.created_us = SystemClock().NowUs();
    record.duration_us = SystemClock().MonotonicUs() - begin_us;
    TENON_TRY_VOID(environments_.Save(record));
    TENON_TRY_VOID(SavePins(home_, key_, record.ready.packages));
    return record;
  }

  const run::RunSpec& spec_;
  const std::string& key_;
  const EnvironmentKind& kind_;
  Handover& handover_;
  const std::atomic<bool>& stop_;
  std::string home_;
  Environments environments_;
  bool waited_ = false;
  bool told_deleted_ = false;
};

}  // namespace

Result<EnvironmentRecord> EnsureEnvironment(const StartRequest& request, const std::string& key,
                                            const EnvironmentKind& kind, Handover& handover,
                                            const std::atomic<bool>& stop) {
  return Ensure(request, key, kind, handover, stop).Run();
}

}  // namespace tenon::runner
