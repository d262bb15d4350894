// SPDX-License-Identifier: Apache-2.0
// The environments that were made on a host: one folder per key below <home>/environments.
//
//   <key>/environment.json   what it is; written last, so that what is there is complete
//   <key>/prefix/            its files, unless it is an image
//   <key>/runs/<run id>      runs that used it; the time of the newest is its last use
//   <key>.lock               held by who makes it or removes it
#ifndef TENON_RUNNER_ENVIRONMENTS_H_
#define TENON_RUNNER_ENVIRONMENTS_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/json.h"
#include "base/result.h"
#include "run/event.h"
#include "run/layout.h"
#include "run/packages.h"

namespace tenon::runner {

struct EnvironmentRecord {
  run::EnvironmentReady ready;  // `reused` means nothing here
  run::Packages packages;       // what was asked for
  std::string image_id;         // of an image
  std::string socket;           // of the engine that has it
  int64_t created_us = 0;
  int64_t duration_us = 0;  // of making it

  json::Object ToJson() const;
  static Result<EnvironmentRecord> FromJson(const json::Object& object);
};

struct ListedEnvironment {
  EnvironmentRecord record;
  int64_t last_used_us = 0;
  std::vector<std::string> runs;  // that are still known here, oldest first
  bool in_use = false;            // by a run that goes on
};

class Environments {
 public:
  explicit Environments(const std::string& home) : home_(home) {}

  std::string folder(const std::string& key) const { return home_.environment(key); }
  std::string prefix(const std::string& key) const { return folder(key) + "/prefix"; }

  // nullopt: never made, or not completely.
  Result<std::optional<EnvironmentRecord>> Find(const std::string& key) const;
  Status Save(const EnvironmentRecord& record) const;
  Status MarkUsed(const std::string& key, const std::string& run_id) const;
  // Newest use first. What cannot be read is left out.
  Result<std::vector<ListedEnvironment>> List() const;
  // Whether a run other than `except` that goes on uses it.
  bool InUse(const std::string& key, const std::string& except = "") const;
  // The folder, prefix included. The caller holds the lock.
  Status Remove(const std::string& key) const;

  // The right to make or remove an environment. Waits for who has it: `on_wait` is called once.
  // `stop` set: kUnavailable.
  Result<FileLock> Lock(const std::string& key, const std::function<void()>& on_wait,
                        const std::atomic<bool>& stop) const;

 private:
  run::Home home_;
};

}  // namespace tenon::runner

#endif  // TENON_RUNNER_ENVIRONMENTS_H_
