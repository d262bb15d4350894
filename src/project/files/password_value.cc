// SPDX-License-Identifier: Apache-2.0
// Reads and replaces secrets that were typed into a .compute file.
#include "base/file.h"
#include "base/text.h"
#include "project/files/config_file.h"
#include "project/files/password.h"
#include "project/files/password_form.h"
#include "yaml/document.h"
#include "yaml/edit.h"

namespace tenon::project {
namespace {

Result<yaml::Document> LoadTarget(const Project& project, const std::string& target) {
  const std::optional<std::string> file = ConfigFile(project, target, ".compute");
  if (!file) return NotFound("there is no file of a target `" + ForTerminal(target) + "`");
  return yaml::Document::Load(JoinPath(project.root, *file), *file);
}

}  // namespace

Result<std::optional<std::string>> ReadClearTextPassword(const Project& project,
                                                         const std::string& target) {
  TENON_TRY(const yaml::Document document, LoadTarget(project, target));
  const yaml::Node* node = document.root().Find("password");
  if (PasswordFormOf(node) != PasswordForm::kClearText) return std::optional<std::string>();
  return std::optional<std::string>(node->text);
}

Status ReplaceClearTextPassword(const Project& project, const std::string& target,
                                const std::string& reference) {
  TENON_TRY(const yaml::Document document, LoadTarget(project, target));
  if (PasswordFormOf(document.root().Find("password")) != PasswordForm::kClearText) {
    return NotFound(document.file_name() + ": there is no password in clear text");
  }
  TENON_TRY(const std::string bytes, Set(document, {"password"}, yaml::NewValue::Text(reference)));
  return WriteConfigFile(project, document.file_name(), document.bytes(), bytes);
}

}  // namespace tenon::project
