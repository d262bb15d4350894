// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_BASE_TEMP_FOLDER_H_
#define TENON_BASE_TEMP_FOLDER_H_

#include <stdlib.h>

#include <string>
#include <string_view>

#include "base/file.h"

namespace tenon {

// A fresh folder below TMPDIR (or /tmp), removed with all it holds when the object goes. For tests.
class TempFolder {
 public:
  TempFolder() {
    const char* base = ::getenv("TMPDIR");
    path_ = JoinPath(base && *base ? base : "/tmp", "tenon-test-XXXXXX");
    TENON_CHECK(::mkdtemp(path_.data()) != nullptr);
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  ~TempFolder() { (void)RemoveTree(path_).ok(); }

  const std::string& path() const { return path_; }
  std::string operator/(std::string_view name) const { return JoinPath(path_, name); }

 private:
  std::string path_;
};

}  // namespace tenon

#endif  // TENON_BASE_TEMP_FOLDER_H_
