// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <cstdio>

#include "base/file_size_limit.h"
#include "base/last_resort.h"
#include "cli/command.h"
#include "engine/host/reach_by_ssh.h"
#include "engine/run/ask_machines.h"

int main(int argc, char** argv) {
  tenon::SurviveFileSizeLimit();
  const int code = tenon::CatchAll([&] {
    if (tenon::engine::IsAskpass()) return tenon::engine::AskpassMain(argc > 1 ? argv[1] : "");
    return tenon::cli::Main(argc, argv, &tenon::engine::ReachBySsh());
  });
  if (tenon::engine::IsAskingStill()) {
    std::fflush(nullptr);
    ::_exit(code);
  }
  return code;
}
