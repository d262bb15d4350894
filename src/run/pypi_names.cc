// SPDX-License-Identifier: Apache-2.0
#include "run/pypi_names.h"

#include <algorithm>
#include <string>

#include "base/text.h"

namespace tenon::run {
namespace {

constexpr std::string_view kNames =
#include "run/pypi_names.inc"
    ;

// The channels whose packages the table describes.
constexpr std::string_view kPublicChannels[] = {"conda-forge", "defaults", "anaconda",
                                                "main",        "free",     "pytorch"};

// "conda-forge::numpy", "pkgs/main/linux-64::numpy".
bool IsFromPublicChannel(std::string_view text) {
  const size_t colons = text.find("::");
  if (colons == std::string_view::npos) return true;
  std::string_view channel = Trim(text.substr(0, colons));
  if (channel.starts_with("pkgs/")) channel.remove_prefix(5);
  channel = channel.substr(0, channel.find('/'));
  return std::find(std::begin(kPublicChannels), std::end(kPublicChannels), ToLower(channel)) !=
         std::end(kPublicChannels);
}

struct Row {
  std::string_view conda;
  std::string_view pypi;
};

// The row of the line that holds the byte at `at`.
Row RowAt(size_t at, size_t* begin, size_t* end) {
  const size_t before = at == 0 ? std::string_view::npos : kNames.rfind('\n', at - 1);
  *begin = before == std::string_view::npos ? 0 : before + 1;
  *end = kNames.find('\n', at);
  const std::string_view line = kNames.substr(*begin, *end - *begin);
  const size_t blank = line.find(' ');
  if (blank == std::string_view::npos) return {line, line};
  return {line.substr(0, blank), line.substr(blank + 1)};
}

// Returns a name as indexes compare names: lower case, runs of "-_." become one "-".
std::string Normal(std::string_view name) {
  std::string out;
  for (const char c : ToLower(name)) {
    const bool dash = c == '-' || c == '_' || c == '.';
    if (!dash) out += c;
    if (dash && !out.ends_with('-')) out += '-';
  }
  return out;
}

}  // namespace

std::string_view PypiName(std::string_view conda_name) {
  const std::string wanted = ToLower(Trim(conda_name));
  size_t low = 0, high = kNames.size();
  while (low < high) {
    size_t begin = 0, end = 0;
    const Row row = RowAt(low + (high - low) / 2, &begin, &end);
    if (row.conda == wanted) return row.pypi;
    if (row.conda < wanted) {
      low = end + 1;
    } else {
      high = begin;
    }
  }
  return {};
}

bool IsKnownOnPypi(std::string_view pypi_name) {
  const std::string wanted = Normal(Trim(pypi_name));
  for (size_t begin = 0, end = 0; begin < kNames.size(); begin = end + 1) {
    if (Normal(RowAt(begin, &begin, &end).pypi) == wanted) return true;
  }
  return false;
}

void SetPypiNames(Packages* packages) {
  for (Package& package : packages->conda) {
    package.pypi = IsFromPublicChannel(package.text) ? PypiName(package.name) : std::string_view();
  }
}

}  // namespace tenon::run
