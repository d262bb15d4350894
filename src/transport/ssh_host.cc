// SPDX-License-Identifier: Apache-2.0
#include "transport/ssh_host.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/clock.h"
#include "base/file.h"
#include "base/text.h"
#include "base/waiting.h"
#include "transport/ssh_words.h"

namespace tenon::transport {
namespace {

constexpr size_t kHashDigits = 16;
// How long the host may take for an answer that costs it next to nothing.
constexpr int64_t kAnswerUs = 60'000'000;
// The user is told of a wait that is longer than this.
constexpr int64_t kTellUs = 15'000'000;
// After so long without a greeting we check whether the process that keeps the connection is
// stopped.
constexpr int64_t kMasterUs = 3'000'000;
// How long a send may go on without any progress.
constexpr int64_t kSendUs = 60'000'000;
constexpr int kBootstrapMs = 60'000;
constexpr int kRefusals = 12;
constexpr size_t kMostSaid = 1u << 20;
constexpr size_t kMostShown = 600;
constexpr int kSshFailed = 255;

// Run by /bin/sh from its standard input, so no login shell has to understand it. First it checks
// that our shell reads it, from the first line on: a login that starts another shell, or reads a
// line, would run or swallow what we send. Then it finds a folder of the user's in which programs
// may be started. It tries that with a text file without "#!", which the shell runs itself, unless
// the file system forbids it.
constexpr const char* kFindRoot = R"sh(umask 077
[ -n "$mark" ] && [ "$mark" = "$2" ] || { echo "tenon-stranger"; exit 1; }
asked=$1; user=$(id -u)
echo; echo "tenon-host 1"; echo "machine=$(uname -m)"; echo "system=$(uname -s)"
look() {
  mkdir -p "$1/bin" 2>/dev/null || { echo "tried=$1: it cannot be made"; return 1; }
  [ -O "$1" ] && { [ "$2" = any ] || [ ! -L "$1" ]; } ||
    { echo "tried=$1: it belongs to somebody else"; return 1; }
  [ -w "$1/bin" ] || { echo "tried=$1: it cannot be written"; return 1; }
  try="$1/bin/.try.$$"
  echo : >"$try" 2>/dev/null && [ -s "$try" ] ||
    { rm -f "$try"; echo "full=$1"; return 0; }
  chmod 700 "$try"; [ -n "$asked" ] || chmod go-rwx "$1"
  if "$try" 2>/dev/null; then rm -f "$try"; else
    rm -f "$try"; echo "tried=$1: programs may not be started there (noexec)"; return 1
  fi
  echo "root=$1"
}
if [ -n "$asked" ]; then look "$asked" any; else
  look "$HOME/.tenon" any ||
    for place in /var/tmp /tmp /dev/shm; do look "$place/tenon-$user" && break; done
fi
echo "end=1"
)sh";

// Sent as one line, in quotes: it has no character that a login shell reads inside quotes.
constexpr const char* kTakeProgram =
    "umask 077; new=\"$1/bin/.new.$$\"; "
    "cat >\"$new\" && chmod 700 \"$new\" && \"$new\" check \"$2\" >/dev/null && "
    "mv -f \"$new\" \"$1/bin/$3\" && echo tenon-pushed; rm -f \"$new\"";

// Whether everybody may make folders there. After a restart a folder that was ours may belong to
// another user.
bool IsSharedPlace(const std::string& root) {
  return root.starts_with("/tmp/") || root.starts_with("/var/tmp/") ||
         root.starts_with("/dev/shm/");
}

// Starts the agent. If the folder is not ours, it exits as if the program were missing.
constexpr const char* kServeIfOurs =
    "[ -O \"$1\" ] && [ ! -L \"$1\" ] && exec \"$1/bin/$2\" serve; exit 127";

// As much of the text as an error message can hold.
std::string FirstWords(const std::string& said) {
  return ForTerminal(Trim(said.substr(0, kMostShown)));
}

std::string ProgramName(const AgentProgram& program) {
  return "tenon-runner-" + program.hash.substr(0, kHashDigits);
}

// The value in a "key=value" line after the line "tenon-host 1"; "" if there is none.
std::string ValueOf(std::string_view output, std::string_view key) {
  const size_t begin = output.find("tenon-host 1\n");
  if (begin == std::string_view::npos) return "";
  const std::string wanted = "\n" + std::string(key) + "=";
  const size_t found = output.find(wanted, begin);
  if (found == std::string_view::npos) return "";
  const size_t value = found + wanted.size();
  return std::string(output.substr(value, output.find('\n', value) - value));
}

// Waits before the next try at a machine that is up but takes no more connections for now
// (MaxStartups). Each refusal makes the wait longer, and it differs between our processes.
void PauseAfterRefusal(int refusals) {
  const auto spread = static_cast<useconds_t>(::getpid() % 16);
  ::usleep(static_cast<useconds_t>(refusals) * (100'000 + spread * 20'000));
}

// Beyond the limit the front is dropped: what a login prints comes before the answer.
void Append(int fd, std::string* to, UniqueFd* owner) {
  char buffer[16384];
  const ssize_t count = ::read(fd, buffer, sizeof buffer);
  if (count > 0) {
    to->append(buffer, static_cast<size_t>(count));
    if (to->size() > kMostSaid) to->erase(0, to->size() - kMostSaid / 2);
  } else if (count == 0 || (errno != EINTR && errno != EAGAIN)) {
    owner->Reset();
  }
}

}  // namespace

