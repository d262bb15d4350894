// SPDX-License-Identifier: Apache-2.0
#include "transport/ssh.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <utility>

#include "base/clock.h"
#include "base/error_json.h"
#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "base/waiting.h"
#include "transport/askpass.h"
#include "transport/ssh_process.h"
#include "transport/ssh_settings.h"
#include "transport/ssh_words.h"

namespace tenon::transport {
namespace {

constexpr int kPipeBytes = 1 << 20;
constexpr int kConnectMs = 60'000;  // for a login, not counting the user's time to answer
constexpr int kLockMs = 60'000;     // to wait for another process that logs in
constexpr int64_t kLoginStoppedUs = 5'000'000;
constexpr int kGoodbyeMs = 5'000;
constexpr size_t kMaxControlPath = 90;  // ssh binds a longer name first; 107 is the end

bool ConnectsTo(const std::string& path) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) return false;
  std::memcpy(address.sun_path, path.data(), path.size());
  const UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  return ::connect(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
}

// Makes the folder if it is missing. Returns whether it is ours and closed to all others, closing
// it if need be.
bool IsPrivateFolder(const std::string& path) {
  if (!MakeDirs(path, 0700).ok()) return false;
  struct stat info;
  if (::lstat(path.c_str(), &info) != 0 || !S_ISDIR(info.st_mode)) return false;
  if (info.st_uid != ::geteuid()) return false;
  return (info.st_mode & 077) == 0 || ::chmod(path.c_str(), 0700) == 0;
}

// The note in the lock file that says why the last login failed. Processes that waited for that
// login read it, so thirty submits at once with a wrong password try it once.
std::string FailureNote(const Error& error) {
  return std::to_string(SystemClock().MonotonicUs()) + "\n" + json::Print(ErrorToJson(error));
}

std::optional<Error> FailureSince(const std::string& lock_file, int64_t since_us) {
  const Result<std::string> note = ReadFile(lock_file, 64 << 10);
  if (!note.ok()) return std::nullopt;
  const size_t line_end = note->find('\n');
  if (line_end == std::string::npos) return std::nullopt;
  const int64_t told_us = std::strtoll(note->c_str(), nullptr, 10);
  // A time in the future: the note was left before the machine was restarted.
  if (told_us < since_us || told_us > SystemClock().MonotonicUs()) return std::nullopt;
  const auto told = json::Parse(std::string_view(*note).substr(line_end + 1));
  if (!told.ok() || !told->is_object()) return std::nullopt;
  Error error = ErrorFromJson(told->get_object());
  error.answered = false;  // another process of ours says so, not the server
  return error;
}

}  // namespace

struct Ssh::Impl {
  SshSecrets secrets;
  std::unique_ptr<AskpassServer> askpass;  // made when first needed; null when there is no need
  bool askpass_tried = false;
  bool may_share = false;
  bool share_no_more = false;  // OpenShared() starts an ssh process
  bool without_keys = false;   // the server gave up on our keys before the password
  std::optional<int> version;
  std::string control_folder;

  int Version() {
    if (!version) version = SshVersion(control_folder);
    return *version;
  }
  bool CanAnswer() const { return secrets.password || secrets.passphrase || secrets.ask_user; }
};

Ssh::Ssh(SshTarget target, SshSecrets secrets)
    : target_(std::move(target)), impl_(std::make_unique<Impl>()) {
  impl_->secrets = std::move(secrets);
  if (impl_->secrets.password || impl_->secrets.passphrase) KeepOutOfDumps();
  if (!target_.control_path.empty() && target_.control_path.size() <= kMaxControlPath &&
      !IsExpanded(target_.control_path) && IsPrivateFolder(DirName(target_.control_path))) {
    impl_->may_share = true;
    impl_->control_folder = DirName(target_.control_path);
  }
}

Ssh::~Ssh() = default;

Environment Ssh::CommandEnvironment() const {
  Environment environment = CurrentEnvironment();
  Impl* impl = impl_.get();
  if (!impl->askpass_tried && impl->CanAnswer()) {
    impl->askpass_tried = true;
    const SshTarget target = target_;
    auto rules = [target] {
      AskpassRules found{target.user, target.alias, target.identity_file, true, target.Shown()};
      const auto said = AskSshConfiguration(Destination(target));
      if (!said.ok()) return found;
      found.jumps = said->jumps;
      if (found.user.empty()) found.user = said->defaults.user;
      return found;
    };
    auto server = AskpassServer::Start(rules, impl->secrets);
    if (server.ok()) impl->askpass = *std::move(server);
  }
  if (impl->askpass) impl->askpass->AddTo(&environment);
  return environment;
}

