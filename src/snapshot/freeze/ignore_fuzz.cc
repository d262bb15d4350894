// SPDX-License-Identifier: Apache-2.0
// Matches a path against any bytes as an ignore file. The first line of the input is the path.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "snapshot/freeze/ignore.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const size_t line = std::min(input.find('\n'), input.size());
  std::string path(input.substr(0, std::min<size_t>(line, 4096)));
  const std::string_view text = input.substr(std::min(line + 1, input.size()));
  if (path.empty() || path[0] == '/' || path.back() == '/') path = "a/b";
  const auto rules = tenon::snapshot::IgnoreRules::Parse(text);
  const auto file = rules.Match(path, false);
  const auto folder = rules.Match(path, true);
  // Files and folders match alike unless a line ends in a slash.
  if (text.find('/') == std::string_view::npos && file != folder) std::abort();
  // A last line that leaves out everything decides.
  const auto all = tenon::snapshot::IgnoreRules::Parse(std::string(text) + "\n*\n");
  if (all.Match(path, false) != tenon::snapshot::Verdict::kIgnored) std::abort();
  return 0;
}
