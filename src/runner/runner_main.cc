// SPDX-License-Identifier: Apache-2.0
#include "base/file_size_limit.h"
#include "base/last_resort.h"
#include "runner/verbs/verbs.h"
#include "version.h"

int main(int argc, char** argv) {
  tenon::SurviveFileSizeLimit();
  return tenon::CatchAll([&] {
    return tenon::runner::RunVerb({argv + 1, argv + argc}, TENON_VERSION);
  });
}
