// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_RUNNER_VERBS_TRY_FOLDER_H_
#define TENON_RUNNER_VERBS_TRY_FOLDER_H_

#include <string>

namespace tenon::runner {

// Tries out whether runs can use a folder: makes a folder, a file and a program in it, and starts
// the program. Makes missing folders on the way first. Leaves nothing behind. Returns "" when all
// of this worked, else why it did not, in words.
std::string TryFolder(const std::string& folder);

}  // namespace tenon::runner

#endif  // TENON_RUNNER_VERBS_TRY_FOLDER_H_
