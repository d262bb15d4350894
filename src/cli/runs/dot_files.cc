// SPDX-License-Identifier: Apache-2.0
#include "cli/runs/dot_files.h"

#include <algorithm>

#include "base/text.h"
#include "cli/print/print.h"

namespace tenon::cli {

void SayDotFilesLeft(const std::vector<std::string>& names) {
  constexpr size_t kShown = 10;
  if (names.empty()) return;
  std::vector<std::string> some;
  for (size_t i = 0; i < std::min(names.size(), kShown); ++i) some.push_back(OneLine(names[i]));
  PrintErr("note: left out, because the names begin with a dot: " + Join(some, ", ") +
           (names.size() > kShown ? ", …" : "") + "; --dot-files writes them too\n");
}

}  // namespace tenon::cli
