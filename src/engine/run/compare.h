// SPDX-License-Identifier: Apache-2.0
// What differs between the files of two runs.
#ifndef TENON_ENGINE_RUN_COMPARE_H_
#define TENON_ENGINE_RUN_COMPARE_H_

#include <string>
#include <vector>

#include "base/result.h"
#include "engine/context.h"
#include "journal/fold.h"

namespace tenon::engine {

// The most differences that are named, and the most folders that are read to find them.
inline constexpr size_t kMaxNamed = 200'000;

// Paths in byte order. Only files are named, not folders.
struct FileChanges {
  std::vector<std::string> added;    // only the second run has it
  std::vector<std::string> removed;  // only the first run has it
  std::vector<std::string> changed;  // other contents, mode or kind
  bool more = false;                 // there are more than could be named (kMaxNamed)
  bool empty() const { return added.empty() && removed.empty() && changed.empty() && !more; }
};

// From the first run's snapshot to the second's. Reads tree nodes only, no contents; equal folders
// are not read. Fails with kCorrupt when a run has no snapshot on record.
Result<FileChanges> CompareSnapshots(Context& context, const journal::RunView& first,
                                     const journal::RunView& second);

// The same for what the runs left in outputs/, taken from their records alone.
FileChanges CompareOutputs(const journal::RunView& first, const journal::RunView& second);

}  // namespace tenon::engine

#endif  // TENON_ENGINE_RUN_COMPARE_H_
