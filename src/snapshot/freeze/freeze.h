// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_SNAPSHOT_FREEZE_FREEZE_H_
#define TENON_SNAPSHOT_FREEZE_FREEZE_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/hash.h"
#include "base/result.h"
#include "snapshot/freeze/key_files.h"
#include "snapshot/store/object_store.h"

namespace tenon::snapshot {

struct FreezeOptions {
  std::string folder;      // the project's root
  std::string stat_cache;  // file of the stat cache; empty: none
  // Names; the first one present in a folder wins: .amlignore, .gitignore.
  std::vector<std::string> ignore_files;
  // Patterns in ignore-file syntax, as of a file in the root; no ignore file can negate them.
  std::vector<std::string> always_ignored;
  // Regular files that stay here: left out of `root`, and in `kept_root` with their bytes passed
  // through `redact`. Both empty: the two roots are equal. Called from several threads at once.
  std::function<bool(std::string_view path)> stays_here;
  std::function<std::string(std::string_view path, std::string bytes)> redact;
  // Known key files (key_files.h) are left out unless an ignore file names them with "!"; a folder
  // of keys that is named so is taken whole.
  bool leave_out_keys = false;
  // Tenon homes are left out wherever they are met: these folders, by device and inode, and others
  // that look like one. A root that is one is kInvalid. Empty: none is looked for.
  std::vector<FolderId> homes;
  int threads = 0;                        // 0: as many as cores, at most 8; each takes about 3 MB
  uint64_t large_file_hint = 100u << 20;  // files at least this big are listed in Frozen::large
  const Clock* clock = nullptr;           // nullptr: SystemClock()
  // Called now and then from the calling thread.
  std::function<void(uint64_t files_seen, uint64_t bytes_hashed)> on_progress;
  // Called once when everything was put into the store and not flushed yet: what else is put there
  // then becomes durable in the same wait. Empty: nothing.
  std::function<Status()> before_flush;
};

struct Frozen {
  Hash root;           // the tree a host gets
  Hash kept_root;      // the tree kept here
  uint64_t files = 0;  // and symlinks; of both trees together
  uint64_t bytes = 0;
  uint64_t files_hashed = 0;  // not answered by the stat cache
  uint64_t bytes_hashed = 0;
  uint64_t ignored = 0;  // files and folders left out by ignore files (a folder counts once)
  std::vector<std::string> skipped;                     // sockets, FIFOs, devices (paths)
  std::vector<std::pair<std::string, uint64_t>> large;  // path, size
  std::vector<LeftOut> keys;                            // left out, by path
  std::vector<std::string> homes;                       // Tenon homes that were left out
  std::vector<std::string> named;  // taken, but often private (KeyKind::kNamed)
};

// Freezes a folder into the store. Returns after store.Flush(): the roots are durable.
// A file that changes or vanishes while being read is read again (three tries); then kUnavailable
// naming it. A file without read permission is kDenied naming it. Nothing in the folder is changed.
Result<Frozen> Freeze(ObjectStore& store, const FreezeOptions& options);

}  // namespace tenon::snapshot

#endif  // TENON_SNAPSHOT_FREEZE_FREEZE_H_
