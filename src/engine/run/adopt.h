// SPDX-License-Identifier: Apache-2.0
// Takes over runs that another client has started on a machine, so that this home knows them too.
#ifndef TENON_ENGINE_RUN_ADOPT_H_
#define TENON_ENGINE_RUN_ADOPT_H_

#include <string>
#include <vector>

#include "base/result.h"
#include "engine/context.h"
#include "engine/reporter.h"

namespace tenon::engine {

// The runs on `far` that this home has not recorded, or whose machine was detached since. Newest
// first.
Result<std::vector<run::HostedRun>> RunsToAdopt(Context& context, Machine& far);

struct AdoptRequest {
  std::string run_id;
  std::string host_id;  // id of `far` in this home
  // The project in this home that the run shall belong to; "" = as the run's spec has it. A project
  // without an Id of its own has a different id on every machine.
  std::string project_id;
  bool listed = false;  // RunsToAdopt() returned it
};
enum class Adopted {
  kNew,    // this home now knows the run, or its machine again
  kKnown,  // this home knew it already; nothing was done
};
// Records the run in this home (a near segment of ours with its spec). Copies its journal, its
// files and, when it is over, its outputs. May be repeated: the next call, or the next look at the
// run, completes what was begun. If this home knows the run but has no record of the machine it was
// sent to, that machine's id gets a new record (with the secrets), which leads to `far`. Fails with
// kNotFound when the machine has no such run, and with kInvalid when another run has that id in
// this home.
Result<Adopted> Adopt(Context& context, Machine& far, const AdoptRequest& request,
                      Reporter& reporter);

}  // namespace tenon::engine

#endif  // TENON_ENGINE_RUN_ADOPT_H_
