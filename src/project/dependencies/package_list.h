// SPDX-License-Identifier: Apache-2.0
// Turns the lines of dependency files into run::Packages. An item that never was a package, or that
// Tenon itself replaces, is left out with a notice. An item that cannot work on Linux is an error
// that names the line. Files of the project that the environment needs are hashed.
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
  // `old_python`: the file is for Python 3.7 or older, or is a conda file that names no version.
  PackageList(std::string root, bool old_python)
      : root_(std::move(root)), old_python_(old_python) {}

  // Adds an item of a conda file, from the conda part or the pip part.
  Status AddItem(const Dependency& item, const std::string& file);
  // Adds the lines of a requirements file (relative to the root) and of the files it includes.
  Status AddRequirements(const std::string& file);
  // Adds a file of the project (relative to the root) that the environment is made with. The second
  // form hashes `what_counts` instead of the file's bytes.
  Status AddFile(const std::string& path);
  Status AddFile(const std::string& path, std::string_view what_counts);
  void Notice(std::string text) { notices_.push_back(std::move(text)); }
  // Adds a notice when an address contains a password, because every run records it.
  void NotePassword(std::string_view text, const std::string& where);

  run::Packages& packages() { return packages_; }
  std::vector<std::string>& notices() { return notices_; }
  // Returns the collected packages in their final order. Call it once, at the end.
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
  // Finds a file or folder named in `line`, beside the line's file or in the root (first if
  // `root_first`). Returns its path relative to the root.
  Result<std::string> FindFile(const Line& line, const std::string& typed, bool root_first) const;
  Status CheckReallyInside(const std::string& path, const std::string& where) const;
  // Whether the upgrade table says to leave the item out. Adds the notice if it does.
  bool Dropped(const Dependency& item, const Line& line);
  void NoteGone(const Dependency& item, const Line& line);
  UpgradeThing ThingOf(const Dependency& item) const;

  std::string root_;
  bool old_python_;
  run::Packages packages_;
  std::map<std::string, std::string> files_;
  std::vector<std::string> notices_;
  std::set<std::string> included_;
  std::vector<std::string> including_;  // requirements files being read, outermost first
};

// SHA-256 (hex) of a file, read in pieces.
Result<std::string> HashOfFile(const std::string& path);

}  // namespace tenon::project

#endif  // TENON_PROJECT_DEPENDENCIES_PACKAGE_LIST_H_
