// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_RUNNER_AGENT_FILE_WATCH_H_
#define TENON_RUNNER_AGENT_FILE_WATCH_H_

#include <cstdint>
#include <set>
#include <string>

#include "base/fd.h"

namespace tenon::runner {

// Tells of changes of files, through inotify. Where inotify is not available it tells nothing, so
// callers must also look at the files now and then.
class FileWatch {
 public:
  // Watches a file until Clear(). If the file does not exist, watches its folder for new files.
  void Add(const std::string& path);
  // Watches a folder for new files.
  void AddFolder(const std::string& path);
  void Clear();
  int fd() const { return inotify_.get(); }  // -1: no inotify, or nothing added yet
  struct Told {
    bool closed = false;    // a file was closed after writing, or is gone
    bool appeared = false;  // a folder has a new file
  };
  // What has happened since the last call.
  Told TakeEvents();

 private:
  // False: the path does not exist or can't be watched.
  bool AddWatch(const std::string& path, uint32_t events);

  UniqueFd inotify_;
  bool tried_ = false;
  std::set<int> watches_;
};

}  // namespace tenon::runner

#endif  // TENON_RUNNER_AGENT_FILE_WATCH_H_
