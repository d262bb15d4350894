// SPDX-License-Identifier: Apache-2.0
// What two runs must never share: a number within a project, and a folder.
#ifndef TENON_ENGINE_RUN_CLAIM_H_
#define TENON_ENGINE_RUN_CLAIM_H_

#include <cstdint>
#include <string>

#include "base/result.h"
#include "engine/context.h"
#include "history/store.h"

namespace tenon::engine {

// 1, 2, 3 … within the project. The counter in numbers/ is not waited for, so a power cut may set
// it back; the larger of it and of the numbers of all recorded runs wins. `wanted` (0: none) is
// given instead if no run has it, and if it leaves room for others.
Result<int64_t> TakeRunNumber(Context& context, const std::string& project_id, int64_t wanted = 0);

// Sees to it that this number is not given again, whatever a power cut takes back: for a run whose
// record is about to go.
Status KeepRunNumber(Context& context, const std::string& project_id, int64_t number);

// A run folder that is ours, and the folder of runs before and after it was made (StampOf()).
struct ClaimedFolder {
  std::string run_id;
  int64_t before = 0;
  int64_t after = 0;
};
// Makes runs/<id>. The folder is the claim: kInvalid when there is one.
Result<ClaimedFolder> ClaimRunFolder(const Context& context, const std::string& run_id);
// The same with a new id, <project>_<ms>; the ms goes up until the id is free.
Result<ClaimedFolder> ClaimNewRunFolder(const Context& context, const std::string& project);

// Takes the run into the index. Where nothing but this folder has come since the index was up to
// date, it is still, and nobody has to look.
Status IndexClaimed(history::HistoryStore& store, const run::Home& home,
                    const ClaimedFolder& claimed);

}  // namespace tenon::engine

#endif  // TENON_ENGINE_RUN_CLAIM_H_
