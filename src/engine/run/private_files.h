// SPDX-License-Identifier: Apache-2.0
// What no snapshot takes along (keys, passwords, Tenon's own folder), and how the user hears of it.
#ifndef TENON_ENGINE_RUN_PRIVATE_FILES_H_
#define TENON_ENGINE_RUN_PRIVATE_FILES_H_

#include <string>
#include <vector>

#include "base/result.h"
#include "engine/context.h"
#include "run/event.h"
#include "snapshot/freeze/freeze.h"

namespace tenon::engine {

// This home, and the user's usual home (~/.tenon) if that is another one.
std::vector<snapshot::FolderId> HomesOf(const Context& context);

// Fails with kInvalid when the folder lies among what Tenon keeps in this home. The working
// directory of a run is allowed: it is a project like any other.
Status CheckOutsideHome(const Context& context, const std::string& folder);

// Notices about private files of `root`: what was left out of the snapshot, and what was taken
// along although it is often private. One notice of each kind, with the command that changes it.
std::vector<run::Notice> PrivateNotices(const snapshot::Frozen& frozen, const std::string& root);

// The command that makes the next snapshot of `root` take this file or folder along.
std::string TakeAlongCommand(const std::string& root, const snapshot::LeftOut& left_out);

// The first few names, and how many more there are.
std::string SomeNames(const std::vector<std::string>& names);

}  // namespace tenon::engine

#endif  // TENON_ENGINE_RUN_PRIVATE_FILES_H_
