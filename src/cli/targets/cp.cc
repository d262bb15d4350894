// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <optional>

#include "base/file.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/parse/options.h"
#include "cli/print/print.h"
#include "cli/print/terminal_reporter.h"
#include "cli/projects/config_files.h"
#include "cli/targets/host_name.h"
#include "engine/data/data.h"
#include "engine/host/machine.h"
#include "engine/run/runs.h"
#include "run/layout.h"

namespace tenon::cli {
namespace {

// The side of a copy that is in a run or on a machine.
struct There {
  engine::Machine* machine = nullptr;
  std::string path;  // on that machine; a relative path is below the home there
  std::string root;  // folder that the copy must not leave; "": none
  std::string name;  // name of the copy if `path` ends without a name
};

// Splits "NAME:PATH". nullopt if there is no colon, or a slash before it.
std::optional<std::pair<std::string, std::string>> SplitName(const std::string& word) {
  const size_t colon = word.find(':');
  if (colon == std::string::npos || colon == 0 || word.find('/') < colon) return std::nullopt;
  return std::make_pair(word.substr(0, colon), word.substr(colon + 1));
}

std::string WithoutSlashes(std::string path) {
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  return path;
}

Status CheckInRun(const std::string& path) {
  if (path.empty() || path == ".") return {};
  for (const std::string& part : Split(path, '/')) {
    if (part == ".." || path.starts_with('/')) {
      return Invalid("`" + OneLine(path) + "` leads out of the run's folder")
          .WithHint("name a path below the working directory, or a target: TARGET:PATH");
    }
  }
  return {};
}

Result<There> InRun(Session& session, const std::string& run, const std::string& path) {
  TENON_TRY_VOID(CheckInRun(path));
  TENON_TRY(const std::string run_id, session.ResolveRun(run));
  TENON_TRY(engine::Context * context, session.Context());
  TENON_TRY(const std::string host, engine::HostOfRun(*context, run_id));
  There there;
  TENON_TRY(there.machine, context->At(host));
  there.root = run::RunFolder(there.machine->home(), run_id).work();
  there.path = path.empty() || path == "." ? there.root : JoinPath(there.root, path);
  there.name = run_id;
  TENON_TRY(const auto kind, there.machine->files().KindOf(there.root));
  if (kind != engine::PathKind::kFolder) {
    return NotFound("the working directory of " + run_id + " is not there")
        .WithHint(
            "it is removed after success unless `submit --keep` is given; outputs are kept: "
            "`tenon history download -r " +
            run_id + " -d DIR`");
  }
  return there;
}

// Whether the name is certainly a run: a number, a whole id or `last`. The beginning of an id may
// also be the name of a machine.
bool NamesRun(Session& session, const std::string& name) {
  const auto run_id = session.ResolveRun(name);
  if (!run_id.ok()) return false;
  return name == *run_id || name == "last" ||
         name.find_first_not_of("0123456789") == std::string::npos;
}

// Finds what the name means: a certain run, else a machine, else a run by the beginning of its id.
Result<There> Understand(Session& session, const std::string& name, const std::string& path) {
  if (NamesRun(session, name)) return InRun(session, name, path);
  auto host = FindHost(session, name);
  if (!host.ok()) {
    if (host.error().kind == ErrorKind::kDenied) return std::move(host).error();
    auto in_run = InRun(session, name, path);
    if (in_run.ok() || in_run.error().kind != ErrorKind::kNotFound) return in_run;
    if (session.ResolveRun(name).ok()) return in_run;
    if (host.error().kind == ErrorKind::kInvalid) return std::move(host).error();
    return NotFound("`" + OneLine(name) + "` is neither a machine nor a run")
        .WithHint("`tenon host list` and `tenon runs` show what there is");
  }
  TENON_TRY(engine::Context * context, session.Context());
  There there;
  TENON_TRY(there.machine, context->At(host->id));
  there.path = path.empty() ? "." : path;
  there.name = host->target;
  return there;
}

std::string NameOf(const std::string& path, const std::string& otherwise) {
  const std::string name(BaseName(WithoutSlashes(path)));
  return name.empty() || name == "." || name == ".." || name == "~" || name == "/" ? otherwise
                                                                                   : name;
}

Result<engine::Moved> Upload(Session& session, const std::string& source, const There& to,
                             engine::Reporter& reporter) {
  TENON_TRY(engine::Context * context, session.Context());
  TENON_TRY(const engine::DataScan data, engine::ScanHere(*context, source, reporter));
  TENON_TRY(const auto kind, to.machine->files().KindOf(to.path));
  const std::string own = data.is_file ? data.set.files.front().path : NameOf(data.root, "copy");
  std::string target = WithoutSlashes(to.path);
  if (kind == engine::PathKind::kFolder || to.path.ends_with('/')) target = JoinPath(target, own);
  if (data.set.files.empty()) return Invalid(OneLine(source) + " has no files to copy");
  if (!data.is_file && kind == engine::PathKind::kFile) {
    return Invalid("a folder cannot be copied onto a file");
  }
  if (!to.root.empty()) {
    // No symlink below the run's folder is followed.
    return engine::CopyThere(*to.machine, data, to.root, target.substr(to.root.size() + 1),
                             reporter);
  }
  if (!data.is_file) return engine::CopyThere(*to.machine, data, target, "", reporter);
  return engine::CopyThere(*to.machine, data, DirName(target), std::string(BaseName(target)),
                           reporter);
}

Result<engine::Moved> Download(const There& from, const std::string& to,
                               engine::Reporter& reporter) {
  std::string target = WithoutSlashes(to);
  if (IsDirectory(target) || to.ends_with('/')) {
    target = JoinPath(target, NameOf(from.path, from.name));
  }
  if (!target.starts_with('/')) {
    TENON_TRY(const std::string cwd, CurrentFolder());
    target = JoinPath(cwd, target);
  }
  return engine::CopyHere(*from.machine, WithoutSlashes(from.path), target,
                          /*into_folder=*/false, reporter);
}

Result<int> Act(Session& session, const std::string& source, const std::string& destination) {
  const auto from = SplitName(source), to = SplitName(destination);
  if (from.has_value() == to.has_value()) {
    return Invalid(from ? "one side must be a path here"
                        : "one side must be RUN:PATH or TARGET:PATH")
        .WithHint(
            "`tenon cp last:outputs/model.bin .` copies from a run; a file here whose name "
            "has a colon is written ./NAME");
  }
  engine::Moved moved;
  {
    TerminalReporter reporter({});
    if (from) {
      TENON_TRY(const There there, Understand(session, from->first, from->second));
      TENON_TRY(moved, Download(there, destination, reporter));
    } else {
      TENON_TRY(const There there, Understand(session, to->first, to->second));
      TENON_TRY(moved, Upload(session, source, there, reporter));
    }
  }
  if (session.WantsJson()) {
    PrintValue(session, json::Object{{"files", moved.files},
                                     {"bytes", moved.bytes},
                                     {"sent_files", moved.sent_files},
                                     {"sent_bytes", moved.sent_bytes}});
    return 0;
  }
  PrintErr(Count(moved.files, "file", "files") + ", " + HumanBytes(moved.bytes) +
           (moved.sent_files < moved.files
                ? "; " + std::to_string(moved.files - moved.sent_files) + " there already"
                : "") +
           "\n");
  return 0;
}

}  // namespace

Command CpCommand() {
  return {
      {{"cp"}},
      "Copy files and folders to and from a run's folder or a machine",
      "One side is RUN:PATH (below the run's working directory) or TARGET:PATH (below your home "
      "there, or absolute), the other a path here. Into a folder that is there; else the copy "
      "gets that name. Modes are kept, symlinks to files become files, empty folders are left "
      "out. A file appears whole or not at all, and a copy that was cut off goes on where it "
      "stopped.",
      {"tenon cp last:outputs/model.bin .", "tenon cp 12:logs ~/logs-of-12",
       "tenon cp weights.bin my_dsvm:models/", "tenon cp my_dsvm:results ."},
      [](OptionTable& table, const std::vector<std::string>&) -> Action {
        struct Options {
          std::string source, destination;
        };
        auto options = std::make_shared<Options>();
        table.Add("SRC", &options->source, "What: a path, RUN:PATH or TARGET:PATH").Required();
        table.Add("DST", &options->destination, "Where to").Required();
        return [options](Session& session) {
          return Act(session, options->source, options->destination);
        };
      }};
}

}  // namespace tenon::cli
