// SPDX-License-Identifier: Apache-2.0
#include "base/file_size_limit.h"
#include "runner/verbs.h"
#include "version.h"

int main(int argc, char** argv) {
  tenon::SurviveFileSizeLimit();
  return tenon::runner::RunVerb({argv + 1, argv + argc}, TENON_VERSION);
}
