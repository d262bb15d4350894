// SPDX-License-Identifier: Apache-2.0
#include "cli/facts.h"

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
  size_t width = 0;
  for (const auto& [name, value] : lines_) width = std::max(width, DisplayWidth(name));
  std::string text;
  for (const auto& [name, value] : lines_) {
    text += "  " + name + std::string(width - DisplayWidth(name) + 2, ' ');
    for (const char c : value)
      text += c == '\n' ? "\n" + std::string(width + 4, ' ') : std::string(1, c);
    text += "\n";
  }
  return text;
}

}  // namespace tenon::cli
