// SPDX-License-Identifier: Apache-2.0
// Plans the changes to a conda file. Python comes first, because it decides what else fits.
#include <algorithm>

#include "base/text.h"
#include "project/dependencies/wheel.h"
#include "project/upgrade/upgrade.h"
#include "project/upgrade/upgrade_match.h"
#include "run/pypi_names.h"

namespace tenon::project {
namespace {

constexpr int kNewestPython = 12;
constexpr int kNewestFor1x = 7;
constexpr int kOldestPython = 6;  // oldest that tools install; has wheels for nearly all of 2017

using Values = std::vector<std::pair<std::string_view, std::string>>;

bool IsPackage(const Dependency& item) {
  return item.kind == DependencyKind::kConda || item.kind == DependencyKind::kPip;
}

bool IsCntk(const Dependency& item) {
  const std::string key = PackageKey(item.name);
  return item.kind != DependencyKind::kPipOption && (key == "cntk" || key == "cntk-gpu");
}

bool IsTensorFlow(const Dependency& item) {
  const std::string key = PackageKey(item.name);
  return IsPackage(item) && (key == "tensorflow" || key == "tensorflow-gpu");
}

// Whether there is no version or only a lower bound.
bool IsOpen(const Dependency& item) {
  const std::string& text = item.constraint;
  return text.empty() || (text.starts_with('>') && text.find(',') == std::string::npos);
}

class Planner {
 public:
  Planner(const CondaFile& file, const CondaUse& use) : file_(file), use_(use) {
    cntk_ = std::any_of(file.items.begin(), file.items.end(), IsCntk);
    modern_ = use.modern && !cntk_;
    if (use.modern && cntk_) {
      out_.notices.push_back({file.file(), 0,
                              "CNTK ends with Python 3.6: this file cannot be made modern",
                              "modern-cntk"});
    }
  }

  CondaPlan Plan() {
    PlanPython();
    for (const Dependency& item : file_.items) {
      if (&item != file_.Python()) PlanItem(item);
    }
    return std::move(out_);
  }

 private:
  uint32_t CommonFacts() const {
    uint32_t facts = modern_ ? kModern : kClassic;
    if (use_.on_gpu) facts |= kOnGpu;
    if (cntk_) facts |= kCntk;
    if (old_python_) facts |= kOldPython;
    if (!use_.scripts.tensorflow_1x.empty()) {
      facts |= kScript1x;
    } else {
      facts |= use_.scripts.tensorflow.empty() ? kScriptUnknown : kScript2x;
    }
    return facts;
  }

  // Finds the newest Python that every pin has a wheel for.
  void FindNewest() {
    newest_ = kNewestPython;
    for (const Dependency& item : file_.items) {
      if (!IsPackage(item) || &item == file_.Python()) continue;
      if (IsTensorFlow(item) && IsOpen(item) && item.extras.empty()) {
        const bool is_2x = use_.scripts.tensorflow_1x.empty() && !use_.scripts.tensorflow.empty();
        if (!is_2x) newest_ = std::min(newest_, kNewestFor1x);
      }
      const std::string version = item.ExactVersion();
      const std::string key = PackageKey(item.name);
      if (version.empty() || key.starts_with("azure")) continue;
      const int newest = NewestPython(key, version);
      if (newest < 0) {
        pins_unknown_ = true;
      } else if (newest > 0) {
        newest_ = std::min(newest_, newest);
      }
    }
    if (pins_unknown_) newest_ = std::min(newest_, kOldestPython);
    newest_ = std::max(newest_, kOldestPython);
  }

