// SPDX-License-Identifier: Apache-2.0
#include "runner/environment/environment_folder.h"

#include <fcntl.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cerrno>

#include "base/durable.h"
#include "base/file.h"
#include "environment/key.h"
#include "run/env_vars.h"
#include "runner/environment/build_reporter.h"
#include "runner/environment/ensure_environment.h"
#include "runner/environment/make_environment.h"
#include "runner/environment/pins.h"

namespace tenon::runner {
namespace {

std::string Platform() {
  struct utsname names {};
  return ::uname(&names) == 0 ? std::string("linux-") + names.machine : "linux";
}

// A path is the user's choice of an interpreter; a bare name only means "some Python".
std::string NamedPython(const run::RunSpec& spec) {
  return spec.python.find('/') == std::string::npos ? "" : spec.python;
}

// After a power cut, a record of an environment must not exist without its files.
Status SyncFilesOf(const std::string& prefix) {
  TENON_TRY(const UniqueFd fd, OpenFile(prefix, O_RDONLY | O_DIRECTORY));
  if (DurableSyncfs(fd.get()) != 0) return FromErrno("sync " + prefix, errno);
  return {};
}

Result<EnvironmentRecord> Make(const StartRequest& request, const std::string& key,
                               const std::string& pins, Handover& handover,
                               const std::atomic<bool>& stop) {
  const run::Home home(request.run.home);
  const Environments environments(request.run.home);
  EnvironmentJob job;
  job.packages = request.spec.packages;
  ApplyPins(pins, &job.packages);
  job.python = NamedPython(request.spec);
  job.prefix = environments.prefix(key);
  job.cache = home.cache();
  job.tools = home.tools();
  job.scratch = request.run.Folder().container() + "/scratch";
  job.project = request.run.Folder().work();
  job.ca_bundle = FindCaBundle(request.environment);
  job.environment = request.WithOwn(BuildEnvironment(request.environment));
  job.masked = request.SecretValues();
  TENON_TRY_VOID(MakeDirs(job.cache, 0700));
  TENON_TRY_VOID(MakeDirs(job.tools, 0700));
  if (environments.InUse(key, request.run.run_id)) {
    return Unavailable("a run that goes on uses this environment; it cannot be made anew now")
        .WithHint("wait for that run, or cancel it");
  }
  // From here on the old environment has no record; the new one gets its record when it is
  // complete.
  TENON_TRY_VOID(environments.Remove(key));
  JournalBuildReporter reporter(handover, request.run.Folder().build_log());
  auto made = MakeEnvironment(job, reporter, stop);
  (void)RemoveTree(job.scratch).ok();
  if (!made.ok()) {
    (void)RemoveTree(job.prefix).ok();
    return std::move(made).error();
  }
  TENON_TRY_VOID(SyncFilesOf(job.prefix));
  for (const run::Notice& notice : made->notices) handover.Put(notice);
  EnvironmentRecord record;
  record.ready.kind = "folder";
  record.ready.name = job.prefix;
  record.ready.base = job.python;
  record.ready.file = request.spec.packages.file;
  record.ready.python_version = made->python_version;
  record.ready.packages = made->installed;
  record.ready.bytes = made->bytes;
  return record;
}

}  // namespace

Result<FolderEnvironment> EnsureFolderEnvironment(const StartRequest& request, Handover& handover,
                                                  const std::atomic<bool>& stop) {
  const std::string key =
      environment::EnvironmentKey(request.spec.packages, NamedPython(request.spec), Platform());
  FolderEnvironment result;
  result.prefix = Environments(request.run.home).prefix(key);
  result.python = result.prefix + "/bin/python";
  auto there = [&](const EnvironmentRecord&) -> Result<bool> {
    return ::access(result.python.c_str(), X_OK) == 0;
  };
  auto make = [&](const std::string& pins) { return Make(request, key, pins, handover, stop); };
  TENON_TRY_VOID(EnsureEnvironment(request, key, {there, make}, handover, stop));
  return result;
}

}  // namespace tenon::runner
