// SPDX-License-Identifier: Apache-2.0
// Data sets: folders of files that lie beside the runs of a project, on the machine where it runs.
// A data set is described by its list: path, size, SHA-256 and mode of every file. The SHA-256 of
// the list is its fingerprint: equal files give the same fingerprint on every machine.
//
// The list as text, one line per file, sorted by path (bytes):
//
//   <64 hex> <mode, octal> <size> <path>\n
//
// In the path, bytes below 0x20, 0x7f and '%' are written %XX.
#ifndef TENON_SNAPSHOT_DATA_DATA_SET_H_
#define TENON_SNAPSHOT_DATA_DATA_SET_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "base/json.h"
#include "base/result.h"

namespace tenon::snapshot {

inline constexpr size_t kMaxDataFiles = 2'000'000;
inline constexpr size_t kMaxDataList = 512u << 20;
// Files travel in pieces of this size.
inline constexpr size_t kDataPiece = 1u << 20;

struct DataFile {
  std::string path;  // relative, no "." or ".." in it
  uint64_t size = 0;
  Hash hash;
  uint32_t mode = 0644;  // only the rwx bits
  bool operator==(const DataFile&) const = default;
};

struct DataSet {
  std::vector<DataFile> files;  // sorted by path

  uint64_t bytes() const;
  std::string ToText() const;
  Hash Fingerprint() const;
  // kInvalid: a line is malformed, or paths are unsafe, unsorted, repeated, or one lies below
  // another.
  static Result<DataSet> FromText(std::string_view text);
};

// At most 100 letters, digits, '.', '_' and '-'; the first is not '.' or '-'. Else kInvalid.
Status CheckDataName(std::string_view name);
// A relative path of at most 4096 bytes, without empty parts, "." and "..". Else kInvalid.
Status CheckDataPath(std::string_view path);

// What Tenon can tell about a data set without reading its list.
struct DataHeader {
  std::string name;
  std::string fingerprint;  // hex; "": no put has ever finished
  uint64_t files = 0;
  uint64_t bytes = 0;
  bool complete = false;  // every file is as the list says
  bool placing = false;   // a put is moving its files into place, or stopped while doing so
  int64_t put_us = 0;     // when the last put finished, by the clock of the machine
  // A put that has begun and not finished.
  std::string next_fingerprint;  // "": none
  uint64_t next_files = 0, next_bytes = 0;

  json::Object ToJson() const;
  static Result<DataHeader> FromJson(const json::Object& object);
  // "faces FINGERPRINT (120 files, 3.2 GB)". An incomplete set has ", incomplete" before the ")".
  std::string Words() const;
};

// The folder below a shared folder that holds the lists.
inline constexpr std::string_view kDataState = ".tenon-data";

// The data sets of a shared folder, by name, without damaged ones. Empty if there is no such
// folder.
std::vector<DataHeader> ListDataSets(const std::string& shared);

}  // namespace tenon::snapshot

#endif  // TENON_SNAPSHOT_DATA_DATA_SET_H_
