// SPDX-License-Identifier: Apache-2.0
// The only place that uses toml++.
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

// A TOML file of a project, for reading only.
class TomlFile {
 public:
  // `file` is relative to `root` and at most 32 MiB. kNotFound: no such file. kInvalid, with file
  // and line: not valid TOML.
  static Result<TomlFile> Read(const std::string& root, const std::string& file);
  static Result<TomlFile> Parse(const std::string& file, std::string_view bytes);

  // The text at the path `keys`; nullopt when there is no value or it is not text.
  std::optional<std::string> Text(std::initializer_list<std::string_view> keys) const;

  // The text values of a table, and its line in the file.
  struct Entry {
    int line = 0;
    std::map<std::string, std::string, std::less<>> texts;

    std::optional<std::string> Text(std::string_view key) const;
  };
  // For each table in the array `list`: its member table `name`, if it has one.
  std::vector<Entry> TablesIn(std::string_view list, std::string_view name) const;

  // The file's content in a normal form: the same for files that differ only in comments, blanks,
  // or the order and spelling of keys.
  std::string Normal() const;

 private:
  struct Parsed;
  explicit TomlFile(std::shared_ptr<const Parsed> parsed);

  std::shared_ptr<const Parsed> parsed_;
};

}  // namespace tenon::project

#endif  // TENON_PROJECT_DEPENDENCIES_TOML_H_
