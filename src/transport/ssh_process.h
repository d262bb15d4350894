// SPDX-License-Identifier: Apache-2.0
// One process of ssh that logs in or looks at a key: what it says, and how it ends.
#ifndef TENON_TRANSPORT_SSH_PROCESS_H_
#define TENON_TRANSPORT_SSH_PROCESS_H_

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/process.h"
#include "base/result.h"

namespace tenon::transport {

void Sleep(int64_t us);

// A name below TMPDIR for mkstemp(3) and mkdtemp(3).
std::string TemporaryName();
// A nameless file for what a process writes. Unlike with a pipe, nothing waits for descendants that
// keep it open.
Result<UniqueFd> NamelessFile();

struct Finished {
  ExitStatus status;
  std::string words;   // ssh's own
  std::string others;  // the rest of its standard error: from the server, or from another ssh
  bool timed_out = false;
};

// The log file (-E) of an ssh that logs in. ssh writes its own messages there, and more of them
// than it does otherwise. A server can put words into the standard error of ssh, but not into this
// file.
class LoginLog {
 public:
  static Result<LoginLog> Make();
  LoginLog(LoginLog&&) = default;
  ~LoginLog();
  std::vector<std::string> Options() const { return {"-E", path_, "-o", "LogLevel=INFO"}; }
  // Makes the log `words`, and what came on standard error `others`.
  void AddTo(Finished* done) const;

 private:
  LoginLog() = default;
  std::string path_;
  UniqueFd fd_;
};

// What to say when ssh could not be started.
Error NoSsh(Error error);

// Waits for the process, which leads a session, and kills its process group when the time is up.
// While `pausing` returns true the time stands still. Once `enough` returns true the process has a
// second left.
Finished WaitFor(pid_t pid, int words_fd, int timeout_ms, const std::function<bool()>& pausing,
                 const std::function<bool()>& enough = nullptr);

}  // namespace tenon::transport

#endif  // TENON_TRANSPORT_SSH_PROCESS_H_
