// SPDX-License-Identifier: Apache-2.0
// Which conda packages are which projects on PyPI. Equal names prove nothing: conda's `jasper` is
// an image library, PyPI's is not. The table (pypi_names.inc, 150 KB) is the client's: it writes
// the names into what it sends, so that no runner carries it.
#ifndef TENON_RUN_PYPI_NAMES_H_
#define TENON_RUN_PYPI_NAMES_H_

#include <string_view>

#include "run/packages.h"

namespace tenon::run {

// PyPI's name of the project; "" when none is known to be the same. Case does not count.
std::string_view PypiName(std::string_view conda_name);

// Whether the table knows a project of this name on PyPI, as indexes compare names.
bool IsKnownOnPypi(std::string_view pypi_name);

// Sets Package::pypi of every conda item. An item that names a channel which anybody may fill with
// packages of any name has none.
void SetPypiNames(Packages* packages);

}  // namespace tenon::run

#endif  // TENON_RUN_PYPI_NAMES_H_
