// SPDX-License-Identifier: Apache-2.0
#include "runner/supervise/collect.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <variant>

#include "base/clock.h"
#include "base/file.h"
#include "base/text.h"
#include "runner/supervise/output_links.h"
#include "snapshot/data/data_folder.h"
#include "snapshot/freeze/freeze.h"
#include "snapshot/freeze/ignore.h"
#include "snapshot/freeze/unpack.h"
#include "snapshot/store/object_store.h"

namespace tenon::runner {
namespace {

// Limits of one record. The limit on bytes holds even if every name has to be escaped.
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
  bool Finish(const Hash& root, uint64_t left) {
    batch_.tree = root.Hex();
    batch_.left = left;
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

// Makes everything below the folder `below` of `root` readable for us, where we may. Adds the paths
// (relative to `root`) of what stays unreadable to `unreadable`.
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

// Lists everything below `folder`, with paths relative to `root`: files in `paths`, folders without
// any files in `empty`.
void ListFiles(const std::string& root, const std::string& folder, std::vector<std::string>* paths,
               std::vector<std::string>* empty) {
  for (const std::string& name : ListDir(JoinPath(root, folder)).value_or({})) {
    const std::string path = folder.empty() ? name : folder + "/" + name;
    struct stat info;
    if (::lstat(JoinPath(root, path).c_str(), &info) != 0) continue;
    if (S_ISDIR(info.st_mode)) {
      const size_t before = paths->size();
      ListFiles(root, path, paths, empty);
      if (paths->size() == before) empty->push_back(path);
    }
    if (S_ISREG(info.st_mode)) paths->push_back(path);
  }
}

// Puts a file under another path below `stage`. A path that is taken gets a number.
Status PutUnder(const std::string& from, const std::string& stage, const std::string& path) {
  constexpr int kTries = 10'000;
  for (int number = 1; number <= kTries; ++number) {
    const std::string to =
        JoinPath(stage, number == 1 ? path : path + "-" + std::to_string(number));
    if (!MakeDirs(DirName(to), 0700).ok() || Exists(to)) continue;
    if (::link(from.c_str(), to.c_str()) == 0) return {};
    if (errno == EEXIST) continue;
    // Linking may fail: the file is another user's, or the file system has no links.
    TENON_TRY(const UniqueFd fd, OpenFile(from, O_RDONLY | O_NOFOLLOW | O_NONBLOCK));
    return snapshot::CopyFile(fd.get(), to, Durability::kProcess);
  }
  return Unavailable("too many outputs have the same name once their secrets are masked");
}

// Returns `outputs` if all names in it may be written down. Otherwise returns a folder beside it
// that has the same files under names that may be; the caller removes it.
Result<std::string> UnderSafeNames(const RunName& run, const std::string& outputs,
                                   std::vector<std::string>* unreadable, SafeNames& names) {
  std::vector<std::string> paths, empty, closed;
  MakeReadable(outputs, "", &closed);
  ListFiles(outputs, "", &paths, &empty);
  bool all_safe = true;
  // The tree of the outputs holds the names of empty folders, too.
  for (const auto* list : {&paths, &empty, &closed}) {
    for (const std::string& path : *list) all_safe = names(path) == path && all_safe;
  }
  if (all_safe) return outputs;
  for (const std::string& path : closed) {
    std::erase(paths, path);
    unreadable->push_back(names(path));
  }
  const std::string stage = run.Folder().path() + "/outputs-renamed";
  TENON_TRY_VOID(RemoveTree(stage));
  TENON_TRY_VOID(MakeDirs(stage, 0700));
  for (const std::string& path : paths) {
    auto put = PutUnder(JoinPath(outputs, path), stage, names(path));
    if (!put.ok()) return std::move(put).error().Wrap("collecting outputs/" + names(path));
  }
  return stage;
}

Result<uint64_t> Collect(const RunName& run, Recorder& recorder, SafeNames& names) {
  int64_t begin = SystemClock().MonotonicUs();
  TENON_TRY(auto store, snapshot::ObjectStore::Open(run::Home(run.home).objects()));
  snapshot::FreezeOptions options;
  options.folder = run.Folder().outputs();
  std::vector<std::string> links = ResolveLinks(run.Folder().work(), options.folder);
  for (const std::string& path : links)
    options.always_ignored.push_back(snapshot::PatternFor(path));
  std::vector<std::string> unreadable;
  if (names.changes_any()) {
    TENON_TRY(options.folder, UnderSafeNames(run, options.folder, &unreadable, names));
  }
  auto taken = snapshot::Freeze(store, options);
  if (!taken.ok() && taken.error().kind == ErrorKind::kDenied) {
    MakeReadable(options.folder, "", &unreadable);
    for (const std::string& path : unreadable)
      options.always_ignored.push_back(snapshot::PatternFor(path));
    taken = snapshot::Freeze(store, options);
  }
  if (options.folder != run.Folder().outputs()) (void)RemoveTree(options.folder).ok();
  TENON_TRY(const snapshot::Frozen frozen, std::move(taken));
  for (std::string& path : links) path = names(path);
  ArtifactWriter writer(recorder);
  TENON_TRY_VOID(snapshot::Walk(store, frozen.root, [&](const snapshot::Entry& entry) -> Status {
    writer.Add(entry);
    return {};
  }));
  if (!writer.Finish(frozen.root, unreadable.size()))
    return Unavailable("the journal did not take their list");
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
    recorder.Append(
        run::Notice{run::Level::kWarning,
                    "left out of the outputs, because they can't be read: " + SomeOf(unreadable),
                    "make them readable on the machine of the run, then `tenon runs collect " +
                        run.run_id + "`"});
  }
  return uint64_t{unreadable.size()};
}

// Removes the points with text from the blocks. Returns how many.
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

Result<uint64_t> TryCollectOutputs(const RunName& run, Recorder& recorder, SafeNames& names,
                                   bool even_none) {
  const std::string outputs = run.Folder().outputs();
  if (const std::string above = LeadsAbove(outputs, run.home); !above.empty()) {
    // Records an empty list, so that no outputs count as left.
    TENON_TRY_VOID(RemoveFile(outputs));
    recorder.Append(run::Notice{run::Level::kWarning,
                                "nothing was collected of outputs/: it is a symlink to " +
                                    (names.know_all() ? above : "a folder above Tenon's own"),
                                ""});
    even_none = true;
  }
  if (even_none) TENON_TRY_VOID(MakeDirs(run.Folder().outputs()));
  const auto listed = ListDir(run.Folder().outputs());
  if (!listed.ok() && listed.error().kind == ErrorKind::kNotFound) return uint64_t{0};
  if (!listed.ok()) return listed.error();
  if (listed->empty() && !even_none) return uint64_t{0};
  return Collect(run, recorder, names);
}

std::string CollectOutputs(const RunName& run, Recorder& recorder, SafeNames& names) {
  const std::string outputs = run.Folder().outputs();
  const auto left = TryCollectOutputs(run, recorder, names);
  if (left.ok() && *left == 0) return "";
  if (left.ok()) {
    return Count(*left, "output could not be read; it is", "outputs could not be read; they are") +
           " kept in " + outputs;
  }
  // The reason names files, and their names may hold a secret.
  const std::string why =
      names.know_all() ? left.error().message : "a secret might be in the reason";
  recorder.Append(run::Notice{
      run::Level::kError, "the outputs could not be collected: " + why,
      "they are kept in " + outputs + "; `tenon runs collect " + run.run_id + "` tries again"});
  return "the outputs could not be collected; they are kept in " + outputs;
}

bool CollectMetrics(MetricFiles& files, Recorder& recorder, bool keep_text) {
  uint64_t dropped = 0, lost = 0;
  bool complete = true;
  for (bool more = true; more;) {
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
    lost += round->dropped;
    uint64_t points = 0, written = 0;
    for (const run::MetricBlock& block : round->blocks) points += block.points.size();
    const bool taken = recorder.AppendMetrics(std::move(round->blocks), &written);
    // Points that the journal did not take are counted, and their files stay where they are.
    lost += points - std::min(points, written);
    if (!taken) {
      complete = false;
      files.KeepFiles();
    }
    files.Commit();
    more = round->more;
  }
  recorder.LosePoints(lost + files.Missing());
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
                      Recorder& recorder, SafeNames& names) {
  if (!IsDirectory(folder.metrics())) return true;
  auto files = MetricFiles::Open(folder.metrics(), journaled);
  if (files.ok()) {
    files->NameSeries([&names](std::string_view name) { return names(name); });
    return CollectMetrics(*files, recorder, names.know_all());
  }
  recorder.Append(
      run::Notice{run::Level::kError, "metrics could not be read: " + files.error().message, ""});
  return false;
}

void TellWithheld(const RunName& run, const SafeNames& names, Recorder& recorder) {
  if (names.withheld() == 0) return;
  recorder.Append(run::Notice{
      run::Level::kWarning,
      Count(names.withheld(), "name of an output or metric is",
            "names of outputs and metrics are") +
          " withheld: the run has secrets, and without the runner that knew them they can't be "
          "masked",
      "the outputs lie in " + run.Folder().outputs() + " under their own names"});
}

}  // namespace tenon::runner
