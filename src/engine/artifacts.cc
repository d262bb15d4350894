// SPDX-License-Identifier: Apache-2.0
#include "engine/artifacts.h"

#include <fcntl.h>
#include <unistd.h>

#include <set>

#include "base/clock.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/text.h"
#include "engine/fetch.h"
#include "journal/reader.h"
#include "run/layout.h"
#include "snapshot/data_set.h"

namespace tenon::engine {
namespace {

std::string_view WithoutDotSlash(std::string_view name) {
  while (name.starts_with("./")) name.remove_prefix(2);
  return name;
}

// Calls `visit` for every event of a segment.
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
    TENON_TRY(const auto event, run::DecodeEvent(record->type, record->payload));
    if (event) TENON_TRY_VOID(visit(*record, *event));
  }
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
  return FormatUtc(record.time_us) + " " + text + "\n";
}

Status ReadControlLog(Context& context, const journal::RunView& run,
                      const std::function<Status(std::string_view)>& sink) {
  const run::RunFolder folder(context.home, run.spec.id);
  for (const std::string& path :
       {folder.near_segment(run.client), folder.host_segment(), folder.script_segment()}) {
    TENON_TRY_VOID(ForEachEvent(path, [&](const journal::Record& record, const run::Event& event) {
      const std::string line = ControlLine(record, event);
      return line.empty() ? Status() : sink(line);
    }));
  }
  return {};
}

}  // namespace

std::vector<std::string> ArtifactNames(const journal::RunView& run) {
  std::vector<std::string> names = {"control_log", "control_log.txt", "driver_log",
                                    "driver_log.txt", "pid.txt"};
  for (const run::Artifact& artifact : run.artifacts) names.push_back(artifact.path);
  return names;
}

Error NoSuchArtifact(const journal::RunView& run, std::string_view name) {
  const std::vector<std::string> names = ArtifactNames(run);
  auto error = NotFound("the run " + run.spec.id + " has no artifact " + ForTerminal(name));
  if (auto near = DidYouMean(name, names)) {
    return std::move(error).WithHint("did you mean " + ForTerminal(*near) + "?");
  }
  if (run.artifacts.empty() && name.starts_with("outputs")) {
    return std::move(error).WithHint("nothing of outputs/ is on record; `tenon show " +
                                     run.spec.id + "` tells if something went wrong with it");
  }
  return std::move(error).WithHint("it has: " + ForTerminal(Join(names, ", ")));
}

Status ReadOutput(Context& context, const std::string& run_id, bool want_stdout, bool want_stderr,
                  const std::function<Status(run::Stream, std::string_view)>& sink) {
  const run::RunFolder folder(context.home, run_id);
  // The script's output lies in one of them, by whoever started it.
  for (const std::string& path : {folder.host_segment(), folder.script_segment()}) {
    TENON_TRY_VOID(ForEachEvent(path, [&](const journal::Record&, const run::Event& event) {
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
    if (!run.spec.host.empty() && !objects->Has(*hash)) {
      Reporter silent;
      TENON_TRY(const Place far, context.At(run.spec.host));
      TENON_TRY_VOID(FetchObjects(context, far, {{*hash, artifact.size}}, artifact.path, silent));
    }
    return objects->ReadTo(*hash, sink);
  }
  return NoSuchArtifact(run, name);
}

Result<std::vector<std::string>> DownloadArtifacts(Context& context, const journal::RunView& run,
                                                   const std::string& only,
                                                   const std::string& folder, bool overwrite) {
  std::vector<std::string> names;
  if (only.empty()) {
    names = ArtifactNames(run);
  } else {
    names.emplace_back(WithoutDotSlash(only));
    // Asks for it first, so that a wrong name makes no folder.
    const std::vector<std::string> all = ArtifactNames(run);
    if (std::set<std::string>(all.begin(), all.end()).count(names.front()) == 0) {
      TENON_TRY_VOID(ReadArtifact(context, run, only, [](std::string_view) { return Status(); }));
    }
  }
  for (const std::string& name : names) {
    // They come from the machine the run was on.
    if (!snapshot::CheckDataPath(name).ok()) {
      return Corrupt("the run " + run.spec.id +
                     " names an artifact that leads out of the folder: " + ForTerminal(name));
    }
    const std::string path = JoinPath(folder, name);
    if (!overwrite && Exists(path)) {
      return Invalid(path + " is there already").WithHint("--overwrite replaces it");
    }
  }
  std::vector<std::string> written;
  for (const std::string& name : names) {
    const std::string path = JoinPath(folder, name);
    TENON_TRY_VOID(MakeDirs(DirName(path)));
    const std::string temporary = JoinPath(DirName(path), ".tenon-tmp-" + RandomHex(8));
    auto status = [&]() -> Status {
      TENON_TRY(auto fd, OpenFile(temporary, O_WRONLY | O_CREAT | O_EXCL, 0666));
      TENON_TRY_VOID(ReadArtifact(
          context, run, name, [&](std::string_view bytes) { return WriteAll(fd.get(), bytes); }));
      return RenameFile(temporary, path);
    }();
    if (!status.ok()) {
      (void)RemoveFile(temporary);
      return std::move(status).error();
    }
    written.push_back(path);
  }
  return written;
}

}  // namespace tenon::engine
