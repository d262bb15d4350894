// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_TRANSPORT_LOCAL_HOST_H_
#define TENON_TRANSPORT_LOCAL_HOST_H_

#include <string>
#include <vector>

#include "base/fd.h"
#include "transport/host.h"

namespace tenon::transport {

// This machine. Growth is watched with inotify; where that can't be had (no watches left, a file
// system that does not tell) the file is looked at every 20 ms.
class LocalHost : public Host {
 public:
  LocalHost() = default;
  ~LocalHost() override;

  Result<CaptureResult> Run(const std::vector<std::string>& argv, const std::string& input,
                            int timeout_ms) override;
  Status PutFile(const std::string& path, std::string_view bytes, mode_t mode) override;
  Result<std::string> ReadFrom(const std::string& path, uint64_t offset, size_t max) override;
  Result<bool> WaitForGrowth(const std::string& path, uint64_t beyond_size,
                             int64_t timeout_us) override;
  Result<bool> IsLocked(const std::string& path) override;
  std::string Describe() const override { return "this machine"; }

  // For tests: act as if the machine had no inotify.
  void DisableInotify() { inotify_ok_ = false; }

 private:
  // Points the watch at `path`; false when it can't be watched.
  bool Watch(const std::string& path, uint64_t inode);
  void WaitForEvent(int64_t timeout_us);

  // The file watched last is kept watched, because a follower asks for the same one again and
  // again.
  bool inotify_ok_ = true;
  UniqueFd inotify_;
  std::string watched_path_;
  uint64_t watched_inode_ = 0;
  int watch_ = -1;
  // The file read last is kept open, for the same reason.
  UniqueFd read_fd_;
  std::string read_path_;
};

}  // namespace tenon::transport

#endif  // TENON_TRANSPORT_LOCAL_HOST_H_
