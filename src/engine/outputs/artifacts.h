// SPDX-License-Identifier: Apache-2.0
// What a run has left: its logs and outputs under the names the Workbench gave them.
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

// Every artifact's name: control_log, control_log.txt, driver_log, driver_log.txt, pid.txt,
// outputs/…
std::vector<std::string> ArtifactNames(const journal::RunView& run);

// kNotFound for an artifact that the run has not, with what it has.
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
  // The folder holds a project: it gets nothing but what goes below its outputs/, and of that no
  // file or folder whose name begins with a dot, unless it is asked for by name or with
  // `dot_files`.
  bool holds_project = false;
  bool dot_files = false;
};
struct Downloaded {
  std::vector<std::string> written;    // paths
  std::vector<std::string> logs_left;  // names that a project's folder does not get
  std::vector<std::string> dots_left;
};
// Writes artifacts below the folder under their names, through no symlink that lies there. One that
// is there already is kInvalid naming it unless `overwrite`; then nothing has been written.
// kCorrupt: two of the names cannot both be files.
Result<Downloaded> DownloadArtifacts(Context& context, const journal::RunView& run,
                                     const DownloadOptions& options);

// The script's exact (masked) bytes, from the journal. `streams`: which of the two.
Status ReadOutput(Context& context, const std::string& run_id, bool want_stdout, bool want_stderr,
                  const std::function<Status(run::Stream, std::string_view)>& sink);

}  // namespace tenon::engine

#endif  // TENON_ENGINE_OUTPUTS_ARTIFACTS_H_
