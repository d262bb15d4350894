// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_TRANSPORT_LOCAL_HOST_H_
#define TENON_TRANSPORT_LOCAL_HOST_H_

#include <map>
#include <string>
#include <vector>

#include "base/fd.h"
#include "transport/host.h"

namespace tenon::transport {

// This machine. Watches files with inotify and looks at them every 500 ms as well, because a file
// on a network file system may grow elsewhere. Where a file cannot be watched (no watches left, not
// there yet) it looks every 20 ms.
class LocalHost : public Host {
 public:
  LocalHost() = default;
  ~LocalHost() override;

  Result<CaptureResult> Run(const std::vector<std::string>& argv, const std::string& input,
                            int timeout_ms) override;
  Status PutFile(const std::string& path, std::string_view bytes, mode_t mode) override;
  Result<std::string> ReadFrom(const std::string& path, uint64_t offset, size_t max) override;
  Result<bool> WaitForGrowth(const std::vector<KnownLength>& files, int64_t timeout_us) override;
  int growth_fd() const override { return all_watched_ ? inotify_.get() : -1; }
  Result<bool> IsLocked(const std::string& path) override;
  std::string Describe() const override { return "this machine"; }

  // For tests: act as if the machine had no inotify.
  void DisableInotify() { inotify_ok_ = false; }

 private:
  enum class Watched { kNot, kNew, kBefore };
  Watched Watch(const std::string& path, uint64_t inode);
  void TakeEvents();

  // Files stay watched, because a follower waits for the same files again and again.
  bool inotify_ok_ = true;
  UniqueFd inotify_;
  bool all_watched_ = false;                 // of the last WaitForGrowth()
  std::map<std::string, uint64_t> watched_;  // path → inode
  // The file read last is kept open, for the same reason.
  UniqueFd read_fd_;
  std::string read_path_;
};

}  // namespace tenon::transport

#endif  // TENON_TRANSPORT_LOCAL_HOST_H_
