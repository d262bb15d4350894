// SPDX-License-Identifier: Apache-2.0
// Real projects of 2017, for tests. They are not part of the repository.
#ifndef TENON_PROJECT_UPGRADE_UPGRADE_CORPUS_H_
#define TENON_PROJECT_UPGRADE_UPGRADE_CORPUS_H_

#include <stdlib.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/source_tree.h"

namespace tenon::project {

// $TENON_CORPUS, else ../shared/corpus beside the source tree; "" when it does not exist.
inline std::string CorpusFolder() {
  const char* given = ::getenv("TENON_CORPUS");
  const std::string folder = given && *given ? given : SourcePath("../shared/corpus");
  return IsDirectory(folder) ? folder : "";
}

// Every file below `folder`, as a path relative to it, sorted.
inline std::vector<std::string> FilesBelow(const std::string& folder,
                                           const std::string& below = "") {
  std::vector<std::string> files;
  const auto names = ListDir(below.empty() ? folder : JoinPath(folder, below));
  if (!names.ok()) return files;
  for (const std::string& name : *names) {
    const std::string path = below.empty() ? name : JoinPath(below, name);
    if (!IsDirectory(JoinPath(folder, path))) {
      files.push_back(path);
      continue;
    }
    for (std::string& file : FilesBelow(folder, path)) files.push_back(std::move(file));
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace tenon::project

#endif  // TENON_PROJECT_UPGRADE_UPGRADE_CORPUS_H_
