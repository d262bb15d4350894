// SPDX-License-Identifier: Apache-2.0
#include "runner/collect.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <variant>

#include "base/clock.h"
#include "base/file.h"
#include "base/text.h"
#include "runner/output_links.h"
#include "snapshot/freeze.h"
#include "snapshot/object_store.h"
#include "snapshot/unpack.h"

namespace tenon::runner {
namespace {

// Per record; the bytes bound a record also when every name has to be escaped.
constexpr size_t kFilesPerRecord = 1000;
constexpr size_t kPathBytesPerRecord = 128u << 10;

class ArtifactWriter {
 public:
  explicit ArtifactWriter(Recorder& recorder) : recorder_(recorder) {}

  void Add(const snapshot::Entry& entry) {
    if (entry.type != snapshot::EntryType::kFile) return;
    batch_.files.push_back({"outputs/" + entry.path, entry.size, entry.hash.Hex(), entry.mode});
    path_bytes_ += entry.path.size();
    if (batch_.files.size() == kFilesPerRecord || path_bytes_ >= kPathBytesPerRecord) Flush();
  }
  bool Finish(const Hash& root) {
    batch_.tree = root.Hex();
    Flush();
    return ok_;
  }

 private:
  void Flush() {
    ok_ = recorder_.Append(std::move(batch_)) && ok_;
    batch_ = {};
    path_bytes_ = 0;
  }

