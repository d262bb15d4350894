// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_RUN_DAMAGE_H_
#define TENON_RUN_DAMAGE_H_

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "run/event.h"

namespace tenon::run {

// Returns a sentence that names the files of a snapshot which its store has lost. `paths` are the
// paths of the files; "." stands for the list of files itself.
std::string DamagedSnapshotText(const std::vector<std::string>& paths);
// The reason of an Error and the cause of an End: the run could not begin because the store on its
// machine has lost some of the files that the run was submitted with.
inline constexpr std::string_view kDamagedSnapshot = "damaged-snapshot";
// Whether a run ended for that cause. By then its machine has removed the damaged objects, so a
// client may send the files again and start the run anew. A machine that lies about this gains one
// more try, nothing else.
bool IsDamagedSnapshot(const End& end);

// Marks an error as one of the client's own store, met while the client was reading the store to
// send files to another machine.
Error UnreadableHere(Error error);
// Whether UnreadableHere() marked the error.
bool IsUnreadableHere(const Error& error);

}  // namespace tenon::run

#endif  // TENON_RUN_DAMAGE_H_
