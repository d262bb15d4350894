// SPDX-License-Identifier: Apache-2.0
// Keeps the password of a .compute file out of everything else: the copy in a snapshot has no
// password, and restoring an old copy keeps the password that the file has now.
#ifndef TENON_PROJECT_FILES_PASSWORD_H_
#define TENON_PROJECT_FILES_PASSWORD_H_

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "project/project.h"

namespace tenon::project {

// Returns `bytes` without any password: whole lines where the password has lines of its own, only
// the member in a one-line JSON file. Upper and lower case count as equal; commented-out passwords
// are removed too. Of a file that does not parse, removes rather too much. Keeps every other byte.
// Repeating it changes nothing more.
std::string RedactPassword(std::string_view bytes);

// Returns what a restore writes: `restored` (redacted, from a snapshot) with the password of
// `present`, the current file. Returns `present` byte for byte if only the password differs, and
// `restored` if `present` has no password.
std::string KeepPasswordLine(std::string_view restored, std::string_view present);

// Returns the clear-text secret after `password:` in a target's file, for immediate use. nullopt
// when the file has no clear-text secret there. This is the only function that hands out such a
// value.
Result<std::optional<std::string>> ReadClearTextPassword(const Project& project,
                                                         const std::string& target);

// Replaces the clear-text secret in a target's file by `reference` and keeps every other byte.
// kNotFound when the file has no clear-text secret.
Status ReplaceClearTextPassword(const Project& project, const std::string& target,
                                const std::string& reference);

}  // namespace tenon::project

#endif  // TENON_PROJECT_FILES_PASSWORD_H_
