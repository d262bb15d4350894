// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_PROJECT_FILES_SETTINGS_FILE_H_
#define TENON_PROJECT_FILES_SETTINGS_FILE_H_

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "project/origin.h"
#include "yaml/document.h"

namespace tenon::project {

enum class Expected { kText, kBool, kList, kMap, kAnything };

// A key that a kind of file may have.
struct Key {
  std::string_view name;
  Expected expected;
  // A value of another type does not spoil the file: it counts as absent and wrong_types() has it.
  // For what people leave to be filled in: `address: [your machine]`.
  bool forgiving = false;
};

// A flat file of known keys. After Load every known key is either absent, null or of its type, so
// the getters cannot fail; null counts as absent, as in the files of 2017.
class SettingsFile {
 public:
  // `file` is relative to `root` and is what messages show. An unknown key is a notice, a wrong
  // type an error that points at the value. `keys` must outlive the object.
  static Result<SettingsFile> Load(const std::string& root, const std::string& file,
                                   std::span<const Key> keys);

  const std::string& file() const { return document_.file_name(); }
  const yaml::Document& document() const { return document_; }
  const std::vector<std::string>& notices() const { return notices_; }
  const std::vector<Error>& wrong_types() const { return wrong_types_; }

  // The value of a key, nullptr when absent or null.
  const yaml::Node* Find(std::string_view key) const;
  Setting<std::string> Text(std::string_view key, std::string_view otherwise) const;
  Setting<bool> Bool(std::string_view key, bool otherwise) const;

  Origin OriginOf(const yaml::Node& node) const;
  Error ErrorAt(const yaml::Node& node, std::string_view what) const;
  Error ErrorAtKey(const yaml::Node& node, std::string_view what) const;
  // An error for a required key that is not there: points at where a line for it can be inserted,
  // or at a key that is it but for upper and lower case. `line` is "Target: local" in block style.
  Error Missing(std::string_view key, std::string_view why, std::string_view value) const;
  // "Key: value", or as a member when the file is written as JSON.
  std::string Line(std::string_view key, std::string_view value) const;

 private:
  explicit SettingsFile(yaml::Document document) : document_(std::move(document)) {}
  Status CheckType(const yaml::Node& node, const Key& key) const;
  void NoteUnknown(const yaml::Node& node, std::span<const Key> keys);

  yaml::Document document_;
  std::vector<std::string> notices_;
  std::vector<Error> wrong_types_;
  std::vector<std::string_view> ignored_;  // keys whose value is of a wrong type
};

}  // namespace tenon::project

#endif  // TENON_PROJECT_FILES_SETTINGS_FILE_H_
