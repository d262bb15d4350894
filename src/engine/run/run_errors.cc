// SPDX-License-Identifier: Apache-2.0
#include "engine/run/run_errors.h"

namespace tenon::engine {

bool IsDamage(const Error& error) {
  return error.kind == ErrorKind::kCorrupt || error.kind == ErrorKind::kInvalid;
}

Error Unreadable(const std::string& run_id, const std::string& why) {
  return Corrupt("the run " + run_id + " can't be read: " + why)
      .WithHint("`tenon runs delete " + run_id + "` removes it");
}

Error NoSuchRun(const std::string& name) {
  return NotFound("no run is called " + name)
      .WithHint(
          "`tenon runs` lists them; a run is named by its id, its number, the beginning of its id, "
          "or `last`");
}

}  // namespace tenon::engine
