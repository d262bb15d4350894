// SPDX-License-Identifier: Apache-2.0
#include "journal/kept_outputs.h"

#include "base/file.h"

namespace tenon::journal {
namespace {

bool HasUnlisted(const run::RunFolder& folder, const std::optional<run::End>& end,
                 const std::string& tree) {
  if (!end || end->start_us == 0 || !tree.empty()) return false;
  const auto names = ListDir(folder.outputs());
  // A folder that can't be read may have something in it.
  return names.ok() ? !names->empty() : names.error().kind != ErrorKind::kNotFound;
}

}  // namespace

bool OutputsAreLeft(const run::RunFolder& folder, const RunView& run) {
  return run.outputs_left || HasUnlisted(folder, run.end, run.outputs_tree);
}

bool OutputsAreLeft(const run::RunFolder& folder, const SegmentFold& host) {
  return host.outputs_left || HasUnlisted(folder, host.end, host.outputs_tree);
}

}  // namespace tenon::journal
