// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_TRANSPORT_FAKE_HOST_H_
#define TENON_TRANSPORT_FAKE_HOST_H_

#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "transport/host.h"

namespace tenon::transport {

// A Host in memory, for tests: files are a map, programs are functions by path. It records every
// Run() and can be told to fail.
class FakeHost : public Host {
 public:
  struct File {
    std::string bytes;
    mode_t mode = 0644;
    uint64_t generation = 0;  // changes when the file is replaced
    bool locked = false;
  };
  struct Call {
    std::vector<std::string> argv;
    std::string input;
  };
  using Program = std::function<CaptureResult(const Call&)>;

  Result<CaptureResult> Run(const std::vector<std::string>& argv, const std::string& input,
                            int timeout_ms) override;
  Status PutFile(const std::string& path, std::string_view bytes, mode_t mode) override;
  Result<std::string> ReadFrom(const std::string& path, uint64_t offset, size_t max) override;
  Result<bool> WaitForGrowth(const std::vector<KnownLength>& files, int64_t timeout_us) override;
  Result<bool> IsLocked(const std::string& path) override;
  std::string Describe() const override { return "a fake host"; }

  // Called before use, from the test's thread.
  void SetProgram(const std::string& path, Program program);
  // The next `calls` calls of any kind fail with kUnavailable.
  void DropLink(int calls);

  // May be called from any thread.
  void AppendToFile(const std::string& path, std::string_view bytes);
  void RemoveFile(const std::string& path);
  void SetLocked(const std::string& path, bool locked);
  std::map<std::string, File> files() const;
  std::vector<Call> calls() const;

 private:
  Status TakeFailure();

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, File> files_;
  std::map<std::string, Program> programs_;
  std::vector<Call> calls_;
  int failures_left_ = 0;
  uint64_t next_generation_ = 1;
};

}  // namespace tenon::transport

#endif  // TENON_TRANSPORT_FAKE_HOST_H_
