// SPDX-License-Identifier: Apache-2.0
// The environments made on a host: one folder per key in <home>/environments.
//
//   <key>/environment.json   the record; written last, so an environment with a record is complete
//   <key>/prefix/            the environment's files, unless it is an image
//   <key>/runs/<run id>      runs that used it; the newest modification time is its last use
//   <key>.lock               held by the process that makes or removes it
//
// A run that finds an environment first marks its use and then checks that the record still exists.
// A process that removes an environment first takes the record away and then looks for marks. So at
// least one of the two notices the other.
#ifndef TENON_RUNNER_ENVIRONMENT_ENVIRONMENTS_H_
#define TENON_RUNNER_ENVIRONMENT_ENVIRONMENTS_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "run/environment_record.h"
#include "run/layout.h"

namespace tenon::runner {

using run::EnvironmentRecord;
using run::ListedEnvironment;

class Environments {
 public:
  explicit Environments(const std::string& home) : home_(home) {}

  std::string folder(const std::string& key) const { return home_.environment(key); }
  std::string prefix(const std::string& key) const { return folder(key) + "/prefix"; }

  // nullopt: never made, made incompletely, or the record is damaged.
  Result<std::optional<EnvironmentRecord>> Find(const std::string& key) const;
  Status Save(const EnvironmentRecord& record) const;
  Status MarkUsed(const std::string& key, const std::string& run_id) const;
  // Takes the mark back when the environment was removed before MarkUsed() was done.
  void UnmarkUsed(const std::string& key, const std::string& run_id) const;
  // Last used first. Leaves out records that cannot be read.
  Result<std::vector<ListedEnvironment>> List() const;
  // Whether a run that still goes on uses it. The run `except` does not count.
  bool InUse(const std::string& key, const std::string& except = "") const;
  // Removes the record and the folder, prefix included. The caller holds the lock.
  Status Remove(const std::string& key) const;
  // Hides the record from Find() until Restore(). The caller holds the lock.
  Status SetAside(const std::string& key) const;
  Status Restore(const std::string& key) const;
  // Restores records that a killed process had set aside, and removes folders of environments that
  // were never finished. Skips an environment whose lock another process holds, and keeps the
  // folder of an unfinished one that a live run has marked.
  void TidyUp() const;

  // The right to make or remove an environment. Waits for the process that holds it, and calls
  // `on_wait` once if it has to. kUnavailable when `stop` is set.
  Result<FileLock> Lock(const std::string& key, const std::function<void()>& on_wait,
                        const std::atomic<bool>& stop) const;

 private:
  run::Home home_;
};

}  // namespace tenon::runner

#endif  // TENON_RUNNER_ENVIRONMENT_ENVIRONMENTS_H_
