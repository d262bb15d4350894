// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_RUN_DAMAGE_H_
#define TENON_RUN_DAMAGE_H_

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "run/event.h"

namespace tenon::run {

// Says which files of a snapshot its store has lost. `paths` are those of the files.
std::string DamagedSnapshotText(const std::vector<std::string>& paths);
// The reason of an Error, and the cause of an End: the run could not begin because the store on its
// machine had lost some of the files it was submitted with.
inline constexpr std::string_view kDamagedSnapshot = "damaged-snapshot";
// Whether a run ended for that cause. Its machine has then taken out what was damaged, so a client
// that sends the files again can start it anew. A machine that lies about it gains one more try.
bool IsDamagedSnapshot(const End& end);

// Marks an error as one of our own store, met while it was being read for another machine.
Error UnreadableHere(Error error);
bool IsUnreadableHere(const Error& error);

}  // namespace tenon::run

#endif  // TENON_RUN_DAMAGE_H_
