// SPDX-License-Identifier: Apache-2.0
#include "base/private_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "base/file.h"

namespace tenon {
namespace {

constexpr mode_t kOthers = 077;

bool TakeFromOthers(const std::string& path, const struct stat& info) {
  if (info.st_uid != ::geteuid() || (info.st_mode & kOthers) == 0) return false;
  return ::chmod(path.c_str(), info.st_mode & 07700) == 0;
}

void KeepContentsPrivate(const std::string& folder) {
  for (const std::string& name : ListDir(folder).value_or({})) KeepPrivate(JoinPath(folder, name));
}

}  // namespace

bool KeepPrivate(const std::string& path) {
  struct stat info;
  if (::lstat(path.c_str(), &info) != 0 || S_ISLNK(info.st_mode)) return false;
  return TakeFromOthers(path, info);
}

void KeepFolderPrivate(const std::string& folder, std::span<const std::string_view> deeper) {
  struct stat info;
  if (::stat(folder.c_str(), &info) != 0 || !S_ISDIR(info.st_mode)) return;
  if (!TakeFromOthers(folder, info)) return;
  KeepContentsPrivate(folder);
  for (const std::string_view below : deeper) KeepContentsPrivate(JoinPath(folder, below));
}

}  // namespace tenon
