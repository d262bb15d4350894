// SPDX-License-Identifier: Apache-2.0
#include "engine/data/far_files.h"

#include <utility>
#include <vector>

#include "base/file.h"
#include "base/text.h"
#include "engine/data/data.h"
#include "engine/data/data_link.h"

namespace tenon::engine {
namespace {

using snapshot::DataSet;

json::Object RequestOf(const char* op, const std::string& shared, const std::string& name) {
  return {{"op", op}, {"shared", json::EncodeBytes(shared)}, {"name", name}};
}

std::vector<std::string> NamesIn(const json::Object& object, const char* key) {
  std::vector<std::string> names;
  const json::Array* array = json::GetArray(object, key);
  for (const json::Value& value : array != nullptr ? *array : json::Array()) {
    if (value.is_string()) names.push_back(json::DecodeBytes(value.get_string()));
  }
  return names;
}

// Asks the host which files a data set has.
Result<DataSet> FilesThere(Machine& machine, const std::string& shared, const std::string& name,
                           Reporter& reporter, DataHeader* header) {
  transport::FrameLink& link = *machine.host().frames();
  TENON_TRY_VOID(link.Send(RequestOf("data-files", shared, name), {}));
  TENON_TRY(const Frame told, AnswerTo(link, kDataSilenceUs, reporter));
  const json::Object* object = json::GetObject(told.head, "header");
  TENON_EXPECT_PEER(object != nullptr, "the host tells nothing about the data set");
  TENON_TRY(*header, DataHeader::FromJson(*object));
  TENON_TRY(const std::string text, snapshot::UnpackDataText(told.body));
  return DataSet::FromText(text);
}

}  // namespace

Result<Moved> FarFiles::PutSet(const std::string& shared, const std::string& name,
                               const DataScan& data, Reporter& reporter) {
  return WithRetries(machine_, reporter, [&] {
    return SendOver(machine_, RequestOf("data-begin", shared, name), data, reporter);
  });
}

Result<DataThere> FarFiles::ListSets(const std::string& shared) {
  DataThere there;
  Reporter silent;
  transport::FrameLink& link = *machine_.host().frames();
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

Result<Moved> FarFiles::GetOnce(const std::string& shared, const std::string& name,
                                const std::string& to, Reporter& reporter) {
  DataHeader header;
  TENON_TRY(DataSet set, FilesThere(machine_, shared, name, reporter, &header));
  if (!header.complete) return NotWhole(name);
  TENON_TRY(const snapshot::DataPlace here, snapshot::CopyPlaceIn(to, set));
  json::Object get = RequestOf("data-get", shared, name);
  get["fingerprint"] = header.fingerprint;
  return FetchOver(context_, machine_, get, here, std::move(set), reporter);
}

Result<Moved> FarFiles::GetSet(const std::string& shared, const std::string& name,
                               const std::string& to, Reporter& reporter) {
  return WithRetries(machine_, reporter, [&] { return GetOnce(shared, name, to, reporter); });
}

Result<RemovedData> FarFiles::RemoveSet(const std::string& shared, const std::string& name) {
  Reporter silent;
  transport::FrameLink& link = *machine_.host().frames();
  TENON_TRY_VOID(link.Send(RequestOf("data-remove", shared, name), {}));
  TENON_TRY(const Frame told, AnswerTo(link, kDataLongUs, silent));
  return RemovedData{static_cast<uint64_t>(json::GetInt(told.head, "files")),
                     json::GetBool(told.head, "others_left")};
}

Result<PathKind> FarFiles::KindOf(const std::string& path) {
  Reporter silent;
  transport::FrameLink& link = *machine_.host().frames();
  TENON_TRY_VOID(link.Send({{"op", "data-stat"}, {"path", json::EncodeBytes(path)}}, {}));
  TENON_TRY(const Frame told, AnswerTo(link, kDataSilenceUs, silent));
  const std::string kind = json::GetString(told.head, "kind");
  return kind == "folder" ? PathKind::kFolder : kind == "file" ? PathKind::kFile : PathKind::kNone;
}

Result<Moved> FarFiles::CopyInto(const std::string& folder, const DataScan& data,
                                 Reporter& reporter) {
  return WithRetries(machine_, reporter, [&] {
    return SendOver(machine_, {{"op", "data-begin"}, {"folder", json::EncodeBytes(folder)}}, data,
                    reporter);
  });
}

Result<Moved> FarFiles::CopyFrom(const std::string& path, const std::string& target,
                                 Reporter& reporter) {
  bool told_skipped = false;
  return WithRetries(machine_, reporter, [&]() -> Result<Moved> {
    transport::FrameLink& link = *machine_.host().frames();
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
    return FetchOver(context_, machine_, {{"op", "data-get"}, {"scan", true}}, here, std::move(set),
                     reporter);
  });
}

}  // namespace tenon::engine
