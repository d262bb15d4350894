// SPDX-License-Identifier: Apache-2.0
#include "engine/data/data.h"

#include <algorithm>
#include <utility>

#include "base/file.h"
#include "base/text.h"
#include "engine/run/private_files.h"

namespace tenon::engine {

void TellLeftOut(const std::vector<std::string>& paths, Reporter& reporter) {
  constexpr size_t kShown = 5;
  if (paths.empty()) return;
  const size_t shown = std::min(kShown, paths.size());
  const std::vector<std::string> some(paths.begin(), paths.begin() + static_cast<long>(shown));
  reporter.OnNotice({run::Level::kInfo,
                     "left out, because only files can be copied: " +
                         ForTerminal(Join(some, ", ")) + (paths.size() > kShown ? ", …" : ""),
                     ""});
}

Result<DataScan> ScanHere(Context& context, const std::string& path, Reporter& reporter,
                          bool stays_here) {
  snapshot::DataScanOptions options;
  options.cache = context.home.stat_cache("data2-" + Sha256Of(path).Hex().substr(0, 32));
  options.now_us = context.clock->NowUs();
  options.progress = [&](uint64_t done, uint64_t total) -> Status {
    reporter.OnProgress("looking at the files", done, total);
    return {};
  };
  if (!stays_here) {
    options.leave_out_keys = true;
    options.homes = HomesOf(context);
  }
  TENON_TRY(DataScan scan, snapshot::ScanData(path, options));
  TellLeftOut(scan.skipped, reporter);
  if (!scan.left_out.empty()) {
    reporter.OnNotice(
        {run::Level::kWarning,
         "left out, because keys and passwords stay here: " + SomeNames(scan.left_out),
         "one that is meant to be copied must be named itself"});
  }
  return scan;
}

Result<Moved> PutData(Machine& machine, const std::string& shared, const std::string& name,
                      const DataScan& data, Reporter& reporter) {
  TENON_TRY_VOID(CheckDataName(name));
  return machine.files().PutSet(shared, name, data, reporter);
}

Result<Moved> GetData(Machine& machine, const std::string& shared, const std::string& name,
                      const std::string& to, Reporter& reporter) {
  TENON_TRY_VOID(CheckDataName(name));
  return machine.files().GetSet(shared, name, to, reporter);
}

Result<RemovedData> RemoveData(Machine& machine, const std::string& shared,
                               const std::string& name) {
  TENON_TRY_VOID(CheckDataName(name));
  return machine.files().RemoveSet(shared, name);
}

Result<Moved> CopyThere(Machine& machine, const DataScan& data, const std::string& folder,
                        const std::string& as, Reporter& reporter) {
  const DataScan copy = as.empty() ? data : data.As(as);
  TENON_TRY_VOID(snapshot::DataSet::FromText(copy.set.ToText()));  // refuses a path that leads out
  return machine.files().CopyInto(folder, copy, reporter);
}

Result<Moved> CopyHere(Machine& machine, const std::string& path, const std::string& to,
                       bool into_folder, Reporter& reporter) {
  const std::string own_name(BaseName(path));
  return machine.files().CopyFrom(path, into_folder ? JoinPath(to, own_name) : to, reporter);
}

}  // namespace tenon::engine
