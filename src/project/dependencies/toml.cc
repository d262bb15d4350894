// SPDX-License-Identifier: Apache-2.0
#include "project/dependencies/toml.h"

#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_UNRELEASED_FEATURES 0
#include <toml++/toml.h>

#include <sstream>
#include <utility>

#include "base/file.h"
#include "base/text.h"

namespace tenon::project {
namespace {

constexpr size_t kMostBytes = 32u << 20;

}  // namespace

struct TomlFile::Parsed {
  toml::table root;
};

TomlFile::TomlFile(std::shared_ptr<const Parsed> parsed) : parsed_(std::move(parsed)) {}

Result<TomlFile> TomlFile::Read(const std::string& root, const std::string& file) {
  TENON_TRY(const std::string bytes, ReadFile(JoinPath(root, file), kMostBytes));
  return Parse(file, bytes);
}

Result<TomlFile> TomlFile::Parse(const std::string& file, std::string_view bytes) {
  toml::parse_result parsed = toml::parse(bytes);
  if (!parsed) {
    const toml::parse_error& error = parsed.error();
    return Invalid(ForTerminal(file) + ":" + std::to_string(error.source().begin.line) + ": " +
                   ForTerminal(error.description()));
  }
  return TomlFile(std::make_shared<Parsed>(Parsed{std::move(parsed).table()}));
}

std::optional<std::string> TomlFile::Text(std::initializer_list<std::string_view> keys) const {
  toml::node_view<const toml::node> node(parsed_->root);
  for (const std::string_view key : keys) node = node[key];
  return node.value<std::string>();
}

std::optional<std::string> TomlFile::Entry::Text(std::string_view key) const {
  const auto found = texts.find(key);
  if (found == texts.end()) return std::nullopt;
  return found->second;
}

std::vector<TomlFile::Entry> TomlFile::TablesIn(std::string_view list,
                                                std::string_view name) const {
  std::vector<Entry> entries;
  const toml::array* tables = parsed_->root[list].as_array();
  if (tables == nullptr) return entries;
  for (const toml::node& one : *tables) {
    const toml::table* table = one.as_table();
    const toml::table* wanted = table == nullptr ? nullptr : (*table)[name].as_table();
    if (wanted == nullptr) continue;
    Entry& entry = entries.emplace_back();
    entry.line = static_cast<int>(wanted->source().begin.line);
    for (const auto& [key, value] : *wanted) {
      if (const auto text = value.value<std::string>()) entry.texts[std::string(key.str())] = *text;
    }
  }
  return entries;
}

std::string TomlFile::Normal() const {
  std::ostringstream out;
  out << toml::json_formatter(parsed_->root);
  return std::move(out).str();
}

}  // namespace tenon::project
