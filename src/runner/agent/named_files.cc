// SPDX-License-Identifier: Apache-2.0
#include "runner/agent/named_files.h"

#include <algorithm>
#include <utility>

namespace tenon::runner {
namespace {

constexpr int64_t kMaxChecked = 64 << 10;
constexpr size_t kMostFiles = 1024;

}  // namespace

Result<std::string> PathOf(const json::Object& object, std::string_view key) {
  std::string path = json::DecodeBytes(json::GetString(object, key));
  if (path.empty() || path[0] != '/' || path.find('\0') != std::string::npos) {
    return Invalid("reading the request: " + std::string(key) + " must be an absolute path");
  }
  return path;
}

Result<std::vector<NamedFile>> FilesOf(const json::Object& request, std::string_view position) {
  std::vector<NamedFile> files;
  const json::Array* list = json::GetArray(request, "files");
  if (list == nullptr || list->empty() || list->size() > kMostFiles) {
    return Invalid("reading the request: it names no files, or too many");
  }
  for (const json::Value& value : *list) {
    if (!value.is_object()) return Invalid("reading the request: files has what is no object");
    NamedFile file;
    TENON_TRY(file.path, PathOf(value.get_object()));
    const int64_t at = json::GetInt(value.get_object(), position);
    if (at < 0) return Invalid("reading the request: a length below nothing");
    file.position = static_cast<uint64_t>(at);
    const int64_t checked = json::GetInt(value.get_object(), "checked");
    if (checked < 0 || checked > std::min<int64_t>(at, kMaxChecked)) {
      return Invalid("reading the request: more is to be checked than there is");
    }
    file.checked = static_cast<uint64_t>(checked);
    file.crc = static_cast<uint32_t>(json::GetInt(value.get_object(), "crc"));
    files.push_back(std::move(file));
  }
  return files;
}

}  // namespace tenon::runner
