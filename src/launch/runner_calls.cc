// SPDX-License-Identifier: Apache-2.0
#include "launch/runner_calls.h"

#include <sys/stat.h>

#include <algorithm>
#include <utility>

#include "base/error_json.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/text.h"
#include "run/verbs.h"

namespace tenon::launch {
namespace {

constexpr size_t kReadPiece = 1u << 20;
constexpr size_t kHashDigits = 16;

std::string LastLine(std::string_view text) {
  text = Trim(text);
  size_t line = text.rfind('\n');
  return ForTerminal(line == std::string_view::npos ? text : text.substr(line + 1));
}

constexpr const char* kCheckedSuffix = ".checked";

// Identifies the content of a file of this machine without reading it: inode, size, times and boot
// id. Returns "" when stat() fails.
std::string IdentityOf(const std::string& path) {
  struct stat info;
  if (::stat(path.c_str(), &info) != 0) return "";
  const auto time = [](const timespec& t) {
    return std::to_string(t.tv_sec) + "." + std::to_string(t.tv_nsec);
  };
  return std::to_string(info.st_ino) + " " + std::to_string(info.st_size) + " " +
         time(info.st_mtim) + " " + time(info.st_ctim) + " " + BootId() + "\n";
}

// Whether the file's hash was found right before, and the file has not changed since. Hashing it on
// every submit would cost some milliseconds.
bool WasChecked(const std::string& path) {
  const auto noted = ReadFile(path + kCheckedSuffix, 4096);
  return noted.ok() && !noted->empty() && *noted == IdentityOf(path);
}

void NoteChecked(const std::string& path) {
  const std::string identity = IdentityOf(path);
  if (identity.empty()) return;
  (void)WriteFileAtomically(path + kCheckedSuffix, identity, 0600, Durability::kProcess).ok();
}

std::string HowItEnded(const CaptureResult& result) {
  if (result.timed_out) return "it did not answer in time";
  std::string words = result.status.signal
                          ? "it was killed by signal " + std::to_string(result.status.signal)
                          : "it exited with " + std::to_string(result.status.code);
  std::string said = LastLine(result.err);
  return said.empty() ? words : words + " and said: " + said;
}

}  // namespace

json::Object ForRun(const std::string& run_id) { return {{"run_id", json::EncodeBytes(run_id)}}; }

RunnerCalls::RunnerCalls(transport::Host& host, std::string home, RunnerProgram program)
    : host_(host), home_(std::move(home)), program_(std::move(program)) {}

Result<std::string> RunnerCalls::EnsureRunner() {
  if (!runner_path_.empty()) return runner_path_;
  if (!program_.path.empty()) return runner_path_ = program_.path;
  TENON_CHECK(!program_.bytes.empty() && program_.hash.size() >= kHashDigits);
  std::string path =
      JoinPath(home_, "bin/tenon-runner-" + std::string(program_.hash.substr(0, kHashDigits)));
  // Asks for two bytes from the last one on. Exactly one byte means that the file exists and has
  // the expected size.
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

Status RunnerCalls::CheckRunner(const std::string& path) {
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

void RunnerCalls::Address(json::Object* request) const {
  (*request)["protocol"] = run::kProtocol;
  (*request)["home"] = json::EncodeBytes(home_);
}

Result<json::Object> RunnerCalls::Ask(const char* verb, json::Object request, int timeout_ms) {
  TENON_TRY(std::string path, EnsureRunner());
  Address(&request);
  return AnswerOf(host_.Run({path, verb}, json::Print(request), timeout_ms), path, verb);
}

Error RunnerCalls::NotUnderstood(const char* verb, const Error& why) const {
  return Corrupt("the answer to `" + std::string(verb) + "` of the runner on " + host_.Describe() +
                 ": " + why.message);
}

Result<json::Object> RunnerCalls::AnswerOf(const Result<CaptureResult>& ran,
                                           const std::string& path, const char* verb) const {
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
    return ErrorFromJson(*error);
  }
  return answer->get_object();
}

}  // namespace tenon::launch
