// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_RUNNER_VERBS_TRY_FOLDER_H_
#define TENON_RUNNER_VERBS_TRY_FOLDER_H_

#include <string>

namespace tenon::runner {

// Makes in a folder what a run makes there: a folder, a file in it, and a program, which is
// started. Folders on the way that are missing are made first. Nothing of it is left. "" when all
// of it worked, else why not, in words.
std::string TryFolder(const std::string& folder);

}  // namespace tenon::runner

#endif  // TENON_RUNNER_VERBS_TRY_FOLDER_H_
