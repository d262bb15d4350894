// SPDX-License-Identifier: Apache-2.0
#include "transport/askpass.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <utility>

#include "base/clock.h"
#include "base/file.h"
#include "base/text.h"

namespace tenon::transport {
namespace {

// A question is "<pid of ssh>\n<prompt>"; then the sender shuts down its writing side. An answer
// begins with one of these bytes; after kAnswer comes the text.
constexpr char kAnswer = 'A';
constexpr char kNoAnswer = 'N';
constexpr char kStop = 'S';  // no answer, and ssh is ended

constexpr size_t kMaxQuestion = 64 << 10;
constexpr int kQuestionMs = 5000;

std::string& AskpassProgram() {
  static std::string path;
  return path;
}

std::string PathOfOurProgram() {
  if (!AskpassProgram().empty()) return AskpassProgram();
  std::string exe = ReadLink("/proc/self/exe").value_or("");
  // A newer version has replaced the program; it can ask as well.
  constexpr std::string_view kGone = " (deleted)";
  if (exe.ends_with(kGone)) exe.resize(exe.size() - kGone.size());
  return exe;
}

// The program at its path, else our own file by our pid. Once we keep out of dumps, unprivileged
// processes cannot open the latter.
std::string OurProgram() {
  std::string path = PathOfOurProgram();
  if (!path.empty() && ::access(path.c_str(), X_OK) == 0) return path;
  return "/proc/" + std::to_string(::getpid()) + "/exe";
}

// Returns all that the peer sends until it shuts down its writing side; nullopt when that takes too
// long.
std::optional<std::string> ReadAll(int fd, size_t limit, int timeout_ms) {
  std::string text;
  const int64_t deadline = SystemClock().MonotonicUs() + int64_t{timeout_ms} * 1000;
  char buffer[4096];
  for (;;) {
    if (timeout_ms >= 0) {
      const int64_t left = (deadline - SystemClock().MonotonicUs()) / 1000;
      pollfd wait{fd, POLLIN, 0};
      if (left <= 0 || ::poll(&wait, 1, static_cast<int>(left)) == 0) return std::nullopt;
    }
    const ssize_t n = ::read(fd, buffer, sizeof buffer);
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (n < 0 || text.size() > limit) return std::nullopt;
    if (n == 0) return text;
    text.append(buffer, static_cast<size_t>(n));
  }
}

bool SendAll(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = ::send(fd, text.data(), text.size(), MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    text.remove_prefix(static_cast<size_t>(n));
  }
  return true;
}

bool FillAddress(const std::string& path, sockaddr_un* address) {
  *address = {};
  address->sun_family = AF_UNIX;
  if (path.size() >= sizeof address->sun_path) return false;
  std::memcpy(address->sun_path, path.data(), path.size());
  return true;
}

constexpr std::string_view kFolderStem = "tenon-ask-";
constexpr time_t kForgottenSeconds = 60;

// Removes our folders whose process was killed: nobody listens at their sockets any more.
void RemoveForgotten(const std::string& place) {
  const Result<std::vector<std::string>> names = ListDir(place);
  for (const std::string& name : names.ok() ? *names : std::vector<std::string>()) {
    if (!name.starts_with(kFolderStem)) continue;
    const std::string folder = JoinPath(place, name);
    struct stat info;
    sockaddr_un address;
    if (::lstat(folder.c_str(), &info) != 0 || !S_ISDIR(info.st_mode)) continue;
    if (info.st_uid != ::geteuid() || ::time(nullptr) - info.st_mtime < kForgottenSeconds) continue;
    if (!FillAddress(folder + "/socket", &address)) continue;
    const UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const bool alive =
        ::connect(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
    if (!alive && errno == ECONNREFUSED) (void)RemoveTree(folder).ok();
  }
}

// A folder that only we can enter, with a short path.
Result<std::string> MakePrivateFolder() {
  std::vector<std::string> places;
  for (const char* name : {"XDG_RUNTIME_DIR", "TMPDIR"}) {
    const char* value = ::getenv(name);
    if (value != nullptr && value[0] == '/' && std::strlen(value) < 60) places.emplace_back(value);
  }
  places.emplace_back("/tmp");
  int failure = 0;
  for (const std::string& place : places) {
    std::string path = JoinPath(place, std::string(kFolderStem) + "XXXXXX");
    if (::mkdtemp(path.data()) != nullptr) {
      RemoveForgotten(place);
      return path;
    }
    failure = errno;
  }
  return FromErrno("make a folder below " + places.back(), failure);
}

// ssh before 8.9 cuts the names it prints.
bool NamesAre(std::string_view user, std::string_view host, const AskpassRules& rules) {
  const bool user_is = user == rules.user || (user.size() == 30 && rules.user.starts_with(user));
  const bool host_is = host == rules.alias || (host.size() == 128 && rules.alias.starts_with(host));
  return user_is && host_is;
}

// Splits "USER@HOST"; a user may have an @ of its own, an alias has none.
bool Names(std::string_view text, const AskpassRules& rules) {
  const size_t at = text.rfind('@');
  return at != std::string_view::npos && NamesAre(text.substr(0, at), text.substr(at + 1), rules);
}

// Whether a server asks for the password and nothing else, such as a new password or a code.
bool AsksForPassword(std::string_view text) {
  std::string words = ToLower(Trim(text));
  if (words.ends_with(':')) words.pop_back();
  return words == "password" || words.ends_with("'s password") ||
         words.starts_with("password for ");
}

}  // namespace

PromptKind ClassifyPrompt(const std::string& prompt, const AskpassRules& rules) {
  constexpr std::string_view kKey = "Enter passphrase for key '";
  if (prompt.starts_with(kKey)) {
    const bool ours =
        !rules.identity_file.empty() && prompt == std::string(kKey) + rules.identity_file + "': ";
    return ours ? PromptKind::kPassphrase : PromptKind::kOther;
  }
  constexpr std::string_view kPassword = "'s password: ";
  if (prompt.ends_with(kPassword)) {
    const std::string_view names =
        std::string_view(prompt).substr(0, prompt.size() - kPassword.size());
    if (Names(names, rules)) return PromptKind::kPassword;
  }
  const size_t close = prompt.find(") ");
  if (prompt.starts_with('(') && close != std::string::npos) {
    const bool ours = Names(std::string_view(prompt).substr(1, close - 1), rules) &&
                      AsksForPassword(std::string_view(prompt).substr(close + 2));
    return ours ? PromptKind::kPassword : PromptKind::kOther;
  }
  // Before ssh 8.5 the question of a server came without names. It is trusted only where no jump
  // host can have asked it.
  if (!rules.jumps && prompt.find('@') == std::string::npos && AsksForPassword(prompt)) {
    return PromptKind::kPassword;
  }
  return PromptKind::kOther;
}

void SetAskpassProgram(std::string path) { AskpassProgram() = std::move(path); }

std::string WhyAskpassCannotStart() {
  std::string path = PathOfOurProgram();
  if (::access(path.c_str(), X_OK) == 0) return "";
  if (::geteuid() == 0 || ::prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) == 1) return "";  // by /proc/PID/exe
  const std::string text = "ssh can't start " + ForTerminal(path) + " to ask for the password: ";
  std::string closed;
  for (std::string folder = DirName(path); folder.size() > 1; folder = DirName(folder)) {
    if (::access(folder.c_str(), X_OK) != 0) closed = folder;
  }
  if (!closed.empty()) return text + "this user may not enter " + ForTerminal(closed);
  return text + (Exists(path) ? "this user may not start it" : "it is not there any more");
}

void KeepOutOfDumps() { ::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); }

