// SPDX-License-Identifier: Apache-2.0
#include "runner/environment/build_inside.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/error_json.h"
#include "base/file.h"
#include "executor/sized_text.h"
#include "run/members.h"
#include "run/verbs.h"
#include "runner/container/init.h"
#include "runner/environment/credentials_json.h"

namespace tenon::runner {
namespace {

constexpr size_t kLongestLine = 64u << 20;

// Reports what happens to the host, one line each.
class Teller : public BuildReporter {
 public:
  void OnStep(const run::Step& step) override { Tell("step", run::EventToJson(step)); }
  void OnProgress(const std::string& step, const std::string& detail, uint64_t done,
                  uint64_t total) override {
    Tell("progress", run::EventToJson(run::Progress{step, detail, done, total}));
  }
  void OnOutput(std::string_view bytes) override { Tell("output", run::ToJsonText(bytes)); }

  void Tell(std::string_view what, json::Value value) {
    json::Object line;
    line[what] = std::move(value);
    (void)WriteAll(STDOUT_FILENO, json::Print(line) + "\n").ok();
  }
};

// Done as root, so that the user can make the environment in a folder of the image.
Status GiveFolder(const std::string& path, const Credentials& user) {
  TENON_TRY_VOID(MakeDirs(path, 0755));
  if (::chown(path.c_str(), user.uid, user.gid) != 0) return FromErrno("giving " + path, errno);
  return {};
}

Result<MadeEnvironment> Build(Teller& teller) {
  TENON_TRY(std::string text, executor::ReadSized(STDIN_FILENO));
  TENON_TRY(BuildJob build, BuildJob::FromText(text));
  text.assign(text.size(), '\0');
  SettleUser("/", build.user, build.user_name, build.job.scratch);
  TENON_TRY_VOID(GiveFolder(DirName(build.job.prefix), build.user));
  if (build.user.uid != ::geteuid() || build.user.gid != ::getegid()) {
    if (int failure = BecomeUser(build.user)) return FromErrno("becoming the user", failure);
  }
  // The image's own variables (above all PATH), overridden by those of the job.
  Environment environment = CurrentEnvironment();
  for (const auto& [name, value] : build.job.environment) environment[name] = value;
  build.job.environment = std::move(environment);
  std::atomic<bool> never{false};
  return MakeEnvironment(build.job, teller, never);
}

}  // namespace

std::string BuildJob::ToText() const {
  json::Object o;
  o["job"] = job.ToJson();
  o["environment"] = run::ToJsonMap(job.environment);
  o["masked"] = run::ToJsonTexts(job.masked);
  o["user"] = CredentialsToJson(user);
  o["user_name"] = run::ToJsonText(user_name);
  return json::Print(o);
}

Result<BuildJob> BuildJob::FromText(std::string_view text) {
  TENON_TRY(json::Value value, json::Parse(text));
  TENON_EXPECT_PEER(value.is_object(), "what is to be built is no JSON object");
  BuildJob build;
  run::Members in(value.get_object());
  const json::Object* job = in.ReadObject("job");
  TENON_EXPECT_PEER(job != nullptr, "what is to be built is not told");
  TENON_TRY(build.job, EnvironmentJob::FromJson(*job));
  in.Read("environment", build.job.environment);
  in.Read("masked", build.job.masked);
  TENON_TRY(build.user, CredentialsFromJson(in.ReadObject("user")));
  in.Read("user_name", build.user_name);
  TENON_TRY_VOID(in.status());
  return build;
}

int RunBuildInside() {
  Teller teller;
  auto made = Build(teller);
  if (made.ok()) {
    teller.Tell("made", made->ToJson());
    return 0;
  }
  teller.Tell("error", ErrorToJson(made.error()));
  return 1;
}

void BuildAnswer::Feed(std::string_view bytes) {
  rest_.append(bytes);
  size_t start = 0;
  for (size_t end; (end = rest_.find('\n', start)) != std::string::npos; start = end + 1) {
    TakeLine(std::string_view(rest_).substr(start, end - start));
  }
  rest_.erase(0, start);
  if (rest_.size() > kLongestLine) rest_.clear();
}

void BuildAnswer::TakeLine(std::string_view line) {
  auto value = json::Parse(line);
  if (!value.ok() || !value->is_object()) return;
  const json::Object& object = value->get_object();
  if (const json::Object* step = json::GetObject(object, "step")) {
    auto event = run::EventFromJson(run::EventType::kStep, *step);
    if (event.ok()) reporter_.OnStep(std::get<run::Step>(*event));
  } else if (const json::Object* progress = json::GetObject(object, "progress")) {
    auto event = run::EventFromJson(run::EventType::kProgress, *progress);
    if (!event.ok()) return;
    const auto& told = std::get<run::Progress>(*event);
    reporter_.OnProgress(told.step, told.detail, told.done, told.total);
  } else if (object.contains("output")) {
    reporter_.OnOutput(json::DecodeBytes(json::GetString(object, "output")));
  } else if (const json::Object* made = json::GetObject(object, "made")) {
    result_ = MadeEnvironment::FromJson(*made);
  } else if (const json::Object* error = json::GetObject(object, "error")) {
    result_ = ErrorFromJson(*error);
  }
}

}  // namespace tenon::runner
