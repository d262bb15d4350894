// SPDX-License-Identifier: Apache-2.0
// Keys, passwords and Tenon's own folder: what no snapshot takes along, and how that is told.
#ifndef TENON_ENGINE_RUN_PRIVATE_FILES_H_
#define TENON_ENGINE_RUN_PRIVATE_FILES_H_

#include <string>
#include <vector>

#include "base/result.h"
#include "engine/context.h"
#include "run/event.h"
#include "snapshot/freeze/freeze.h"

namespace tenon::engine {

// This home, and the user's usual one where that is another.
std::vector<snapshot::FolderId> HomesOf(const Context& context);

// kInvalid: the folder lies in this home, among what Tenon keeps there. The working directory of a
// run is a project as any other.
Status CheckOutsideHome(const Context& context, const std::string& folder);

// What was left out of a snapshot of `root` for being private, and what is private and was not: one
// notice of each kind, with the line that changes it.
std::vector<run::Notice> PrivateNotices(const snapshot::Frozen& frozen, const std::string& root);

// A command that makes the next snapshot of `root` take it along.
std::string TakeAlongCommand(const std::string& root, const snapshot::LeftOut& left_out);

// The first few of them, and how many more there are.
std::string SomeNames(const std::vector<std::string>& names);

}  // namespace tenon::engine

#endif  // TENON_ENGINE_RUN_PRIVATE_FILES_H_