SshHost::SshHost(Ssh& ssh, SshHostOptions options) : ssh_(ssh), options_(std::move(options)) {}
SshHost::~SshHost() = default;

std::string SshHost::Describe() const {
  const SshTarget& target = ssh_.target();
  return target.name.empty() ? target.address : target.name + " (" + target.address + ")";
}

std::string SshHost::agent_path() const {
  const auto program = options_.program(options_.machine);
  TENON_CHECK(program.ok() && !options_.root.empty());
  return JoinPath(options_.root, "bin/" + ProgramName(*program));
}

void SshHost::HangUp() {
  agent_.reset();
  unheard_.clear();
}

Result<CaptureResult> SshHost::RunLine(const std::string& command, std::string_view input,
                                       const std::function<void(uint64_t)>& on_written) {
  TENON_TRY(PipedProcess process, ssh_.Open(command));
  ::fcntl(process.in.get(), F_SETFL, O_NONBLOCK);
  CaptureResult result;
  uint64_t written = 0;
  int64_t deadline = SystemClock().MonotonicUs() + int64_t{kBootstrapMs} * 1000;
  while (process.out.valid() || process.err.valid()) {
    if (written == input.size()) process.in.Reset();
    pollfd fds[3] = {{process.out.get(), POLLIN, 0},
                     {process.err.get(), POLLIN, 0},
                     {process.in.get(), POLLOUT, 0}};
    const int64_t left = deadline - SystemClock().MonotonicUs();
    if (left <= 0) return Unavailable(Describe() + " does not answer");
    if (::poll(fds, 3, static_cast<int>(left / 1000 + 1)) <= 0) continue;
    if (fds[0].revents != 0) Append(fds[0].fd, &result.out, &process.out);
    if (fds[1].revents != 0) Append(fds[1].fd, &result.err, &process.err);
    if (fds[2].revents != 0) {
      const ssize_t count =
          ::write(process.in.get(), input.data() + written, input.size() - written);
      if (count > 0) {
        written += static_cast<uint64_t>(count);
        deadline = SystemClock().MonotonicUs() + int64_t{kBootstrapMs} * 1000;
        if (on_written) on_written(written);
      } else if (count < 0 && errno != EINTR && errno != EAGAIN) {
        process.in.Reset();
        written = input.size();
      }
    }
  }
  for (; process.Going(); ::poll(nullptr, 0, 1)) {
    if (auto end = process.TakeEnd(&result.err)) result.status = *end;
    if (SystemClock().MonotonicUs() > deadline) return Unavailable(Describe() + " does not answer");
  }
  if (result.status.code == kSshFailed) return ssh_.Explain(result.err);
  result.err = Trim(WithoutRemarks(result.err));
  return result;
}

