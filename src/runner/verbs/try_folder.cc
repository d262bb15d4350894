// SPDX-License-Identifier: Apache-2.0
#include "runner/verbs/try_folder.h"

#include <unistd.h>

#include <vector>

#include "base/file.h"
#include "base/process.h"
#include "base/text.h"

namespace tenon::runner {
namespace {

constexpr int kStartMs = 10'000;
// More than file systems store together with a file's name, so that the file needs space.
constexpr size_t kBytes = 64u << 10;

Status MakeAndStart(const std::string& folder) {
  TENON_TRY_VOID(MakeDirs(folder, 0700));
  TENON_TRY_VOID(WriteFileAtomically(folder + "/data", std::string(kBytes, '.'), 0600,
                                     Durability::kPowerLoss));
  const std::string program = folder + "/program";
  TENON_TRY_VOID(WriteFileAtomically(program, "#!/bin/sh\nexit 0\n", 0700, Durability::kProcess));
  TENON_TRY(const CaptureResult ran, RunAndCapture({program}, folder, "", kStartMs, 4096));
  if (ran.status.AsShell() == 0 && !ran.timed_out) return {};
  return Denied("programs do not start in " + folder);
}

}  // namespace

std::string TryFolder(const std::string& folder) {
  std::vector<std::string> missing;  // the innermost first
  for (std::string path = folder; !Exists(path) && path.size() > 1; path = DirName(path)) {
    missing.push_back(path);
  }
  const std::string inside =
      JoinPath(folder, ".tenon-try-" + std::to_string(::getpid()) + "-" + RandomHex(4));
  const Status done = MakeAndStart(inside);
  (void)RemoveTree(inside).ok();
  // rmdir removes only empty folders: another process may have begun to use them.
  for (const std::string& path : missing) {
    if (::rmdir(path.c_str()) != 0) break;
  }
  return done.ok() ? "" : done.error().message;
}

}  // namespace tenon::runner
