// SPDX-License-Identifier: Apache-2.0
#include "base/file_size_limit.h"

#include <signal.h>

namespace tenon {

void SurviveFileSizeLimit() {
  struct sigaction action = {};
  // A handler and not SIG_IGN, because programs started by exec inherit an ignored signal.
  action.sa_handler = [](int) {};
  action.sa_flags = SA_RESTART;
  ::sigaction(SIGXFSZ, &action, nullptr);
}

}  // namespace tenon
