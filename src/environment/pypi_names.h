// SPDX-License-Identifier: Apache-2.0
// Conda packages taken from PyPI, for when no channel can be reached.
#ifndef TENON_ENVIRONMENT_PYPI_NAMES_H_
#define TENON_ENVIRONMENT_PYPI_NAMES_H_

#include <string>
#include <string_view>

#include "base/result.h"
#include "run/packages.h"

namespace tenon::environment {

// "numpy=1.12" → "numpy==1.12.*", "pytorch>=1" → "torch>=1", by the name that the item brings along
// (run/pypi_names.h). kNotFound: it brings none, so that a package of its name on PyPI may be
// anything; kInvalid: the text is not understood.
Result<std::string> PypiRequirement(const run::Package& item);

// The package's name in a conda item: "conda-forge::NumPy=1.12=py36_0" → "numpy".
std::string CondaName(std::string_view conda_text);

}  // namespace tenon::environment

#endif  // TENON_ENVIRONMENT_PYPI_NAMES_H_
