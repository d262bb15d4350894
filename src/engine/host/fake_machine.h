// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_ENGINE_HOST_FAKE_MACHINE_H_
#define TENON_ENGINE_HOST_FAKE_MACHINE_H_

#include <memory>
#include <string>
#include <utility>

#include "engine/context.h"
#include "engine/data/own_files.h"
#include "engine/feed/disk_feed.h"
#include "engine/feed/mirror.h"
#include "engine/host/machine.h"
#include "engine/host/own_door.h"
#include "engine/host/own_runs.h"

namespace tenon::engine {

// A machine put together from parts, for tests. Its objects and outputs are in our home. The
// records of its runs are copied when its host has frames; otherwise they are in our home, too.
class FakeMachine : public Machine {
 public:
  FakeMachine(Context& context, Parts parts, HostRecord known = {})
      : Machine(context.home, std::move(known)), runs_(context, *this), files_(context) {
    Use(std::move(parts));
  }

  void Open() override {}
  Handover Start(launch::StartRequest request, Reporter&) override {
    return {launch().Start(request)};
  }
  MachineRuns& runs() override { return runs_; }
  MachineFiles& files() override { return files_; }
  MachineDoor& door() override { return door_; }
  Result<json::Object> Probe() override { return services().Probe(); }
  bool MayHave(const std::string&) const override { return true; }

 private:
  class Runs : public OwnRuns {
   public:
    Runs(Context& context, Machine& machine)
        : OwnRuns(context), context_(context), machine_(machine) {}
    std::unique_ptr<RunFeed> Feed(const std::string& run_id, FeedSink sink) override {
      if (machine_.host().frames() == nullptr) return OwnRuns::Feed(run_id, std::move(sink));
      return std::make_unique<Mirror>(context_, machine_, run_id, std::move(sink.on_records),
                                      std::move(sink.on_cut));
    }

   private:
    Context& context_;
    Machine& machine_;
  };

  Runs runs_;
  OwnFiles files_;
  OwnDoor door_;
};

}  // namespace tenon::engine

#endif  // TENON_ENGINE_HOST_FAKE_MACHINE_H_
