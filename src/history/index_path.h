// SPDX-License-Identifier: Apache-2.0
// Chooses where the index is stored. SQLite's log needs memory shared between programs and working
// locks; a network file system has neither.
#ifndef TENON_HISTORY_INDEX_PATH_H_
#define TENON_HISTORY_INDEX_PATH_H_

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>

namespace tenon::history {

// Whether `f_type` of statfs(2) is that of a file system whose bytes may be on another machine.
// FUSE counts, because any file system may be behind it.
bool IsNetworkFileSystem(uint64_t f_type);

struct IndexPlace {
  std::string home;        // absolute
  std::string cache_home;  // $XDG_CACHE_HOME; "" or relative: not set
  std::string user_home;   // $HOME; "" when not known
  uid_t uid = 0;
};

// The path of the index: in the home, or on local disk when the home is on a network file system
// (see IndexPath()). Pure except for `is_network`. The folders that `is_network` gets need not
// exist yet; it answers for their nearest existing parent.
std::string ChooseIndexPath(const IndexPlace& place,
                            const std::function<bool(const std::string& folder)>& is_network);

}  // namespace tenon::history

#endif  // TENON_HISTORY_INDEX_PATH_H_
