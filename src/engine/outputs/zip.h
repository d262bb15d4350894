// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_ENGINE_OUTPUTS_ZIP_H_
#define TENON_ENGINE_OUTPUTS_ZIP_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace tenon::engine {

// Writes a .zip file entry by entry; no entry is held in memory as a whole. Finish() makes the file
// appear under its name and atomically replaces an older one. If the object is destroyed before, no
// file is left. Entries are deflated. Those announced with 2 GB or more are in the 64-bit form,
// which every program of the last 15 years reads.
class ZipWriter {
 public:
  // `time_us` becomes the time of all entries.
  static Result<ZipWriter> Create(const std::string& path, int64_t time_us);
  ZipWriter(ZipWriter&&) noexcept;
  ZipWriter& operator=(ZipWriter&&) noexcept;
  ~ZipWriter();

  // One entry: Begin(), any number of Write(), End(). Names are relative, with forward slashes;
  // `mode` has the permission bits. `size_hint` is the expected size. An entry that was announced
  // with less than 2 GB and grows beyond 4 GB makes End() fail with kInvalid.
  Status Begin(std::string_view name, uint32_t mode, uint64_t size_hint);
  Status Write(std::string_view bytes);
  Status End();

  Status AddFile(std::string_view name, std::string_view bytes, uint32_t mode = 0644);
  Status AddFolder(std::string_view name, uint32_t mode = 0755);
  Status AddSymlink(std::string_view name, std::string_view target);

  // The number of entries so far, folders included.
  uint64_t entries() const;
  Status Finish();

 private:
  struct Impl;
  explicit ZipWriter(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace tenon::engine

#endif  // TENON_ENGINE_OUTPUTS_ZIP_H_
