// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_ENGINE_HOST_FAR_RUNS_H_
#define TENON_ENGINE_HOST_FAR_RUNS_H_

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/context.h"
#include "engine/feed/mirror.h"
#include "engine/host/machine.h"
#include "engine/host/machine_runs.h"

namespace tenon::engine {

// The runs of a machine that has its own home and is reached over a link to an agent
// (transport::Host::frames()). What this machine needs is copied from there piece by piece, each
// piece once.
class FarRuns : public MachineRuns {
 public:
  // Both must outlive this object; `machine` is the machine whose runs these are.
  FarRuns(Context& context, Machine& machine) : context_(context), far_(machine) {}

  // Notes that the journal of a run was requested together with its start (Mirror::AheadRequest).
  // The next feed of that run takes the stream over.
  void NoteAhead(Mirror::Ahead ahead) { ahead_ = std::move(ahead); }

  std::unique_ptr<RunFeed> Feed(const std::string& run_id, FeedSink sink) override;
  bool HadRun(const journal::RunView& run) const override;
  Error LostRun(const std::string& run_id, Error said) const override;
  Status GiveUp(const std::string& run_id) override;
  std::string StartedAgainAs(const std::string& run_id) override;
  Status FetchOutputs(const std::string& run_id, Reporter& reporter) override;
  Status BringHome(const std::string& run_id, Reporter& reporter) override;
  Status FetchObjects(const std::vector<WantedObject>& wanted, std::string_view what,
                      Reporter& reporter) override;
  Status FetchTree(const std::string& root, std::string_view what, Reporter& reporter,
                   const std::function<Status()>& accept) override;
  Result<CleanedRuns> Clean(const CleanScope& scope, Reporter& reporter) override;

 private:
  // Asks the machine to collect outputs that it could not collect when the run ended.
  Status CollectThere(const std::string& run_id, Reporter& reporter);

  Context& context_;
  Machine& far_;
  Mirror::Ahead ahead_;
};

}  // namespace tenon::engine

#endif  // TENON_ENGINE_HOST_FAR_RUNS_H_
