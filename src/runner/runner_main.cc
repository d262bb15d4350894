// SPDX-License-Identifier: Apache-2.0
#include "runner/verbs.h"
#include "version.h"

int main(int argc, char** argv) {
  return tenon::runner::RunVerb({argv + 1, argv + argc}, TENON_VERSION);
}
