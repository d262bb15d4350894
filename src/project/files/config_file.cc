// SPDX-License-Identifier: Apache-2.0
#include "project/files/config_file.h"

#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/file.h"
#include "base/text.h"

namespace tenon::project {

Result<std::string> RealPathInside(const Project& project, const std::string& file) {
  const std::string path = JoinPath(project.root, file);
  // A new file does not exist yet, so its folder is resolved.
  const bool there = Exists(path);
  char resolved[PATH_MAX];
  if (::realpath((there ? path : DirName(path)).c_str(), resolved) == nullptr) {
    return FromErrno(file, errno);
  }
  const std::string real =
      there ? std::string(resolved) : JoinPath(resolved, std::string(BaseName(path)));
  if (!real.starts_with(project.root == "/" ? "/" : project.root + "/")) {
    return Denied(file + ": a symbolic link leads out of the project, to " + ForTerminal(real))
        .WithHint("nothing was written; change that file itself");
  }
  return real;
}

Status WriteConfigFile(const Project& project, const std::string& file,
                       const std::optional<std::string>& before, std::string_view bytes) {
  TENON_TRY_VOID(MakeDirs(DirName(JoinPath(project.root, file))));
  TENON_TRY(const std::string real, RealPathInside(project, file));
  struct stat info;
  const bool there = ::stat(real.c_str(), &info) == 0;
  if (there != before.has_value()) {
    return there ? Invalid(file + ": there is such a file already")
                 : Unavailable(file + ": the file went away meanwhile");
  }
  if (there) {
    if (::access(real.c_str(), W_OK) != 0) return FromErrno(file, errno);
    TENON_TRY(const std::string now, ReadFile(real));
    if (now != *before) {
      return Unavailable(file + ": somebody else changed the file meanwhile")
          .WithHint("nothing was written; try again");
    }
  }
  const mode_t mode = there ? info.st_mode & 07777 : 0644;
  return WriteFileAtomically(real, bytes, mode, Durability::kPowerLoss);
}

Status RemoveConfigFile(const Project& project, const std::string& file) {
  const std::string path = JoinPath(project.root, file);
  if (!Exists(path)) return NotFound(file + ": there is no such file");
  return RemoveFile(path);
}

Status CheckConfigName(std::string_view name, std::string_view what) {
  const std::string subject =
      "`" + ForTerminal(name) + "` cannot be the name of a " + std::string(what);
  if (name.empty()) return Invalid("the name of the " + std::string(what) + " is empty");
  if (name.find_first_of("/\\") != std::string_view::npos || name.front() == '.' ||
      name.front() == '-') {
    return Invalid(subject).WithHint(
        "it becomes a file in aml_config/: use letters, digits, `_`, "
        "`-` and `.`");
  }
  if (!IsUtf8(name) || ForTerminal(name) != name || name.find('\n') != std::string_view::npos) {
    return Invalid(subject);
  }
  if (name.size() > 200) return Invalid("the name of the " + std::string(what) + " is too long");
  return {};
}

}  // namespace tenon::project
