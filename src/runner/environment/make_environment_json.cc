// SPDX-License-Identifier: Apache-2.0
#include "run/members.h"
#include "runner/environment/make_environment.h"

namespace tenon::runner {
namespace {

run::Notice NoticeFromJson(const json::Object& o) {
  run::Notice notice;
  std::string level = json::GetString(o, "level");
  notice.level = level == "warning" ? run::Level::kWarning
                 : level == "error" ? run::Level::kError
                                    : run::Level::kInfo;
  notice.text = json::DecodeBytes(json::GetString(o, "text"));
  notice.hint = json::DecodeBytes(json::GetString(o, "hint"));
  return notice;
}

json::Object NoticeToJson(const run::Notice& notice) {
  json::Object o;
  o["level"] = notice.level == run::Level::kWarning ? "warning"
               : notice.level == run::Level::kError ? "error"
                                                    : "info";
  o["text"] = run::ToJsonText(notice.text);
  o["hint"] = run::ToJsonText(notice.hint);
  return o;
}

}  // namespace

json::Object EnvironmentJob::ToJson() const {
  json::Object o;
  o["packages"] = packages.ToJson();
  o["python"] = run::ToJsonText(python);
  o["prefix"] = run::ToJsonText(prefix);
  o["cache"] = run::ToJsonText(cache);
  o["tools"] = run::ToJsonText(tools);
  o["scratch"] = run::ToJsonText(scratch);
  o["project"] = run::ToJsonText(project);
  o["staged"] = run::ToJsonText(staged);
  o["no_channel"] = no_channel;
  o["ca_bundle"] = run::ToJsonText(ca_bundle);
  return o;
}

Result<EnvironmentJob> EnvironmentJob::FromJson(const json::Object& object) {
  EnvironmentJob job;
  run::Members in(object);
  if (const json::Object* packages = in.ReadObject("packages")) {
    TENON_TRY(job.packages, run::Packages::FromJson(*packages));
  }
  in.Read("python", job.python);
  in.Read("prefix", job.prefix);
  in.Read("cache", job.cache);
  in.Read("tools", job.tools);
  in.Read("scratch", job.scratch);
  in.Read("project", job.project);
  in.Read("staged", job.staged);
  in.Read("no_channel", job.no_channel);
  in.Read("ca_bundle", job.ca_bundle);
  if (job.prefix.empty()) in.Fail("prefix", "the folder to make");
  Status status = in.status();
  if (!status.ok()) return std::move(status).error().Wrap("environment to make");
  return job;
}

json::Object MadeEnvironment::ToJson() const {
  json::Object o;
  o["python"] = run::ToJsonText(python);
  o["python_version"] = python_version;
  o["installed"] = run::InstalledToJson(installed);
  json::Array array;
  for (const run::Notice& notice : notices) array.push_back(NoticeToJson(notice));
  o["notices"] = std::move(array);
  o["bytes"] = bytes;
  return o;
}

Result<MadeEnvironment> MadeEnvironment::FromJson(const json::Object& object) {
  MadeEnvironment made;
  run::Members in(object);
  in.Read("python", made.python);
  in.Read("python_version", made.python_version);
  in.Read("bytes", made.bytes);
  if (const json::Array* installed = in.ReadArray("installed")) {
    TENON_TRY(made.installed, run::InstalledFromJson(*installed));
  }
  if (const json::Array* notices = in.ReadArray("notices")) {
    for (const json::Value& value : *notices) {
      if (value.is_object()) made.notices.push_back(NoticeFromJson(value.get_object()));
    }
  }
  Status status = in.status();
  if (!status.ok()) return std::move(status).error().Wrap("environment that was made");
  return made;
}

}  // namespace tenon::runner
