// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_RUNNER_SERVE_FILES_H_
#define TENON_RUNNER_SERVE_FILES_H_

#include <cstdint>
#include <set>
#include <string>

#include "base/fd.h"
#include "base/json.h"
#include "base/result.h"
#include "runner/serve_link.h"

namespace tenon::runner {

// Tells of changes of files, where the system does (inotify); elsewhere nothing is ever told and
// who asks has to look by itself now and then.
class FileWatch {
 public:
  // From here on, until Clear(). A file that is not there: its folder is watched.
  void Add(const std::string& path);
  void Clear();
  int fd() const { return inotify_.get(); }  // -1: nothing is told
  // New files of a folder.
  void AddFolder(const std::string& path);
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

// The requests about files. Each answers by itself; an Error is the link's.
class ServeFiles {
 public:
  explicit ServeFiles(ServeLink& link) : link_(link) {}

  Status Put(const json::Object& request, const std::string& body);
  Status Read(const json::Object& request);
  Status Locked(const json::Object& request);
  Status Wait(const json::Object& request);
  // Until the next request, which is left in the link.
  Status Follow(const json::Object& request);
  // How many segments a run has here.
  Status Segments(const json::Object& request);

 private:
  ServeLink& link_;
  FileWatch watch_;
};

}  // namespace tenon::runner

#endif  // TENON_RUNNER_SERVE_FILES_H_
