// SPDX-License-Identifier: Apache-2.0
// `tenon config upgrade`: much of what files of 2017 name is gone. A plan says line by line what to
// write today and why; nothing is changed by planning. Applying is three steps, so that a caller
// can show each: choose changes, make the new bytes (with a diff), write the files.
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
  yaml::NewValue value;  // of kSet and kAppend; kSetSource takes its text as source
};

struct UpgradeChange {
  std::string file;    // relative to the root
  int line = 0;        // in the file as it is; of an added line where it goes
  std::string before;  // "" when something is added
  std::string after;   // "" when the line goes
  std::string reason;
  std::string rule;         // id of the row
  bool suggestion = false;  // never to be made without a question of its own
  std::vector<UpgradeEdit> edits;
};

// What stays impossible, or what to know beside the changes.
struct UpgradeNotice {
  std::string file;
  int line = 0;  // 0: the whole file
  std::string text;
  std::string rule;
};

struct UpgradePlan {
  std::vector<UpgradeChange> changes;  // by file, then by line
  std::vector<UpgradeNotice> notices;
  std::map<std::string, std::string> files;  // bytes of every file that has changes
};

struct UpgradeOptions {
  std::optional<std::string> run_configuration;  // only its own files
  bool modern = false;                           // today's Python and TensorFlow
};

// Reads all files and scripts of the project. A broken file is a notice and left alone. kNotFound:
// no such run configuration.
Result<UpgradePlan> PlanUpgrade(const Project& project, const UpgradeOptions& options);

// The part of the plan for one conda file.
struct CondaUse {
  bool on_gpu = false;  // a target with a GPU uses the file
  bool on_cpu = false;  // a container without one does, too
  bool modern = false;
  ScriptFacts scripts;
};
struct CondaPlan {
  std::vector<UpgradeChange> changes;
  std::vector<UpgradeNotice> notices;
  bool cuda10 = false;  // what is asked for, after the changes, is made for CUDA 10
};
CondaPlan PlanCondaFile(const CondaFile& file, const CondaUse& use);

// A file with the chosen changes made, and a unified diff of it without context: one hunk per
// change, the reason behind the second @@. Passwords are not in the diff.
struct UpgradedFile {
  std::string file;
  std::string before;
  std::string after;
  std::string diff;
};
// `chosen` has one entry per change. Files without chosen changes are not in the result. kInvalid:
// a change cannot be made without touching other bytes.
Result<std::vector<UpgradedFile>> MakeUpgrade(const UpgradePlan& plan,
                                              const std::vector<bool>& chosen);

// Writes all files or, when one cannot be written, none. kUnavailable when a file is no longer what
// the plan was made from. Modes are kept; links are followed.
Status WriteUpgrade(const Project& project, const std::vector<UpgradedFile>& files);

}  // namespace tenon::project

#endif  // TENON_PROJECT_UPGRADE_UPGRADE_H_
