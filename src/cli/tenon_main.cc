// SPDX-License-Identifier: Apache-2.0
#include "cli/command.h"
#include "engine/attach_host.h"

int main(int argc, char** argv) {
  if (tenon::engine::IsAskpass()) return tenon::engine::AskpassMain(argc > 1 ? argv[1] : "");
  return tenon::cli::Main(argc, argv);
}
