// SPDX-License-Identifier: Apache-2.0
// Data sets: folders of files that lie beside the runs of a project, on whatever machine they run
// on. A data set is known by its list: path, size, SHA-256 and mode of every file; the SHA-256 of
// the list is its fingerprint, the same wherever the same files are.
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
  uint32_t mode = 0644;  // rwx bits alone
  bool operator==(const DataFile&) const = default;
};

struct DataSet {
  std::vector<DataFile> files;  // sorted by path

  uint64_t bytes() const;
  std::string ToText() const;
  Hash Fingerprint() const;
  // kInvalid: a line that is none, paths that are unsafe, not sorted, twice, or below one another.
  static Result<DataSet> FromText(std::string_view text);
};

// Letters, digits, '.', '_' and '-', at most 100, the first not '.' or '-'.
Status CheckDataName(std::string_view name);
// Relative, without empty parts, "." and "..", at most 4096 bytes.
Status CheckDataPath(std::string_view path);

// What is told about a data set without reading its list.
struct DataHeader {
  std::string name;
  std::string fingerprint;  // hex; "" = nothing was ever put whole
  uint64_t files = 0;
  uint64_t bytes = 0;
  bool complete = false;  // every file is the one of the list
  bool placing = false;  // files of another list are taking their places, or were when it broke off
  int64_t put_us = 0;    // when it was last made complete, by the clock of the machine
  // A put that was begun and has not ended.
  std::string next_fingerprint;  // "" = none
  uint64_t next_files = 0, next_bytes = 0;

  json::Object ToJson() const;
  static Result<DataHeader> FromJson(const json::Object& object);
  // "faces FINGERPRINT (120 files, 3.2 GB)", and ", incomplete" before the last parenthesis.
  std::string Words() const;
};

// The folder of the lists below a shared folder.
inline constexpr std::string_view kDataState = ".tenon-data";

// Data sets of a shared folder, by name; damaged ones are left out. No such folder: none.
std::vector<DataHeader> ListDataSets(const std::string& shared);

}  // namespace tenon::snapshot

#endif  // TENON_SNAPSHOT_DATA_DATA_SET_H_
