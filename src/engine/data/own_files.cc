// SPDX-License-Identifier: Apache-2.0
#include "engine/data/own_files.h"

#include <sys/stat.h>

#include <cerrno>
#include <utility>

#include "base/file.h"
#include "base/process.h"
#include "base/text.h"
#include "engine/data/data.h"
#include "engine/data/data_link.h"

namespace tenon::engine {
namespace {

using snapshot::DataSet;

// Resolves a path on this machine: replaces `~`, and takes relative paths from the user's home, as
// on other machines.
Result<std::string> Here(const std::string& path) {
  const std::string home = GetVariable(CurrentEnvironment(), "HOME");
  if (path.starts_with('/')) return path;
  if (home.empty()) return Invalid(ForTerminal(path) + ": HOME is not set");
  if (path == "~") return home;
  return JoinPath(home, path.starts_with("~/") ? path.substr(2) : path);
}

Result<snapshot::DataPlace> PlaceHere(const std::string& shared, const std::string& name) {
  TENON_TRY(const std::string folder, Here(shared));
  return snapshot::DataPlaceIn(folder, name);
}

}  // namespace

Result<Moved> OwnFiles::PutSet(const std::string& shared, const std::string& name,
                               const DataScan& data, Reporter& reporter) {
  TENON_TRY(const snapshot::DataPlace here, PlaceHere(shared, name));
  return SendHere(context_, here, data, reporter);
}

Result<DataThere> OwnFiles::ListSets(const std::string& shared) {
  DataThere there;
  TENON_TRY(there.shared, Here(shared));
  there.sets = snapshot::ListDataSets(there.shared);
  return there;
}

Result<Moved> OwnFiles::GetSet(const std::string& shared, const std::string& name,
                               const std::string& to, Reporter& reporter) {
  DataHeader header;
  TENON_TRY(const snapshot::DataPlace from, PlaceHere(shared, name));
  TENON_TRY(DataSet set, snapshot::ReadDataSet(from, &header));
  if (!header.complete) return NotWhole(name);
  TENON_TRY(const snapshot::DataPlace here, snapshot::CopyPlaceIn(to, set));
  return SendHere(context_, here, {from.folder, std::move(set), {}, false, {}, {}}, reporter);
}

Result<RemovedData> OwnFiles::RemoveSet(const std::string& shared, const std::string& name) {
  TENON_TRY(const snapshot::DataPlace at, PlaceHere(shared, name));
  TENON_TRY(const snapshot::DataRemoved removed, snapshot::RemoveDataSet(at));
  return RemovedData{removed.files, removed.others_left};
}

Result<PathKind> OwnFiles::KindOf(const std::string& path) {
  TENON_TRY(const std::string here, Here(path));
  struct stat info {};
  if (::stat(here.c_str(), &info) != 0) {
    if (errno == ENOENT || errno == ENOTDIR) return PathKind::kNone;
    return FromErrno(ForTerminal(here), errno);
  }
  return S_ISDIR(info.st_mode) ? PathKind::kFolder : PathKind::kFile;
}

Result<Moved> OwnFiles::CopyInto(const std::string& folder, const DataScan& data,
                                 Reporter& reporter) {
  TENON_TRY(const std::string here, Here(folder));
  TENON_TRY(const snapshot::DataPlace to, snapshot::CopyPlaceIn(here, data.set));
  return SendHere(context_, to, data, reporter);
}

Result<Moved> OwnFiles::CopyFrom(const std::string& path, const std::string& target,
                                 Reporter& reporter) {
  TENON_TRY(const std::string here, Here(path));
  TENON_TRY(const DataScan data, ScanHere(context_, here, reporter, /*stays_here=*/true));
  const std::string as = data.is_file ? std::string(BaseName(target)) : "";
  const DataScan copy = as.empty() ? data : data.As(as);
  TENON_TRY_VOID(DataSet::FromText(copy.set.ToText()));  // refuses a path that leads out
  return CopyInto(data.is_file ? DirName(target) : target, copy, reporter);
}

}  // namespace tenon::engine
