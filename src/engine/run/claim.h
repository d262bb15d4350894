// SPDX-License-Identifier: Apache-2.0
// Two runs must never share a number within a project, or a folder. Both are claimed here.
#ifndef TENON_ENGINE_RUN_CLAIM_H_
#define TENON_ENGINE_RUN_CLAIM_H_

#include <cstdint>
#include <string>

#include "base/result.h"
#include "engine/context.h"
#include "history/store.h"

namespace tenon::engine {

// Takes the project's next number: 1, 2, 3 … The counter in numbers/ is not synced to disk, so a
// power cut may set it back. The next number is therefore one more than the larger of the counter
// and the highest recorded number. `wanted` (0: none) is taken instead if no run has it and it is
// not too far above the last one.
Result<int64_t> TakeRunNumber(Context& context, const std::string& project_id, int64_t wanted = 0);

// Makes sure that this number is not given again, even after a power cut. To be called before the
// run's record is removed.
Status KeepRunNumber(Context& context, const std::string& project_id, int64_t number);

// A run folder that this process has made, with the stamp (StampOf()) of the folder of runs before
// and after.
struct ClaimedFolder {
  std::string run_id;
  int64_t before = 0;
  int64_t after = 0;
};
// Makes runs/<id>. Making the folder is the claim. Fails with kInvalid when it exists already.
Result<ClaimedFolder> ClaimRunFolder(const Context& context, const std::string& run_id);
// The same with a new id, <project>_<ms>. Counts the ms up until the id is free.
Result<ClaimedFolder> ClaimNewRunFolder(const Context& context, const std::string& project);

// Takes the run into the index. If the index was up to date before this folder was made, it is
// marked as up to date again, so that the next reader need not check the folders.
Status IndexClaimed(history::HistoryStore& store, const run::Home& home,
                    const ClaimedFolder& claimed);

}  // namespace tenon::engine

#endif  // TENON_ENGINE_RUN_CLAIM_H_
