// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_ENGINE_PRIVATE_HOME_H_
#define TENON_ENGINE_PRIVATE_HOME_H_

#include <string>

namespace tenon::engine {

// A home that is there and open to others is the user's alone from now on. One look, else.
void KeepHomePrivate(const std::string& home);

}  // namespace tenon::engine

#endif  // TENON_ENGINE_PRIVATE_HOME_H_