std::vector<std::string> Ssh::CommandLine(const std::vector<std::string>& options,
                                          const std::string& command) const {
  Impl* impl = impl_.get();
  bool forwards = false, terminal = false;
  for (const std::string& option : options) {
    for (const char* word : {"-L", "-R", "-D", "-W"}) forwards |= option.starts_with(word);
    terminal |= option == "-t" || option == "-tt";
  }
  std::vector<std::string> settings = CommonSettings(target_, impl->Version());
  settings.push_back(
      KnownHostsSetting(target_.known_hosts.empty() ? "/dev/null" : target_.known_hosts));
  settings.push_back("StrictHostKeyChecking=yes");
  settings.push_back("NumberOfPasswordPrompts=1");
  settings.push_back("ControlMaster=no");
  settings.push_back("ControlPath=" + (impl->may_share ? AsValue(target_.control_path) : "none"));
  if (impl->Version() >= kRemoteCommandSince) settings.push_back("RemoteCommand=none");
  if (!forwards) settings.push_back("ClearAllForwardings=yes");
  settings.push_back(impl->CanAnswer() ? "BatchMode=no" : "BatchMode=yes");
  if (impl->without_keys) settings.push_back("PubkeyAuthentication=no");
  if (!target_.identity_file.empty()) {
    settings.push_back("IdentitiesOnly=yes");
    settings.push_back("IdentityFile=" + AsValue(target_.identity_file));
  }

  std::vector<std::string> words{"ssh"};
  words.insert(words.end(), options.begin(), options.end());
  const std::vector<std::string> set = AsOptions(settings);
  words.insert(words.end(), set.begin(), set.end());
  if (!terminal) words.insert(words.end(), {"-T", "-o", "RequestTTY=no"});
  const std::vector<std::string> where = Destination(target_);
  words.insert(words.end(), where.begin(), where.end());
  if (!command.empty()) words.push_back(command);
  return words;
}

Error Ssh::Explain(const std::string& standard_error, const std::string& server_words) const {
  SshOutcome outcome;
  outcome.had_password = impl_->secrets.password != nullptr;
  outcome.server_words = server_words;
  if (impl_->askpass) {
    if (auto problem = impl_->askpass->TakeProblem()) return *std::move(problem);
    outcome.password_asked = impl_->askpass->password_asked();
    outcome.password_refused = impl_->askpass->password_refused();
    outcome.unanswered = impl_->askpass->unanswered();
    outcome.cannot_ask = WhyAskpassCannotStart();
  }
  return ExplainSsh(target_, outcome, standard_error);
}

namespace {

// A process that is not started yet: our ends of its pipes, and its own ends.
struct Pipes {
  PipedProcess process;
  UniqueFd theirs[3];
};

Result<Pipes> MakePipes() {
  Pipes pipes;
  UniqueFd* ours[] = {&pipes.process.in, &pipes.process.out, &pipes.process.err};
  for (int i = 0; i < 3; ++i) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return FromErrno("make a pipe", errno);
    // A larger pipe, for fewer and larger pieces. The size stays as it is where the user's share of
    // pipe memory is used up.
    if (i < 2) (void)::fcntl(ends[0], F_SETPIPE_SZ, kPipeBytes);
    *ours[i] = UniqueFd(ends[i == 0 ? 1 : 0]);
    pipes.theirs[i] = UniqueFd(ends[i == 0 ? 0 : 1]);
  }
  return pipes;
}

}  // namespace

Result<PipedProcess> Ssh::Open(const std::string& command) {
  TENON_TRY_VOID(CheckPinned(target_));
  TENON_TRY(Pipes pipes, MakePipes());
  SpawnOptions options;
  options.argv = CommandLine({}, command);
  options.env = CommandEnvironment();
  options.stdin_fd = pipes.theirs[0].get();
  options.stdout_fd = pipes.theirs[1].get();
  options.stderr_fd = pipes.theirs[2].get();
  options.new_session = true;
  Result<pid_t> pid = Spawn(options);
  if (!pid.ok()) return NoSsh(std::move(pid).error());
  pipes.process.pid = *pid;
  return std::move(pipes.process);
}

Result<PipedProcess> Ssh::OpenShared(const std::string& command) {
  TENON_TRY_VOID(CheckPinned(target_));
  if (impl_->may_share && !impl_->share_no_more) {
    TENON_TRY(Pipes pipes, MakePipes());
    const int standard[] = {pipes.theirs[0].get(), pipes.theirs[1].get(), pipes.theirs[2].get()};
    auto session = MuxSession::Open(target_.control_path, command, standard);
    if (session.ok()) {
      pipes.process.session = *std::move(session);
      return std::move(pipes.process);
    }
  }
  return Open(command);
}

void Ssh::ShareNoMore() { impl_->share_no_more = true; }

