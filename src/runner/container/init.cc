// SPDX-License-Identifier: Apache-2.0
#include "runner/container/init.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/file.h"
#include "base/text.h"
#include "executor/process_script.h"
#include "executor/segment_door.h"
#include "executor/sized_text.h"
#include "run/layout.h"
#include "run/members.h"
#include "runner/environment/credentials_json.h"
#include "runner/supervise/prepare.h"
#include "runner/supervise/record_script.h"

namespace tenon::runner {
namespace {

constexpr int kNotStartedCode = 125;

Result<std::string> FindInterpreter(const InitJob& job, const Environment& env,
                                    Recorder& recorder) {
  std::vector<run::Notice> notices;
  auto found = FindPython(job.interpreter, env, job.work, &notices);
  for (run::Notice& notice : notices) recorder.Append(std::move(notice));
  if (found.ok()) return found;
  const bool shell = job.interpreter == "sh";
  return NotFound("the image " + job.image + " has no program `" + job.interpreter + "`")
      .WithHint(shell ? "a script ending in .sh is run with sh: take an image that has one"
                      : "take an image that has Python, or ask for one in the conda file: "
                        "`- python=3.11`");
}

Result<executor::ProcessRequest> WhatToStart(const InitJob& job, Recorder& recorder) {
  SettleUser("/", job.user, job.user_name, job.home);
  if (job.own_work && ::chown(job.work.c_str(), job.user.uid, job.user.gid) != 0) {
    return FromErrno("giving " + job.work + " to the user", errno);
  }
  executor::ProcessRequest request;
  request.cwd = job.work;
  request.env = CurrentEnvironment();
  for (const auto& [name, value] : job.environment) request.env[name] = value;
  std::string& python_path = request.env["PYTHONPATH"];
  python_path = python_path.empty() ? job.shim : job.shim + ":" + python_path;
  if (job.user.uid != ::geteuid() || job.user.gid != ::getegid()) request.user = job.user;
  TENON_TRY(std::string program, FindInterpreter(job, request.env, recorder));
  request.argv = {std::move(program), job.script};
  request.argv.insert(request.argv.end(), job.arguments.begin(), job.arguments.end());
  return request;
}

Result<int> Init() {
  // The script must not see our open files or memory, not even if it is root.
  (void)::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  TENON_TRY(std::string text, executor::ReadSized(STDIN_FILENO));
  TENON_TRY(const InitJob job, InitJob::FromText(text));
  text.assign(text.size(), '\0');
  TENON_TRY(UniqueFd null, OpenFile("/dev/null", O_RDONLY));
  if (::dup2(null.get(), STDIN_FILENO) < 0) return FromErrno("closing standard input", errno);
  TENON_TRY(UniqueFd segment, executor::TakeSegment(job.door));
  sigset_t ends;
  sigemptyset(&ends);
  sigaddset(&ends, SIGTERM);
  sigaddset(&ends, SIGINT);
  // Blocked so that sigwait() below gets them: a first process ignores signals by default. The
  // script does not inherit the mask.
  if (job.keep_on_fail) ::sigprocmask(SIG_BLOCK, &ends, nullptr);
  ScriptOfOurs script;
  script.run_key = job.run_key;
  script.segment = run::kScriptSegment;
  script.secrets = job.secrets;
  script.metrics = job.metrics;
  script.leftover_grace_us = job.leftover_grace_us;
  script.find = [&job](Recorder& recorder) { return WhatToStart(job, recorder); };
  TENON_TRY(const int code, RecordScript(std::move(segment), std::move(script)));
  if (job.keep_on_fail && code != 0) {
    int signal = 0;
    ::sigwait(&ends, &signal);
  }
  return code;
}

void AppendLine(const std::string& path, const std::string& line) {
  auto file = OpenFile(path, O_WRONLY | O_APPEND | O_CREAT, 0644);
  if (file.ok()) (void)WriteAll(file->get(), line).ok();
}

// Whether a file in the format of passwd or group has that number in its third field.
bool HasNumber(const std::string& text, uint64_t number) {
  for (const std::string& line : Split(text, '\n')) {
    const std::vector<std::string> fields = Split(line, ':');
    if (fields.size() > 2 && fields[2] == std::to_string(number)) return true;
  }
  return false;
}

std::string LineStart(const std::string& text) {
  return text.empty() || text.back() == '\n' ? "" : "\n";
}

}  // namespace

std::string InitJob::ToText() const {
  json::Object o;
  o["run_key"] = run_key;
  o["door"] = door;
  o["metrics"] = metrics;
  o["work"] = work;
  o["shim"] = shim;
  o["interpreter"] = run::ToJsonText(interpreter);
  o["script"] = run::ToJsonText(script);
  o["arguments"] = run::ToJsonTexts(arguments);
  o["environment"] = run::ToJsonMap(environment);
  o["secrets"] = run::ToJsonTexts(secrets);
  o["user"] = CredentialsToJson(user);
  o["user_name"] = run::ToJsonText(user_name);
  o["home"] = home;
  o["image"] = run::ToJsonText(image);
  o["own_work"] = own_work;
  o["keep_on_fail"] = keep_on_fail;
  o["leftover_grace_us"] = leftover_grace_us;
  return json::Print(o);
}

Result<InitJob> InitJob::FromText(std::string_view text) {
  TENON_TRY(json::Value value, json::Parse(text));
  TENON_EXPECT_PEER(value.is_object(), "what the container is told is no JSON object");
  InitJob job;
  run::Members in(value.get_object());
  in.Read("run_key", job.run_key);
  in.Read("door", job.door);
  in.Read("metrics", job.metrics);
  in.Read("work", job.work);
  in.Read("shim", job.shim);
  in.Read("interpreter", job.interpreter);
  in.Read("script", job.script);
  in.Read("arguments", job.arguments);
  in.Read("environment", job.environment);
  in.Read("secrets", job.secrets);
  TENON_TRY(job.user, CredentialsFromJson(in.ReadObject("user")));
  in.Read("user_name", job.user_name);
  in.Read("home", job.home);
  in.Read("image", job.image);
  in.Read("own_work", job.own_work);
  in.Read("keep_on_fail", job.keep_on_fail);
  in.Read("leftover_grace_us", job.leftover_grace_us);
  TENON_TRY_VOID(in.status());
  return job;
}

void SettleUser(const std::string& root, const Credentials& user, const std::string& name,
                const std::string& home) {
  (void)MakeDirs(JoinPath(root, "etc"), 0755).ok();
  const std::string passwd = JoinPath(root, "etc/passwd"), group = JoinPath(root, "etc/group");
  const std::string users = ReadFile(passwd).value_or("");
  const std::string groups = ReadFile(group).value_or("");
  if (!HasNumber(users, user.uid)) {
    AppendLine(passwd, LineStart(users) + name + ":x:" + std::to_string(user.uid) + ":" +
                           std::to_string(user.gid) + ":" + name + ":" + home + ":/bin/sh\n");
  }
  if (!HasNumber(groups, user.gid)) {
    AppendLine(group, LineStart(groups) + name + ":x:" + std::to_string(user.gid) + ":\n");
  }
  const std::string tmp = JoinPath(root, "tmp");
  if (!Exists(tmp) && ::mkdir(tmp.c_str(), 01777) == 0) (void)::chmod(tmp.c_str(), 01777);
}

int RunInit() {
  auto code = Init();
  if (code.ok()) return *code;
  (void)WriteAll(STDERR_FILENO, code.error().message + "\n").ok();
  return kNotStartedCode;
}

}  // namespace tenon::runner
