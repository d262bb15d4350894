// SPDX-License-Identifier: Apache-2.0
#include "transport/ssh_process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <ctime>
#include <span>
#include <utility>

#include "base/clock.h"
#include "base/file.h"
#include "base/text.h"

namespace tenon::transport {
namespace {

constexpr int64_t kEnoughUs = 1'000'000;
constexpr size_t kMaxWords = 64 << 10;

Result<UniqueFd> TemporaryFile(std::string* path) {
  *path = TemporaryName();
  UniqueFd fd(::mkostemp(path->data(), O_CLOEXEC));
  if (!fd.valid()) return FromErrno("make a file in " + DirName(*path), errno);
  return fd;
}

std::string WordsIn(int fd) {
  std::string text(kMaxWords, '\0');
  const Result<size_t> size = ReadAt(fd, std::span<char>(text), 0);
  text.resize(size.ok() ? *size : 0);
  return text;
}

}  // namespace

void Sleep(int64_t us) {
  timespec pause{us / 1'000'000, us % 1'000'000 * 1000};
  ::nanosleep(&pause, nullptr);
}

std::string TemporaryName() {
  const char* place = ::getenv("TMPDIR");
  return JoinPath(place != nullptr && *place == '/' ? place : "/tmp", "tenon-XXXXXX");
}

Result<UniqueFd> NamelessFile() {
  std::string path;
  TENON_TRY(UniqueFd fd, TemporaryFile(&path));
  TENON_TRY_VOID(RemoveFile(path));
  return fd;
}

Result<LoginLog> LoginLog::Make() {
  LoginLog log;
  TENON_TRY(log.fd_, TemporaryFile(&log.path_));
  return log;
}

LoginLog::~LoginLog() {
  if (fd_.valid()) (void)RemoveFile(path_).ok();
}

void LoginLog::AddTo(Finished* done) const {
  done->others = std::exchange(done->words, WordsIn(fd_.get()));
  // An empty log: ssh failed before it opened the log. Port 65535: another ssh has made the
  // connection (to a jump host), and its words on standard error say why the connection is gone.
  if (Trim(done->words).empty() || done->words.find("port 65535") != std::string::npos) {
    done->words += "\n" + std::exchange(done->others, "");
  }
}

Error NoSsh(Error error) {
  if (error.kind != ErrorKind::kNotFound) return error;
  return NotFound("there is no `ssh` program here")
      .WithHint("install the OpenSSH client (openssh-client, openssh-clients)");
}

Finished WaitFor(pid_t pid, int words_fd, int timeout_ms, const std::function<bool()>& pausing,
                 const std::function<bool()>& enough) {
  Finished out;
  int64_t left_us = int64_t{timeout_ms} * 1000;
  int64_t last = SystemClock().MonotonicUs();
  for (int64_t pause_us = 500;; pause_us = std::min<int64_t>(pause_us * 5 / 4, 10'000)) {
    int status = 0;
    const pid_t got = ::waitpid(pid, &status, out.timed_out ? 0 : WNOHANG);
    if (got == pid || (got < 0 && errno != EINTR)) {
      out.status = DecodeWaitStatus(got == pid ? status : 0xff00);
      out.words = WordsIn(words_fd);
      return out;
    }
    const int64_t now = SystemClock().MonotonicUs();
    if (!pausing()) left_us -= now - last;
    last = now;
    if (enough && left_us > kEnoughUs && enough()) left_us = kEnoughUs;
    if (left_us <= 0 && !out.timed_out) {
      out.timed_out = true;
      ::kill(-pid, SIGKILL);
      continue;
    }
    Sleep(pause_us);
  }
}

}  // namespace tenon::transport
