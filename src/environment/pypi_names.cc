// SPDX-License-Identifier: Apache-2.0
#include "environment/pypi_names.h"

#include <algorithm>

#include "base/text.h"

namespace tenon::environment {
namespace {

std::string_view WithoutChannel(std::string_view text) {
  text = Trim(text);
  size_t colons = text.find("::");
  return colons == std::string_view::npos ? text : Trim(text.substr(colons + 2));
}

size_t NameEnd(std::string_view text) {
  return std::min(text.find_first_of(" \t=<>!~[;@"), text.size());
}

// One part of a version: "=1.2" → "==1.2.*".
Result<std::string> Clause(std::string_view text, std::string_view whole) {
  text = Trim(text);
  if (text.empty() || text == "*") return std::string();
  size_t op_length = std::min(text.find_first_not_of("=<>!~"), text.size());
  std::string op(text.substr(0, op_length));
  std::string_view version = Trim(text.substr(op_length));
  if (size_t build = version.find_first_of("= "); build != std::string_view::npos) {
    version = version.substr(0, build);
  }
  if (version == "*") return std::string();
  if (version.empty() || version.find('|') != std::string_view::npos) {
    return Invalid("\"" + std::string(whole) + "\" can't be written for PyPI");
  }
  bool fuzzy = op == "=";
  if (op.empty() || op == "=") op = "==";
  std::string out = op + std::string(version);
  if (fuzzy && !out.ends_with('*')) out += ".*";
  return out;
}

}  // namespace

std::string CondaName(std::string_view conda_text) {
  std::string_view text = WithoutChannel(conda_text);
  return ToLower(text.substr(0, NameEnd(text)));
}

Result<std::string> PypiRequirement(const run::Package& item) {
  std::string_view conda_text = item.text;
  std::string name = CondaName(conda_text);
  if (name.empty() || conda_text.find("://") != std::string_view::npos) {
    return Invalid("\"" + std::string(conda_text) + "\" can't be written for PyPI");
  }
  if (item.pypi.empty()) return NotFound("no package on PyPI is known to be the same project");
  std::string_view text = WithoutChannel(conda_text);
  std::string_view rest = Trim(text.substr(NameEnd(text)));
  if (rest.starts_with('[')) {
    return Invalid("\"" + std::string(conda_text) + "\" can't be written for PyPI");
  }
  std::string versions;
  for (const std::string& part : Split(rest, ',')) {
    TENON_TRY(std::string clause, Clause(part, conda_text));
    if (!clause.empty()) versions += (versions.empty() ? "" : ",") + clause;
  }
  return item.pypi + versions;
}

}  // namespace tenon::environment
