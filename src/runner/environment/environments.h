// SPDX-License-Identifier: Apache-2.0
// The environments that were made on a host: one folder per key below <home>/environments.
//
//   <key>/environment.json   what it is; written last, so that what is there is complete
//   <key>/prefix/            its files, unless it is an image
//   <key>/runs/<run id>      runs that used it; the time of the newest is its last use
//   <key>.lock               held by who makes it or removes it
//
// A run that finds an environment marks its use first and then looks whether it is still there; who
// removes one takes the record away first and then looks for marks. So one of the two sees the
// other.
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

  // nullopt: never made, or not completely.
  Result<std::optional<EnvironmentRecord>> Find(const std::string& key) const;
  Status Save(const EnvironmentRecord& record) const;
  Status MarkUsed(const std::string& key, const std::string& run_id) const;
  // Takes the mark back: the environment was gone when it was looked at again.
  void UnmarkUsed(const std::string& key, const std::string& run_id) const;
  // Newest use first. What cannot be read is left out.
  Result<std::vector<ListedEnvironment>> List() const;
  // Whether a run other than `except` that goes on uses it.
  bool InUse(const std::string& key, const std::string& except = "") const;
  // The folder, prefix included. The caller holds the lock.
  Status Remove(const std::string& key) const;
  // Hides the record from Find() until Restore(). The caller holds the lock.
  Status SetAside(const std::string& key) const;
  Status Restore(const std::string& key) const;
  // Restores what somebody who was killed had set aside, and removes folders of environments that
  // were never finished. Those that somebody makes or waits for are left alone.
  void TidyUp() const;

  // The right to make or remove an environment. Waits for who has it: `on_wait` is called once.
  // `stop` set: kUnavailable.
  Result<FileLock> Lock(const std::string& key, const std::function<void()>& on_wait,
                        const std::atomic<bool>& stop) const;

 private:
  run::Home home_;
};

}  // namespace tenon::runner

#endif  // TENON_RUNNER_ENVIRONMENT_ENVIRONMENTS_H_
