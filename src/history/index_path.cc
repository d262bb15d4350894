// SPDX-License-Identifier: Apache-2.0
#include "history/index_path.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <memory>

#include "base/file.h"
#include "base/hash.h"
#include "history/store.h"
#include "run/layout.h"

namespace tenon::history {
namespace {

// Some of these are not in any header of the C library.
constexpr std::array<uint64_t, 20> kNetworkTypes = {
    0x6969,      // NFS
    0x517b,      // SMB
    0xff534d42,  // CIFS
    0xfe534d42,  // SMB2
    0x65735546,  // FUSE: sshfs, GlusterFS, s3fs …
    0x01021997,  // 9P
    0x5346414f,  // OpenAFS
    0x6b414653,  // AFS
    0x73757245,  // Coda
    0x564c,      // NCP
    0x00c36400,  // Ceph
    0x0bd00bd0,  // Lustre
    0x47504653,  // GPFS
    0xaad7aaea,  // PanFS
    0x19830326,  // BeeGFS
    0x20030528,  // OrangeFS
    0x7461636f,  // OCFS2
    0x01161970,  // GFS2
    0x786f4256,  // VirtualBox shared folder
    0x7c7c6673,  // Parallels shared folder
};

bool LiesOnNetwork(const std::string& folder) {
  std::string path = folder;
  while (true) {
    struct statfs info;
    if (::statfs(path.c_str(), &info) == 0) {
      // f_type is signed on some machines; the numbers are 32 bits.
      return IsNetworkFileSystem(static_cast<uint32_t>(info.f_type));
    }
    if (errno == EINTR) continue;
    if (path == "/" || path == ".") return false;
    path = DirName(path);
  }
}

std::string Variable(const char* name) {
  const char* value = ::getenv(name);
  return value == nullptr ? "" : value;
}

// The absolute path with symlinks resolved, so that one home has one name.
std::string Absolute(const std::string& path) {
  const std::unique_ptr<char, decltype(&::free)> real(::realpath(path.c_str(), nullptr), &::free);
  if (real) return real.get();
  if (path.starts_with('/')) return path;
  const auto current = CurrentFolder();
  return current.ok() ? JoinPath(*current, path) : path;
}

// Everybody may write to /var/tmp. A folder there is ours only if we own it and nobody else may
// write to it.
Status CheckOwn(const std::string& folder) {
  struct stat info;
  if (::lstat(folder.c_str(), &info) != 0) return FromErrno("looking at " + folder, errno);
  if (!S_ISDIR(info.st_mode) || info.st_uid != ::geteuid() || (info.st_mode & 022) != 0) {
    return Denied("keeping the history index in " + folder +
                  ": that is not a folder of yours alone")
        .WithHint("remove it, or set XDG_CACHE_HOME to a folder on local disk");
  }
  return {};
}

}  // namespace

bool IsNetworkFileSystem(uint64_t f_type) {
  return std::ranges::find(kNetworkTypes, f_type) != kNetworkTypes.end();
}

std::string ChooseIndexPath(const IndexPlace& place,
                            const std::function<bool(const std::string& folder)>& is_network) {
  if (!is_network(place.home)) return run::Home(place.home).history_db();
  const std::string name = Sha256Of(place.home).Hex().substr(0, 16);
  std::string cache = place.cache_home;
  if (!cache.starts_with('/')) {
    cache = place.user_home.starts_with('/') ? JoinPath(place.user_home, ".cache") : "";
  }
  if (!cache.empty() && !is_network(cache)) {
    return JoinPath(cache, "tenon/" + name + "/history.db");
  }
  return "/var/tmp/tenon-" + std::to_string(place.uid) + "/" + name + "/history.db";
}

Result<std::string> IndexPath(const std::string& home) {
  const IndexPlace place{Absolute(home), Variable("XDG_CACHE_HOME"), Variable("HOME"), ::geteuid()};
  std::string path = ChooseIndexPath(place, LiesOnNetwork);
  const std::string folder = DirName(path);
  if (folder == place.home) return path;
  TENON_TRY_VOID(MakeDirs(DirName(folder), 0700));
  if (folder.starts_with("/var/tmp/")) TENON_TRY_VOID(CheckOwn(DirName(folder)));
  TENON_TRY_VOID(MakeDirs(folder, 0700));
  return path;
}

}  // namespace tenon::history
