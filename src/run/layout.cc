// SPDX-License-Identifier: Apache-2.0
#include "run/layout.h"

#include <sys/stat.h>

#include <algorithm>

#include "base/file.h"
#include "base/text.h"

namespace tenon::run {
namespace {

// Leaves room for "_<ms>" and for a suffix in the 255 bytes of a file name.
constexpr size_t kLongestStem = 200;

bool SuitsFileName(char32_t code) {
  if (code >= 0x80) return code >= 0xa0;  // not the C1 controls
  return (code >= '0' && code <= '9') || (code >= 'A' && code <= 'Z') ||
         (code >= 'a' && code <= 'z') || code == '.' || code == '_' || code == '-';
}

}  // namespace

std::string Home::stat_cache(std::string_view project_key) const {
  return root_ + "/stat-cache/" + std::string(project_key);
}

std::string Home::environment(std::string_view key) const {
  return environments() + "/" + std::string(key);
}

std::string Home::retry_of(std::string_view run_id) const {
  return root_ + "/retries/" + std::string(run_id);
}

std::string Home::number_file(std::string_view project_key) const {
  return root_ + "/numbers/" + std::string(project_key);
}

RunFolder::RunFolder(const Home& home, std::string_view run_id)
    : path_(home.runs() + "/" + std::string(run_id)) {}

std::string RunFolder::segment(std::string_view name) const {
  return path_ + "/" + std::string(name) + std::string(kSegmentSuffix);
}

std::string RunFolder::near_segment(std::string_view client) const {
  return segment("near-" + std::string(client));
}

std::string RunFolder::script_folder() const {
  return std::string(DirName(DirName(path_))) + "/work/" + std::string(BaseName(path_));
}

std::string RunFolder::ScriptPlace(std::string_view name) const {
  const std::string inside = path_ + "/" + std::string(name);
  struct stat found {};
  const bool link = ::lstat(inside.c_str(), &found) == 0 && S_ISLNK(found.st_mode);
  return link ? script_folder() + "/" + std::string(name) : inside;
}

bool IsValidRunId(std::string_view id) {
  return !id.empty() && id.size() <= 255 && id != "." && id != ".." &&
         std::ranges::none_of(id,
                              [](unsigned char c) { return c < 0x20 || c == 0x7f || c == '/'; });
}

int64_t TimeInRunId(std::string_view id) {
  constexpr size_t kLeastDigits = 10, kMostDigits = 15;
  const size_t line = id.rfind('_');
  if (line == std::string_view::npos) return 0;
  const std::string_view digits = id.substr(line + 1);
  if (digits.size() < kLeastDigits || digits.size() > kMostDigits) return 0;
  int64_t ms = 0;
  for (const char c : digits) {
    if (c < '0' || c > '9') return 0;
    ms = ms * 10 + (c - '0');
  }
  return ms;
}

std::string RunIdStem(std::string_view project) {
  std::string stem;
  for (std::string_view rest = project; !rest.empty();) {
    Utf8Char next = NextUtf8(rest);
    if (stem.size() + next.length > kLongestStem) break;
    if (next.valid && SuitsFileName(next.code)) {
      stem += rest.substr(0, next.length);
    } else {
      stem.append(next.valid ? 1 : next.length, '_');
    }
    rest.remove_prefix(next.length);
  }
  if (stem.empty()) return "project";
  // A leading dot would hide the folder. A leading dash would look like an option.
  if (stem[0] == '.' || stem[0] == '-') stem[0] = '_';
  return stem;
}

}  // namespace tenon::run
