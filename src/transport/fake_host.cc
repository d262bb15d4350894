// SPDX-License-Identifier: Apache-2.0
#include "transport/fake_host.h"

#include <algorithm>
#include <chrono>

namespace tenon::transport {

Status FakeHost::TakeFailure() {
  if (failures_left_ == 0) return {};
  --failures_left_;
  return Unavailable("a fake host: the link was dropped");
}

Result<CaptureResult> FakeHost::Run(const std::vector<std::string>& argv, const std::string& input,
                                    int /*timeout_ms*/) {
  Program program;
  {
    std::lock_guard lock(mutex_);
    TENON_TRY_VOID(TakeFailure());
    calls_.push_back({argv, input});
    auto found = programs_.find(argv.empty() ? "" : argv[0]);
    if (found == programs_.end()) {
      return NotFound("starting " + (argv.empty() ? std::string() : argv[0]) + ": not there");
    }
    program = found->second;
  }
  return program({argv, input});
}

Status FakeHost::PutFile(const std::string& path, std::string_view bytes, mode_t mode) {
  std::lock_guard lock(mutex_);
  TENON_TRY_VOID(TakeFailure());
  File& file = files_[path];
  file.bytes = std::string(bytes);
  file.mode = mode;
  file.generation = next_generation_++;
  changed_.notify_all();
  return {};
}

Result<std::string> FakeHost::ReadFrom(const std::string& path, uint64_t offset, size_t max) {
  std::lock_guard lock(mutex_);
  TENON_TRY_VOID(TakeFailure());
  auto found = files_.find(path);
  if (found == files_.end()) return NotFound("reading " + path + ": No such file or directory");
  if (offset >= found->second.bytes.size()) return std::string();
  return found->second.bytes.substr(offset, max);
}

Result<bool> FakeHost::WaitForGrowth(const std::vector<KnownLength>& files, int64_t timeout_us) {
  std::unique_lock lock(mutex_);
  TENON_TRY_VOID(TakeFailure());
  std::vector<uint64_t> generations;  // 0: not there
  for (const KnownLength& file : files) {
    auto found = files_.find(file.path);
    generations.push_back(found == files_.end() ? 0 : found->second.generation);
  }
  if (std::all_of(generations.begin(), generations.end(), [](uint64_t g) { return g == 0; })) {
    return NotFound("watching " + (files.empty() ? "" : files[0].path) +
                    ": No such file or directory");
  }
  auto has_changed = [&](size_t i) {
    auto now = files_.find(files[i].path);
    if (now == files_.end()) return generations[i] != 0;
    if (generations[i] != 0 && now->second.generation != generations[i]) return true;
    return now->second.bytes.size() > files[i].size;
  };
  return changed_.wait_for(lock, std::chrono::microseconds(timeout_us), [&] {
    for (size_t i = 0; i < files.size(); ++i) {
      if (has_changed(i)) return true;
    }
    return false;
  });
}

Result<bool> FakeHost::IsLocked(const std::string& path) {
  std::lock_guard lock(mutex_);
  TENON_TRY_VOID(TakeFailure());
  auto found = files_.find(path);
  if (found == files_.end()) return NotFound("looking at " + path + ": No such file or directory");
  return found->second.locked;
}

void FakeHost::SetLocked(const std::string& path, bool locked) {
  std::lock_guard lock(mutex_);
  files_[path].locked = locked;
}

void FakeHost::SetProgram(const std::string& path, Program program) {
  std::lock_guard lock(mutex_);
  programs_[path] = std::move(program);
}

void FakeHost::DropLink(int calls) {
  std::lock_guard lock(mutex_);
  failures_left_ = calls;
}

void FakeHost::AppendToFile(const std::string& path, std::string_view bytes) {
  std::lock_guard lock(mutex_);
  auto [found, made] = files_.try_emplace(path);
  if (made) found->second.generation = next_generation_++;
  found->second.bytes += bytes;
  changed_.notify_all();
}

void FakeHost::RemoveFile(const std::string& path) {
  std::lock_guard lock(mutex_);
  files_.erase(path);
  changed_.notify_all();
}

std::map<std::string, FakeHost::File> FakeHost::files() const {
  std::lock_guard lock(mutex_);
  return files_;
}

std::vector<FakeHost::Call> FakeHost::calls() const {
  std::lock_guard lock(mutex_);
  return calls_;
}

}  // namespace tenon::transport
