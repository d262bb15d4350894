// SPDX-License-Identifier: Apache-2.0
// Conda packages taken from PyPI, for when no channel can be reached.
#ifndef TENON_ENVIRONMENT_PYPI_NAMES_H_
#define TENON_ENVIRONMENT_PYPI_NAMES_H_

#include <string>
#include <string_view>

#include "base/result.h"

namespace tenon::environment {

// "numpy=1.12" → "numpy==1.12.*", "pytorch>=1" → "torch>=1". kNotFound: no such thing on PyPI (a
// compiler, an R package); kInvalid: the text is not understood.
Result<std::string> PypiRequirement(std::string_view conda_text);

// The package's name in a conda item: "conda-forge::NumPy=1.12=py36_0" → "numpy".
std::string CondaName(std::string_view conda_text);

}  // namespace tenon::environment

#endif  // TENON_ENVIRONMENT_PYPI_NAMES_H_
