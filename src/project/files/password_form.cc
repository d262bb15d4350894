// SPDX-License-Identifier: Apache-2.0
#include "project/files/password_form.h"

#include <string>
#include <vector>

#include "base/text.h"

namespace tenon::project {
namespace {

constexpr size_t kNone = std::string_view::npos;

bool IsHex32(std::string_view text) {
  return text.size() == 32 && text.find_first_not_of("0123456789abcdefABCDEF") == kNone;
}

bool IsGuid(std::string_view text) {
  if (text.size() != 36) return false;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
    if (dash ? text[i] != '-' : std::string_view("0123456789abcdefABCDEF").find(text[i]) == kNone) {
      return false;
    }
  }
  return true;
}

// Known forms: `AzureMlSecret=…`, `<target>#<user>#<32 hex>` (August 2017),
// `<guid>#<target>#<user>` (July 2017).
bool IsReference(std::string_view text) {
  if (text.starts_with("AzureMlSecret=")) return true;
  const std::vector<std::string> parts = Split(text, '#');
  return parts.size() == 3 && (IsHex32(parts[2]) || IsGuid(parts[0]));
}

}  // namespace

bool IsPlaceholder(std::string_view text) {
  const size_t open = text.find('<');
  if (open != kNone && text.find('>', open) != kNone) return true;
  if (text.size() > 1 && text.front() == '[' && text.back() == ']') return true;
  for (const char* word :
       {"PASSWORD", "YOUR_PASSWORD", "REDACTED", "USER", "USERNAME", "YOUR_USERNAME", "ADDRESS",
        "IP_ADDRESS", "HOST", "HOSTNAME", "my_dsvm_ip_address"}) {
    if (text == word) return true;
  }
  if (text.starts_with("CLUSTER.") || text.starts_with("xxx-") || text.find(".xxx") != kNone) {
    return true;
  }
  return !text.empty() && text.find_first_not_of('*') == kNone;
}

PasswordForm PasswordFormOf(const yaml::Node* node) {
  if (node == nullptr) return PasswordForm::kAbsent;
  if (node->kind == yaml::Kind::kList || node->kind == yaml::Kind::kMap) {
    return PasswordForm::kPlaceholder;
  }
  const std::string_view text = Trim(node->text);
  if (text.empty()) return PasswordForm::kEmpty;
  if (IsReference(text)) return PasswordForm::kReference;
  return IsPlaceholder(text) ? PasswordForm::kPlaceholder : PasswordForm::kClearText;
}

std::string_view PasswordFormName(PasswordForm form) {
  switch (form) {
    case PasswordForm::kAbsent:
      return "none";
    case PasswordForm::kEmpty:
      return "empty";
    case PasswordForm::kReference:
      return "reference";
    case PasswordForm::kPlaceholder:
      return "placeholder";
    case PasswordForm::kClearText:
      return "clear text";
  }
  return "none";
}

}  // namespace tenon::project
