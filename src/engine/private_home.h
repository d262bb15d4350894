// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_ENGINE_PRIVATE_HOME_H_
#define TENON_ENGINE_PRIVATE_HOME_H_

#include <string>

namespace tenon::engine {

// Takes the access of other users to an existing home away. Costs one look when they have none.
void KeepHomePrivate(const std::string& home);

}  // namespace tenon::engine

#endif  // TENON_ENGINE_PRIVATE_HOME_H_
