// SPDX-License-Identifier: Apache-2.0
// What files of 2017 name, and what to write today. The rows are data (upgrade_table.cc holds
// nothing else). upgrade_match.h finds the row that applies; upgrade.h makes a plan of the rows.
#ifndef TENON_PROJECT_UPGRADE_UPGRADE_TABLE_H_
#define TENON_PROJECT_UPGRADE_UPGRADE_TABLE_H_

#include <cstdint>
#include <span>
#include <string_view>

namespace tenon::project {

enum class UpgradeSubject {
  kImage,      // baseDockerImage; `(null)`: the key has no value
  kPython,     // the item `python` of the conda file; `(missing)`: there is none
  kPackage,    // any other package, in the conda part or the pip part
  kWheel,      // the address or path of a wheel
  kPlace,      // any other address: repositories, archives
  kPipOption,  // "--index-url https://…"
  kKey,        // a key that is missing
};

enum class UpgradeAction {
  kReplace,  // with `write`
  kDrop,     // remove the line
  kKeep,     // change nothing; `notice` may say why
};

// How well the row was checked.
enum class UpgradeStatus {
  kPlain,       // follows from the files themselves
  kChecked,     // the package index has it for Linux on x86-64
  kRan,         // checked, and ran
  kNotChecked,  // in a registry or channel that was not asked: always a suggestion
};

// Conditions. All that a row names must hold.
enum UpgradeWhen : uint32_t {
  kAlways = 0,
  kOnGpu = 1u << 0,          // the target, or one that uses the conda file, has a GPU
  kOnSpark = 1u << 1,        // a run configuration of the target has Framework PySpark
  kCuda10 = 1u << 2,         // packages of its conda files are made for CUDA 10
  kPinned = 1u << 3,         // pinned to one version
  kUnpinned = 1u << 4,       // no version, or only a lower bound
  kPinFits = 1u << 5,        // pinned, and known to have a wheel for the file's Python
  kNoExtras = 1u << 6,       // no [extras]
  kScript1x = 1u << 7,       // scripts use TensorFlow 1.x: sessions, placeholders
  kScript2x = 1u << 8,       // scripts use TensorFlow, but nothing that only 1.x has
  kScriptUnknown = 1u << 9,  // no script uses TensorFlow
  kScriptSpark = 1u << 10,   // a script imports pyspark
  kScriptNone = 1u << 11,    // the project has no script
  kModern = 1u << 12,        // --modern
  kClassic = 1u << 13,       // not --modern
  kOldPython = 1u << 14,     // the file is for Python 3.7 or older, or names no version
  kCntk = 1u << 15,          // the file asks for CNTK
  kOtherSystem = 1u << 16,   // the wheel is not for Linux on x86-64
  kOtherPython = 1u << 17,   // the wheel is not for the file's Python
  kGluedComment = 1u << 18,  // `==1.0#comment`
  kPinsUnknown = 1u << 19,   // some pins are not in the table of wheels
};

struct UpgradeRow {
  std::string_view id;
  UpgradeSubject subject;
  std::string_view
      match;  // patterns with `*`, separated by blanks; package names as PackageKey() returns them
  uint32_t when = kAlways;
  std::string_view from = {};   // at least this version; "": any
  std::string_view below = {};  // below this version; "": any
  int python_from = 0;          // minor version of the file's Python 3, after its own upgrade
  int python_to = 99;
  UpgradeAction action = UpgradeAction::kKeep;
  // Placeholders: {name} {extras} {constraint} {version} of the item; {newest}: the newest Python
  // that all pins have wheels for.
  std::string_view write = {};
  UpgradeStatus status = UpgradeStatus::kPlain;
  bool asked = false;  // always a suggestion, even if it was checked
  std::string_view reason = {};
  std::string_view notice = {};  // what cannot be repaired, or what else to know
};

// In order: the first row that applies to a thing is used.
std::span<const UpgradeRow> UpgradeRows();

// Releases of `package` from `from` on (up to the package's next row) have wheels for Python
// 3.`oldest` to 3.`newest`.
struct WheelRange {
  std::string_view package;
  std::string_view from;
  int oldest;
  int newest;
};
std::span<const WheelRange> WheelRanges();

}  // namespace tenon::project

#endif  // TENON_PROJECT_UPGRADE_UPGRADE_TABLE_H_
