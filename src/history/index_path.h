// SPDX-License-Identifier: Apache-2.0
// Where the index may lie. SQLite's log needs memory shared between programs and locks that work;
// on a network file system it has neither.
#ifndef TENON_HISTORY_INDEX_PATH_H_
#define TENON_HISTORY_INDEX_PATH_H_

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>

namespace tenon::history {

// Whether statfs(2)'s f_type is that of a file system whose bytes may lie on another machine. FUSE
// counts: nobody can tell what is behind it.
bool IsNetworkFileSystem(uint64_t f_type);

struct IndexPlace {
  std::string home;        // absolute
  std::string cache_home;  // $XDG_CACHE_HOME; "" or relative: not set
  std::string user_home;   // $HOME; "" when not known
  uid_t uid = 0;
};

// The index's path. Pure but for `is_network`, which is asked about folders that need not exist yet
// (the answer is that of their nearest parent).
std::string ChooseIndexPath(const IndexPlace& place,
                            const std::function<bool(const std::string& folder)>& is_network);

}  // namespace tenon::history

#endif  // TENON_HISTORY_INDEX_PATH_H_
