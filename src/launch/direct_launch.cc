// SPDX-License-Identifier: Apache-2.0
#include "launch/direct_launch.h"

#include <sys/stat.h>

#include <algorithm>

#include "base/error_json.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/process.h"
#include "base/text.h"
#include "base/waiting.h"
#include "run/described.h"
#include "run/members.h"
#include "run/verbs.h"
#include "transport/agent.h"

namespace tenon::launch {
namespace {

// Starting is a matter of milliseconds; a disk under load may hold the first record back for long.
constexpr int kStartTimeoutMs = 120'000;
// Cancel and recover may have to end processes and collect gigabytes of outputs first; removing an
// image takes an engine its time too, and so does adding up the sizes of millions of files.
constexpr int kNoTimeout = 0;
// A login shell may take its ten seconds, an engine and a GPU tool theirs.
constexpr int kProbeTimeoutMs = 90'000;
constexpr int kWatchTimeoutMs = 60'000;
constexpr size_t kReadPiece = 1u << 20;
constexpr size_t kHashDigits = 16;

std::string LastLine(std::string_view text) {
  text = Trim(text);
  size_t line = text.rfind('\n');
  return ForTerminal(line == std::string_view::npos ? text : text.substr(line + 1));
}

constexpr const char* kCheckedSuffix = ".checked";

// What tells that a file of this machine is the one it was: its inode and times, and the boot.
// "": nothing does.
std::string IdentityOf(const std::string& path) {
  struct stat info;
  if (::stat(path.c_str(), &info) != 0) return "";
  const auto time = [](const timespec& t) {
    return std::to_string(t.tv_sec) + "." + std::to_string(t.tv_nsec);
  };
  return std::to_string(info.st_ino) + " " + std::to_string(info.st_size) + " " +
         time(info.st_mtim) + " " + time(info.st_ctim) + " " + BootId() + "\n";
}

// Whether the file's hash was found to be right before, and it has not changed since. To hash it
// each time would cost a submit some milliseconds.
bool WasChecked(const std::string& path) {
  const auto noted = ReadFile(path + kCheckedSuffix, 4096);
  return noted.ok() && !noted->empty() && *noted == IdentityOf(path);
}

void NoteChecked(const std::string& path) {
  const std::string identity = IdentityOf(path);
  if (identity.empty()) return;
  (void)WriteFileAtomically(path + kCheckedSuffix, identity, 0600, Durability::kProcess).ok();
}

// What every request says.
void AddressTo(const std::string& home, json::Object* request) {
  (*request)["protocol"] = run::kProtocol;
  (*request)["home"] = json::EncodeBytes(home);
}

json::Object ForRun(const std::string& run_id) { return {{"run_id", json::EncodeBytes(run_id)}}; }

std::string HowItEnded(const CaptureResult& result) {
  if (result.timed_out) return "it did not answer in time";
  std::string words = result.status.signal
                          ? "it was killed by signal " + std::to_string(result.status.signal)
                          : "it exited with " + std::to_string(result.status.code);
  std::string said = LastLine(result.err);
  return said.empty() ? words : words + " and said: " + said;
}

}  // namespace

DirectLaunch::DirectLaunch(transport::Host& host, std::string home, RunnerProgram program)
    : host_(host), home_(std::move(home)), program_(std::move(program)) {}

Result<std::string> DirectLaunch::EnsureRunner() {
  if (!runner_path_.empty()) return runner_path_;
  if (!program_.path.empty()) return runner_path_ = program_.path;
  TENON_CHECK(!program_.bytes.empty() && program_.hash.size() >= kHashDigits);
  std::string path =
      JoinPath(home_, "bin/tenon-runner-" + std::string(program_.hash.substr(0, kHashDigits)));
  // One byte back from "the last one, at most two" says that it is there and has our size.
  auto last = host_.ReadFrom(path, program_.bytes.size() - 1, 2);
  if (!last.ok() && last.error().kind != ErrorKind::kNotFound) return std::move(last).error();
  const bool has_size = last.ok() && last->size() == 1;
  if (has_size && host_.frames() == nullptr && WasChecked(path)) return runner_path_ = path;
  if (!has_size || !CheckRunner(path).ok()) {
    TENON_TRY_VOID(host_.PutFile(path, program_.bytes, 0755));
    TENON_TRY_VOID(CheckRunner(path));
  }
  if (host_.frames() == nullptr) NoteChecked(path);
  return runner_path_ = path;
}

Status DirectLaunch::CheckRunner(const std::string& path) {
  Sha256 hash;
  uint64_t size = 0;
  for (;;) {
    TENON_TRY(std::string piece, host_.ReadFrom(path, size, kReadPiece));
    if (piece.empty()) break;
    hash.Update(piece);
    size += piece.size();
  }
  if (size == program_.bytes.size() && hash.Finish().Hex() == program_.hash) return {};
  return Corrupt(path + " on " + host_.Describe() + " is not what was written there");
}

Result<json::Object> DirectLaunch::Ask(const char* verb, json::Object request, int timeout_ms) {
  TENON_TRY(std::string path, EnsureRunner());
  AddressTo(home_, &request);
  return AnswerOf(host_.Run({path, verb}, json::Print(request), timeout_ms), path, verb);
}

template <typename Answer>
Result<Answer> DirectLaunch::AskFor(const char* verb, json::Object request, int timeout_ms) {
  TENON_TRY(const json::Object told, Ask(verb, std::move(request), timeout_ms));
  auto answer = run::FromJsonObject<Answer>(told);
  if (!answer.ok()) {
    return Corrupt("the answer to `" + std::string(verb) + "` of the runner on " +
                   host_.Describe() + ": " + answer.error().message);
  }
  return answer;
}

Result<json::Object> DirectLaunch::AskStart(const StartRequest& request, json::Object object) {
  transport::FrameLink* link = host_.frames();
  if (link == nullptr || request.tree.store == nullptr) {
    return Ask(run::kVerbStart, std::move(object), kStartTimeoutMs);
  }
  TENON_TRY(std::string path, EnsureRunner());
  AddressTo(home_, &object);
  TENON_TRY(const Frame answer,
            SendTree(*link, home_, request.tree,
                     transport::RunRequest({path, run::kVerbStart}, kStartTimeoutMs),
                     json::Print(object)));
  return AnswerOf(transport::ToCaptureResult(answer), path, run::kVerbStart, request.tree.refused);
}

Result<json::Object> DirectLaunch::AnswerOf(const Result<CaptureResult>& ran,
                                            const std::string& path, const char* verb,
                                            bool* refused) const {
  std::string doing =
      "the request `" + std::string(verb) + "` to the runner on " + host_.Describe();
  if (!ran.ok()) return Error(ran.error()).Wrap(doing);
  size_t after = 0;
  auto hello = run::ParseHello(ran->out, &after);
  if (!hello.ok()) return Unavailable(doing + ": " + path + " is no runner: " + HowItEnded(*ran));
  if (auto wrong = run::ProtocolMismatch(run::kProtocol, hello->protocol, hello->version)) {
    return std::move(*wrong).Wrap(doing);
  }
  std::string_view rest = std::string_view(ran->out).substr(std::min(after, ran->out.size()));
  size_t end = rest.find('\n');
  if (end == std::string_view::npos) return Unavailable(doing + ": " + HowItEnded(*ran));
  auto answer = json::Parse(rest.substr(0, end));
  if (!answer.ok()) return Corrupt(doing + ": the answer is no JSON: " + answer.error().message);
  if (!answer->is_object()) return Corrupt(doing + ": the answer is no JSON object");
  if (const json::Object* error = json::GetObject(answer->get_object(), "error")) {
    if (refused != nullptr) *refused = true;
    return ErrorFromJson(*error);
  }
  return answer->get_object();
}

Result<run::RunnerStarted> DirectLaunch::Start(const StartRequest& request) {
  json::Object object = ForRun(request.spec.id);
  object["version"] = request.version;
  object["spec"] = request.spec.ToJson();
  object["environment"] = run::ToJsonMap(request.environment);
  object["secrets"] = run::ToJsonMap(request.secrets);
  if (!request.retry_of.empty()) object["retry_of"] = json::EncodeBytes(request.retry_of);
  TENON_TRY(json::Object answer, AskStart(request, std::move(object)));
  const json::Object* runner = json::GetObject(answer, "runner");
  TENON_EXPECT_PEER(runner != nullptr, "the runner's answer to start names no process");
  run::RunnerStarted started;
  started.process.pid = static_cast<pid_t>(json::GetInt(*runner, "pid"));
  started.process.start_ticks = static_cast<uint64_t>(json::GetInt(*runner, "start_ticks"));
  started.process.boot_id = json::GetString(*runner, "boot_id");
  started.host = json::GetString(answer, "host");
  started.version = json::GetString(answer, "version");
  started.protocol = static_cast<int>(json::GetInt(answer, "protocol", run::kProtocol));
  TENON_EXPECT_PEER(started.process.pid > 0, "the runner's answer to start names no process");
  return started;
}

Result<run::State> DirectLaunch::Cancel(const run::CancelRequest& request) {
  TENON_TRY(const auto answer,
            AskFor<run::CancelAnswer>(run::kVerbCancel, run::ToJsonObject(request), kNoTimeout));
  if (answer.unheard > 0) {
    TellWait("the runner of " + request.run_id + " (process " + std::to_string(answer.unheard) +
             " on " + host_.Describe() +
             ") is busy and has not taken the request yet; waiting for it");
  }
  return answer.state;
}

Result<run::Recovered> DirectLaunch::Recover(const std::string& run_id) {
  return AskFor<run::Recovered>(run::kVerbRecover, ForRun(run_id), kNoTimeout);
}

Result<run::EndedLost> DirectLaunch::EndLost(const run::EndLostRequest& request) {
  return AskFor<run::EndedLost>(run::kVerbEndLost, run::ToJsonObject(request), kNoTimeout);
}

Result<run::Collected> DirectLaunch::Collect(const std::string& run_id) {
  return AskFor<run::Collected>(run::kVerbCollect, ForRun(run_id), kNoTimeout);
}

Result<run::EnvironmentsAnswer> DirectLaunch::Environments(
    const run::EnvironmentsRequest& request) {
  return AskFor<run::EnvironmentsAnswer>(run::kVerbEnvironments, run::ToJsonObject(request),
                                         kNoTimeout);
}

Result<run::SweepAnswer> DirectLaunch::Sweep(const run::SweepRequest& request) {
  return AskFor<run::SweepAnswer>(run::kVerbSweep, run::ToJsonObject(request), kNoTimeout);
}

Result<json::Object> DirectLaunch::Probe() { return Ask(run::kVerbProbe, {}, kProbeTimeoutMs); }

Result<run::HostedAnswer> DirectLaunch::Hosted(const run::HostedRequest& request) {
  return AskFor<run::HostedAnswer>(run::kVerbHosted, run::ToJsonObject(request), kNoTimeout);
}

Result<run::WatchIdleAnswer> DirectLaunch::WatchIdle(const run::WatchIdleRequest& request) {
  return AskFor<run::WatchIdleAnswer>(run::kVerbWatchIdle, run::ToJsonObject(request),
                                      kWatchTimeoutMs);
}

Result<std::vector<std::string>> DirectLaunch::EnterCommand(const std::string& run_id, bool tty,
                                                            const std::vector<std::string>& words) {
  TENON_TRY(std::string path, EnsureRunner());
  std::vector<std::string> argv = {path, run::kVerbExec, home_, run_id, tty ? "tty" : "plain"};
  argv.insert(argv.end(), words.begin(), words.end());
  return argv;
}

Result<std::vector<std::string>> DirectLaunch::PortCommand(const std::string& run_id, int port) {
  TENON_TRY(std::string path, EnsureRunner());
  return std::vector<std::string>{path,   run::kVerbExec, home_,
                                  run_id, "port",         std::to_string(port)};
}

}  // namespace tenon::launch
