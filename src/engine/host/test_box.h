// SPDX-License-Identifier: Apache-2.0
// A machine of a kind that the engine does not know, for tests: it shows that the interface alone
// is enough to run there. Its home is another folder on this disk. Its feed copies the journals
// whenever a caller looks.
#ifndef TENON_ENGINE_HOST_TEST_BOX_H_
#define TENON_ENGINE_HOST_TEST_BOX_H_

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/file.h"
#include "engine/context.h"
#include "engine/data/own_files.h"
#include "engine/host/machine.h"
#include "engine/host/own_door.h"
#include "engine/host/own_runs.h"
#include "journal/segments.h"

namespace tenon::engine {

class CopyingFeed : public RunFeed {
 public:
  CopyingFeed(run::RunFolder here, run::RunFolder there)
      : here_(std::move(here)), there_(std::move(there)) {}

  Result<Heard> Wait(int64_t) override {
    if (!Exists(there_.host_segment())) return Heard::kUnknown;
    TENON_TRY(const bool locked, IsLockedByOther(there_.host_segment()));
    bool grew = false;
    for (const std::string& name : journal::FarSegments(there_)) {
      TENON_TRY(const std::string all, ReadFile(there_.segment(name)));
      if (all == ReadFile(here_.segment(name)).value_or("")) continue;
      TENON_TRY_VOID(WriteFileAtomically(here_.segment(name), all, 0600, Durability::kProcess));
      grew = true;
    }
    waited_ = true;
    if (grew) return Heard::kMore;
    return locked ? Heard::kNothing : Heard::kEnded;
  }
  Result<Heard> CatchUp() override {
    Heard heard = Heard::kMore;
    while (heard == Heard::kMore) {
      TENON_TRY(heard, Wait(0));
    }
    return heard == Heard::kNothing ? Heard::kMore : heard;
  }
  bool CaughtUp() const override { return waited_; }
  Result<bool> IsWhole() override { return true; }
  Result<bool> TakeRest() override { return true; }
  int fd() const override { return -1; }
  bool MayMend(const Error&) const override { return false; }
  std::optional<Stopped> stopped() override { return std::nullopt; }
  int64_t SilentUs() const override { return 0; }

 private:
  run::RunFolder here_, there_;
  bool waited_ = false;
};

class Box : public Machine {
 public:
  Box(Context& context, Parts parts)
      : Machine(context.home, {}), runs_(context, *this), files_(context) {
    Use(std::move(parts));
  }
  void Open() override { ++opened; }
  Handover Start(launch::StartRequest request, Reporter&) override {
    return {launch().Start(request), false, /*to_be_noted=*/true};
  }
  MachineRuns& runs() override { return runs_; }
  MachineFiles& files() override { return files_; }
  MachineDoor& door() override { return door_; }
  Result<json::Object> Probe() override { return services().Probe(); }
  bool MayHave(const std::string&) const override { return true; }

  int opened = 0;

 private:
  class Runs : public OwnRuns {
   public:
    Runs(Context& context, Machine& box) : OwnRuns(context), context_(context), box_(box) {}
    std::unique_ptr<RunFeed> Feed(const std::string& run_id, FeedSink) override {
      return std::make_unique<CopyingFeed>(run::RunFolder(context_.home, run_id),
                                           run::RunFolder(box_.home(), run_id));
    }

   private:
    Context& context_;
    Machine& box_;
  };

  Runs runs_;
  OwnFiles files_;
  OwnDoor door_;
};

}  // namespace tenon::engine

#endif  // TENON_ENGINE_HOST_TEST_BOX_H_
