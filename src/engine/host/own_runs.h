// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_ENGINE_HOST_OWN_RUNS_H_
#define TENON_ENGINE_HOST_OWN_RUNS_H_

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/context.h"
#include "engine/host/machine_runs.h"

namespace tenon::engine {

// The runs of a machine whose home is our home. Their records, objects and outputs are in our home
// as soon as they are written, so nothing has to be fetched.
class OwnRuns : public MachineRuns {
 public:
  // `context` must outlive this object.
  explicit OwnRuns(Context& context) : context_(context) {}

  std::unique_ptr<RunFeed> Feed(const std::string& run_id, FeedSink sink) override;
  bool HadRun(const journal::RunView& run) const override { return run.runner.has_value(); }
  Error LostRun(const std::string&, Error said) const override { return said; }
  Status GiveUp(const std::string&) override { return {}; }
  std::string StartedAgainAs(const std::string&) override { return ""; }
  Status FetchOutputs(const std::string&, Reporter&) override { return {}; }
  Status BringHome(const std::string&, Reporter&) override { return {}; }
  Status FetchObjects(const std::vector<WantedObject>&, std::string_view, Reporter&) override {
    return {};
  }
  Status FetchTree(const std::string&, std::string_view, Reporter&,
                   const std::function<Status()>&) override {
    return {};
  }
  Result<CleanedRuns> Clean(const CleanScope& scope, Reporter& reporter) override;

 private:
  Context& context_;
};

}  // namespace tenon::engine

#endif  // TENON_ENGINE_HOST_OWN_RUNS_H_
