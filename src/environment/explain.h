// SPDX-License-Identifier: Apache-2.0
// Turns the last output of a tool into an error that a person can act on: which line of which file
// asked for the package, what the tool said, what may help.
#ifndef TENON_ENVIRONMENT_EXPLAIN_H_
#define TENON_ENVIRONMENT_EXPLAIN_H_

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "environment/recipe.h"
#include "run/packages.h"

namespace tenon::environment {

// `output` is what the tool wrote last, already masked. `how` says how the tool ended ("exit code
// 1"). `pip` has the pip lines that were really used (Recipe::pip).
Error ExplainFailure(const RecipeStep& step, const run::Packages& packages,
                     const std::vector<run::Package>& pip, std::string_view output,
                     const std::string& how);

// Returns the items that the tool names where it says what went wrong; empty when it names none.
std::vector<run::Package> FindBlamed(const std::vector<run::Package>& items,
                                     std::string_view output);

// Whether the output of conda, mamba or micromamba says that no channel answered.
bool SaysNoChannel(std::string_view output);

// Returns the last lines that say something, at most `limit`, without terminal codes and progress
// bars. An earlier line that begins the error is kept as the first.
std::string LastWords(std::string_view output, size_t limit = 20);

}  // namespace tenon::environment

#endif  // TENON_ENVIRONMENT_EXPLAIN_H_
