// SPDX-License-Identifier: Apache-2.0
#include "engine/data.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/file.h"
#include "base/text.h"
#include "engine/data_link.h"
#include "engine/private_files.h"

namespace tenon::engine {
namespace {

using snapshot::DataSet;

// A path of this machine, without `~`; relative ones are below the home, as there.
Result<std::string> Here(const std::string& path) {
  const std::string home = GetVariable(CurrentEnvironment(), "HOME");
  if (path.starts_with('/')) return path;
  if (home.empty()) return Invalid(ForTerminal(path) + ": HOME is not set");
  if (path == "~") return home;
  return JoinPath(home, path.starts_with("~/") ? path.substr(2) : path);
}

json::Object RequestOf(const char* op, const std::string& shared, const std::string& name) {
  return {{"op", op}, {"shared", json::EncodeBytes(shared)}, {"name", name}};
}

Result<snapshot::DataPlace> PlaceHere(const std::string& shared, const std::string& name) {
  TENON_TRY(const std::string folder, Here(shared));
  return snapshot::DataPlaceIn(folder, name);
}

// What a set is on `machine`.
Result<DataSet> FilesThere(Machine& machine, const std::string& shared, const std::string& name,
                           Reporter& reporter, DataHeader* header) {
  if (machine.far() == nullptr) {
    TENON_TRY(const snapshot::DataPlace at, PlaceHere(shared, name));
    return snapshot::ReadDataSet(at, header);
  }
  transport::FrameLink& link = *machine.host().frames();
  TENON_TRY_VOID(link.Send(RequestOf("data-files", shared, name), {}));
  TENON_TRY(const Frame told, AnswerTo(link, kDataSilenceUs, reporter));
  const json::Object* object = json::GetObject(told.head, "header");
  TENON_EXPECT_PEER(object != nullptr, "the host tells nothing about the data set");
  TENON_TRY(*header, DataHeader::FromJson(*object));
  TENON_TRY(const std::string text, snapshot::UnpackDataText(told.body));
  return DataSet::FromText(text);
}

Result<Moved> GetOnce(Context& context, Machine& machine, const std::string& shared,
                      const std::string& name, const std::string& to, Reporter& reporter,
                      bool* refused) {
  DataHeader header;
  TENON_TRY(DataSet set, FilesThere(machine, shared, name, reporter, &header));
  if (!header.complete) {
    *refused = true;
    return Unavailable("the data set " + name + " is not whole there: a put was broken off")
        .WithHint("put it again; what has come is not sent twice");
  }
  TENON_TRY(const snapshot::DataPlace here, snapshot::CopyPlaceIn(to, set));
  if (machine.far() == nullptr) {
    TENON_TRY(const snapshot::DataPlace at, PlaceHere(shared, name));
    return SendHere(context, here, {at.folder, std::move(set), {}, false, {}, {}}, reporter);
  }
  json::Object get = RequestOf("data-get", shared, name);
  get["fingerprint"] = header.fingerprint;
  return FetchOver(context, machine, get, here, std::move(set), reporter, refused);
}

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

std::vector<std::string> NamesIn(const json::Object& object, const char* key) {
  std::vector<std::string> names;
  const json::Array* array = json::GetArray(object, key);
  for (const json::Value& value : array != nullptr ? *array : json::Array()) {
    if (value.is_string()) names.push_back(json::DecodeBytes(value.get_string()));
  }
  return names;
}

}  // namespace

Result<DataScan> ScanHere(Context& context, const std::string& path, Reporter& reporter,
                          bool stays_here) {
  snapshot::DataScanOptions options;
  options.cache = context.home.stat_cache("data-" + Sha256Of(path).Hex().substr(0, 32));
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

Result<Moved> PutData(Context& context, Machine& machine, const std::string& shared,
                      const std::string& name, const DataScan& data, Reporter& reporter) {
  TENON_TRY_VOID(CheckDataName(name));
  if (machine.far() == nullptr) {
    TENON_TRY(const snapshot::DataPlace here, PlaceHere(shared, name));
    return SendHere(context, here, data, reporter);
  }
  return WithRetries(machine, reporter, [&](bool* refused) {
    return SendOver(machine, RequestOf("data-begin", shared, name), data, reporter, refused);
  });
}

Result<DataThere> ListData(Context& /*context*/, Machine& machine, const std::string& shared) {
  DataThere there;
  if (machine.far() == nullptr) {
    TENON_TRY(there.shared, Here(shared));
    there.sets = snapshot::ListDataSets(there.shared);
    return there;
  }
  Reporter silent;
  transport::FrameLink& link = *machine.host().frames();
  TENON_TRY_VOID(link.Send(RequestOf("data-list", shared, ""), {}));
  TENON_TRY(const Frame told, AnswerTo(link, kDataSilenceUs, silent));
  there.shared = json::DecodeBytes(json::GetString(told.head, "shared"));
  const json::Array* sets = json::GetArray(told.head, "sets");
  for (const json::Value& value : sets != nullptr ? *sets : json::Array()) {
    TENON_EXPECT_PEER(value.is_object(), "the host names a data set that is none");
    TENON_TRY(DataHeader header, DataHeader::FromJson(value.get_object()));
    there.sets.push_back(std::move(header));
  }
  return there;
}

Result<Moved> GetData(Context& context, Machine& machine, const std::string& shared,
                      const std::string& name, const std::string& to, Reporter& reporter) {
  TENON_TRY_VOID(CheckDataName(name));
  bool refused = false;
  if (machine.far() == nullptr) return GetOnce(context, machine, shared, name, to, reporter, &refused);
  return WithRetries(machine, reporter, [&](bool* no) {
    return GetOnce(context, machine, shared, name, to, reporter, no);
  });
}

Result<RemovedData> RemoveData(Context& /*context*/, Machine& machine, const std::string& shared,
                               const std::string& name) {
  TENON_TRY_VOID(CheckDataName(name));
  if (machine.far() == nullptr) {
    TENON_TRY(const snapshot::DataPlace at, PlaceHere(shared, name));
    TENON_TRY(const snapshot::DataRemoved removed, snapshot::RemoveDataSet(at));
    return RemovedData{removed.files, removed.others_left};
  }
  Reporter silent;
  transport::FrameLink& link = *machine.host().frames();
  TENON_TRY_VOID(link.Send(RequestOf("data-remove", shared, name), {}));
  TENON_TRY(const Frame told, AnswerTo(link, kDataLongUs, silent));
  return RemovedData{static_cast<uint64_t>(json::GetInt(told.head, "files")),
                     json::GetBool(told.head, "others_left")};
}

Result<PathKind> KindOf(Context& /*context*/, Machine& machine, const std::string& path) {
  if (machine.far() == nullptr) {
    TENON_TRY(const std::string here, Here(path));
    struct stat info {};
    if (::stat(here.c_str(), &info) != 0) {
      if (errno == ENOENT || errno == ENOTDIR) return PathKind::kNone;
      return FromErrno(ForTerminal(here), errno);
    }
    return S_ISDIR(info.st_mode) ? PathKind::kFolder : PathKind::kFile;
  }
  Reporter silent;
  transport::FrameLink& link = *machine.host().frames();
  TENON_TRY_VOID(link.Send({{"op", "data-stat"}, {"path", json::EncodeBytes(path)}}, {}));
  TENON_TRY(const Frame told, AnswerTo(link, kDataSilenceUs, silent));
  const std::string kind = json::GetString(told.head, "kind");
  return kind == "folder" ? PathKind::kFolder : kind == "file" ? PathKind::kFile : PathKind::kNone;
}

Result<Moved> CopyThere(Context& context, Machine& machine, const DataScan& data,
                        const std::string& folder, const std::string& as, Reporter& reporter) {
  const DataScan copy = as.empty() ? data : data.As(as);
  TENON_TRY_VOID(DataSet::FromText(copy.set.ToText()));  // a name that leads out is refused
  if (machine.far() == nullptr) {
    TENON_TRY(const std::string here, Here(folder));
    TENON_TRY(const snapshot::DataPlace to, snapshot::CopyPlaceIn(here, copy.set));
    return SendHere(context, to, copy, reporter);
  }
  return WithRetries(machine, reporter, [&](bool* refused) {
    return SendOver(machine, {{"op", "data-begin"}, {"folder", json::EncodeBytes(folder)}}, copy,
                    reporter, refused);
  });
}

Result<Moved> CopyHere(Context& context, Machine& machine, const std::string& path,
                       const std::string& to, bool into_folder, Reporter& reporter) {
  const std::string own_name(BaseName(path));
  const std::string target = into_folder ? JoinPath(to, own_name) : to;
  if (machine.far() == nullptr) {
    TENON_TRY(const std::string here, Here(path));
    TENON_TRY(const DataScan data, ScanHere(context, here, reporter, /*stays_here=*/true));
    return CopyThere(context, machine, data, data.is_file ? DirName(target) : target,
                     data.is_file ? std::string(BaseName(target)) : "", reporter);
  }
  bool told_skipped = false;
  return WithRetries(machine, reporter, [&](bool* refused) -> Result<Moved> {
    transport::FrameLink& link = *machine.host().frames();
    TENON_TRY_VOID(link.Send({{"op", "data-scan"}, {"path", json::EncodeBytes(path)}}, {}));
    TENON_TRY(const Frame told, AnswerTo(link, kDataLongUs, reporter));
    TENON_TRY(const std::string text, snapshot::UnpackDataText(told.body));
    TENON_TRY(DataSet set, DataSet::FromText(text));
    if (!told_skipped) TellLeftOut(NamesIn(told.head, "skipped"), reporter);
    told_skipped = true;
    const bool is_file = json::GetBool(told.head, "is_file");
    TENON_EXPECT_PEER(!is_file || set.files.size() == 1, "the host names no file, or several");
    if (is_file) set.files.front().path = BaseName(target);
    TENON_TRY_VOID(DataSet::FromText(set.ToText()));
    TENON_TRY(const snapshot::DataPlace here,
              snapshot::CopyPlaceIn(is_file ? DirName(target) : target, set));
    return FetchOver(context, machine, {{"op", "data-get"}, {"scan", true}}, here, std::move(set),
                     reporter, refused);
  });
}

}  // namespace tenon::engine
