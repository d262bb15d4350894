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
  uint64_t total = 0;  // what the tool has announced so far; 0: not known
};

// Reads the output of uv, pip and our conda helper and turns it into numbers.
class ToolProgress {
 public:
  // Takes the next bytes of the output. Returns the progress that the complete lines in them tell.
  std::vector<ProgressPoint> Feed(std::string_view bytes);
  // For people, after the tool has ended: "12 packages, 45.1 MB downloaded"; "" when the tool told
  // nothing.
  std::string Summary() const;

 private:
  std::optional<ProgressPoint> Line(std::string_view line);
  void StartDownload(std::string_view rest);

  std::string partial_;
  std::map<std::string, uint64_t> downloads_;  // not ended yet: name → bytes
  uint64_t done_ = 0;
  uint64_t total_ = 0;
  uint64_t installed_ = 0;
};

// "15.9MiB", "18.3 MB", "812kB" → bytes; nullopt when the text is no size.
std::optional<uint64_t> ParseSize(std::string_view text);

}  // namespace tenon::environment

#endif  // TENON_ENVIRONMENT_PROGRESS_H_