Status SshHost::Push(const AgentProgram& program) {
  const std::string command = "exec /bin/sh -c " + QuoteForAnyShell(kTakeProgram) + " sh " +
                              QuoteForAnyShell(options_.root) + " " + program.hash + " " +
                              ProgramName(program);
  const std::string doing = "putting the runner on " + Describe();
  TENON_TRY(const std::string bytes, program.bytes());
  auto pushed = RunLine(command, bytes, [&](uint64_t done) {
    if (options_.on_push) options_.on_push(done, bytes.size());
  });
  if (!pushed.ok()) return std::move(pushed).error().Wrap(doing);
  if (pushed->out.find("tenon-pushed") != std::string::npos) return {};
  const std::string words = FirstWords(pushed->err);
  const bool wrong_kind = words.find("Exec format error") != std::string::npos;
  return Unavailable(doing + " into " + options_.root + "/bin failed" +
                     (words.empty() ? "" : ": " + words))
      .WithHint(wrong_kind ? "it calls itself " + ForTerminal(options_.machine) +
                                 ", but does not start programs for that kind of machine"
                           : "is there room on its disk? `tenon host clean` gives back what old "
                             "runs took; tenonDirectory in the .compute file names another folder");
}

Error SshHost::DidNotRunShell(const CaptureResult& found) const {
  const std::string doing = Describe() + " did not run /bin/sh: ";
  if (found.out.find("tenon-stranger") != std::string::npos) {
    return Unavailable(doing +
                       "the login starts another shell, or reads standard input, before "
                       "the command")
        .WithHint(
            "look at ~/.bashrc there, and at command=\"…\" in authorized_keys; what is for "
            "terminals belongs behind a test as `[ -t 0 ]`");
  }
  std::string said = FirstWords(found.err.empty() ? found.out : found.err);
  if (said.empty()) said = "exit code " + std::to_string(found.status.AsShell()) + ", not a word";
  const SshTarget& target = ssh_.target();
  const std::string port = target.port != 0 ? "-p " + std::to_string(target.port) + " " : "";
  const std::string user = target.user.empty() ? "" : ShellQuote(target.user) + "@";
  return Unavailable(doing + said)
      .WithHint("`ssh " + port + user + target.address + " uname -a` must work");
}

Status SshHost::Bootstrap() {
  const std::string mark = RandomHex(8);
  const std::string command =
      "exec /bin/sh -s " + QuoteForAnyShell(options_.asked_root) + " " + mark;
  TENON_TRY(const CaptureResult found,
            RunLine(command, "mark=" + mark + "\n" + kFindRoot, nullptr));
  const std::string system = ValueOf(found.out, "system");
  if (system.empty()) return DidNotRunShell(found);
  options_.machine = ValueOf(found.out, "machine");
  const auto program = options_.program(options_.machine);
  const std::string kind = Describe() + " is a " + ForTerminal(system) + " machine of the kind " +
                           ForTerminal(options_.machine);
  if (system != "Linux") return Invalid(kind + "; runs need Linux");
  if (!program.ok()) return Error(program.error()).Wrap(kind);
  if (const std::string full = ValueOf(found.out, "full"); !full.empty()) {
    return Unavailable("nothing can be written to " + full + " on " + Describe() +
                       "; its disk, or your share of it, is full")
        .WithHint("make room there, or name another folder: tenonDirectory in the .compute file");
  }
  const std::string root = ValueOf(found.out, "root");
  if (!options_.root.empty() && root != options_.root) {
    // What we have on the machine is in that folder, so no other can take its place. Nothing is
    // started from a folder that may be another user's now.
    return Denied("the folder " + ForTerminal(options_.root) + " on " + Describe() +
                  " cannot be used any more: " + ForTerminal(ValueOf(found.out, "tried")))
        .WithHint("name another one with tenonDirectory in the .compute file");
  }
  options_.root = root;
  if (options_.root.empty() || options_.root.front() != '/') {
    return Denied("there is no folder on " + Describe() +
                  " in which programs may be started: " + ForTerminal(ValueOf(found.out, "tried")))
        .WithHint("name one with tenonDirectory in the .compute file");
  }
  return Push(*program);
}