void Wipe(std::string* secret) {
  volatile char* bytes = secret->data();
  for (size_t i = 0; i < secret->size(); ++i) bytes[i] = 0;
  secret->clear();
}

int AskpassMain(const std::string& prompt) {
  KeepOutOfDumps();
  const char* path = ::getenv(kAskpassVariable);
  const char* kind = ::getenv("SSH_ASKPASS_PROMPT");
  sockaddr_un address;
  if (path == nullptr || !FillAddress(path, &address)) return 1;
  if (kind != nullptr && std::strcmp(kind, "none") == 0) return 0;  // a notice, not a question
  const UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (::connect(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) return 1;
  const std::string question = std::to_string(::getppid()) + "\n" + prompt;
  if (!SendAll(fd.get(), question) || ::shutdown(fd.get(), SHUT_WR) != 0) return 1;
  std::optional<std::string> answer = ReadAll(fd.get(), kMaxQuestion, -1);
  if (answer && answer->starts_with(kStop)) ::kill(::getppid(), SIGTERM);
  if (!answer || !answer->starts_with(kAnswer)) return 1;
  *answer += '\n';
  const bool written = WriteAll(STDOUT_FILENO, std::string_view(*answer).substr(1)).ok();
  Wipe(&*answer);
  return written ? 0 : 1;
}

struct AskpassServer::State {
  std::function<AskpassRules()> ask_rules;
  SshSecrets secrets;
  std::string folder;
  UniqueFd listening, stop_read, stop_write;
  std::thread thread;
  std::atomic<bool> asking{false};
  std::atomic<bool> wanted{false};  // the password was asked for
  std::atomic<bool> refused{false};
  std::atomic<bool> held_back{false};

  std::mutex mutex;
  std::string unanswered;        // guarded by mutex
  std::optional<Error> problem;  // guarded by mutex

  // For the server's thread alone.
  std::optional<AskpassRules> rules;
  std::set<pid_t> answered;  // ssh processes that were given the password
  std::set<pid_t> unlocked;  // and those that were given the passphrase

  std::string socket() const { return folder + "/socket"; }
  void Serve();
  void Handle(int fd);
  std::string Decide(pid_t ssh, const std::string& prompt);
  std::optional<std::string> AnswerWith(const SshSecrets::Lookup& lookup);
  std::string AskUser(const std::string& asked, char otherwise);
};

// Returns nullopt when there is no such secret.
std::optional<std::string> AskpassServer::State::AnswerWith(const SshSecrets::Lookup& lookup) {
  if (!lookup) return std::nullopt;
  auto found = lookup();
  if (!found.ok()) {
    const std::lock_guard<std::mutex> lock(mutex);
    problem = std::move(found).error();
    return std::string(1, kStop);
  }
  if (!*found) return std::nullopt;
  std::string answer = kAnswer + **found;
  Wipe(&**found);
  return answer;
}

// Each ssh process gets the password once. If it asks again, the password was wrong. Without kStop
// ssh would send an empty word next, which the server counts as another try.
std::string AskpassServer::State::Decide(pid_t ssh, const std::string& prompt) {
  if (!rules) rules = ask_rules();
  const PromptKind kind = ClassifyPrompt(prompt, *rules);
  if (kind == PromptKind::kPassword && !held_back) {
    wanted = true;
    if (answered.contains(ssh)) {
      refused = true;
      return {kStop};
    }
    if (auto answer = AnswerWith(secrets.password)) {
      answered.insert(ssh);
      return *std::move(answer);
    }
  }
  if (kind == PromptKind::kPassphrase && !unlocked.contains(ssh)) {
    if (auto answer = AnswerWith(secrets.passphrase)) {
      unlocked.insert(ssh);
      return *std::move(answer);
    }
  }
  if (kind == PromptKind::kPassword && held_back) return {kStop};
  std::string answer = AskUser(prompt, kind == PromptKind::kPassword ? kStop : kNoAnswer);
  if (kind == PromptKind::kPassword && answer.front() == kAnswer) answered.insert(ssh);
  return answer;
}

std::string AskpassServer::State::AskUser(const std::string& asked, char otherwise) {
  std::optional<std::string> answer;
  std::string prompt = asked;
  const size_t alias = rules->alias.empty() ? std::string::npos : prompt.find(rules->alias);
  if (alias != std::string::npos) prompt.replace(alias, rules->alias.size(), rules->shown);
  if (secrets.ask_user) {
    asking = true;
    answer = secrets.ask_user(prompt);
    asking = false;
    otherwise = kStop;  // the user was asked and gave no answer
  }
  if (answer) return kAnswer + *answer;
  const std::lock_guard<std::mutex> lock(mutex);
  unanswered = prompt;
  return {otherwise};
}

void AskpassServer::State::Handle(int fd) {
  ucred peer = {};
  socklen_t size = sizeof peer;
  if (::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return;
  if (peer.uid != ::geteuid()) return;
  const std::optional<std::string> question = ReadAll(fd, kMaxQuestion, kQuestionMs);
  if (!question) return;
  const size_t line = question->find('\n');
  if (line == std::string::npos) return;
  const pid_t ssh = static_cast<pid_t>(std::strtol(question->c_str(), nullptr, 10));
  std::string answer = Decide(ssh, question->substr(line + 1));
  (void)SendAll(fd, answer);
  Wipe(&answer);
}

void AskpassServer::State::Serve() {
  for (;;) {
    pollfd fds[] = {{listening.get(), POLLIN, 0}, {stop_read.get(), POLLIN, 0}};
    if (::poll(fds, 2, -1) < 0 && errno != EINTR) return;
    if (fds[1].revents != 0) return;
    if (fds[0].revents == 0) continue;
    const UniqueFd peer(::accept4(listening.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (peer.valid()) Handle(peer.get());
  }
}

AskpassServer::AskpassServer(std::unique_ptr<State> state) : state_(std::move(state)) {}

Result<std::unique_ptr<AskpassServer>> AskpassServer::Start(std::function<AskpassRules()> rules,
                                                            SshSecrets secrets) {
  auto state = std::make_unique<State>();
  state->ask_rules = std::move(rules);
  state->secrets = std::move(secrets);
  TENON_TRY(state->folder, MakePrivateFolder());
  std::unique_ptr<AskpassServer> server(new AskpassServer(std::move(state)));
  State& s = *server->state_;
  sockaddr_un address;
  if (!FillAddress(s.socket(), &address)) return Invalid(s.socket() + ": too long for a socket");
  s.listening = UniqueFd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (::bind(s.listening.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(s.listening.get(), 16) != 0) {
    return FromErrno("listen on " + s.socket(), errno);
  }
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return FromErrno("make a pipe", errno);
  s.stop_read = UniqueFd(ends[0]);
  s.stop_write = UniqueFd(ends[1]);
  // Signals are for the program's own threads.
  sigset_t all, before;
  sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  s.thread = std::thread([&s] { s.Serve(); });
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return server;
}

AskpassServer::~AskpassServer() {
  state_->stop_write.Reset();
  if (state_->thread.joinable()) state_->thread.join();
  if (!state_->folder.empty()) (void)RemoveTree(state_->folder).ok();
}

void AskpassServer::AddTo(Environment* environment) const {
  (*environment)[kAskpassVariable] = state_->socket();
  (*environment)["SSH_ASKPASS"] = OurProgram();
  (*environment)["SSH_ASKPASS_REQUIRE"] = "force";
  // ssh before 8.4 starts the program only if there is a display and no terminal.
  environment->emplace("DISPLAY", ":0");
}

bool AskpassServer::asking_user() const { return state_->asking; }
bool AskpassServer::password_asked() const { return state_->wanted; }
bool AskpassServer::password_refused() const { return state_->refused; }
void AskpassServer::HoldBack(bool on) { state_->held_back = on; }

std::string AskpassServer::unanswered() const {
  const std::lock_guard<std::mutex> lock(state_->mutex);
  return state_->unanswered;
}

std::optional<Error> AskpassServer::TakeProblem() {
  const std::lock_guard<std::mutex> lock(state_->mutex);
  return std::exchange(state_->problem, std::nullopt);
}

}  // namespace tenon::transport
