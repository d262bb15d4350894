// SPDX-License-Identifier: Apache-2.0
// Reads conda_dependencies.yml, an ordinary conda environment file, with the position of every
// item. Items are not checked here: an unknown package name, a dead host or a wheel for another
// system are all read without an error. upgrade_check.h says what is wrong with them.
#ifndef TENON_PROJECT_DEPENDENCIES_CONDA_FILE_H_
#define TENON_PROJECT_DEPENDENCIES_CONDA_FILE_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "project/origin.h"
#include "yaml/document.h"
#include "yaml/edit.h"

namespace tenon::project {

enum class DependencyKind {
  kConda,      // an item of the conda part: numpy=1.12.1
  kPip,        // a requirement of the pip part: numpy==1.12.1
  kWheelUrl,   // https://host/path/name-1.0-py3-none-any.whl?query, in either part
  kUrl,        // any other address: a source archive, a conda package
  kGit,        // git+https://host/repository.git, and hg+, svn+, bzr+
  kLocalFile,  // /folder/name.whl, C:\folder\name.whl, ./folder
  kPipOption,  // --index-url URL
};
std::string_view DependencyKindName(DependencyKind kind);  // "conda", "pip", "wheel", …

struct Dependency {
  DependencyKind kind = DependencyKind::kConda;
  bool in_pip = false;
  std::string text;        // the item, without quotes and trailing blanks
  std::string name;        // of the package or option; "" when the text does not tell
  std::string extras;      // "[and-cuda]"
  std::string constraint;  // as written: "=1.12", "==1.0", ">=1.13"; for an option its value
  std::string marker;      // what follows `;` in a pip item
  std::string url;         // for kWheelUrl, kUrl and kGit; for kLocalFile the path
  yaml::Path path;         // for edits
  yaml::Position position;

  // The version of an exact pin ("=1.4" in the conda part, "==1.4" in both), else "".
  std::string ExactVersion() const;
};

// Parses one item of a pip part, or one line of a requirements file. The caller sets path and
// position.
Dependency ParsePipItem(std::string_view text);

// A package's name in the form that indexes compare: lower case, each run of `-_.` as one dash.
std::string PackageKey(std::string_view name);

struct CondaFile {
  explicit CondaFile(yaml::Document parsed) : document(std::move(parsed)) {}

  yaml::Document document;
  std::string name;  // "" when the file has none
  std::vector<Setting<std::string>> channels;
  std::vector<Dependency> items;       // in the order of the file
  std::optional<yaml::Path> pip_list;  // of the first pip part, even when it is empty
  bool marked_version_2 = false;       // the comment `# [AzureMlVersion] = 2`
  std::vector<std::string> notices;    // "file:line:column: …", once each

  const std::string& file() const { return document.file_name(); }
  // The conda item `python`, nullptr when there is none.
  const Dependency* Python() const;
  // The version of that item as {major, minor}; nullopt unless it pins both.
  std::optional<std::pair<int, int>> PythonVersion() const;
};

// `file` is relative to `root` and is the name in messages. kNotFound: no such file. kInvalid, with
// the line: the file has another form. An empty file, or one with only comments, asks for nothing.
Result<CondaFile> ReadCondaFile(const std::string& root, const std::string& file);
Result<CondaFile> ParseCondaFile(const std::string& file, std::string bytes);

}  // namespace tenon::project

#endif  // TENON_PROJECT_DEPENDENCIES_CONDA_FILE_H_