Status SshHost::StartAgent() {
  if (denied_) return *denied_;
  if (auto connected = ssh_.Connect(); !connected.ok()) {
    if (connected.error().kind == ErrorKind::kDenied) denied_ = connected.error();
    return connected;
  }
  if (options_.root.empty() || !options_.program(options_.machine).ok()) {
    TENON_TRY_VOID(Bootstrap());
    pushed_ = true;
  }
  std::string command = "exec " + QuoteForAnyShell(agent_path()) + " serve";
  if (IsSharedPlace(options_.root)) {
    command = "exec /bin/sh -c " + QuoteForAnyShell(kServeIfOurs) + " sh " +
              QuoteForAnyShell(options_.root) + " " +
              ProgramName(*options_.program(options_.machine));
  }
  TENON_TRY(PipedProcess process, ssh_.OpenShared(command));
  agent_ = std::make_unique<Agent>(std::move(process));
  started_us_ = SystemClock().MonotonicUs();
  return {};
}

Error SshHost::Explain(Error error, bool* missing) {
  *missing = false;
  if (!agent_ || !agent_->ended()) return error;
  const int code = agent_->ended()->code;
  // The agent is missing or damaged. A truncated program ends with any exit code, or by a signal. A
  // session of the shared connection does not tell of a signal: it ends without a status while the
  // connection stands.
  const bool by_signal = agent_->untold() && ssh_.Shared();
  const bool started = !agent_->refused() && (code != kSshFailed || by_signal);
  *missing = !agent_->greeted() && started;
  if (code == kSshFailed) return ssh_.Explain(agent_->said());
  return error;
}

Status SshHost::Open() {
  if (agent_) return {};
  unheard_.clear();
  return StartAgent();
}

Status SshHost::Send(const json::Object& head, std::string_view body) {
  TENON_TRY_VOID(Open());
  if (!agent_->greeted()) unheard_.emplace_back(head, body);
  auto sent = agent_->Send(head, body, kSendUs);
  has_sent_ = true;
  if (sent.ok()) return {};
  bool missing = false;
  Error error = Explain(std::move(sent).error(), &missing);
  // Take() will find out the same and start the agent again.
  if ((missing && !pushed_) || agent_->refused()) return {};
  Close();
  return error;
}

Result<std::optional<Frame>> SshHost::Take(int64_t timeout_us) {
  if (!agent_) return Unavailable("the link to " + Describe() + " is gone");
  const int64_t deadline = SystemClock().MonotonicUs() + timeout_us;
  for (;;) {
    const int64_t greet_by =
        agent_->greeted() || pushed_ ? deadline : started_us_ + options_.greet_us;
    const bool look = !agent_->greeted() && !looked_at_master_;
    const int64_t look_by = look ? started_us_ + kMasterUs : deadline;
    auto frame = agent_->Receive(std::max<int64_t>(
        std::min({deadline, greet_by, look_by}) - SystemClock().MonotonicUs(), 0));
    if (look && frame.ok() && !*frame && SystemClock().MonotonicUs() >= look_by) {
      looked_at_master_ = true;
      ssh_.WakeShared();
      continue;
    }
    if (agent_->greeted()) {
      unheard_.clear();
      has_heard_ = true;
      refusals_ = 0;
    }
    const bool hangs = frame.ok() && !*frame && !agent_->greeted() && !pushed_ &&
                       SystemClock().MonotonicUs() >= greet_by;
    if (frame.ok() && !hangs) return frame;
    const bool greeted = agent_->greeted();
    bool missing = hangs;
    Error error = hangs ? Unavailable("") : Explain(std::move(frame).error(), &missing);
    const bool push = missing && !pushed_;
    // The shared connection gave us no session. An ssh of its own opens another connection, or says
    // why it can't.
    const bool alone = !hangs && agent_->refused();
    if (alone) ssh_.ShareNoMore();
    const bool again = alone || (!greeted && error.kind == ErrorKind::kUnavailable &&
                                 ssh_.Shared() && ++refusals_ < kRefusals);
    if (!push && !again) {
      Close();
      return error;
    }
    // Send everything sent so far again, to a new agent.
    auto said = std::exchange(unheard_, {});
    agent_.reset();
    if (push) {
      TENON_TRY_VOID(Bootstrap());
      pushed_ = true;
    } else if (!alone) {
      PauseAfterRefusal(refusals_);
    }
    for (const auto& [head, body] : said) TENON_TRY_VOID(Send(head, body));
  }
}

