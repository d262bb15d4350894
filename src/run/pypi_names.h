// SPDX-License-Identifier: Apache-2.0
// Tells which conda packages are which projects on PyPI. Equal names prove nothing: conda's
// `jasper` is an image library, PyPI's is not. Only the client has the table (pypi_names.inc, 150
// KB). It writes the names into the spec, so no runner carries the table.
#ifndef TENON_RUN_PYPI_NAMES_H_
#define TENON_RUN_PYPI_NAMES_H_

#include <string_view>

#include "run/packages.h"

namespace tenon::run {

// Returns the name of the same project on PyPI, or "" when none is known. Ignores case.
std::string_view PypiName(std::string_view conda_name);

// Whether the table has a project of this name on PyPI. Compares names as package indexes do.
bool IsKnownOnPypi(std::string_view pypi_name);

// Sets Package::pypi of every conda item. Leaves it empty for an item that names a channel where
// anybody may publish packages under any name.
void SetPypiNames(Packages* packages);

}  // namespace tenon::run

#endif  // TENON_RUN_PYPI_NAMES_H_
