// SPDX-License-Identifier: Apache-2.0
// `tenon config upgrade`: much of what files of 2017 name no longer exists. A plan says, line by
// line, what to write today and why. Planning changes nothing. Applying has three steps, so that a
// caller can show each: choose changes, make the new bytes (with a diff), write the files.
#ifndef TENON_PROJECT_UPGRADE_UPGRADE_H_
#define TENON_PROJECT_UPGRADE_UPGRADE_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "project/dependencies/conda_file.h"
#include "project/project.h"
#include "project/upgrade/upgrade_scripts.h"
#include "yaml/edit.h"

namespace tenon::project {

struct UpgradeEdit {
  enum class Kind { kSet, kSetSource, kRemove, kAppend };
  Kind kind = Kind::kSet;
  yaml::Path path;
  yaml::NewValue value;  // for kSet and kAppend; kSetSource inserts its text as YAML source
};

struct UpgradeChange {
  std::string file;    // relative to the root
  int line = 0;        // in the present file; for an added line, its future place
  std::string before;  // "" when something is added
  std::string after;   // "" when the line is removed
  std::string reason;
  std::string rule;         // id of the row in the table
  bool suggestion = false;  // ask the user about this change alone before making it
  std::vector<UpgradeEdit> edits;
};

// What cannot be repaired, or what else to know about the changes.
struct UpgradeNotice {
  std::string file;
  int line = 0;  // 0: the whole file
  std::string text;
  std::string rule;
};

struct UpgradePlan {
  std::vector<UpgradeChange> changes;  // by file, then by line
  std::vector<UpgradeNotice> notices;
  std::map<std::string, std::string> files;  // present bytes of every file that has changes
};

struct UpgradeOptions {
  std::optional<std::string> run_configuration;  // only the files that it uses
  bool modern = false;                           // update to today's Python and TensorFlow
};

// Reads all files and scripts of the project. A broken file gets a notice and is left alone.
// kNotFound: no such run configuration.
Result<UpgradePlan> PlanUpgrade(const Project& project, const UpgradeOptions& options);

// How the project uses a conda file.
struct CondaUse {
  bool on_gpu = false;  // a container target with a GPU uses the file
  bool on_cpu = false;  // a container target without a GPU uses the file
  bool modern = false;
  ScriptFacts scripts;
};
struct CondaPlan {
  std::vector<UpgradeChange> changes;
  std::vector<UpgradeNotice> notices;
  bool cuda10 = false;  // the packages, after the changes, are made for CUDA 10
};
CondaPlan PlanCondaFile(const CondaFile& file, const CondaUse& use);

// A file with the chosen changes made, and their unified diff without context lines: one hunk per
// change, with the reason after the second @@. The diff contains no passwords.
struct UpgradedFile {
  std::string file;
  std::string before;
  std::string after;
  std::string diff;
};
// `chosen` has one entry per change. Leaves out files without chosen changes. kInvalid: a change
// cannot be made without touching other bytes.
Result<std::vector<UpgradedFile>> MakeUpgrade(const UpgradePlan& plan,
                                              const std::vector<bool>& chosen);

// Writes all files. kUnavailable, with nothing written, when a file is no longer what the plan was
// made from. All new contents are stored beside the files before the first file is replaced; if
// replacing one then fails, the error names those already changed. Keeps modes, follows links.
Status WriteUpgrade(const Project& project, const std::vector<UpgradedFile>& files);

}  // namespace tenon::project

#endif  // TENON_PROJECT_UPGRADE_UPGRADE_H_
