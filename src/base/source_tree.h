// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_BASE_SOURCE_TREE_H_
#define TENON_BASE_SOURCE_TREE_H_

#include <string>
#include <string_view>

#include "base/file.h"

namespace tenon {

// A path in the source tree from which this test program (build/<preset>/src/x_test) was built. For
// tests. __FILE__ won't do, because compilers are given relative paths.
inline std::string SourcePath(std::string_view relative) {
  std::string root = ReadLink("/proc/self/exe").value_or("");
  for (int up = 0; up < 4; ++up) root = DirName(root);
  return JoinPath(root, relative);
}

}  // namespace tenon

#endif  // TENON_BASE_SOURCE_TREE_H_
