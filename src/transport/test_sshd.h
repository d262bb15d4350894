// SPDX-License-Identifier: Apache-2.0
// A real sshd on loopback, for tests. Root logs in with a key that the test has made.
#ifndef TENON_TRANSPORT_TEST_SSHD_H_
#define TENON_TRANSPORT_TEST_SSHD_H_

#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <ctime>
#include <string>

#include "base/file.h"
#include "base/process.h"
#include "base/temp_folder.h"
#include "transport/ssh.h"

namespace tenon::transport {

inline int FreePort() {
  const UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  TENON_CHECK(::bind(fd.get(), reinterpret_cast<sockaddr*>(&address), size) == 0);
  TENON_CHECK(::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&address), &size) == 0);
  return ntohs(address.sin_port);
}

inline bool Listens(int port) {
  const UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<uint16_t>(port));
  return ::connect(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
}

class TestSshd {
 public:
  // Whether an sshd can be started here.
  static bool Possible() { return ::geteuid() == 0 && Exists("/usr/sbin/sshd"); }

  // `more`: lines for its configuration. `passphrase`: of the key that logs in.
  explicit TestSshd(const std::string& more = "", const std::string& passphrase = "") {
    MakeKey("host", "");
    MakeKey("id", passphrase);
    for (int tries = 1;; ++tries) {  // another program may take the port first
      port = FreePort();
      Start(more);
      if (Listens(port)) return;
      TENON_CHECK(tries < 5);
      Stop();
    }
  }
  ~TestSshd() { Stop(); }

  void MakeKey(const std::string& name, const std::string& passphrase) {
    const auto made =
        RunAndCapture({"ssh-keygen", "-q", "-t", "ed25519", "-N", passphrase, "-f", folder / name},
                      "", "", 20'000);
    TENON_CHECK(made.ok() && made->status.AsShell() == 0);
  }

  void Start(const std::string& more) {
    ::mkdir("/run/sshd", 0755);
    const std::string config = "Port " + std::to_string(port) +
                               "\nListenAddress 127.0.0.1\nHostKey " + (folder / "host") +
                               "\nAuthorizedKeysFile " + (folder / "id.pub") +
                               "\nPidFile none\nPermitRootLogin yes\nUsePAM no\nStrictModes no\n"
                               "PasswordAuthentication no\nPrintMotd no\n" +
                               more;
    TENON_CHECK(WriteFileAtomically(folder / "config", config, 0600, Durability::kProcess).ok());
    SpawnOptions options;
    options.argv = {"/usr/sbin/sshd", "-D", "-e", "-f", folder / "config"};
    options.env = CurrentEnvironment();
    auto log = OpenFile(folder / "log", O_CREAT | O_WRONLY | O_APPEND, 0600);
    TENON_CHECK(log.ok());
    options.stdout_fd = options.stderr_fd = log->get();
    options.new_session = true;
    auto started = Spawn(options);
    TENON_CHECK(started.ok());
    pid = *started;
    for (int i = 0; i < 500 && !Listens(port); ++i) Pause();
  }
  void Stop() {
    if (pid <= 0) return;
    ::kill(pid, SIGKILL);
    (void)Wait(pid).ok();
    pid = 0;
  }
  static void Pause() {
    timespec pause{0, 10'000'000};
    ::nanosleep(&pause, nullptr);
  }

  // A target without a pinned key.
  SshTarget Target() const {
    SshTarget target;
    target.name = "gpu1";
    target.address = "127.0.0.1";
    target.port = port;
    target.user = "root";
    target.alias = "tenon-0123456789abcdef0123456789abcdef";
    target.identity_file = folder / "id";
    target.control_path = folder / "c/s";
    target.persist_seconds = 30;
    return target;
  }
  // The same with the key that sshd shows now pinned.
  SshTarget Pinned() const {
    SshTarget target = Target();
    const auto line = ReadFile(folder / "host.pub");
    TENON_CHECK(line.ok());
    const auto key = ParseHostKey(*line);
    TENON_CHECK(key.ok());
    target.known_hosts = folder / "known hosts";  // with a blank: paths may have one
    TENON_CHECK(WriteFileAtomically(target.known_hosts, target.alias + " " + key->line + "\n", 0600,
                                    Durability::kProcess)
                    .ok());
    return target;
  }

  TempFolder folder;
  int port = 0;
  pid_t pid = 0;
};

class NeedsSshd : public testing::Test {
 protected:
  void SetUp() override {
    if (!TestSshd::Possible()) GTEST_SKIP() << "planned: needs root and sshd";
  }
};

inline SshSecrets::Lookup Known(const std::string& secret) {
  return [secret] { return Result<std::optional<std::string>>(secret); };
}

// Runs a command over ssh to its end.
inline Result<CaptureResult> RunOver(Ssh& ssh, const std::string& command) {
  TENON_TRY(PipedProcess stream, ssh.Open(command));
  stream.in.Reset();
  CaptureResult out;
  char buffer[4096];
  for (ssize_t n; (n = ::read(stream.out.get(), buffer, sizeof buffer)) > 0;) {
    out.out.append(buffer, static_cast<size_t>(n));
  }
  for (ssize_t n; (n = ::read(stream.err.get(), buffer, sizeof buffer)) > 0;) {
    out.err.append(buffer, static_cast<size_t>(n));
  }
  TENON_TRY(out.status, Wait(std::exchange(stream.pid, 0)));
  return out;
}

}  // namespace tenon::transport

#endif  // TENON_TRANSPORT_TEST_SSHD_H_