  Recorder& recorder_;
  run::Artifacts batch_;
  size_t path_bytes_ = 0;
  bool ok_ = true;
};

// As a line of an ignore file that means this path alone.
std::string PatternOf(const std::string& path) {
  std::string pattern = "/";
  for (const char c : path) {
    if (std::strchr("*?[]\\!# ", c) != nullptr) pattern += '\\';
    pattern += c;
  }
  return pattern;
}

// Makes what lies in the folder `below` of `root`, and deeper, readable for us as far as it is ours
// to do so. Adds the paths of the rest, from `root` on, to `unreadable`.
void MakeReadable(const std::string& root, const std::string& below,
                  std::vector<std::string>* unreadable) {
  for (const std::string& name : ListDir(JoinPath(root, below)).value_or({})) {
    const std::string path = below.empty() ? name : below + "/" + name;
    const std::string whole = JoinPath(root, path);
    struct stat info;
    if (::lstat(whole.c_str(), &info) != 0 || !(S_ISREG(info.st_mode) || S_ISDIR(info.st_mode))) {
      continue;
    }
    const bool folder = S_ISDIR(info.st_mode);
    const mode_t needed = folder ? S_IRUSR | S_IXUSR : S_IRUSR;
    const int asked = folder ? R_OK | X_OK : R_OK;
    if (::access(whole.c_str(), asked) != 0) {
      (void)::chmod(whole.c_str(), (info.st_mode & 07777) | needed);
      if (::access(whole.c_str(), asked) != 0) {
        unreadable->push_back(path);
        continue;
      }
    }
    if (folder) MakeReadable(root, path, unreadable);
  }
}

std::string SomeOf(const std::vector<std::string>& paths) {
  constexpr size_t kShown = 20;
  const size_t shown = std::min(kShown, paths.size());
  const std::vector<std::string> some(paths.begin(), paths.begin() + static_cast<long>(shown));
  return Join(some, ", ") + (shown < paths.size() ? ", …" : "");
}

Status Collect(const RunName& run, Recorder& recorder) {
  int64_t begin = SystemClock().MonotonicUs();
  TENON_TRY(auto store, snapshot::ObjectStore::Open(run::Home(run.home).objects()));
  snapshot::FreezeOptions options;
  options.folder = run.Folder().outputs();
  const std::vector<std::string> links = ResolveLinks(run.Folder().work(), options.folder);
  for (const std::string& path : links) options.always_ignored.push_back(PatternOf(path));
  auto taken = snapshot::Freeze(store, options);
  std::vector<std::string> unreadable;
  if (!taken.ok() && taken.error().kind == ErrorKind::kDenied) {
    MakeReadable(options.folder, "", &unreadable);
    for (const std::string& path : unreadable) options.always_ignored.push_back(PatternOf(path));
    taken = snapshot::Freeze(store, options);
  }
  TENON_TRY(const snapshot::Frozen frozen, std::move(taken));
  ArtifactWriter writer(recorder);
  TENON_TRY_VOID(snapshot::Walk(store, frozen.root, [&](const snapshot::Entry& entry) -> Status {
    writer.Add(entry);
    return {};
  }));
  if (!writer.Finish(frozen.root)) return Unavailable("the journal did not take their list");
  run::Step step;
  step.name = "collect outputs";
  step.duration_us = SystemClock().MonotonicUs() - begin;
  step.detail = Count(frozen.files, "file", "files") + ", " + HumanBytes(frozen.bytes);
  recorder.Append(std::move(step));
  if (!frozen.skipped.empty()) {
    recorder.Append(run::Notice{
        run::Level::kInfo,
        Count(frozen.skipped.size(), "socket, pipe or device", "sockets, pipes or devices") +
            " in outputs/ were left out",
        ""});
  }
  if (!links.empty()) {
    recorder.Append(run::Notice{
        run::Level::kWarning,
        "left out of the outputs, because they are symlinks that lead out of the run's folder or "
        "nowhere: " +
            SomeOf(links),
        ""});
  }
  if (!unreadable.empty()) {
    recorder.Append(run::Notice{
        run::Level::kWarning,
        "left out of the outputs, because they can't be read: " + SomeOf(unreadable), ""});
  }
  return {};
}

// Removes the points with text from the blocks; how many.
uint64_t DropText(std::vector<run::MetricBlock>& blocks) {
  uint64_t dropped = 0;
  for (run::MetricBlock& block : blocks) {
    dropped += std::erase_if(block.points, [](const run::MetricPoint& point) {
      return std::holds_alternative<std::string>(point.value);
    });
  }
  std::erase_if(blocks, [](const run::MetricBlock& block) { return block.points.empty(); });
  return dropped;
}

}  // namespace

bool CollectOutputs(const RunName& run, Recorder& recorder) {
  std::string outputs = run.Folder().outputs();
  auto names = ListDir(outputs);
  if (!names.ok() && names.error().kind == ErrorKind::kNotFound) return true;
  if (names.ok() && names->empty()) return true;
  auto collected = names.ok() ? Collect(run, recorder) : Status(std::move(names).error());
  if (collected.ok()) return true;
  recorder.Append(run::Notice{run::Level::kError,
                              "the outputs could not be collected: " + collected.error().message,
                              "they are kept in " + outputs});
  return false;
}

std::string OutputsAreKept(const RunName& run) {
  return "the outputs could not be collected; they are kept in " + run.Folder().outputs();
}

bool CollectMetrics(MetricFiles& files, Recorder& recorder, bool keep_text) {
  uint64_t dropped = 0;
  bool complete = true;
  for (bool more = true; more && complete;) {
    auto round = files.Poll(MetricFiles::Phase::kOver);
    if (!round.ok()) {
      recorder.Append(run::Notice{run::Level::kError,
                                  "metrics could not be read: " + round.error().message, ""});
      return false;
    }
    for (std::string& text : round->notices) {
      recorder.Append(run::Notice{run::Level::kWarning, std::move(text), ""});
    }
    if (!keep_text) dropped += DropText(round->blocks);
    complete = recorder.AppendMetrics(std::move(round->blocks));
    if (complete) files.Commit();
    if (!complete) {
      recorder.Append(run::Notice{run::Level::kError,
                                  "not all metrics could be recorded: there is no space left", ""});
    }
    more = round->more;
  }
  if (dropped > 0) {
    recorder.Append(run::Notice{run::Level::kWarning,
                                Count(dropped, "logged text was", "logged texts were") +
                                    " dropped: the run has secrets, and without the runner that "
                                    "knew them they can't be masked",
                                ""});
  }
  return complete;
}

bool TakeMetricsAfter(const run::RunFolder& folder, const MetricPositions& journaled,
                      const run::RunSpec& spec, Recorder& recorder) {
  if (!IsDirectory(folder.metrics())) return true;
  auto files = MetricFiles::Open(folder.metrics(), journaled);
  if (files.ok()) return CollectMetrics(*files, recorder, spec.secret_names.empty());
  recorder.Append(
      run::Notice{run::Level::kError, "metrics could not be read: " + files.error().message, ""});
  return false;
}

}  // namespace tenon::runner
