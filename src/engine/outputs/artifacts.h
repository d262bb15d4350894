// SPDX-License-Identifier: Apache-2.0
// What a run has left: its logs and outputs, under the names that the Workbench gave them.
#ifndef TENON_ENGINE_OUTPUTS_ARTIFACTS_H_
#define TENON_ENGINE_OUTPUTS_ARTIFACTS_H_

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "engine/context.h"
#include "journal/fold.h"

namespace tenon::engine {

// The names of all artifacts: control_log, control_log.txt, driver_log, driver_log.txt, pid.txt,
// outputs/…
std::vector<std::string> ArtifactNames(const journal::RunView& run);

// The kNotFound Error for an artifact that the run does not have; its hint names those it has.
Error NoSuchArtifact(const journal::RunView& run, std::string_view name);

// The bytes of one artifact, in pieces. kNotFound with what there is.
//   driver_log   the script's standard output       control_log  our steps and notices, a line each
//   pid.txt      the script's process number        outputs/…    a collected file
// A leading "./" is accepted.
Status ReadArtifact(Context& context, const journal::RunView& run, std::string_view name,
                    const std::function<Status(std::string_view)>& sink);

struct DownloadOptions {
  std::string folder = {};  // made if needed
  std::string only = {};    // one artifact; "" = all
  bool overwrite = false;
  // The folder holds a project. Then only artifacts below outputs/ are written, and no file or
  // folder whose name begins with a dot, unless it is asked for by name or with `dot_files`.
  bool holds_project = false;
  bool dot_files = false;
};
struct Downloaded {
  std::vector<std::string> written;    // paths
  std::vector<std::string> logs_left;  // not written, because the folder holds a project
  std::vector<std::string> dots_left;
};
// Writes artifacts below the folder under their names; follows no symlink in the folder. Fails with
// kInvalid, naming it, when an artifact exists already, unless `overwrite`; then nothing has been
// written. Fails with kCorrupt when two of the names cannot both be files.
Result<Downloaded> DownloadArtifacts(Context& context, const journal::RunView& run,
                                     const DownloadOptions& options);

// The exact bytes that the script printed (masked), from the journal.
Status ReadOutput(Context& context, const std::string& run_id, bool want_stdout, bool want_stderr,
                  const std::function<Status(run::Stream, std::string_view)>& sink);

}  // namespace tenon::engine

#endif  // TENON_ENGINE_OUTPUTS_ARTIFACTS_H_