bool Ssh::Shared() const { return impl_->may_share && ConnectsTo(target_.control_path); }

void Ssh::WakeShared() const {
  if (!Shared()) return;
  // The process has the arguments of StartShared(), or the title "ssh: PATH [mux]".
  const std::string zero(1, '\0');
  const std::string path = zero + "ControlPath=" + AsValue(target_.control_path) + zero;
  const std::string master = zero + "-M" + zero;
  const std::string title = "ssh: " + target_.control_path + " [mux]";
  const auto names = ListDir("/proc");
  for (const std::string& name : names.ok() ? *names : std::vector<std::string>()) {
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    const auto words = ReadFile("/proc/" + name + "/cmdline", 65536);
    if (!words.ok()) continue;
    const bool ours =
        words->find(path) != std::string::npos && words->find(master) != std::string::npos;
    if (!ours && !words->starts_with(title)) continue;
    const pid_t pid = static_cast<pid_t>(std::strtol(name.c_str(), nullptr, 10));
    if (!IsStopped(pid) || ::kill(pid, SIGCONT) != 0) continue;
    TellWait("the ssh that keeps the connection to " + ForTerminal(target_.address) + " (process " +
             name + ") was stopped; it goes on now");
  }
}

Status Ssh::Connect(bool* fresh) {
  if (fresh != nullptr) *fresh = false;
  TENON_TRY_VOID(CheckPinned(target_));
  if (!impl_->may_share || Shared()) return {};
  const std::string lock_file = target_.control_path + ".lock";
  const int64_t began = SystemClock().MonotonicUs();
  Result<FileLock> lock = FileLock::Take(lock_file, false);
  bool waited = false, looked = false;
  while (!lock.ok() && lock.error().kind == ErrorKind::kUnavailable) {
    waited = true;
    if (Shared()) return {};
    if (!looked && SystemClock().MonotonicUs() - began > kLoginStoppedUs) {
      looked = true;
      const auto holder = FindLockHolder(lock_file);
      if (holder && holder->stopped) return LockedByStopped(lock_file, *holder);
      TellWait("waiting for " + (holder ? holder->Describe() : "another process") +
               ", which is logging in to " + ForTerminal(target_.address));
    }
    if (SystemClock().MonotonicUs() - began > int64_t{kLockMs} * 1000) {
      const auto holder = FindLockHolder(lock_file);
      if (holder && holder->stopped) return LockedByStopped(lock_file, *holder);
      return Unavailable((holder ? holder->Describe() : "another process") +
                         " has been logging in to " + ForTerminal(target_.address) +
                         " for a minute; not waiting any longer");
    }
    Sleep(10'000);
    lock = FileLock::Take(lock_file, false);
  }
  if (!lock.ok()) {  // no locks on this file system
    impl_->may_share = false;
    return {};
  }
  if (Shared()) return {};
  if (waited) {
    if (auto failure = FailureSince(lock_file, began)) return *std::move(failure);
  }
  (void)RemoveFile(target_.control_path).ok();
  Status made = StartShared();
  if (!made.ok() && made.error().kind == ErrorKind::kDenied) {
    if (auto file = OpenFile(lock_file, O_WRONLY | O_TRUNC); file.ok()) {
      (void)WriteAll(file->get(), FailureNote(made.error())).ok();
    }
  }
  if (made.ok() && fresh != nullptr) *fresh = impl_->may_share;
  return made;
}

// Logs in and leaves behind a process that keeps the connection. That process ends by itself.
Status Ssh::StartShared() {
  std::vector<std::string> master = {"-M",
                                     "-N",
                                     "-f",
                                     "-o",
                                     "ControlMaster=yes",
                                     "-o",
                                     "ControlPersist=" + std::to_string(target_.persist_seconds)};
  if (const auto said = AskSshConfiguration(Destination(target_)); said.ok()) {
    const std::string ciphers = QuickerCiphers(said->ciphers);
    if (!ciphers.empty()) master.insert(master.end(), {"-o", "Ciphers=" + ciphers});
  }
  for (;;) {
    TENON_TRY(const LoginLog log, LoginLog::Make());
    std::vector<std::string> front = log.Options();
    front.insert(front.end(), master.begin(), master.end());
    SpawnOptions options;
    options.argv = CommandLine(front, "");
    options.env = CommandEnvironment();
    TENON_TRY(const UniqueFd words, NamelessFile());
    options.stdout_fd = words.get();
    options.stderr_fd = words.get();
    options.new_session = true;
    Result<pid_t> pid = Spawn(options);
    if (!pid.ok()) return NoSsh(std::move(pid).error());
    const auto asking = [this] { return impl_->askpass && impl_->askpass->asking_user(); };
    Finished done = WaitFor(*pid, words.get(), kConnectMs, asking);
    if (done.status.AsShell() == 0 && !done.timed_out) return {};
    log.AddTo(&done);
    if (done.timed_out) {
      return Unavailable("log in to " + ForTerminal(target_.address) + ": no answer in 60 s");
    }
    for (const char* hopeless :
         {"unix_listener", "muxserver_listen", "ControlPath", "ControlSocket"}) {
      if (done.words.find(hopeless) == std::string::npos) continue;
      impl_->may_share = false;  // no sockets here: every session is a connection of its own
      return {};
    }
    const bool too_many = done.words.find("Too many authentication") != std::string::npos;
    const bool password = impl_->secrets.password || impl_->secrets.ask_user;
    if (!too_many || impl_->without_keys || !password) return Explain(done.words, done.others);
    impl_->without_keys = true;
  }
}

void Ssh::Disconnect() {
  if (!Shared()) return;
  std::vector<std::string> words{"ssh", "-O", "exit", "-o",
                                 "ControlPath=" + AsValue(target_.control_path)};
  const std::vector<std::string> where = Destination(target_);
  words.insert(words.end(), where.begin(), where.end());
  (void)RunAndCapture(words, "", "", kGoodbyeMs, 4096).ok();
  if (!Shared()) (void)RemoveFile(target_.control_path).ok();
}

Result<HostKey> Ssh::LookAtHostKey(const std::string& algorithms, int timeout_s) {
  TENON_TRY_VOID(CheckTarget(target_));
  std::string folder = TemporaryName();
  if (::mkdtemp(folder.data()) == nullptr) return FromErrno("make a folder " + folder, errno);
  const std::string seen = folder + "/seen";
  std::vector<std::string> settings = CommonSettings(target_, impl_->Version());
  for (const char* setting :
       {"StrictHostKeyChecking=no", "PreferredAuthentications=none", "PubkeyAuthentication=no",
        "PasswordAuthentication=no", "KbdInteractiveAuthentication=no", "BatchMode=yes",
        "HashKnownHosts=no", "ControlMaster=no", "ControlPath=none", "ClearAllForwardings=yes",
        "RequestTTY=no"}) {
    settings.emplace_back(setting);
  }
  settings.push_back(KnownHostsSetting(seen));
  if (!algorithms.empty()) settings.push_back("HostKeyAlgorithms=" + algorithms);
  SpawnOptions options;
  options.argv = {"ssh", "-T", "-n", "-N"};
  for (const std::vector<std::string>& more : {AsOptions(settings), Destination(target_)}) {
    options.argv.insert(options.argv.end(), more.begin(), more.end());
  }
  options.env = CommandEnvironment();
  options.new_session = true;
  if (impl_->askpass) impl_->askpass->HoldBack(true);
  Result<HostKey> key = LookWith(options, seen, timeout_s);
  if (impl_->askpass) impl_->askpass->HoldBack(false);
  (void)RemoveTree(folder).ok();
  return key;
}

Result<HostKey> Ssh::LookWith(SpawnOptions& options, const std::string& seen, int timeout_s) {
  TENON_TRY(const LoginLog log, LoginLog::Make());
  TENON_TRY(const UniqueFd words, NamelessFile());
  const std::vector<std::string> front = log.Options();
  options.argv.insert(options.argv.begin() + 1, front.begin(), front.end());
  options.stdout_fd = words.get();
  options.stderr_fd = words.get();
  Result<pid_t> pid = Spawn(options);
  if (!pid.ok()) return NoSsh(std::move(pid).error());
  const auto noted = [&]() -> std::optional<std::string> {
    const std::string file = ReadFile(seen, 1 << 20).value_or("");
    for (size_t at = 0, end; (end = file.find('\n', at)) != std::string::npos; at = end + 1) {
      const std::string line = file.substr(at, end - at);
      if (line.starts_with(target_.alias + " ")) return line.substr(target_.alias.size() + 1);
    }
    return std::nullopt;
  };
  // Once ssh has noted the key, it does not matter whether the server lets us in.
  const auto asking = [&] { return impl_->askpass && impl_->askpass->asking_user(); };
  Finished done =
      WaitFor(*pid, words.get(), timeout_s * 1000, asking, [&] { return noted().has_value(); });
  if (const auto key = noted()) return ParseHostKey(*key);
  log.AddTo(&done);
  if (done.timed_out) {
    return Unavailable("connect to " + ForTerminal(target_.address) + ": no answer in " +
                       std::to_string(timeout_s) + " s")
        .WithHint("is the machine switched on, and the port open in its firewall?");
  }
  return Explain(done.words, done.others);
}

}  // namespace tenon::transport