  void PlanPython() {
    const Dependency* python = file_.Python();
    const bool named = python != nullptr && !python->constraint.empty();
    const auto version = file_.PythonVersion();
    old_python_ = !version || *version < std::pair(3, 8);
    FindNewest();
    python_ = version ? (version->first == 3 ? version->second : 7) : newest_;
    if (!named && file_.items.empty()) return;  // the file asks for nothing
    UpgradeThing thing{UpgradeSubject::kPython, named ? "python" : "(missing)", "", CommonFacts(),
                       python_};
    if (named) thing.version = python->ExactVersion();
    if (version) thing.facts |= kPinned;
    if (pins_unknown_) thing.facts |= kPinsUnknown;
    const UpgradeRow* row = FindUpgrade(thing);
    if (row == nullptr) return;
    const int line = python ? python->position.line : 0;
    Note(*row, line);
    if (row->action != UpgradeAction::kReplace) return;
    UpgradeChange change = NewChange(*row, line);
    change.before = python ? python->text : "";
    change.after = FillIn(row->write, {{"newest", "3." + std::to_string(newest_)}});
    const yaml::Path path = python ? python->path : yaml::Path{"dependencies"};
    change.edits.push_back({python ? UpgradeEdit::Kind::kSet : UpgradeEdit::Kind::kAppend, path,
                            yaml::NewValue::Text(change.after)});
    if (python == nullptr) change.line = LineBehind(path);
    if (const auto now = MajorMinor(change.after.substr(change.after.find('=') + 1))) {
      python_ = now->second;
    }
    out_.changes.push_back(std::move(change));
  }

  void PlanItem(const Dependency& item) {
    const std::optional<WheelName> wheel = ParseWheelName(item.url);
    const UpgradeThing thing = ThingOf(item, wheel);
    const UpgradeRow* row = FindUpgrade(thing);
    if (row == nullptr || row->action == UpgradeAction::kKeep) {
      if (row != nullptr) Note(*row, item.position.line);
      NoteCuda10(item.name, item.ExactVersion());
      return;
    }
    Values values = {{"name", item.name},
                     {"extras", item.extras},
                     {"constraint", item.constraint},
                     {"version", wheel ? wheel->version : item.ExactVersion()},
                     {"rest", item.text.substr(std::min(item.text.size(), size_t{10}))}};
    if (wheel) {
      values.emplace_back("system", WheelSystem(*wheel));
      values.emplace_back("pythons", WheelPythons(*wheel));
    }
    Note(*row, item.position.line);
    UpgradeChange change = NewChange(*row, item.position.line, values);
    change.before = item.text;
    if (row->action == UpgradeAction::kDrop) {
      change.edits.push_back({UpgradeEdit::Kind::kRemove, item.path, {}});
    } else {
      change.after = FillIn(row->write, values);
      if (!item.marker.empty()) change.after += "; " + item.marker;
      if (wheel && !run::IsKnownOnPypi(NameOf(change.after))) {
        change.suggestion = true;
        change.reason +=
            "; that the package index has the same project under this name is not known";
      }
      if (!ReplaceItem(item, *row, &change)) return;
      Judge(*row, &change);
    }
    out_.changes.push_back(std::move(change));
  }

  UpgradeThing ThingOf(const Dependency& item, const std::optional<WheelName>& wheel) const {
    UpgradeThing thing{UpgradeSubject::kPackage, item.url, "", CommonFacts(), python_};
    if (item.extras.empty()) thing.facts |= kNoExtras;
    if (item.kind == DependencyKind::kPipOption) {
      thing.subject = UpgradeSubject::kPipOption;
      thing.text = item.name + " " + item.constraint;
    } else if (wheel) {
      thing.subject = UpgradeSubject::kWheel;
      thing.version = wheel->version;
      if (!FitsLinux(*wheel)) thing.facts |= kOtherSystem;
      if (!FitsPython(*wheel, {3, python_})) thing.facts |= kOtherPython;
    } else if (!IsPackage(item)) {
      thing.subject = UpgradeSubject::kPlace;
    } else {
      thing.text = PackageKey(item.name);
      thing.version = item.ExactVersion();
      if (!thing.version.empty()) thing.facts |= kPinned;
      if (IsOpen(item)) thing.facts |= kUnpinned;
      if (item.constraint.find('#') != std::string::npos) thing.facts |= kGluedComment;
      const bool fits =
          !thing.version.empty() && FindWheel(thing.text, thing.version, python_) == HasWheel::kYes;
      if (fits) thing.facts |= kPinFits;
    }
    return thing;
  }

  static std::string_view NameOf(std::string_view requirement) {
    return requirement.substr(0, requirement.find_first_of("=<>~![ ;"));
  }

