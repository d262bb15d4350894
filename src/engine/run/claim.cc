// SPDX-License-Identifier: Apache-2.0
#include "engine/run/claim.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <utility>

#include "base/durable.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/regular_file.h"
#include "engine/run/runs.h"
#include "run/layout.h"

namespace tenon::engine {
namespace {

// A counter above kLargestNumber is damaged. A wanted number may be less than kLargestGap above the
// last one.
constexpr int64_t kLargestNumber = 1'000'000'000;
constexpr int64_t kLargestGap = 1'000'000;

// For when there is no index: reads the submit record of every run.
Result<int64_t> LastNumberOnDisk(const Context& context, const std::string& project_id) {
  int64_t last = 0;
  for (const std::string& id : ListDir(context.home.runs()).value_or({})) {
    if (!run::IsValidRunId(id)) continue;
    const auto spec = SubmittedSpec(context, id);
    if (!spec.ok() || !*spec || (*spec)->project_id != project_id) continue;
    last = std::max(last, (*spec)->number);
  }
  return last;
}

Result<int64_t> LastNumber(Context& context, const std::string& project_id) {
  const auto store = context.History();
  if (!store.ok()) return LastNumberOnDisk(context, project_id);
  auto last = (*store)->LastNumber(project_id);
  return last.ok() ? std::move(last) : LastNumberOnDisk(context, project_id);
}

bool IsTaken(Context& context, const std::string& project_id, int64_t number) {
  const auto store = context.History();
  if (!store.ok()) return true;
  const auto id = (*store)->IdOfNumber(project_id, number);
  return !id.ok() || id->has_value();
}

bool IsLater(const timespec& a, const timespec& b) {
  return a.tv_sec != b.tv_sec ? a.tv_sec > b.tv_sec : a.tv_nsec > b.tv_nsec;
}

// Makes the folder's modification time later than `before`, a value that the folder never had: the
// kernel's clock may stand still for some milliseconds or be set back, and a file system may store
// whole seconds only.
void MoveTime(const std::string& folder, const timespec& before) {
  for (const int coarse_seconds : {0, 1, 2}) {
    struct stat info;
    if (::stat(folder.c_str(), &info) != 0 || IsLater(info.st_mtim, before)) return;
    timespec times[2] = {{0, UTIME_OMIT}, before};
    const bool carry = coarse_seconds == 0 && before.tv_nsec == 999'999'999;
    times[1].tv_sec += carry ? 1 : coarse_seconds;
    times[1].tv_nsec = carry ? 0 : before.tv_nsec + (coarse_seconds == 0 ? 1 : 0);
    if (::utimensat(AT_FDCWD, folder.c_str(), times, 0) != 0) return;
  }
}

// The counter of a project, a file in numbers/, held under its lock.
class Counter {
 public:
  static Result<Counter> Open(const Context& context, const std::string& project_id) {
    const std::string key = Sha256Of(project_id).Hex().substr(0, 32);
    std::string path = context.home.number_file(key);
    TENON_TRY_VOID(MakeDirs(DirName(path), 0700));
    TENON_TRY(auto lock, FileLock::Take(path, true));
    return Counter(std::move(path), std::move(lock));
  }

  // Returns 0 for a damaged counter; the recorded runs then decide.
  int64_t Read() const {
    const std::string text = ReadFile(path_, 64).value_or("");
    const int64_t number = std::strtoll(text.c_str(), nullptr, 10);
    return number < 0 || number > kLargestNumber ? 0 : number;
  }
  Status Write(int64_t number) const {
    TENON_TRY(const auto fd, OpenRegular(path_, O_WRONLY));
    // One write: if the process dies here, the file has the old number or the new one.
    const std::string line = std::to_string(number) + "\n";
    TENON_TRY_VOID(WriteAllAt(fd.get(), line, 0));
    // Cuts off what is left of a longer, damaged line.
    if (::ftruncate(fd.get(), static_cast<off_t>(line.size())) != 0) {
      return FromErrno("writing " + path_, errno);
    }
    return {};
  }
  Status Sync() const {
    TENON_TRY(const auto fd, OpenRegular(path_, O_WRONLY));
    if (DurableFsync(fd.get()) != 0) return FromErrno("sync " + path_, errno);
    return NamesFollowFsync(fd.get()) ? Status() : FsyncDir(DirName(path_));
  }

 private:
  Counter(std::string path, FileLock lock) : path_(std::move(path)), lock_(std::move(lock)) {}
  std::string path_;
  FileLock lock_;
};

// Returns false when the folder exists already.
Result<bool> TryClaim(const Context& context, const std::string& run_id, ClaimedFolder* claimed) {
  const std::string runs = context.home.runs();
  const std::string path = run::RunFolder(context.home, run_id).path();
  TENON_TRY(const auto lock, FileLock::Take(context.home.runs_lock(), true));
  struct stat before;
  if (::stat(runs.c_str(), &before) != 0) return FromErrno("looking at " + runs, errno);
  claimed->before = history::StampOf(runs);
  if (::mkdir(path.c_str(), 0700) != 0) {
    if (errno == EEXIST) return false;
    return FromErrno("making the run's folder " + path, errno);
  }
  MoveTime(runs, before.st_mtim);
  claimed->after = history::StampOf(runs);
  claimed->run_id = run_id;
  return true;
}

}  // namespace

Result<int64_t> TakeRunNumber(Context& context, const std::string& project_id, int64_t wanted) {
  TENON_TRY(const Counter counter, Counter::Open(context, project_id));
  TENON_TRY(const int64_t recorded, LastNumber(context, project_id));
  const int64_t last = std::max(counter.Read(), recorded);
  int64_t number = wanted > 0 && wanted - last < kLargestGap ? wanted : last + 1;
  if (number <= last && IsTaken(context, project_id, number)) number = last + 1;
  if (number > last) TENON_TRY_VOID(counter.Write(number));
  return number;
}

Status KeepRunNumber(Context& context, const std::string& project_id, int64_t number) {
  TENON_TRY(const Counter counter, Counter::Open(context, project_id));
  if (counter.Read() < number) TENON_TRY_VOID(counter.Write(number));
  return counter.Sync();
}

Result<ClaimedFolder> ClaimRunFolder(const Context& context, const std::string& run_id) {
  ClaimedFolder claimed;
  TENON_TRY(const bool ours, TryClaim(context, run_id, &claimed));
  if (!ours) return Invalid("there is a run " + run_id + " already");
  return claimed;
}

Result<ClaimedFolder> ClaimNewRunFolder(const Context& context, const std::string& project) {
  int64_t ms = context.clock->NowUs() / 1000;
  const std::string stem = run::RunIdStem(project);
  ClaimedFolder claimed;
  for (int tries = 0; tries < 100'000; ++tries, ++ms) {
    TENON_TRY(const bool ours, TryClaim(context, stem + "_" + std::to_string(ms), &claimed));
    if (ours) return claimed;
  }
  return Internal("no free run id for project " + project);
}

Status IndexClaimed(history::HistoryStore& store, const run::Home& home,
                    const ClaimedFolder& claimed) {
  TENON_TRY_VOID(
      history::IngestRunFolder(store, claimed.run_id, run::RunFolder(home, claimed.run_id).path()));
  const int64_t boot = history::BootStamp();
  return store.MarkSeen({claimed.after, boot}, history::Seen{claimed.before, boot});
}

}  // namespace tenon::engine
