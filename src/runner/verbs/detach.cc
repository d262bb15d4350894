// SPDX-License-Identifier: Apache-2.0
#include "runner/verbs/detach.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "base/file.h"
#include "base/process.h"

namespace tenon::runner {
namespace {

[[noreturn]] void RunDetached(const std::function<void()>& body) {
  ::signal(SIGHUP, SIG_IGN);
  ::signal(SIGPIPE, SIG_IGN);
  const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  for (int fd = STDIN_FILENO; null >= 0 && fd <= STDERR_FILENO; ++fd) ::dup2(null, fd);
  CloseOthers(-1);
  if (null < 0 || ::chdir("/") != 0) ::_exit(1);
  body();
  ::_exit(0);
}

}  // namespace

void CloseOthers(int keep) {
  auto names = ListDir("/proc/self/fd");
  if (names.ok()) {
    for (const std::string& name : *names) {
      int fd = std::atoi(name.c_str());
      if (fd > STDERR_FILENO && fd != keep) ::close(fd);
    }
    return;
  }
  for (int fd = STDERR_FILENO + 1; fd < 1024; ++fd) {
    if (fd != keep) ::close(fd);
  }
}

Status StartDetached(const std::function<void()>& body) {
  const pid_t between = ::fork();
  if (between < 0) return FromErrno("starting a process", errno);
  if (between == 0) {
    ::setsid();
    const pid_t child = ::fork();
    if (child != 0) ::_exit(child < 0 ? 1 : 0);
    RunDetached(body);
  }
  TENON_TRY(const ExitStatus status, Wait(between));
  if (status.AsShell() != 0) return Unavailable("starting a process: there are too many");
  return {};
}

}  // namespace tenon::runner
