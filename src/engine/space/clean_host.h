// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_ENGINE_SPACE_CLEAN_HOST_H_
#define TENON_ENGINE_SPACE_CLEAN_HOST_H_

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "engine/context.h"
#include "engine/reporter.h"
#include "launch/launch.h"

namespace tenon::engine {

struct CleanHostOptions {
  int64_t keep_us = 0;        // runs are removed that ended longer ago
  bool environments = false;  // also remove environments
  bool force = false;         // also remove runs that this home has not fetched whole
  bool dry_run = false;
};
struct HostCleaned {
  run::HostedAnswer hosted;
  run::SweepAnswer containers;
  run::EnvironmentsAnswer environments;
  std::vector<run::Kept> forced;  // runs that would have stayed without `force`, and why
};
// Frees disk space on another machine. Before a run of this home is removed there, its end and its
// outputs are fetched; if that fails, the run stays. Runs that this home does not know stay too,
// because another client may not have fetched them. What stays is named with the reason. `force`
// removes those runs all the same, and names them. A run that goes on is never touched.
Result<HostCleaned> CleanHost(Context& context, Machine& far, const CleanHostOptions& options,
                              Reporter& reporter);

}  // namespace tenon::engine

#endif  // TENON_ENGINE_SPACE_CLEAN_HOST_H_
