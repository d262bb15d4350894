// SPDX-License-Identifier: Apache-2.0
#include "cli/runs/run_project.h"

#include "base/terminal.h"
#include "base/text.h"

namespace tenon::cli {

Result<std::string> RootForRun(Session& session, const journal::RunView& run) {
  TENON_TRY(const auto project, session.FindProject());
  if (!project) {
    return Invalid("this is no project's folder, so it is not known where the files belong")
        .WithHint("go to the folder of the project " + OneLine(run.spec.project) +
                  ", or name it with --project DIR");
  }
  if (run.spec.project_id != project->id) {
    return Invalid("the run " + run.spec.id + " belongs to the project " +
                   OneLine(run.spec.project) + ", not to " + OneLine(project->name))
        .WithHint("go to that project's folder, or name it with --project DIR");
  }
  return project->root;
}

}  // namespace tenon::cli
