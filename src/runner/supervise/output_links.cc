// SPDX-License-Identifier: Apache-2.0
#include "runner/supervise/output_links.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <utility>

#include "base/file.h"
#include "snapshot/data/data_folder.h"

namespace tenon::runner {
namespace {

// The path with all symlinks followed; "" if it leads nowhere.
std::string RealPath(const std::string& path) {
  char real[PATH_MAX];
  return ::realpath(path.c_str(), real) == nullptr ? std::string() : std::string(real);
}

bool IsAtOrBelow(const std::string& path, const std::string& folder) {
  return path == folder || path.starts_with(folder == "/" ? folder : folder + "/");
}

// Puts the same bytes under another name, without a copy where the file system can do that.
Status SameFile(const std::string& from, const std::string& to) {
  if (::link(from.c_str(), to.c_str()) == 0) return {};
  TENON_TRY(const UniqueFd source, OpenFile(from, O_RDONLY | O_NOFOLLOW));
  return snapshot::CopyFile(source.get(), to, Durability::kProcess);
}

// Copies files and folders. A symlink to a file of the run becomes that file; other symlinks are
// left out.
Status SameFolder(const std::string& from, const std::string& to, const std::string& work) {
  TENON_TRY_VOID(MakeDirs(to));
  TENON_TRY(const auto names, ListDir(from));
  for (const std::string& name : names) {
    const std::string source = RealPath(JoinPath(from, name));
    struct stat own {
    }, info{};
    if (source.empty() || !IsAtOrBelow(source, work) ||
        ::lstat(JoinPath(from, name).c_str(), &own) != 0 || ::stat(source.c_str(), &info) != 0) {
      continue;
    }
    if (S_ISREG(info.st_mode)) TENON_TRY_VOID(SameFile(source, JoinPath(to, name)));
    if (S_ISDIR(own.st_mode)) TENON_TRY_VOID(SameFolder(source, JoinPath(to, name), work));
  }
  return {};
}

class Resolver {
 public:
  Resolver(std::string work, std::string outputs, bool ours)
      : work_(std::move(work)), outputs_(std::move(outputs)), ours_(ours) {}

  void Walk(const std::string& folder) {
    for (const std::string& name : ListDir(JoinPath(outputs_, folder)).value_or({})) {
      const std::string path = folder.empty() ? name : folder + "/" + name;
      struct stat info {};
      if (::lstat(JoinPath(outputs_, path).c_str(), &info) != 0) continue;
      if (S_ISDIR(info.st_mode)) Walk(path);
      if (S_ISLNK(info.st_mode) && !(ours_ && Resolve(JoinPath(outputs_, path)))) {
        staying_.push_back(path);
      }
    }
  }
  std::vector<std::string> Staying() { return std::move(staying_); }

 private:
  // Makes the replacement beside the symlink first, so that a failure leaves the symlink as it is.
  bool Resolve(const std::string& link) const {
    const std::string target = RealPath(link);
    struct stat info {};
    if (target.empty() || !target.starts_with(work_ + "/") || IsAtOrBelow(link, target) ||
        ::stat(target.c_str(), &info) != 0) {
      return false;
    }
    const std::string aside = link + ".tenon-new";
    const Status made = S_ISREG(info.st_mode)   ? SameFile(target, aside)
                        : S_ISDIR(info.st_mode) ? SameFolder(target, aside, work_)
                                                : Status(Invalid("neither file nor folder"));
    if (!made.ok() || !RemoveFile(link).ok() || !RenameFile(aside, link).ok()) {
      (void)RemoveTree(aside).ok();
      return false;
    }
    return true;
  }

  std::string work_, outputs_;
  bool ours_;
  std::vector<std::string> staying_;
};

}  // namespace

std::vector<std::string> ResolveLinks(const std::string& work, const std::string& outputs) {
  const std::string real_work = RealPath(work), real = RealPath(outputs);
  Resolver resolver(real_work, real, !real_work.empty() && real == real_work + "/outputs");
  if (!real.empty()) resolver.Walk("");
  return resolver.Staying();
}

std::string LeadsAbove(const std::string& outputs, const std::string& home) {
  const std::string real = RealPath(outputs), real_home = RealPath(home);
  const bool above = !real.empty() && !real_home.empty() && IsAtOrBelow(real_home, real);
  return above ? real : "";
}

}  // namespace tenon::runner
