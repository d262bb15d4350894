// SPDX-License-Identifier: Apache-2.0
// Tells what kind of value `password:` has, without ever holding the value itself.
#ifndef TENON_PROJECT_FILES_PASSWORD_FORM_H_
#define TENON_PROJECT_FILES_PASSWORD_FORM_H_

#include <string_view>

#include "yaml/document.h"

namespace tenon::project {

enum class PasswordForm {
  kAbsent,       // no such key
  kEmpty,        // nothing, null, ""
  kReference,    // names an entry in a credential store, in any form of 2017 and 2018
  kPlaceholder,  // `<…>`, `[…]`, `PASSWORD`
  kClearText,    // the secret itself, typed by hand
};

// `node`: the value of the key; nullptr when the key is absent.
PasswordForm PasswordFormOf(const yaml::Node* node);
// "none", "empty", "reference", "placeholder", "clear text"
std::string_view PasswordFormName(PasswordForm form);

// Whether `text` is to be replaced by the user: `<ipAddress>`, `IP_ADDRESS`, `52.173.xxx.xxx`.
bool IsPlaceholder(std::string_view text);

}  // namespace tenon::project

#endif  // TENON_PROJECT_FILES_PASSWORD_FORM_H_
