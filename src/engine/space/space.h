// SPDX-License-Identifier: Apache-2.0
// Disk space below the home: measures it and frees it.
#ifndef TENON_ENGINE_SPACE_SPACE_H_
#define TENON_ENGINE_SPACE_SPACE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/context.h"
#include "engine/reporter.h"
#include "launch/launch.h"

namespace tenon::engine {

struct SpaceUse {
  uint64_t objects_bytes = 0;
  uint64_t object_count = 0;
  uint64_t asset_count = 0;
  uint64_t asset_bytes = 0;  // size when written out; objects_bytes counts them, too
  uint64_t journals_bytes = 0;
  uint64_t work_bytes = 0;  // run directories that were kept
  uint64_t index_bytes = 0;
  uint64_t environment_bytes = 0;  // in folders, with the package tools' cache; no images
  uint64_t other_bytes = 0;        // runners, shim, caches
  struct Run {
    std::string run_id;
    uint64_t journal_bytes = 0;
    uint64_t work_bytes = 0;
  };
  std::vector<Run> runs;  // largest first
};
Result<SpaceUse> MeasureSpace(Context& context, Reporter& reporter);

struct GcOptions {
  int64_t keep_work_us = int64_t{7} * 24 * 3600 * 1'000'000;  // run directories of failed runs
  int64_t min_object_age_us =
      int64_t{3600} * 1'000'000;  // younger ones may belong to a submit in flight
  bool dry_run = false;
};
struct GcResult {
  uint64_t work_folders = 0;
  uint64_t leftovers = 0;               // run folders older than a day without a readable journal
  std::vector<std::string> containers;  // names; their runs are over
  std::vector<run::Kept> kept;          // not removed, with the reason
  uint64_t bytes_freed = 0;
};
// Removes what nothing needs: objects that no recorded run, kept snapshot or asset names, run
// directories past their time, containers of runs that are over, remains of killed submits. Never
// touches a run that goes on, nor the only copy of a run's outputs.
Result<GcResult> CollectGarbage(Context& context, const GcOptions& options, Reporter& reporter);

struct CleanOptions {
  std::string project_id;    // empty: of all projects
  std::string project_root;  // its cache is removed too; empty: none
  std::string target;
  std::string host;         // the machine of the target (engine/host/hosts.h); "" = this one
  bool containers = false;  // the target runs scripts in containers
  bool dry_run = false;
};
struct CleanResult {
  uint64_t work_folders = 0;
  uint64_t going = 0;                     // left alone, because their runs go on
  std::vector<std::string> containers;    // names
  std::vector<std::string> environments;  // keys
  std::vector<run::Kept> kept;  // runs, containers and environments that stay, with the reason
  uint64_t bytes_freed = 0;
};
// Removes what runs have left on a target: the run directories of runs that are over (also those
// that were to be kept), their containers, the environments (images included) that only runs of
// this project have used, and the project's cache. On this machine the journals, outputs and
// snapshots stay. On another machine the whole folder of a run is removed once its outputs have
// been fetched.
Result<CleanResult> CleanTarget(Context& context, const CleanOptions& options, Reporter& reporter);

}  // namespace tenon::engine

#endif  // TENON_ENGINE_SPACE_SPACE_H_