  // The table was checked on the package index, so a release found there is listed under `pip`.
  // False: no project of the index is known to be conda's package, so nothing is proposed.
  bool ReplaceItem(const Dependency& item, const UpgradeRow& row, UpgradeChange* change) {
    const bool from_index =
        row.status == UpgradeStatus::kChecked || row.status == UpgradeStatus::kRan;
    const bool version = change->after.find_first_of("=[") != std::string::npos;
    const bool wheel = item.kind == DependencyKind::kWheelUrl;
    if (item.in_pip || !((from_index && version) || wheel)) {
      change->edits.push_back(
          {UpgradeEdit::Kind::kSet, item.path, yaml::NewValue::Text(change->after)});
      return true;
    }
    if (!wheel && run::PypiName(item.name).empty()) {
      out_.notices.push_back({file_.file(), item.position.line,
                              "no package on PyPI is known to be the same project as conda's " +
                                  item.name + ": the line is left alone",
                              std::string(row.id)});
      return false;
    }
    const size_t equals = change->after.find('=');
    if (equals != std::string::npos && equals > 0 && change->after.compare(equals, 2, "==") != 0 &&
        std::string_view("<>~!").find(change->after[equals - 1]) == std::string_view::npos) {
      change->after.insert(equals, "=");  // turns conda's `=` into `==`
    }
    change->reason += "; the package index has it, so it is listed under pip";
    const yaml::Node* pip =
        file_.pip_list ? yaml::FindPath(file_.document, *file_.pip_list) : nullptr;
    if (pip != nullptr && !pip->children.empty()) {
      change->edits.push_back(
          {UpgradeEdit::Kind::kAppend, *file_.pip_list, yaml::NewValue::Text(change->after)});
      change->edits.push_back({UpgradeEdit::Kind::kRemove, item.path, {}});
    } else {
      change->edits.push_back({UpgradeEdit::Kind::kSetSource, item.path,
                               yaml::NewValue::Text("{pip: [\"" + change->after + "\"]}")});
    }
    return true;
  }

  // Marks changes that the user must be asked about, and remembers CUDA 10.
  void Judge(const UpgradeRow& row, UpgradeChange* change) {
    if ((row.when & kOnGpu) != 0 && use_.on_cpu) {
      change->suggestion = true;
      change->reason += "; a target without a GPU uses this file, too: better give each its own";
    }
    const std::string_view after = change->after;
    const size_t equals = after.find("==");
    NoteCuda10(NameOf(after), equals == std::string_view::npos ? "" : after.substr(equals + 2));
  }

  void NoteCuda10(std::string_view name, std::string_view version) {
    const std::string key = PackageKey(name);
    const bool tensorflow_1x = (key == "tensorflow" || key == "tensorflow-gpu") &&
                               !version.empty() && CompareVersions(version, "2") < 0;
    if (key == "cntk-gpu" || tensorflow_1x) out_.cuda10 = true;
  }

  UpgradeChange NewChange(const UpgradeRow& row, int line, const Values& values = {}) const {
    UpgradeChange change;
    change.file = file_.file();
    change.line = line;
    change.rule = row.id;
    change.reason = FillIn(row.reason, values);
    change.suggestion = row.asked || row.status == UpgradeStatus::kNotChecked;
    return change;
  }

  void Note(const UpgradeRow& row, int line) {
    if (row.notice.empty()) return;
    out_.notices.push_back({file_.file(), line, std::string(row.notice), std::string(row.id)});
  }

  int LineBehind(const yaml::Path& path) const {
    const yaml::Node* node = yaml::FindPath(file_.document, path);
    if (node == nullptr) return 1;
    const std::string& bytes = file_.document.bytes();
    return 2 + static_cast<int>(std::count(
                   bytes.begin(), bytes.begin() + static_cast<long>(node->range.end), '\n'));
  }

  const CondaFile& file_;
  const CondaUse& use_;
  CondaPlan out_;
  bool cntk_ = false;
  bool modern_ = false;
  bool old_python_ = true;
  bool pins_unknown_ = false;
  int newest_ = kNewestPython;
  int python_ = 6;
};

}  // namespace

CondaPlan PlanCondaFile(const CondaFile& file, const CondaUse& use) {
  return Planner(file, use).Plan();
}

}  // namespace tenon::project
