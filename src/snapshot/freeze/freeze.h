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
  std::string stat_cache;  // path of the stat cache; empty: none
  // Names of ignore files. In each folder only the first one present counts: .amlignore,
  // .gitignore.
  std::vector<std::string> ignore_files;
  // Patterns in ignore-file syntax, relative to the root. No ignore file can negate them.
  std::vector<std::string> always_ignored;
  // Regular files that stay on the client: they are not in `root`, and `kept_root` has them with
  // their bytes passed through `redact`. Both empty: the two roots are equal. Both are called from
  // several threads at once.
  std::function<bool(std::string_view path)> stays_here;
  std::function<std::string(std::string_view path, std::string bytes)> redact;
  // Leaves out known key files (key_files.h) unless an ignore file names them with "!". A key
  // folder that is named in this way is taken whole.
  bool leave_out_keys = false;
  // Leaves out Tenon homes wherever they occur: these folders, by device and inode, and others that
  // look like a home. kInvalid if the root is a home. Empty: does not look for homes.
  std::vector<FolderId> homes;
  int threads = 0;                        // 0: as many as cores, at most 8; each takes about 3 MB
  uint64_t large_file_hint = 100u << 20;  // files at least this big are listed in Frozen::large
  const Clock* clock = nullptr;           // nullptr: SystemClock()
  // Called every so often on the calling thread.
  std::function<void(uint64_t files_seen, uint64_t bytes_hashed)> on_progress;
  // Called once, after everything was put into the store and before the flush. What it puts into
  // the store becomes durable with the same flush. Empty: nothing is called.
  std::function<Status()> before_flush;
};

struct Frozen {
  Hash root;           // the tree that a host gets
  Hash kept_root;      // the tree that the client keeps
  uint64_t files = 0;  // files and symlinks, of both trees together
  uint64_t bytes = 0;
  uint64_t files_hashed = 0;  // files that the stat cache could not answer for
  uint64_t bytes_hashed = 0;
  uint64_t ignored = 0;  // files and folders left out by ignore files (a folder counts once)
  std::vector<std::string> skipped;                     // sockets, FIFOs, devices (paths)
  std::vector<std::pair<std::string, uint64_t>> large;  // path, size
  std::vector<LeftOut> keys;                            // key files that were left out
  std::vector<std::string> homes;                       // Tenon homes that were left out
  std::vector<std::string> named;  // included, but often private (KeyKind::kNamed)
};

// Freezes a folder into the store. Calls store.Flush() before it returns, so the roots are durable.
// A file that changes or vanishes while it is read is read again, three times at most.
// kUnavailable: a file changed each time. kDenied: a file may not be read. Both name the file.
// Changes nothing in the folder.
Result<Frozen> Freeze(ObjectStore& store, const FreezeOptions& options);

}  // namespace tenon::snapshot

#endif  // TENON_SNAPSHOT_FREEZE_FREEZE_H_
