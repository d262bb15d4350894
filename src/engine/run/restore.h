// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_ENGINE_RUN_RESTORE_H_
#define TENON_ENGINE_RUN_RESTORE_H_

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "engine/context.h"
#include "engine/run/submit.h"
#include "journal/fold.h"

namespace tenon::engine {

struct RestoreOptions {
  std::string folder;
  bool force = false;  // overwrite files that differ
  const ProjectFolder* present =
      nullptr;  // set when `folder` is a project: frozen before it is changed
  // The bytes to write for a .compute file, given the recorded and the present ones
  // (project::KeepPasswordLine).
  std::function<std::string(std::string_view recorded, std::string_view present)> merge_compute;
};
struct Restored {
  std::vector<std::string> written;
  std::string saved_tree;  // hex root of the state before (KeepTree), "" when none was taken
};

// Brings a run's files back into a folder. If existing files have other contents, it fails before
// anything is written (kInvalid, naming them), unless `force`. Files that the run did not have are
// left alone.
Result<Restored> Restore(Context& context, const journal::RunView& run,
                         const RestoreOptions& options);

}  // namespace tenon::engine

#endif  // TENON_ENGINE_RUN_RESTORE_H_
