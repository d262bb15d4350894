// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_RUNNER_AGENT_FILE_WATCH_H_
#define TENON_RUNNER_AGENT_FILE_WATCH_H_

#include <cstdint>
#include <set>
#include <string>

#include "base/fd.h"

namespace tenon::runner {

// Tells of changes of files, where the system does (inotify); elsewhere nothing is ever told and
// who asks has to look by itself now and then.
class FileWatch {
 public:
  // From here on, until Clear(). A file that is not there: its folder is watched.
  void Add(const std::string& path);
  // New files of a folder.
  void AddFolder(const std::string& path);
  void Clear();
  int fd() const { return inotify_.get(); }  // -1: nothing is told
  struct Told {
    bool closed = false;    // a file that was open for writing was closed, or one went
    bool appeared = false;  // there is a new one in a folder
  };
  // Forgets what was told.
  Told TakeEvents();

 private:
  // False: there is nothing of that name.
  bool AddWatch(const std::string& path, uint32_t events);

  UniqueFd inotify_;
  bool tried_ = false;
  std::set<int> watches_;
};

}  // namespace tenon::runner

#endif  // TENON_RUNNER_AGENT_FILE_WATCH_H_
