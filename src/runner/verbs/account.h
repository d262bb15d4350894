// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_RUNNER_VERBS_ACCOUNT_H_
#define TENON_RUNNER_VERBS_ACCOUNT_H_

#include <sys/types.h>

#include <string>
#include <string_view>

#include "base/process.h"

namespace tenon::runner {

// The user that this process runs as. A static program cannot ask the name services, so each value
// comes from the environment or, if it is not there, from /etc/passwd. A value that neither has is
// ""; the shell is then /bin/sh.
struct Account {
  std::string user, home, shell;
};
Account OurAccount(const Environment& environment);

// Reads the line of `uid` in the text of a passwd file. All members are "" when there is none.
Account AccountFrom(std::string_view passwd, uid_t uid);

}  // namespace tenon::runner

#endif  // TENON_RUNNER_VERBS_ACCOUNT_H_
