// SPDX-License-Identifier: Apache-2.0
#include "snapshot/data/data_state.h"

#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/text.h"
#include "snapshot/data/data_scan.h"

namespace tenon::snapshot {
namespace {

constexpr size_t kCopyDigits = 16;
constexpr int kJustBegunS = 60;  // its process may be about to take the lock
constexpr size_t kMaxHeader = 64u << 10;

Result<DataSet> ReadDataList(const std::string& path) {
  TENON_TRY(const std::string text, ReadFile(path, kMaxDataList));
  auto set = DataSet::FromText(text);
  if (!set.ok()) return Corrupt(path + " is damaged: " + set.error().message);
  return set;
}

// Reads paths that are each followed by a NUL.
std::vector<std::string> ReadPaths(const std::string& path) {
  const auto text = ReadFile(path, kMaxDataList);
  std::vector<std::string> paths = text.ok() ? Split(*text, '\0') : std::vector<std::string>();
  std::erase_if(paths, [](const std::string& one) { return !CheckDataPath(one).ok(); });
  return paths;
}

}  // namespace

DataHeader HeaderOf(const DataPlace& place) {
  const auto text = ReadFile(place.Of(".json"), kMaxHeader);
  if (text.ok()) {
    const auto value = json::Parse(*text);
    if (value.ok() && value->is_object()) {
      auto header = DataHeader::FromJson(value->get_object());
      if (header.ok()) return *header;
    }
  }
  DataHeader fresh;
  fresh.name = place.name;
  return fresh;
}

std::vector<std::string> OurPaths(const DataPlace& place, std::vector<DataFile>* listed) {
  std::vector<std::string> paths = ReadPaths(place.Of(".ours"));
  const auto add = [&](const char* list) {
    auto set = ReadDataList(place.Of(list));
    if (!set.ok()) return;  // missing or damaged
    for (DataFile& file : set->files) {
      paths.push_back(file.path);
      listed->push_back(std::move(file));
    }
  };
  if (HeaderOf(place).placing) add(".next");
  add(".files");
  return paths;
}

Result<DataPlace> DataPlaceIn(const std::string& shared, const std::string& name) {
  TENON_TRY_VOID(CheckDataName(name));
  return DataPlace{JoinPath(shared, name), JoinPath(shared, kDataState), name};
}

Result<DataPlace> CopyPlaceIn(const std::string& folder, const DataSet& set) {
  TENON_TRY_VOID(MakeDirs(folder));
  char real[PATH_MAX];
  if (::realpath(folder.c_str(), real) == nullptr) return FromErrno(ForTerminal(folder), errno);
  return DataPlace{
      real,
      JoinPath(real, std::string(kCopyState) + set.Fingerprint().Hex().substr(0, kCopyDigits)),
      "copy"};
}

bool IsCopyPlace(const DataPlace& place) { return BaseName(place.state).starts_with(kCopyState); }

Status EndCopy(const DataPlace& place) {
  return IsCopyPlace(place) ? RemoveTree(place.state) : Status();
}

Status RemoveOtherCopies(const DataPlace& place) {
  if (!IsCopyPlace(place)) return {};
  TENON_TRY(const auto names, ListDir(place.folder));
  for (const std::string& name : names) {
    const DataPlace other{place.folder, JoinPath(place.folder, name), place.name};
    struct stat info {};
    if (!IsCopyPlace(other) || other.state == place.state ||
        ::lstat(other.state.c_str(), &info) != 0 || !S_ISDIR(info.st_mode) ||
        info.st_mtime + kJustBegunS > ::time(nullptr)) {
      continue;
    }
    const auto lock = FileLock::Take(other.Of(".lock"), /*wait=*/false);
    if (lock.ok()) TENON_TRY_VOID(RemoveTree(other.state));
  }
  return {};
}

Result<DataSet> ReadDataSet(const DataPlace& place, DataHeader* header) {
  auto text = ReadFile(place.Of(".json"), kMaxHeader);
  if (!text.ok()) {
    if (text.error().kind != ErrorKind::kNotFound) return std::move(text).error();
    return NotFound("there is no data set called " + place.name);
  }
  TENON_TRY(const json::Value value, json::Parse(*text));
  if (!value.is_object()) return Corrupt(place.Of(".json") + " is damaged");
  TENON_TRY(*header, DataHeader::FromJson(value.get_object()));
  if (header->fingerprint.empty() && !Exists(place.Of(".files"))) return DataSet();
  return ReadDataList(place.Of(".files"));
}

Result<DataRemoved> RemoveDataSet(const DataPlace& place) {
  if (!Exists(place.Of(".json"))) return NotFound("there is no data set called " + place.name);
  auto lock = FileLock::Take(place.Of(".lock"), /*wait=*/false);
  if (!lock.ok()) {
    return Unavailable("the data set " + place.name + " is being changed by somebody else");
  }
  DataTree tree(place.folder);
  DataRemoved removed;
  std::vector<DataFile> listed;
  std::vector<std::string> paths = OurPaths(place, &listed);
  std::sort(paths.begin(), paths.end());
  paths.erase(std::unique(paths.begin(), paths.end()), paths.end());
  for (const std::string& path : paths) {
    TENON_TRY_VOID(tree.Remove(path));
    ++removed.files;
  }
  removed.others_left = ::rmdir(place.folder.c_str()) != 0 && errno != ENOENT;
  TENON_TRY_VOID(RemoveTree(place.Of(".incoming")));
  for (const char* suffix : {".next", ".files", ".stats", ".ours", ".json", ".lock"}) {
    TENON_TRY_VOID(RemoveFile(place.Of(suffix)));
  }
  return removed;
}

}  // namespace tenon::snapshot
