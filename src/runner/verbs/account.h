// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_RUNNER_VERBS_ACCOUNT_H_
#define TENON_RUNNER_VERBS_ACCOUNT_H_

#include <sys/types.h>

#include <string>
#include <string_view>

#include "base/process.h"

namespace tenon::runner {

// Whose login this is. A static program cannot ask the name services, so the environment is asked
// first and then the text of /etc/passwd. What neither tells is "", the shell /bin/sh.
struct Account {
  std::string user, home, shell;
};
Account OurAccount(const Environment& environment);

// The line of `uid` in the text of a passwd file.
Account AccountFrom(std::string_view passwd, uid_t uid);

}  // namespace tenon::runner

#endif  // TENON_RUNNER_VERBS_ACCOUNT_H_
