// SPDX-License-Identifier: Apache-2.0
// From the lines of dependency files to run::Packages. What was never a package, or is gone and
// answered by Tenon itself, is left out with a notice; what cannot work on Linux is an error that
// names the line; files of the project that are needed are hashed.
#ifndef TENON_PROJECT_DEPENDENCIES_PACKAGE_LIST_H_
#define TENON_PROJECT_DEPENDENCIES_PACKAGE_LIST_H_

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "project/dependencies/conda_file.h"
#include "project/upgrade/upgrade_match.h"
#include "run/packages.h"

namespace tenon::project {

class PackageList {
 public:
  // `old_python`: for Python 3.7 or older, or a file of 2017 that does not say.
  PackageList(std::string root, bool old_python)
      : root_(std::move(root)), old_python_(old_python) {}

  // An item of a conda file, of either part.
  Status AddItem(const Dependency& item, const std::string& file);
  // The lines of a requirements file (relative to the root), and of those it includes.
  Status AddRequirements(const std::string& file);
  // A file of the project (relative to the root) that the environment is made with.
  Status AddFile(const std::string& path);
  Status AddFile(const std::string& path, std::string_view what_counts);
  void Notice(std::string text) { notices_.push_back(std::move(text)); }
  // Says so when an address has a password in it: it will be recorded.
  void NotePassword(std::string_view text, const std::string& where);

  run::Packages& packages() { return packages_; }
  std::vector<std::string>& notices() { return notices_; }
  // Puts what was collected in its final order.
  run::Packages Take();

 private:
  struct Line {
    std::string text;
    std::string file;
    int line = 0;
    bool conda_file = false;
    std::string where() const { return file + ":" + std::to_string(line); }
  };
  void AddPython(const Dependency& item, const Line& line);
  Status AddPip(const Line& line);
  Status AddOption(const Line& line);
  Status AddEditable(const Line& line, std::string_view place);
  Status AddConstraints(const Line& line, const std::string& typed);
  Status AddFindLinks(const Line& line, const std::string& typed);
  Status Include(const Line& line, const std::string& typed);
  Result<std::string> ReadRequirements(const std::string& file) const;
  Status AddRequirementLines(const std::string& file, const std::string& bytes);
  Status AddLocalFile(const Dependency& item, const Line& line, std::string_view tail);
  // Where a file or folder named in `line` lies, relative to the root.
  Result<std::string> FindFile(const Line& line, const std::string& typed, bool root_first) const;
  Status CheckReallyInside(const std::string& path, const std::string& where) const;
  // Whether it is left out; the notice is made.
  bool Dropped(const Dependency& item, const Line& line);
  void NoteGone(const Dependency& item, const Line& line);
  UpgradeThing ThingOf(const Dependency& item) const;

  std::string root_;
  bool old_python_;
  run::Packages packages_;
  std::map<std::string, std::string> files_;
  std::vector<std::string> notices_;
  std::set<std::string> included_;
  std::vector<std::string> including_;  // requirements files that are being read
};

// SHA-256 (hex) of a file's bytes, read in pieces.
Result<std::string> HashOfFile(const std::string& path);

}  // namespace tenon::project

#endif  // TENON_PROJECT_DEPENDENCIES_PACKAGE_LIST_H_
