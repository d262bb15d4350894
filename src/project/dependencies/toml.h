// SPDX-License-Identifier: Apache-2.0
// The one place that knows toml++.
#ifndef TENON_PROJECT_DEPENDENCIES_TOML_H_
#define TENON_PROJECT_DEPENDENCIES_TOML_H_

#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace tenon::project {

// A TOML file of a project, read and never changed.
class TomlFile {
 public:
  // `file` is relative to `root`; at most 32 MiB. kNotFound: there is none. kInvalid with file and
  // line: it is not TOML.
  static Result<TomlFile> Read(const std::string& root, const std::string& file);
  static Result<TomlFile> Parse(const std::string& file, std::string_view bytes);

  // A text, by the keys that lead to it. nullopt: there is none, or something else.
  std::optional<std::string> Text(std::initializer_list<std::string_view> keys) const;

  // The texts of a table, and the line it stands in.
  struct Entry {
    int line = 0;
    std::map<std::string, std::string, std::less<>> texts;

    std::optional<std::string> Text(std::string_view key) const;
  };
  // Of each table in the list `list` the table `name` in it, where it has one.
  std::vector<Entry> TablesIn(std::string_view list, std::string_view name) const;

  // The file in a form that depends on its meaning alone: not on comments, blanks, or the order and
  // writing of keys.
  std::string Normal() const;

 private:
  struct Parsed;
  explicit TomlFile(std::shared_ptr<const Parsed> parsed);

  std::shared_ptr<const Parsed> parsed_;
};

}  // namespace tenon::project

#endif  // TENON_PROJECT_DEPENDENCIES_TOML_H_
