// SPDX-License-Identifier: Apache-2.0
#include "runner/environment/environments.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "base/waiting.h"
#include "runner/supervise/facts.h"

namespace tenon::runner {
namespace {

constexpr useconds_t kLookUs = 100'000;
constexpr off_t kLongestWithoutOutput = 16 << 20;
constexpr const char* kRecord = "/environment.json";
constexpr const char* kAside = "/environment.json.aside";

// Whether the run of this host segment still goes on. A run in a container may go on without a
// runner; its host segment is short, because the script's output is in another segment. A runner
// that has written the end no longer needs the environment, even if it has not exited yet.
bool GoesOn(const std::string& segment) {
  const bool locked = IsLockedByOther(segment).value_or(true);
  struct stat info {};
  if (::stat(segment.c_str(), &info) != 0 || info.st_size > kLongestWithoutOutput) return locked;
  auto facts = ReadFacts(segment);
  if (!facts.ok() || facts->end) return locked && !facts.ok();
  return locked || facts->container.has_value();
}

}  // namespace

Result<std::optional<EnvironmentRecord>> Environments::Find(const std::string& key) const {
  const std::string path = folder(key) + kRecord;
  auto text = ReadFile(path);
  if (!text.ok() && text.error().kind == ErrorKind::kNotFound) {
    return std::optional<EnvironmentRecord>();
  }
  if (!text.ok()) return std::move(text).error();
  auto value = json::Parse(*text);
  // A damaged record counts as no record: the environment is made again.
  if (!value.ok() || !value->is_object()) return std::optional<EnvironmentRecord>();
  auto record = EnvironmentRecord::FromJson(value->get_object());
  if (!record.ok() || record->ready.key != key) return std::optional<EnvironmentRecord>();
  return std::optional<EnvironmentRecord>(std::move(*record));
}

Status Environments::Save(const EnvironmentRecord& record) const {
  TENON_TRY_VOID(MakeDirs(folder(record.ready.key), 0700));
  return WriteFileAtomically(folder(record.ready.key) + kRecord,
                             json::Print(record.ToJson()) + "\n", 0600, Durability::kPowerLoss);
}

Status Environments::MarkUsed(const std::string& key, const std::string& run_id) const {
  const std::string runs = folder(key) + "/runs";
  TENON_TRY_VOID(MakeDirs(runs, 0700));
  return WriteFileAtomically(runs + "/" + run_id, "", 0600, Durability::kProcess);
}

void Environments::UnmarkUsed(const std::string& key, const std::string& run_id) const {
  (void)RemoveFile(folder(key) + "/runs/" + run_id).ok();
}

Result<std::vector<ListedEnvironment>> Environments::List() const {
  std::vector<ListedEnvironment> listed;
  auto names = ListDir(home_.environments());
  if (!names.ok() && names.error().kind == ErrorKind::kNotFound) return listed;
  if (!names.ok()) return std::move(names).error();
  for (const std::string& key : *names) {
    auto record = Find(key);
    if (!record.ok() || !*record) continue;
    ListedEnvironment one;
    one.record = std::move(**record);
    one.last_used_us = one.record.created_us;
    std::vector<std::pair<int64_t, std::string>> runs;
    for (const std::string& run : ListDir(folder(key) + "/runs").value_or({})) {
      const int64_t used = ModifiedUs(folder(key) + "/runs/" + run);
      one.last_used_us = std::max(one.last_used_us, used);
      const std::string segment = run::RunFolder(home_, run).host_segment();
      if (!Exists(segment)) continue;  // the run was deleted
      runs.emplace_back(used, run);
    }
    one.in_use = InUse(key);
    std::sort(runs.begin(), runs.end());
    for (auto& [used, run] : runs) one.runs.push_back(std::move(run));
    listed.push_back(std::move(one));
  }
  std::stable_sort(listed.begin(), listed.end(),
                   [](const auto& a, const auto& b) { return a.last_used_us > b.last_used_us; });
  return listed;
}

bool Environments::InUse(const std::string& key, const std::string& except) const {
  for (const std::string& run : ListDir(folder(key) + "/runs").value_or({})) {
    const std::string segment = run::RunFolder(home_, run).host_segment();
    if (run != except && Exists(segment) && GoesOn(segment)) return true;
  }
  return false;
}

Status Environments::Remove(const std::string& key) const {
  // The record first: if this process is killed in between, Find() must not see a half-removed
  // environment.
  TENON_TRY_VOID(RemoveFile(folder(key) + kRecord));
  return RemoveTree(folder(key));
}

Status Environments::SetAside(const std::string& key) const {
  return RenameFile(folder(key) + kRecord, folder(key) + kAside);
}

Status Environments::Restore(const std::string& key) const {
  return RenameFile(folder(key) + kAside, folder(key) + kRecord);
}

void Environments::TidyUp() const {
  for (const std::string& name : ListDir(home_.environments()).value_or({})) {
    if (!run::IsEnvironmentKey(name) || Exists(folder(name) + kRecord)) continue;
    auto lock = FileLock::Take(folder(name) + ".lock", /*wait=*/false);
    if (!lock.ok() || Exists(folder(name) + kRecord)) continue;
    if (Exists(folder(name) + kAside)) {
      (void)Restore(name).ok();
    } else if (!InUse(name)) {
      (void)RemoveTree(folder(name)).ok();
    }
  }
}

Result<FileLock> Environments::Lock(const std::string& key, const std::function<void()>& on_wait,
                                    const std::atomic<bool>& stop) const {
  TENON_TRY_VOID(MakeDirs(home_.environments(), 0700));
  const std::string path = folder(key) + ".lock";
  LongWait long_wait(path);
  for (bool first = true;; first = false) {
    auto lock = FileLock::Take(path, /*wait=*/false);
    if (lock.ok() || lock.error().kind != ErrorKind::kUnavailable) return lock;
    if (first) on_wait();
    TENON_TRY_VOID(long_wait.Look());
    if (stop) return Unavailable("stopped while waiting for the environment");
    ::usleep(kLookUs);
  }
}

}  // namespace tenon::runner
