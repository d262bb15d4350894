// SPDX-License-Identifier: Apache-2.0
// Runs of a machine that another client has started: taken over, so that they are known here too.
#ifndef TENON_ENGINE_RUN_ADOPT_H_
#define TENON_ENGINE_RUN_ADOPT_H_

#include <string>
#include <vector>

#include "base/result.h"
#include "engine/context.h"
#include "engine/reporter.h"

namespace tenon::engine {

// The runs at `far` of which nothing is recorded here, or whose machine was detached since, newest
// first.
Result<std::vector<run::HostedRun>> RunsToAdopt(Context& context, Machine& far);

struct AdoptRequest {
  std::string run_id;
  std::string host_id;  // of `far`, as it is kept here
  // The project here that the run is to belong to; "" = as the run has it. A project without an Id
  // of its own has another one on every machine.
  std::string project_id;
  bool listed = false;  // RunsToAdopt() has named it
};
enum class Adopted {
  kNew,    // it is known here from now on, or its machine is again
  kKnown,  // it was already; nothing was done
};
// Records the run here (a near segment of ours with its spec), copies its journal, its files and,
// when it is over, its outputs. May be repeated: what was begun is brought to its end by the next
// call or by whoever looks at the run next. A run of ours whose machine is no longer known under
// the id it was sent to: that id leads to `far` again (a record of its own, with the secrets), so
// that everything that asks for the run's machine finds it. kNotFound: the machine has no such run.
// kInvalid: another run has that id here.
Result<Adopted> Adopt(Context& context, Machine& far, const AdoptRequest& request,
                      Reporter& reporter);

}  // namespace tenon::engine

#endif  // TENON_ENGINE_RUN_ADOPT_H_
