// SPDX-License-Identifier: Apache-2.0
#include "runner/supervise/prepare.h"

#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/text.h"
#include "run/damage.h"
#include "run/script_folders.h"
#include "runner/supervise/data_sets.h"
#include "runner/supervise/embedded_shim.h"
#include "snapshot/freeze/unpack.h"
#include "snapshot/store/heal.h"
#include "snapshot/store/object_store.h"

namespace tenon::runner {
namespace {

constexpr size_t kShimDigits = 16;
constexpr const char* kBootMark = "/.boot";
constexpr const char* kDefaultPath = "/usr/local/bin:/usr/bin:/bin";

Result<run::Step> UnpackTree(const StartRequest& request, const std::string& work) {
  int64_t begin = SystemClock().MonotonicUs();
  auto root = Hash::FromHex(request.spec.tree);
  if (!root) return Invalid("the spec's tree is no hash: " + request.spec.tree);
  TENON_TRY(auto store, snapshot::ObjectStore::Open(run::Home(request.run.home).objects()));
  auto unpacked = snapshot::Unpack(store, *root, work);
  if (!unpacked.ok()) {
    // A tree that was complete is not complete any more. Without these marks the next client is
    // asked for what is missing.
    if (unpacked.error().kind == ErrorKind::kNotFound ||
        unpacked.error().kind == ErrorKind::kCorrupt) {
      (void)RemoveTree(run::Home(request.run.home).complete_trees()).ok();
      // Drops damaged objects, so that no other run fails because of them: a client that has them
      // sends them again.
      const auto lost = snapshot::DropDamaged(store, run::Home(request.run.home).objects(), *root);
      if (lost.ok() && !lost->empty()) {
        return std::move(unpacked)
            .error()
            .Wrap(run::DamagedSnapshotText(*lost))
            .WithReason(run::kDamagedSnapshot);
      }
    }
    return std::move(unpacked).error();
  }
  run::Step step;
  step.name = "unpack";
  step.duration_us = SystemClock().MonotonicUs() - begin;
  step.detail = Count(unpacked->files, "file", "files") + ", " + HumanBytes(unpacked->bytes);
  return step;
}

// Where Python keeps the compiled files of the shim.
std::vector<std::string> ShimCaches(const std::string& folder) {
  std::vector<std::string> caches;
  for (const EmbeddedFile& file : EmbeddedShim()) {
    caches.push_back(JoinPath(DirName(JoinPath(folder, file.path)), "__pycache__"));
  }
  return caches;
}

bool IsProgram(const std::string& path) {
  return !IsDirectory(path) && ::access(path.c_str(), X_OK) == 0;
}

}  // namespace

void DropAfterRestart(const std::string& folder, const std::vector<std::string>& caches) {
  const std::string mark = folder + kBootMark, boot = BootId() + "\n";
  if (const auto told = ReadFile(mark, 4096); told.ok() && *told == boot) return;
  for (const std::string& cache : caches) (void)RemoveTree(cache).ok();
  // If the mark can't be written, the next call drops the caches once more.
  if (MakeDirs(folder).ok()) (void)WriteFileAtomically(mark, boot, 0644, Durability::kProcess).ok();
}

Result<std::string> ExpandHome(const std::string& path, const Environment& environment) {
  if (path != "~" && path.compare(0, 2, "~/") != 0) return path;
  std::string home = GetVariable(environment, "HOME");
  if (home.empty()) return Invalid(path + ": HOME is not set, so ~ means nothing");
  return home + path.substr(1);
}

Result<std::string> EnsureSharedFolder(const StartRequest& request) {
  if (request.spec.shared_directory.empty()) return std::string();
  auto path = ExpandHome(request.spec.shared_directory, request.environment);
  Status made = path.ok() ? MakeDirs(*path) : Status(path.error());
  if (!made.ok()) {
    Error error = std::move(made).error().Wrap("making the shared folder");
    if (error.kind == ErrorKind::kUnavailable) return error;  // the disk is full
    // The path may lie in a home that is missing or another user's. Files can be made beside the
    // folder of runs, so the hint names a folder there.
    const std::string& home = request.run.home;
    const std::string beside = BaseName(home) == "host" ? DirName(home) : home;
    return std::move(error).WithHint("`tenon config set nativeSharedDirectory " +
                                     ShellQuote(beside + "/share/") + " --target " +
                                     ShellQuote(request.spec.target) + "` names another one");
  }
  return path;
}

Result<std::string> FindPython(const std::string& wanted, const Environment& environment,
                               const std::string& cwd, std::vector<run::Notice>* notices) {
  TENON_TRY(std::string name, ExpandHome(wanted.empty() ? "python" : wanted, environment));
  if (name.find('/') != std::string::npos) {
    if (IsProgram(JoinPath(cwd, name))) return name;
    return NotFound("no Python at " + name + " (pythonLocation of the target)")
        .WithHint("set pythonLocation to the path of a Python interpreter, or to python3");
  }
  std::string path = GetVariable(environment, "PATH", kDefaultPath);
  if (FindProgram(name, path)) return name;
  if (name == "python" && FindProgram("python3", path)) {
    notices->push_back({run::Level::kInfo, "there is no `python` on PATH; python3 is used", ""});
    return std::string("python3");
  }
  return NotFound("no program `" + name + "` on PATH (pythonLocation of the target)")
      .WithHint("install Python, or set pythonLocation to its path");
}

// Every file appears whole and is the same whoever writes it, so several runners may do this at
// once. No file is synced to disk: instead each is compared with what it has to be, which takes 0.2
// ms for all.
Result<std::string> EnsureShim(const std::string& home) {
  std::string hash(EmbeddedShimHash().substr(0, kShimDigits));
  std::string folder = JoinPath(home, "shim/" + hash);
  TENON_TRY_VOID(MakeDirs(DirName(folder), 0700));
  DropAfterRestart(folder, ShimCaches(folder));
  for (const EmbeddedFile& file : EmbeddedShim()) {
    const std::string path = JoinPath(folder, file.path);
    const auto there = ReadFile(path, file.bytes.size() + 1);
    if (there.ok() && *there == file.bytes) continue;
    Status written = MakeDirs(DirName(path));
    if (written.ok()) written = WriteFileAtomically(path, file.bytes, 0644, Durability::kProcess);
    if (!written.ok()) return std::move(written).error().Wrap("writing the Python shim");
  }
  return folder;
}

std::string ScriptWord(const std::string& script) {
  return script.starts_with('-') ? "./" + script : script;
}

bool IsShellScript(std::string_view script) { return script.ends_with(".sh"); }

Status UnpackProject(const StartRequest& request, Handover& handover) {
  const run::RunFolder folder = request.run.Folder();
  TENON_TRY_VOID(run::MakeScriptFolders(folder));
  auto unpacked = UnpackTree(request, folder.work());
  if (!unpacked.ok()) return std::move(unpacked).error().Wrap("unpacking the project's files");
  handover.Put(std::move(*unpacked));
  RecordDataSets(request.spec.shared_directory, request.environment, handover);
  return MakeDirs(folder.outputs());
}

}  // namespace tenon::runner
