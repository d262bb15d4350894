// SPDX-License-Identifier: Apache-2.0
#include "runner/verbs.h"
#include "version.h"

int main(int argc, char** argv) {
  return tenon::runner::RunVerb(argc == 2 ? argv[1] : "", TENON_VERSION);
}
