// SPDX-License-Identifier: Apache-2.0
#include "cli/runs/holds_project.h"

#include "base/file.h"
#include "project/project.h"

namespace tenon::cli {

Result<bool> HoldsProject(Session& session, const std::string& folder) {
  if (!IsDirectory(folder)) return false;
  if (Exists(JoinPath(folder, project::kConfigFolder)) || Exists(JoinPath(folder, ".azureml"))) {
    return true;
  }
  TENON_TRY(const auto found, project::OpenProject(".", folder));
  TENON_TRY(engine::Context * context, session.Context());
  const auto store = context->History();
  if (!store.ok()) return false;
  TENON_TRY(const int64_t last, (*store)->LastNumber(found.id.value));
  return last > 0;
}

}  // namespace tenon::cli
