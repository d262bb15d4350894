// SPDX-License-Identifier: Apache-2.0
// The password of a .compute file never leaves the file: the copy kept in a snapshot is without it,
// and bringing an old copy back does not touch the one that is there now.
#ifndef TENON_PROJECT_FILES_PASSWORD_H_
#define TENON_PROJECT_FILES_PASSWORD_H_

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "project/project.h"

namespace tenon::project {

// `bytes` without any password: whole lines where it stands in lines of its own, the member alone
// in a one-line JSON file, commented-out ones too, upper and lower case alike. Works on files that
// do not parse, where it rather takes too much. Every other byte stays. Done twice it changes
// nothing more.
std::string RedactPassword(std::string_view bytes);

// What a restore writes: `restored` (redacted, from a snapshot) with the password that `present`,
// the file as it is now, has. When nothing but the password differs the result is `present`, byte
// for byte. Without a password in `present` the result is `restored`.
std::string KeepPasswordLine(std::string_view restored, std::string_view present);

// The secret in clear text that stands behind `password:` of a target's file, for use at once;
// nullopt when something else or nothing stands there. The one place where such a value is handed
// out.
Result<std::optional<std::string>> ReadClearTextPassword(const Project& project,
                                                         const std::string& target);

// Puts `reference` where such a secret stands, every other byte as it is. kNotFound when there is
// none.
Status ReplaceClearTextPassword(const Project& project, const std::string& target,
                                const std::string& reference);

}  // namespace tenon::project

#endif  // TENON_PROJECT_FILES_PASSWORD_H_
