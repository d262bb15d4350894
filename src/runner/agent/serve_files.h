// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_RUNNER_AGENT_SERVE_FILES_H_
#define TENON_RUNNER_AGENT_SERVE_FILES_H_

#include <string>

#include "base/json.h"
#include "base/result.h"
#include "runner/agent/file_watch.h"
#include "runner/agent/serve_link.h"

namespace tenon::runner {

// Carries out the requests about files. Each method answers its request; an Error means that the
// link failed.
class ServeFiles {
 public:
  explicit ServeFiles(ServeLink& link) : link_(link) {}

  Status Put(const json::Object& request, const std::string& body);
  Status Read(const json::Object& request);
  Status Locked(const json::Object& request);
  Status Wait(const json::Object& request);
  // Tells how many far segments a run has on this machine.
  Status Segments(const json::Object& request);

 private:
  ServeLink& link_;
  FileWatch watch_;
};

}  // namespace tenon::runner

#endif  // TENON_RUNNER_AGENT_SERVE_FILES_H_
