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

// A key that a file of some kind may have.
struct Key {
  std::string_view name;
  Expected expected;
  // A value of another type is not an error of the file: the key counts as absent, and
  // wrong_types() has the error. For values that users leave to be filled in: `address: [your
  // machine]`.
  bool forgiving = false;
};

// A flat file of known keys. Load checks the types, so the getters cannot fail. A null value counts
// as absent, as in the files of 2017.
class SettingsFile {
 public:
  // `file` is relative to `root` and is the name in messages. An unknown key becomes a notice. A
  // value of the wrong type is an error that points at the value (see Key::forgiving). `keys` must
  // outlive the object.
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
  // An error for a missing required key. It points at the place for the new line, or at a key that
  // differs only in upper and lower case. `why` is appended to the message; the hint shows the line
  // to write, with `value`.
  Error Missing(std::string_view key, std::string_view why, std::string_view value) const;
  // "key: value", or a JSON member if the file is written as JSON.
  std::string Line(std::string_view key, std::string_view value) const;

 private:
  explicit SettingsFile(yaml::Document document) : document_(std::move(document)) {}
  Status CheckType(const yaml::Node& node, const Key& key) const;
  void NoteUnknown(const yaml::Node& node, std::span<const Key> keys);

  yaml::Document document_;
  std::vector<std::string> notices_;
  std::vector<Error> wrong_types_;
  std::vector<std::string_view> ignored_;  // keys whose value has the wrong type
};

}  // namespace tenon::project

#endif  // TENON_PROJECT_FILES_SETTINGS_FILE_H_
