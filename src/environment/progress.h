// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_ENVIRONMENT_PROGRESS_H_
#define TENON_ENVIRONMENT_PROGRESS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::environment {

struct ProgressPoint {
  std::string detail;  // "downloading scikit-learn"
  uint64_t done = 0;   // bytes
  uint64_t total = 0;  // of what was announced so far; 0: not known
};

// Reads what uv, pip and our conda helper print and makes numbers of it. Feed it the bytes as they
// come.
class ToolProgress {
 public:
  std::vector<ProgressPoint> Feed(std::string_view bytes);
  // For people, when the tool has ended: "12 packages, 45.1 MB downloaded"; "" when it told
  // nothing.
  std::string Summary() const;

 private:
  std::optional<ProgressPoint> Line(std::string_view line);
  void StartDownload(std::string_view rest);

  std::string partial_;
  std::map<std::string, uint64_t> downloads_;  // under way: name → bytes
  uint64_t done_ = 0;
  uint64_t total_ = 0;
  uint64_t installed_ = 0;
};

// "15.9MiB", "18.3 MB", "812kB" → bytes; nullopt when it is no size.
std::optional<uint64_t> ParseSize(std::string_view text);

}  // namespace tenon::environment

#endif  // TENON_ENVIRONMENT_PROGRESS_H_
