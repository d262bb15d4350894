// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_RUN_PRIVATE_HOME_H_
#define TENON_RUN_PRIVATE_HOME_H_

#include <string_view>

namespace tenon::run {

// The folders of a home whose direct contents are made private too (KeepFolderPrivate).
inline constexpr std::string_view kPrivateFolders[] = {"hosts", "keys", "runs"};

}  // namespace tenon::run

#endif  // TENON_RUN_PRIVATE_HOME_H_
