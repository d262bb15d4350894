// SPDX-License-Identifier: Apache-2.0
#include "engine/outputs/artifacts.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <span>
#include <unordered_set>

#include "base/below.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/text.h"
#include "engine/host/machine.h"
#include "journal/reader.h"
#include "journal/segments.h"
#include "run/artifact_name.h"
#include "run/layout.h"

namespace tenon::engine {
namespace {

std::string_view WithoutDotSlash(std::string_view name) {
  while (name.starts_with("./")) name.remove_prefix(2);
  return name;
}

constexpr size_t kNamesShown = 20;

// Calls `visit` for every event of a segment. Skips a record that can't be decoded; the fold of the
// run reports it.
Status ForEachEvent(const std::string& path,
                    const std::function<Status(const journal::Record&, const run::Event&)>& visit) {
  auto reader = journal::Reader::Open(path);
  if (!reader.ok()) {
    return reader.error().kind == ErrorKind::kNotFound ? Status()
                                                       : Status(std::move(reader).error());
  }
  while (true) {
    TENON_TRY(auto record, reader->Next());
    if (!record) return {};
    const auto event = run::DecodeEvent(record->type, record->payload);
    if (event.ok() && *event) TENON_TRY_VOID(visit(*record, **event));
  }
}

// Words of a host or a tool as log text. The indent keeps a second line from looking like a record
// of its own.
std::string Entry(std::string_view words) {
  constexpr size_t kMost = 64u << 10;
  std::string text;
  for (const char c : ForTerminal(words.substr(0, kMost))) {
    text += c;
    if (c == '\n') text += "  ";
  }
  if (words.size() > kMost) text += "… [cut, " + std::to_string(words.size()) + " bytes]";
  return text;
}

std::string ControlLine(const journal::Record& record, const run::Event& event) {
  std::string text;
  if (const auto* step = std::get_if<run::Step>(&event)) {
    text = step->name + ": " + HumanDuration(step->duration_us);
    if (!step->detail.empty()) text += " (" + step->detail + ")";
  } else if (const auto* state = std::get_if<run::StateChange>(&event)) {
    text = std::string(run::StateName(state->state));
    if (!state->reason.empty()) text += ": " + state->reason;
  } else if (const auto* notice = std::get_if<run::Notice>(&event)) {
    text = notice->text;
    if (!notice->hint.empty()) text += " (" + notice->hint + ")";
  } else if (const auto* gap = std::get_if<run::Gap>(&event)) {
    text = "recording stopped for a while (" + gap->reason +
           "): " + HumanBytes(gap->stdout_bytes + gap->stderr_bytes) + " of output and " +
           Count(gap->records, "record", "records") + " were lost";
  } else if (const auto* end = std::get_if<run::End>(&event)) {
    text = std::string(run::StateName(end->state));
    if (end->exit_code) text += ", exit code " + std::to_string(*end->exit_code);
    if (!end->reason.empty()) text += ": " + end->reason;
    if (end->proof) {
      text += "; processes ended " + std::to_string(end->proof->ended) + ", left " +
              std::to_string(end->proof->left) + " (" + end->proof->method + ")";
      if (!end->proof->remark.empty()) text += ", " + end->proof->remark;
    }
  } else {
    return "";
  }
  return FormatUtc(record.time_us) + " " + Entry(text) + "\n";
}

Status ReadControlLog(Context& context, const journal::RunView& run,
                      const std::function<Status(std::string_view)>& sink) {
  const run::RunFolder folder(context.home, run.spec.id);
  std::vector<std::string> paths = {folder.near_segment(run.client)};
  for (const std::string& name : journal::FarSegments(folder))
    paths.push_back(folder.segment(name));
  for (const std::string& path : paths) {
    TENON_TRY_VOID(ForEachEvent(path, [&](const journal::Record& record, const run::Event& event) {
      const std::string line = ControlLine(record, event);
      return line.empty() ? Status() : sink(line);
    }));
  }
  return {};
}

// Returns the artifacts to write. Adds to `done` those that a project's folder does not get.
Result<std::vector<std::string>> NamesToWrite(Context& context, const journal::RunView& run,
                                              const DownloadOptions& options, Downloaded* done) {
  const std::vector<std::string> all = ArtifactNames(run);
  // The fold drops names that no runner uses; this checks it again.
  for (const std::string& name : all) {
    TENON_EXPECT_PEER(
        run::IsArtifactName(name),
        "the run " + run.spec.id + " names an artifact as no runner does: " + ForTerminal(name));
  }
  std::vector<std::string> names;
  if (!options.only.empty()) {
    const std::string name(WithoutDotSlash(options.only));
    // Looked up before the folder is made, so that a wrong name makes no folder.
    if (std::ranges::find(all, name) == all.end()) {
      TENON_TRY_VOID(ReadArtifact(context, run, name, [](std::string_view) { return Status(); }));
    }
    if (options.holds_project && !run::IsOutputName(name)) {
      return Invalid(ForTerminal(options.folder) +
                     " holds a project, in which only outputs/ is written to")
          .WithHint("give another folder, for example -d " +
                    ShellQuote(JoinPath(options.folder, "outputs")));
    }
    names.push_back(name);
    return names;
  }
  for (const std::string& name : all) {
    if (options.holds_project && !run::IsOutputName(name)) {
      done->logs_left.push_back(name);
    } else if (options.holds_project && !options.dot_files && run::HasDotPart(name)) {
      done->dots_left.push_back(name);
    } else {
      names.push_back(name);
    }
  }
  return names;
}

// With files outputs/a and outputs/a/b, the first would have to be a folder, too.
Status CheckClashes(const journal::RunView& run, const std::vector<std::string>& names) {
  const std::unordered_set<std::string_view> files(names.begin(), names.end());
  for (const std::string_view name : names) {
    for (size_t slash = name.rfind('/'); slash != std::string_view::npos && slash > 0;
         slash = name.rfind('/', slash - 1)) {
      if (!files.contains(name.substr(0, slash))) continue;
      return Corrupt("the run " + run.spec.id + " names both " +
                     ForTerminal(name.substr(0, slash)) + " and " + ForTerminal(name) + " as files")
          .WithHint("--artifact takes one of them");
    }
  }
  return {};
}

Error InTheWay(const std::string& path) {
  return Invalid(ForTerminal(path) + ": a folder above it is a symlink or a file here")
      .WithHint("give another folder with -d");
}

// Whether the artifact can be written below the open folder.
Status CheckPlace(int root, const std::string& name, const DownloadOptions& options) {
  const std::string path = JoinPath(options.folder, name);
  const UniqueFd parent = OpenParentBelow(root, name, /*make=*/false);
  if (!parent.valid()) {
    if (errno == ENOENT) return {};
    if (errno == ELOOP || errno == ENOTDIR) return InTheWay(path);
    return FromErrno("look at " + ForTerminal(path), errno);
  }
  struct stat info;
  const std::string leaf(BaseName(name));
  if (::fstatat(parent.get(), leaf.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) {
    return errno == ENOENT ? Status() : Status(FromErrno("look at " + ForTerminal(path), errno));
  }
  if (S_ISDIR(info.st_mode)) {
    return Invalid(ForTerminal(path) + " is a folder here").WithHint("move it away");
  }
  if (options.overwrite) return {};
  return Invalid(ForTerminal(path) + " is there already").WithHint("--overwrite replaces it");
}

Status WriteArtifact(Context& context, const journal::RunView& run, int root,
                     const std::string& name, const DownloadOptions& options) {
  auto written = WriteFileBelow(root, name, options.overwrite, [&](int fd) {
    return ReadArtifact(context, run, name,
                        [fd](std::string_view bytes) { return WriteAll(fd, bytes); });
  });
  if (written.ok()) return {};
  return std::move(written).error().Wrap("write " + ForTerminal(JoinPath(options.folder, name)));
}

}  // namespace

std::vector<std::string> ArtifactNames(const journal::RunView& run) {
  const auto made_here = run::ArtifactsMadeHere();
  std::vector<std::string> names(made_here.begin(), made_here.end());
  for (const run::Artifact& artifact : run.artifacts) names.push_back(artifact.path);
  return names;
}

Error NoSuchArtifact(const journal::RunView& run, std::string_view name) {
  const std::vector<std::string> names = ArtifactNames(run);
  auto error = NotFound("the run " + run.spec.id + " has no artifact " + ForTerminal(name));
  if (auto near = DidYouMean(name, names)) {
    return std::move(error).WithHint("did you mean " + ForTerminal(*near) + "?");
  }
  if (run.outputs_left && name.starts_with("outputs")) {
    return std::move(error).WithHint("not all of its outputs are collected: tenon runs collect " +
                                     run.spec.id);
  }
  if (run.artifacts.empty() && name.starts_with("outputs")) {
    return std::move(error).WithHint("nothing of outputs/ is on record; `tenon show " +
                                     run.spec.id + "` tells if something went wrong with it");
  }
  const size_t shown = std::min(names.size(), kNamesShown);
  return std::move(error).WithHint(
      "it has: " + ForTerminal(Join(std::span(names).first(shown), ", ")) +
      (shown < names.size() ? ", …" : ""));
}

Status ReadOutput(Context& context, const std::string& run_id, bool want_stdout, bool want_stderr,
                  const std::function<Status(run::Stream, std::string_view)>& sink) {
  const run::RunFolder folder(context.home, run_id);
  // The script's output is in the segment of the runner that started the script, so all are read.
  for (const std::string& name : journal::FarSegments(folder)) {
    TENON_TRY_VOID(
        ForEachEvent(folder.segment(name), [&](const journal::Record&, const run::Event& event) {
          const auto* output = std::get_if<run::Output>(&event);
          if (!output) return Status();
          const bool wanted = output->stream == run::Stream::kStdout ? want_stdout : want_stderr;
          return wanted ? sink(output->stream, output->bytes) : Status();
        }));
  }
  return {};
}

Status ReadArtifact(Context& context, const journal::RunView& run, std::string_view name,
                    const std::function<Status(std::string_view)>& sink) {
  name = WithoutDotSlash(name);
  if (name == "driver_log" || name == "driver_log.txt") {
    return ReadOutput(context, run.spec.id, true, false,
                      [&](run::Stream, std::string_view bytes) { return sink(bytes); });
  }
  if (name == "control_log" || name == "control_log.txt") return ReadControlLog(context, run, sink);
  if (name == "pid.txt") {
    return run.script ? sink(std::to_string(run.script->process.pid) + "\n") : Status();
  }
  for (const run::Artifact& artifact : run.artifacts) {
    if (artifact.path != name) continue;
    const auto hash = Hash::FromHex(artifact.hash);
    TENON_EXPECT_PEER(hash.has_value(), "the record of " + artifact.path + " has no valid hash");
    TENON_TRY(snapshot::ObjectStore * objects, context.Objects());
    if (!objects->Has(*hash)) {
      Reporter silent;
      TENON_TRY(Machine * machine, context.At(run.spec.host));
      TENON_TRY_VOID(machine->runs().FetchObjects({{*hash, artifact.size}}, artifact.path, silent));
    }
    return objects->ReadTo(*hash, sink);
  }
  return NoSuchArtifact(run, name);
}

Result<Downloaded> DownloadArtifacts(Context& context, const journal::RunView& run,
                                     const DownloadOptions& options) {
  Downloaded done;
  TENON_TRY(const std::vector<std::string> names, NamesToWrite(context, run, options, &done));
  TENON_TRY_VOID(CheckClashes(run, names));
  if (Exists(options.folder)) {
    TENON_TRY(const UniqueFd root, OpenFile(options.folder, O_RDONLY | O_DIRECTORY));
    for (const std::string& name : names) TENON_TRY_VOID(CheckPlace(root.get(), name, options));
  }
  // After this nothing is known to prevent the writing.
  TENON_TRY_VOID(MakeDirs(options.folder));
  TENON_TRY(const UniqueFd root, OpenFile(options.folder, O_RDONLY | O_DIRECTORY));
  for (const std::string& name : names) {
    TENON_TRY_VOID(WriteArtifact(context, run, root.get(), name, options));
    done.written.push_back(JoinPath(options.folder, name));
  }
  return done;
}

}  // namespace tenon::engine
