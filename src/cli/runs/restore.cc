// SPDX-License-Identifier: Apache-2.0
#include "engine/run/restore.h"

#include <memory>

#include "base/file.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/parse/options.h"
#include "cli/print/print.h"
#include "engine/run/freeze_now.h"
#include "engine/run/runs.h"
#include "project/files/password.h"

namespace tenon::cli {
namespace {

struct Options {
  std::string run;
  std::string folder;
  bool force = false;
};

bool IsHash(std::string_view word) {
  return word.size() >= 40 && word.size() <= 64 &&
         word.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

Result<journal::RunView> WhatToRestore(Session& session, engine::Context& context,
                                       const std::string& word) {
  if (!IsHash(word)) {
    TENON_TRY(const std::string run_id, session.ResolveRun(word));
    return engine::GetRun(context, run_id);
  }
  journal::RunView snapshot;  // without a run: made by `snapshot` or an earlier `restore`
  TENON_TRY(snapshot.spec.kept_tree, engine::ResolveTree(context, word));
  return snapshot;
}

// The folder that was given, else the project's root.
Result<std::string> FolderFor(Session& session, const journal::RunView& run,
                              const std::string& given) {
  if (!given.empty()) {
    TENON_TRY(const std::string current, CurrentFolder());
    return JoinPath(current, given);
  }
  TENON_TRY(const auto project, session.FindProject());
  if (!project) {
    return Invalid("this is no project's folder, so it is not known where the files belong")
        .WithHint("name a folder: tenon restore RUN DIR");
  }
  if (!run.spec.project_id.empty() && run.spec.project_id != project->id) {
    return Invalid("the run " + run.spec.id + " belongs to the project " +
                   OneLine(run.spec.project) + ", not to " + OneLine(project->name))
        .WithHint("name a folder: tenon restore RUN DIR");
  }
  return project->root;
}

void PrintRestored(const Session& session, const engine::Restored& restored,
                   const std::string& folder) {
  if (session.WantsJson()) {
    json::Array written;
    for (const std::string& path : restored.written) written.emplace_back(json::EncodeBytes(path));
    json::Object object{{"folder", json::EncodeBytes(folder)}, {"written", std::move(written)}};
    object["saved_snapshot"] =
        restored.saved_tree.empty() ? json::Value(nullptr) : json::Value(restored.saved_tree);
    PrintListing(session, object, Table({}));
    return;
  }
  for (const std::string& path : restored.written) PrintOut(OneLine(path) + "\n");
  FlushOut();
  PrintErr(restored.written.empty() ? "nothing to do: every file is as it was\n"
                                    : Count(restored.written.size(), "file", "files") +
                                          " written to " + OneLine(folder) + "\n");
  if (!restored.saved_tree.empty()) {
    PrintErr("what was there before is kept for 30 days: tenon restore " + restored.saved_tree +
             " DIR\n");
  }
}

Result<int> Act(Session& session, const Options& options) {
  if (options.run.empty()) {
    return Invalid("which run?").WithHint("--run-id RUN names it; `tenon runs` lists them");
  }
  TENON_TRY(engine::Context * context, session.Context());
  TENON_TRY(const journal::RunView run, WhatToRestore(session, *context, options.run));
  engine::RestoreOptions restore;
  TENON_TRY(restore.folder, FolderFor(session, run, options.folder));
  restore.force = options.force;
  restore.merge_compute = project::KeepPasswordLine;
  engine::ProjectFolder present{restore.folder, project::RedactPassword};
  if (IsDirectory(restore.folder)) restore.present = &present;
  TENON_TRY(const engine::Restored restored, engine::Restore(*context, run, restore));
  PrintRestored(session, restored, restore.folder);
  return 0;
}

}  // namespace

Command RestoreCommand() {
  return {{{"restore"}, {"project", "restore"}},
          "Bring a run's files back as they were when it was submitted",
          "Into the project's folder, or into DIR (made if needed). Files the run did not have are "
          "left "
          "alone. Files that have changed since are overwritten only with --force, and a snapshot "
          "of what "
          "was there is taken first; its hash is accepted in place of RUN.",
          {"tenon restore 12", "tenon restore last ../as-it-was", "tenon restore 12 --force",
           "tenon project restore --run-id 12"},
          [](OptionTable& table, const std::vector<std::string>& words) -> Action {
            auto options = std::make_shared<Options>();
            const char* about =
                "The run: id, number, beginning of an id, or `last`; or a snapshot's hash";
            if (words.size() > 1) {  // the Workbench's form: always the whole project folder
              table.Add("--run-id", &options->run, about).Type("RUN");
            } else {
              table.Add("RUN", &options->run, about).Required();
              table.Add("DIR", &options->folder, "Where to (the project's folder)");
            }
            table.Flag("--force", &options->force, "Overwrite files that have changed since");
            return [options](Session& session) { return Act(session, *options); };
          }};
}

}  // namespace tenon::cli
