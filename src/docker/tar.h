// SPDX-License-Identifier: Apache-2.0
// Tar archives as the engine's archive calls want and give them: POSIX pax, files, folders,
// symbolic links, in pieces.
#ifndef TENON_DOCKER_TAR_H_
#define TENON_DOCKER_TAR_H_

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace tenon::docker {

// A folder's contents as an archive. Everything belongs to `uid`:`gid`; modes and times (in whole
// seconds) stay; sockets, pipes and devices are left out. A prefix gets an entry of its own.
class TarWriter {
 public:
  // Names in the archive are `prefix` + path below `folder` (prefix "" or "azureml-run/"). The
  // folder must not change meanwhile: a file that has become shorter is filled with zeros.
  TarWriter(std::string folder, std::string prefix, uid_t uid, gid_t gid);
  ~TarWriter();
  // The next piece; empty at the end.
  Result<std::string> Next();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Unpacks an archive below a folder. Names from outside are never trusted: absolute ones, `..` and
// ways through symbolic links are kDenied. Owners in the archive are ignored, devices and pipes
// skipped; what is there under a file's name is replaced. After a failure every call fails.
class TarExtractor {
 public:
  // `strip`: this many leading parts of each name are dropped ("outputs/a" → "a"), and entries that
  // have no more than those.
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
