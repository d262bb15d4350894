// SPDX-License-Identifier: Apache-2.0
// Tar archives for the engine's archive calls: POSIX pax, with files, folders and links, read and
// written in pieces.
#ifndef TENON_DOCKER_TAR_H_
#define TENON_DOCKER_TAR_H_

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace tenon::docker {

// Packs a folder's contents. Every entry belongs to `uid`:`gid`. Modes and times (in whole seconds)
// stay. Sockets, pipes and devices are left out. A prefix gets an entry of its own.
class TarWriter {
 public:
  // Names in the archive are `prefix` + path below `folder`. `prefix` is "" or ends with a slash
  // ("azureml-run/"). The folder must not change meanwhile: a file that has become shorter is
  // filled with zeros.
  TarWriter(std::string folder, std::string prefix, uid_t uid, gid_t gid);
  ~TarWriter();
  // Returns the next piece, an empty one at the end.
  Result<std::string> Next();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Unpacks an archive below a folder. Does not trust the names in it: absolute names, `..` and paths
// through symbolic links are kDenied. Ignores owners, skips devices and pipes, and replaces a file
// or link of the same name. After a failure every call fails.
class TarExtractor {
 public:
  // `strip`: how many leading parts of each name are dropped (with 1: "outputs/a" → "a"). Entries
  // with no further parts are skipped.
  TarExtractor(std::string folder, int strip);
  ~TarExtractor();
  Status Feed(std::string_view bytes);
  Status Finish();  // kCorrupt when the archive is cut
  uint64_t files() const;
  uint64_t bytes() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tenon::docker

#endif  // TENON_DOCKER_TAR_H_
