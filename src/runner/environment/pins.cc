// SPDX-License-Identifier: Apache-2.0
#include "runner/environment/pins.h"

#include "base/file.h"
#include "run/layout.h"

namespace tenon::runner {

std::string PinsFile(const std::string& home, const std::string& key) {
  return run::Home(home).pins() + "/" + key + ".txt";
}

Status SavePins(const std::string& home, const std::string& key,
                const std::vector<run::InstalledPackage>& installed) {
  std::string lines;
  for (const run::InstalledPackage& package : installed) {
    if (package.source == "pypi") lines += package.name + "==" + package.version + "\n";
  }
  const std::string path = PinsFile(home, key);
  TENON_TRY_VOID(MakeDirs(DirName(path), 0700));
  return WriteFileAtomically(path, lines, 0600, Durability::kWhole);
}

void ApplyPins(const std::string& file, run::Packages* packages) {
  if (file.empty() || packages->format == "uv-lock") return;
  packages->pip_options.push_back({"--constraint " + file, "", ""});
}

}  // namespace tenon::runner
