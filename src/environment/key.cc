// SPDX-License-Identifier: Apache-2.0
#include "environment/key.h"

#include <algorithm>
#include <vector>

#include "base/hash.h"
#include "base/json.h"
#include "base/text.h"

namespace tenon::environment {
namespace {

// Goes up when recipes change so that the same packages would give another environment.
constexpr int kRecipeVersion = 1;

bool IsNameCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '_' || c == '.';
}

bool IsAddressOrPath(std::string_view text) {
  return text.find("://") != std::string_view::npos || text.find('/') != std::string_view::npos ||
         text.find('\\') != std::string_view::npos || text.starts_with('.') ||
         text.starts_with('-');
}

// Removes blanks, except inside quotes. Blanks between two words become one blank ("and", "or",
// "in" of markers).
std::string SqueezeBlanks(std::string_view text) {
  std::string out;
  char quote = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (quote != 0) {
      if (c == quote) quote = 0;
    } else if (c == '\'' || c == '"') {
      quote = c;
    } else if (c == ' ' || c == '\t') {
      while (i + 1 < text.size() && (text[i + 1] == ' ' || text[i + 1] == '\t')) ++i;
      char next = i + 1 < text.size() ? text[i + 1] : 0;
      if (out.empty() || !IsNameCharacter(out.back()) || !IsNameCharacter(next)) continue;
      c = ' ';
    }
    out += c;
  }
  return out;
}

json::Array Texts(const std::vector<std::string>& items) {
  json::Array array;
  for (const std::string& item : items) array.emplace_back(json::EncodeBytes(item));
  return array;
}

template <typename Normalise>
json::Array Sorted(const std::vector<run::Package>& packages, Normalise normalise) {
  std::vector<std::string> items;
  for (const run::Package& package : packages) items.push_back(normalise(package.text));
  std::sort(items.begin(), items.end());
  items.erase(std::unique(items.begin(), items.end()), items.end());
  return Texts(items);
}

std::string WithoutBlanks(std::string_view text) {
  std::string out;
  for (char c : text) {
    if (c != ' ' && c != '\t') out += c;
  }
  return out;
}

}  // namespace

std::string NormaliseName(std::string_view name) {
  std::string out;
  for (char c : ToLower(Trim(name))) {
    bool separator = c == '-' || c == '_' || c == '.';
    if (!separator) {
      out += c;
    } else if (out.empty() || out.back() != '-') {
      out += '-';
    }
  }
  return out;
}

std::string NormalisePip(std::string_view text) {
  std::string_view trimmed = Trim(text);
  if (IsAddressOrPath(trimmed)) return std::string(trimmed);
  size_t end = 0;
  while (end < trimmed.size() && IsNameCharacter(trimmed[end])) ++end;
  std::string rest = SqueezeBlanks(Trim(trimmed.substr(end)));
  return NormaliseName(trimmed.substr(0, end)) + rest;
}

std::string NormaliseConda(std::string_view text) {
  std::string_view trimmed = Trim(text);
  if (trimmed.find("://") != std::string_view::npos) return std::string(trimmed);
  size_t end = 0;
  while (end < trimmed.size() && (IsNameCharacter(trimmed[end]) || trimmed[end] == ':')) ++end;
  // To conda, "numpy 1.12" and "numpy=1.12" are not the same. So a blank before a version is kept,
  // as "@".
  std::string name = ToLower(trimmed.substr(0, end));
  return name + SqueezeBlanks((end < trimmed.size() && trimmed[end] == ' ' &&
                               IsNameCharacter(Trim(trimmed.substr(end))[0]))
                                  ? "@" + std::string(Trim(trimmed.substr(end)))
                                  : std::string(Trim(trimmed.substr(end))));
}

std::string EnvironmentKey(const run::Packages& packages, const std::string& base_id,
                           const std::string& platform) {
  json::Object form;
  form["recipe"] = kRecipeVersion;
  form["base"] = json::EncodeBytes(base_id);
  form["platform"] = platform;
  form["lock"] = packages.format == "uv-lock";
  form["python"] = WithoutBlanks(packages.python);
  form["channels"] = Texts(packages.channels);
  form["conda"] = Sorted(packages.conda, NormaliseConda);
  // The packages that PyPI provides instead when no channel answers.
  if (!packages.conda.empty()) {
    std::vector<std::string> names;
    for (const run::Package& package : packages.conda) names.push_back(package.pypi);
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    form["pypi"] = Texts(names);
  }
  form["pip"] = Sorted(packages.pip, NormalisePip);
  std::vector<std::string> options;
  for (const run::Package& option : packages.pip_options) {
    options.push_back(SqueezeBlanks(Trim(option.text)));
  }
  form["options"] = Texts(options);
  json::Array files;
  for (const run::PackageFile& file : packages.files) {
    files.push_back(json::Array{json::EncodeBytes(file.path), file.hash});
  }
  form["files"] = std::move(files);
  return Sha256Of(json::Print(form)).Hex().substr(0, 32);
}

}  // namespace tenon::environment