Result<Frame> SshHost::Ask(const json::Object& head, std::string_view body, int64_t timeout_us) {
  TENON_TRY_VOID(Send(head, body));
  TENON_TRY(Frame answer, Receive(timeout_us));
  if (!json::GetBool(answer.head, "ok")) return AnswerError(answer.head);
  return answer;
}

Result<json::Object> SshHost::Hello() {
  TENON_TRY(Frame answer, Ask({{"op", "hello"}}, {}, kAnswerUs));
  return std::move(answer.head);
}

Result<CaptureResult> SshHost::Run(const std::vector<std::string>& argv, const std::string& input,
                                   int timeout_ms) {
  TENON_TRY_VOID(Send(RunRequest(argv, timeout_ms), input));
  // ssh itself notices a dead link, so a command without a limit may be waited for without one.
  const int64_t wait = timeout_ms == 0 ? INT64_MAX / 4 : int64_t{timeout_ms} * 1000 + kAnswerUs;
  TENON_TRY(auto early, Next(std::min(wait, kTellUs)));
  if (early) return ToCaptureResult(*early);
  TellWait(Describe() + " is connected and has not answered for " + HumanDuration(kTellUs) +
           "; waiting for it");
  TENON_TRY(const Frame answer, Receive(wait - kTellUs));
  return ToCaptureResult(answer);
}

Status SshHost::PutFile(const std::string& path, std::string_view bytes, mode_t mode) {
  TENON_TRY_VOID(
      Ask({{"op", "put"}, {"path", json::EncodeBytes(path)}, {"mode", mode}}, bytes, kAnswerUs));
  return {};
}

Result<std::string> SshHost::ReadFrom(const std::string& path, uint64_t offset, size_t max) {
  TENON_TRY(
      Frame answer,
      Ask({{"op", "read"}, {"path", json::EncodeBytes(path)}, {"offset", offset}, {"max", max}}, {},
          kAnswerUs));
  TENON_EXPECT_PEER(answer.body.size() <= max,
                    "the host sends more of " + ForTerminal(path) + " than was asked for");
  return std::move(answer.body);
}

Result<bool> SshHost::WaitForGrowth(const std::vector<KnownLength>& files, int64_t timeout_us) {
  json::Array known;
  for (const KnownLength& file : files) {
    known.push_back(json::Object{{"path", json::EncodeBytes(file.path)}, {"size", file.size}});
  }
  TENON_TRY(const Frame answer,
            Ask({{"op", "wait"}, {"files", std::move(known)}, {"timeout_us", timeout_us}}, {},
                timeout_us + kAnswerUs));
  return json::GetBool(answer.head, "grew");
}

Result<bool> SshHost::IsLocked(const std::string& path) {
  TENON_TRY(const Frame answer,
            Ask({{"op", "locked"}, {"path", json::EncodeBytes(path)}}, {}, kAnswerUs));
  return json::GetBool(answer.head, "locked");
}

}  // namespace tenon::transport
