// SPDX-License-Identifier: Apache-2.0
#include "base/file_size_limit.h"
#include "base/last_resort.h"
#include "cli/command.h"
#include "engine/attach_host.h"

int main(int argc, char** argv) {
  tenon::SurviveFileSizeLimit();
  return tenon::CatchAll([&] {
    if (tenon::engine::IsAskpass()) return tenon::engine::AskpassMain(argc > 1 ? argv[1] : "");
    return tenon::cli::Main(argc, argv);
  });
}
