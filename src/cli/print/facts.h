// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_CLI_PRINT_FACTS_H_
#define TENON_CLI_PRINT_FACTS_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/terminal.h"

namespace tenon::cli {

// "2017-09-08 00:58:01 UTC (3 min 12 s ago)"
std::string TimeLine(int64_t us, int64_t now_us);

// Lines of "name   value", with the names padded to equal width.
class Facts {
 public:
  // Adds nothing if the value is empty. A value of several lines is indented to its column.
  void Add(const std::string& name, std::string value) {
    if (!value.empty()) lines_.emplace_back(OneLine(name), std::move(value));
  }
  std::string ToText() const;

 private:
  std::vector<std::pair<std::string, std::string>> lines_;
};

}  // namespace tenon::cli

#endif  // TENON_CLI_PRINT_FACTS_H_
