// SPDX-License-Identifier: Apache-2.0
#include "project/dependencies/requirements_file.h"

#include <algorithm>

#include "base/text.h"

namespace tenon::project {
namespace {

bool IsBlank(char c) { return c == ' ' || c == '\t'; }

bool IsComment(std::string_view line) { return Trim(line).starts_with('#'); }

std::string_view WithoutComment(std::string_view line) {
  for (size_t at = line.find('#'); at != std::string_view::npos; at = line.find('#', at + 1)) {
    if (at == 0 || IsBlank(line[at - 1])) return line.substr(0, at);
  }
  return line;
}

}  // namespace

Result<std::vector<RequirementLine>> ParseRequirements(const std::string& file,
                                                       std::string_view bytes) {
  if (bytes.starts_with("\xef\xbb\xbf")) bytes.remove_prefix(3);
  if (!IsUtf8(bytes) || bytes.find('\0') != std::string_view::npos) {
    return Invalid(file + ": this is not UTF-8 text")
        .WithHint("save the file as UTF-8, one requirement per line");
  }
  std::vector<RequirementLine> lines;
  std::string joined;
  int number = 0, first = 0;
  const auto finish = [&] {
    std::string_view text = Trim(WithoutComment(joined));
    if (!text.empty()) lines.push_back({std::string(text), first});
    joined.clear();
  };
  for (const std::string& raw : Split(bytes, '\n')) {
    ++number;
    std::string_view line = raw;
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (joined.empty()) first = number;
    // A comment line ends a continued line, as in pip.
    if (!IsComment(line) && line.ends_with('\\')) {
      joined += line.substr(0, line.size() - 1);
      if (joined.empty()) joined = " ";
      continue;
    }
    joined += IsComment(line) ? " " + std::string(line) : std::string(line);
    finish();
  }
  finish();
  return lines;
}

RequirementParts SplitRequirement(std::string_view text) {
  size_t end = std::string_view::npos;
  for (const std::string_view start : {" ;", "\t;", " --", "\t--"}) {
    end = std::min(end, text.find(start));
  }
  if (end == std::string_view::npos) return {text, ""};
  return {Trim(text.substr(0, end)), text.substr(end)};
}

}  // namespace tenon::project
