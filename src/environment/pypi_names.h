// SPDX-License-Identifier: Apache-2.0
// Takes conda packages from PyPI when no channel can be reached.
#ifndef TENON_ENVIRONMENT_PYPI_NAMES_H_
#define TENON_ENVIRONMENT_PYPI_NAMES_H_

#include <string>
#include <string_view>

#include "base/result.h"
#include "run/packages.h"

namespace tenon::environment {

// "numpy=1.12" → "numpy==1.12.*", "pytorch>=1" → "torch>=1". Uses the PyPI name in the item
// (run/pypi_names.h). Fails with kNotFound when the item has none, because a package of the same
// name on PyPI may be another project. Fails with kInvalid when the text cannot be written as a
// requirement for PyPI.
Result<std::string> PypiRequirement(const run::Package& item);

// The package's name in a conda item: "conda-forge::NumPy=1.12=py36_0" → "numpy".
std::string CondaName(std::string_view conda_text);

}  // namespace tenon::environment

#endif  // TENON_ENVIRONMENT_PYPI_NAMES_H_
