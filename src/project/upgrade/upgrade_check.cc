// SPDX-License-Identifier: Apache-2.0
#include "project/upgrade/upgrade_check.h"

#include <algorithm>

#include "base/text.h"
#include "project/dependencies/wheel.h"
#include "project/upgrade/upgrade.h"

namespace tenon::project {
namespace {

using Level = DependencyFinding::Level;

constexpr std::string_view kHint = "`tenon config upgrade` shows what to write instead";

DependencyFinding At(const Dependency& item, Level level, std::string text, std::string hint,
                     std::string rule) {
  return {level,           item.position.line, item.position.column,
          std::move(text), std::move(hint),    std::move(rule)};
}

void CheckWheel(const CondaFile& file, const Dependency& item,
                std::vector<DependencyFinding>* findings) {
  const std::optional<WheelName> wheel = ParseWheelName(item.url);
  if (!wheel) return;
  const std::string name = "`" + ForTerminal(item.url.substr(0, item.url.find('?'))) + "`: ";
  const std::string instead = "write `" + ForTerminal(wheel->name) +
                              "==" + ForTerminal(wheel->version) +
                              "`; `tenon config upgrade` knows more";
  if (!FitsLinux(*wheel)) {
    findings->push_back(
        At(item, Level::kError,
           name + "a wheel for " + WheelSystem(*wheel) + ", but the file is for Linux on x86_64",
           instead, "wheel-system"));
    return;
  }
  const auto python = file.PythonVersion();
  if (python && !FitsPython(*wheel, *python)) {
    findings->push_back(At(
        item, Level::kError,
        name + "a wheel for " + WheelPythons(*wheel) + ", but the file says " + file.Python()->text,
        instead, "wheel-python"));
  }
}

}  // namespace

std::vector<DependencyFinding> CheckDependencies(const CondaFile& file) {
  const CondaPlan plan = PlanCondaFile(file, {});
  std::vector<DependencyFinding> findings;
  for (const Dependency& item : file.items) {
    const size_t before = findings.size();
    CheckWheel(file, item, &findings);
    const bool said = findings.size() > before;
    for (const UpgradeChange& change : plan.changes) {
      if (said || change.suggestion || change.line != item.position.line ||
          change.before != item.text) {
        continue;
      }
      const std::string shown = item.text.substr(0, item.text.find('?'));
      findings.push_back(At(item, Level::kWarning, "`" + ForTerminal(shown) + "`: " + change.reason,
                            std::string(kHint), change.rule));
    }
    for (const UpgradeNotice& notice : plan.notices) {
      if (notice.line != item.position.line || notice.rule != "cntk-1bit-wheel") continue;
      findings.push_back(At(item, Level::kNote, notice.text, "", notice.rule));
    }
  }
  return findings;
}

}  // namespace tenon::project
