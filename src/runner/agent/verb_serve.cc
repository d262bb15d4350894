// SPDX-License-Identifier: Apache-2.0
#include "runner/agent/verb_serve.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "base/clock.h"
#include "base/file.h"
#include "base/process.h"
#include "run/layout.h"
#include "run/verbs.h"
#include "runner/agent/serve_data.h"
#include "runner/agent/serve_files.h"
#include "runner/agent/serve_follow.h"
#include "runner/agent/serve_link.h"
#include "runner/agent/serve_objects.h"
#include "runner/verbs/account.h"
#include "runner/verbs/login_shell.h"

namespace tenon::runner {
namespace {

constexpr int64_t kLongestRunMs = 1 << 30;
constexpr int64_t kNoteEveryUs = 1'000'000;
// Both streams of a program together must fit into a frame.
constexpr size_t kMaxStream = kMaxFrameBody / 2;

json::Object HelloAnswer() {
  const Account account = OurAccount(CurrentEnvironment());
  struct utsname names {};
  (void)::uname(&names);
  return {{"ok", true},
          {"now_us", SystemClock().NowUs()},
          {"boot_id", BootId()},
          {"machine", names.machine},
          {"user", json::EncodeBytes(account.user)},
          {"uid", static_cast<int64_t>(::getuid())},
          {"user_home", json::EncodeBytes(account.home)}};
}

Result<CaptureResult> RunProgram(const json::Object& request, const std::string& input) {
  std::vector<std::string> argv;
  const json::Array* words = json::GetArray(request, "argv");
  for (const json::Value& word : words ? *words : json::Array()) {
    if (!word.is_string()) return Invalid("reading the request: argv has what is no text");
    argv.push_back(json::DecodeBytes(std::string_view(word.get_string())));
    if (argv.back().find('\0') != std::string::npos) {
      return Invalid("reading the request: argv has a NUL in it");
    }
  }
  if (argv.empty()) return Invalid("reading the request: argv is empty");
  const int64_t timeout = json::GetInt(request, "timeout_ms");
  if (timeout < 0 || timeout > kLongestRunMs) {
    return Invalid("reading the request: timeout_ms is no time");
  }
  return RunAndCapture(argv, "", input, static_cast<int>(timeout), kMaxStream);
}

class Agent {
 public:
  Agent(int in, int out)
      : link_(in, out),
        files_(link_),
        follows_(link_),
        objects_(link_, [this] { NoteUse(); }),
        data_(link_, [this] { NoteUse(); }) {}

  // An Error means that the link failed.
  Status Run() {
    for (;;) {
      link_.Answering(0);
      TENON_TRY_VOID(follows_.UntilRequest());
      TENON_TRY(const auto frame, link_.Next());
      if (!frame) return {};
      link_.Answering(json::GetInt(frame->head, "id"));
      TENON_TRY_VOID(Carry(*frame));
    }
  }

  ServeLink& link() { return link_; }

 private:
  Status Carry(const Frame& frame) {
    const json::Object& request = frame.head;
    const std::string op = json::GetString(request, "op");
    const bool sent = op == "objects" || op == "piece";
    if (sent || op == "have" || op == "get" || ServeData::Knows(op)) NoteUse();
    if (sent) {
      objects_.Take(request, frame.body);
      return {};
    }
    if (op == "unfollow") {
      follows_.End(json::GetInt(request, "id"));
      return {};
    }
    if (json::GetBool(request, "if_ok") && !link_.answered_ok()) {
      return link_.Send({{"ok", false}, {"skipped", true}});
    }
    if (ServeData::Knows(op)) return data_.Carry(op, request, frame.body);
    if (op == "have") return objects_.Have(request);
    if (op == "get") return objects_.Get(request);
    if (op == "run") return AnswerRun(request, frame.body);
    if (op == "hello") return link_.Send(HelloAnswer());
    return AboutFiles(op, request, frame.body);
  }

  Status AboutFiles(const std::string& op, const json::Object& request, const std::string& body) {
    if (op == "put") return files_.Put(request, body);
    if (op == "read") return files_.Read(request);
    if (op == "locked") return files_.Locked(request);
    if (op == "wait") return files_.Wait(request);
    if (op == "follow") return follows_.Begin(request);
    if (op == "segments") return files_.Segments(request);
    return link_.Fail(Invalid("the agent knows no request \"" + op + "\"")
                          .WithHint("the client is of another version"));
  }

  Status AnswerRun(const json::Object& request, const std::string& input) {
    auto ran = RunProgram(request, input);
    if (!ran.ok()) return link_.Fail(ran.error());
    TENON_TRY_VOID(link_.Send({{"ok", true},
                               {"code", ran->status.code},
                               {"signal", ran->status.signal},
                               {"timed_out", ran->timed_out},
                               {"out_bytes", ran->out.size()}},
                              ran->out + ran->err));
    if (ran->status.AsShell() != 0 || ran->timed_out) link_.CountAsFailed();
    return {};
  }

  // Notes that a client transfers files, so that the machine does not count as idle. The home is
  // beside the folder that this program was started from. Without a home there is no watcher, and
  // nothing is noted.
  void NoteUse() {
    const int64_t now = SystemClock().MonotonicUs();
    if (noted_us_ != 0 && now - noted_us_ < kNoteEveryUs) return;
    noted_us_ = now;
    const run::Home home(JoinPath(DirName(DirName(OurProgram())), "host"));
    if (!IsDirectory(home.root())) return;
    const auto file = OpenFile(home.used(), O_WRONLY | O_CREAT, 0600);
    if (file.ok()) ::futimens(file->get(), nullptr);
  }

  ServeLink link_;
  ServeFiles files_;
  ServeFollows follows_;
  ServeObjects objects_;
  ServeData data_;
  int64_t noted_us_ = 0;  // when NoteUse() last did
};

}  // namespace

int Serve(int in, int out) {
  ::signal(SIGHUP, SIG_IGN);
  ::signal(SIGPIPE, SIG_IGN);
  if (!WriteAll(out, run::kAgentGreeting).ok()) return 0;
  Agent agent(in, out);
  Status ended = agent.Run();
  if (ended.ok() || ended.error().kind != ErrorKind::kCorrupt) return 0;
  (void)agent.link().Fail(ended.error()).ok();
  return 1;
}

}  // namespace tenon::runner
