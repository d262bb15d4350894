// SPDX-License-Identifier: Apache-2.0
#include "cli/print/facts.h"

#include <algorithm>

#include "base/clock.h"
#include "base/text.h"

namespace tenon::cli {

std::string TimeLine(int64_t us, int64_t now_us) {
  std::string text = FormatUtc(us).substr(0, 19);
  text[10] = ' ';
  text += " UTC";
  if (now_us >= us) text += " (" + HumanDuration(now_us - us) + " ago)";
  return text;
}

std::string Facts::ToText() const {
  constexpr size_t kMostPadding = 8u << 20, kLeastWidth = 40;  // as in Table
  const size_t widest = std::max(kLeastWidth, kMostPadding / std::max<size_t>(lines_.size(), 1));
  size_t width = 0;
  for (const auto& [name, value] : lines_) width = std::max(width, DisplayWidth(name));
  width = std::min(width, widest);
  std::string text;
  for (const auto& [name, value] : lines_) {
    text += "  " + name + std::string(width - std::min(width, DisplayWidth(name)) + 2, ' ');
    const std::string deeper(width + 4, ' ');
    for (const char c : value) {
      text += c;
      if (c == '\n') text += deeper;
    }
    text += "\n";
  }
  return text;
}

}  // namespace tenon::cli
