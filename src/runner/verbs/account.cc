// SPDX-License-Identifier: Apache-2.0
#include "runner/verbs/account.h"

#include <unistd.h>

#include "base/file.h"
#include "base/text.h"

namespace tenon::runner {
namespace {

std::string FirstOf(std::initializer_list<std::string> texts) {
  for (const std::string& text : texts) {
    if (!text.empty()) return text;
  }
  return "";
}

}  // namespace

Account AccountFrom(std::string_view passwd, uid_t uid) {
  for (const std::string& line : Split(std::string(passwd), '\n')) {
    const std::vector<std::string> fields = Split(line, ':');
    if (fields.size() == 7 && fields[2] == std::to_string(uid)) {
      return {fields[0], fields[5], fields[6]};
    }
  }
  return {};
}

Account OurAccount(const Environment& environment) {
  Account listed;
  if (auto passwd = ReadFile("/etc/passwd"); passwd.ok()) {
    listed = AccountFrom(*passwd, ::getuid());
  }
  Account account;
  account.user =
      FirstOf({GetVariable(environment, "USER"), GetVariable(environment, "LOGNAME"), listed.user});
  account.home = FirstOf({GetVariable(environment, "HOME"), listed.home});
  account.shell = FirstOf({GetVariable(environment, "SHELL"), listed.shell, "/bin/sh"});
  return account;
}

}  // namespace tenon::runner
